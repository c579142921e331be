/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two pieces of code that a target already contains: `syscall; ret`, and the sequence
 * that libc gives the kernel as a handler's return address (`mov $15, %rax; syscall`:
 * rt_sigreturn). They are looked for in the mapped files of its libc, dynamic linker and
 * executable and in the vdso, so that no page of the target is touched, and compared with
 * memory at the stop.
 */
#ifndef HI_ATTACH_GADGETS_H
#define HI_ATTACH_GADGETS_H

#include "attach/target.h"

#define HI_MAX_GADGETS 64

struct hi_gadget {
	uint64_t addr;
	bool in_vdso;	    /* which is no file: it counts only once it was read */
	unsigned char size; /* of bytes[] */
	unsigned char bytes[12];
};

struct hi_gadgets {
	struct hi_gadget calls[HI_MAX_GADGETS], returns[HI_MAX_GADGETS];
	size_t n_calls, n_returns;
};

/* HI_UNSUPPORTED if either is not found; err->text names it. */
enum hi_status hi_gadgets_find(const struct hi_target *target, struct hi_gadgets *ret,
			       struct hi_error *err);
/* Adds those in code[0, size), which is mapped at addr. */
void hi_gadgets_scan(struct hi_gadgets *gadgets, const unsigned char *code, size_t size,
		     uint64_t addr, bool in_vdso);

/* Adds those in size bytes of a file from offset on, or in as many as it has; it is read
 * in parts of HI_GADGETS_PART bytes. */
enum { HI_GADGETS_PART = 1 << 20 };
void hi_gadgets_scan_file(struct hi_gadgets *gadgets, int fd, uint64_t offset,
			  size_t size, uint64_t addr);

/*
 * Picks one of each for a stopped target: of those whose bytes are unchanged, one that is
 * in memory already if there is any. pagemap: -1 if it cannot be read.
 */
enum hi_status hi_gadgets_pick(const struct hi_gadgets *gadgets, int memory, int pagemap,
			       const struct hi_gadget **call_ret,
			       const struct hi_gadget **return_ret, struct hi_error *err);

#endif
