/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The union of many sets. United one by one, every intermediate set would be stored; here
 * small sets are collected in a bitmap, and only the result is stored.
 */
#ifndef HI_CENSUS_RETAINERS_SET_MERGE_INTERNAL_H
#define HI_CENSUS_RETAINERS_SET_MERGE_INTERNAL_H

#include "census/retainers/set_pool_internal.h"

struct hi_set_merge {
	uint64_t *bits;	   /* by index / 64 of the pool's identities */
	uint32_t *touched; /* where bits is not 0, in no order */
	uint32_t n_touched;
	uint32_t large; /* the union of large sets, HI_SET_NONE if there was none */
};

/* Empty. False when out of memory, as all below; deinit also then. The pool must get no
 * new identities while the merge is in use. */
bool hi_set_merge_init(struct hi_set_merge *merge, const struct hi_set_pool *pool);
void hi_set_merge_deinit(struct hi_set_merge *merge);
/* ref is not HI_SET_NONE; max is the same up to hi_set_merge_take(). */
bool hi_set_merge_add(struct hi_set_merge *merge, struct hi_set_pool *pool, uint32_t ref,
		      uint32_t max);
/* The union of what was added, at least one; HI_SET_MANY beyond max members;
 * HI_SET_NONE when out of memory, and then the merge is of no more use. It is empty
 * after.
 */
uint32_t hi_set_merge_take(struct hi_set_merge *merge, struct hi_set_pool *pool,
			   uint32_t max);

#endif
