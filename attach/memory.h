/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Target bytes, whatever holds them: a process copy, a copy-on-write child, a
 * core file, a mock. Ranges are [addr, addr+size). A source does not know what
 * the bytes mean, and has no notion of mappings: see image.h for those.
 *
 * To add a source: write a `static const struct hi_memory_ops`, embed `struct
 * hi_memory` first in your instance, add it to the list in
 * tests/attach/memory_contract_test.c. Callers use the wrappers below, never
 * ops-> directly.
 */
#ifndef HI_ATTACH_MEMORY_H
#define HI_ATTACH_MEMORY_H

#include "base/error.h"

struct hi_memory;

struct hi_memory_ops {
	const char *name;
	/* Required. All `size` bytes or HI_FAULT; err->address is the first
	 * unreadable byte. The wrapper ensured size > 0 and no wrap. Thread-safe. */
	enum hi_status (*read)(struct hi_memory *mem, uint64_t addr, void *buf,
			       size_t size, struct hi_error *err);
	/* Optional (NULL: no bytes are held in this process's memory). Host address of
	 * the byte at addr, and in *avail_ret how many readable bytes follow contiguously
	 * (>= 1); NULL where addr is not held. Valid until destroy. Thread-safe. */
	const void *(*view)(struct hi_memory *mem, uint64_t addr, size_t *avail_ret);
	void (*destroy)(struct hi_memory *mem); /* Required. Frees mem too. */
};

struct hi_memory {
	const struct hi_memory_ops *ops;
};

/* All bytes or HI_FAULT. size 0 is HI_OK; a range that wraps is HI_FAULT. */
enum hi_status hi_memory_read(struct hi_memory *mem, uint64_t addr, void *buf,
			      size_t size, struct hi_error *err);
/* Reads one little-endian word of 8 bytes. */
enum hi_status hi_memory_read_u64(struct hi_memory *mem, uint64_t addr, uint64_t *ret,
				  struct hi_error *err);
/* See ops->view; NULL as well where the source has no view. */
const void *hi_memory_view(struct hi_memory *mem, uint64_t addr, size_t *avail_ret);
/* NULL is fine. */
void hi_memory_destroy(struct hi_memory *mem);

#endif
