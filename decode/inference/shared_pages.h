/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of shared mappings that are not in the target's page tables: another process
 * wrote them, or the target's parent before the fork, or the kernel has unmapped them
 * since. They are read from the mapped file, which does not touch the target.
 */
#ifndef HI_DECODE_INFERENCE_SHARED_PAGES_H
#define HI_DECODE_INFERENCE_SHARED_PAGES_H

#include "attach/image.h"

/* addr: a target address, a multiple of 8. */
typedef void (*hi_bytes_fn)(void *arg, const uint8_t *bytes, uint64_t addr,
			    uint64_t size);

/*
 * Calls fn for the bytes of [start, end), a part of one mapping, that its file has, in
 * memory or on disk. Holes of the file are left out: they are zeros. *budget: bytes that
 * may still be read; reduced. Returns the number of bytes that could not be read.
 */
uint64_t hi_shared_pages_read(const struct hi_image *image, uint64_t start, uint64_t end,
			      uint64_t *budget, hi_bytes_fn fn, void *arg);

#endif
