/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is filled from another process when it is first touched, and given back
 * when there is too much of it: how an image that is larger than the free memory is read
 * in place. Its addresses stay valid, and reading it needs no special calls. By
 * userfaultfd(2), user mode faults only, which needs no privilege: a system call on such
 * memory (write(2) of it) fails with EFAULT. See Note [Blocks] in pager.c. Internal to
 * attach/.
 */
#ifndef HI_ATTACH_PAGER_H
#define HI_ATTACH_PAGER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"

#define HI_PAGER_BLOCK (32u << 10)
#define HI_PAGER_LEAST (4u << 20) /* of a budget */

struct hi_pager;

/* Bytes [host, host+size) come from addr; whole pages, inside of the area. */
struct hi_pager_range {
	unsigned char *host;
	uint64_t addr;
	uint64_t size;
};

struct hi_pager_request {
	/* From hi_pages_alloc, never touched unless is_filled, borrowed until the
	 * destroy. Pages that no range covers read as zeros. */
	unsigned char *area;
	size_t size;
	const struct hi_pager_range *ranges; /* by host, disjoint; borrowed as area is */
	size_t n_ranges;
	uint64_t budget;  /* bytes of ranges that may be in memory, HI_PAGER_LEAST or more
			   */
	unsigned threads; /* that wait for faults; at most 8 */
	/* The area was filled before. Only what hi_pager_give_back() takes is read. */
	bool is_filled;
	/* Bytes that could be read, from addr on. By any thread of the pager. */
	size_t (*read)(void *arg, uint64_t addr, void *to, size_t size);
	/* Once everything is in memory and nothing was given back: `read` will not be
	 * called again. By a thread of the pager; may be NULL. */
	void (*all_loaded)(void *arg);
	void *arg;
};

struct hi_pager_stats {
	uint64_t in_memory, peak, loaded; /* bytes; loaded counts again what came again */
	uint64_t lost; /* bytes that could not be read and are zeros now */
};

/* *ret: freed by hi_pager_destroy(). HI_UNSUPPORTED: no userfaultfd here (kernel,
 * seccomp). HI_LIMIT, HI_NO_MEMORY, HI_OS. */
enum hi_status hi_pager_create(const struct hi_pager_request *request,
			       struct hi_pager **ret, struct hi_error *err);
/* Gives back the blocks of a filled area from host on, which begins one, and the one that
 * the last byte is in: from now on they come from `read`. Threads may be reading them. */
void hi_pager_give_back(struct hi_pager *pager, const unsigned char *host, size_t size);
/* The figures so far. Thread-safe. */
struct hi_pager_stats hi_pager_stats(struct hi_pager *pager);
/* Frees the pager; no thread may be reading the area, which is the caller's again.
 * NULL is fine. */
void hi_pager_destroy(struct hi_pager *pager);
/* The same in a forked process, which has neither the threads nor the registered area. */
void hi_pager_forget(struct hi_pager *pager);

#endif
