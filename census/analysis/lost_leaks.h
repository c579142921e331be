/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Former holders of leaks: objects that a root reached in one heap of a process, and that
 * no root reaches in a later heap of it. They are at the same address and have the same
 * size. A block that was freed in between and given out again, with the same size, as
 * something that is leaked too and has no type, cannot be told apart.
 */
#ifndef HI_CENSUS_ANALYSIS_LOST_LEAKS_H
#define HI_CENSUS_ANALYSIS_LOST_LEAKS_H

#include "census/analysis/compare.h"

/* Objects of one type and of one path: the types of their dominators down from one
 * variable, runs of a type as one step. */
struct hi_lost_group {
	uint64_t path;	       /* hash of it */
	uint32_t type;	       /* of the earlier graph */
	hi_node before, after; /* the one at the lowest address, in both graphs */
	struct hi_heap_total all, likely; /* likely: of all */
};
struct hi_lost {
	struct hi_lost_group *groups; /* most bytes first */
	size_t n_groups;
	struct hi_heap_total all;
};

/* Both sides are of one process; after->only restricts. HI_NO_MEMORY. *ret:
 * hi_lost_free(). */
enum hi_status hi_lost_find(const struct hi_heap_side *before,
			    const struct hi_heap_side *after, struct hi_lost *ret,
			    struct hi_error *err);
void hi_lost_free(struct hi_lost *lost);

/* How many nodes of the path, from the first, lead to what holds such objects: up to a
 * run of objects of one type, or to the last but one. n: at least 1, and so is the
 * result. */
size_t hi_lost_holder(const struct hi_graph *g, const hi_node *path, size_t n);

#endif
