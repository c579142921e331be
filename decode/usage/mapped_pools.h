/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pools of libraries and collectors that map their memory themselves, beside malloc:
 * APR's pools, and the collector that gcc's compilers have for their own data. Each is
 * looked for where its functions are in the process, and proved by what it writes at the
 * start of its memory, or by its table of pages.
 */
#ifndef HI_DECODE_USAGE_MAPPED_POOLS_H
#define HI_DECODE_USAGE_MAPPED_POOLS_H

#include "base/arena.h"
#include "decode/allocator.h"

/*
 * Their names with their bytes, "APR's pools (168.0 KiB)"; "" where there are none.
 * allocator may be NULL. The text lives in the arena.
 */
enum hi_status hi_mapped_pools_find(const struct hi_image *image,
				    struct hi_modules *modules,
				    const struct hi_allocator *allocator,
				    struct hi_arena *arena, const char **ret,
				    struct hi_error *err);

/* Bytes of APR's nodes, and of pages of gcc's collector, for tests. */
uint64_t hi_mapped_pools_apr(const struct hi_image *image,
			     const struct hi_allocator *allocator);
uint64_t hi_mapped_pools_ggc(const struct hi_image *image,
			     const struct hi_allocator *allocator);

#endif
