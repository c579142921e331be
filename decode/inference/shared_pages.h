/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lies in pages of shared mappings that the target does not have in its page
 * tables: another process wrote them, or this one's parent before it was forked, or
 * the kernel has taken them out since. They are read from the file, which does not
 * touch the target.
 */
#ifndef HI_DECODE_INFERENCE_SHARED_PAGES_H
#define HI_DECODE_INFERENCE_SHARED_PAGES_H

#include "attach/image.h"

/* addr: a target address, a multiple of 8. */
typedef void (*hi_bytes_fn)(void *arg, const uint8_t *bytes, uint64_t addr,
			    uint64_t size);

/* Is it memory that others may write to behind a file descriptor? */
bool hi_mapping_is_shared_data(const struct hi_mapping *mapping);

/*
 * Shows fn the bytes of [start, end), which lies in one mapping, that its file has in
 * memory. What was never written is left out: it is zero. So is what of a regular file
 * is on disk only: no process has it mapped. *budget (bytes) is what may still be read.
 * Returns the number of bytes that may be there and could not be read.
 */
uint64_t hi_shared_pages_read(const struct hi_image *image, uint64_t start, uint64_t end,
			      uint64_t *budget, hi_bytes_fn fn, void *arg);

#endif
