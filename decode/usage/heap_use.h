/* SPDX-License-Identifier: BSD-2-Clause */
/* Sizes of allocated blocks, free blocks by kind, pages by how full they are. */
#ifndef HI_DECODE_USAGE_HEAP_USE_H
#define HI_DECODE_USAGE_HEAP_USE_H

#include "census/analysis/waste.h"
#include "decode/allocator.h"

/* Measures all blocks in one walk. allocator NULL: *ret is all zero. threads 0:
 * hi_parallel_threads(). Free with hi_heap_use_free(). */
enum hi_status hi_heap_use_measure(const struct hi_image *image,
				   struct hi_allocator *allocator, unsigned threads,
				   struct hi_heap_use *ret, struct hi_error *err);

#endif
