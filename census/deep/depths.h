/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How deep recursion went. The graph has one node for calls of all depths (deep.h), so
 * this is counted beside it, stack by stack: the depth of a clique on a stack is the
 * number of its frames there, which follow each other. An allocation counts for the
 * cliques that its stack passes through, also where it happens further down.
 *
 * Only recursive cliques have rows: of the others each depth is 1. The rows of a clique
 * add up to the costs of the call that enters it, with its descendants.
 */
#ifndef HI_CENSUS_DEEP_DEPTHS_H
#define HI_CENSUS_DEEP_DEPTHS_H

#include "census/deep/deep.h"

struct hi_deep_depth {
	uint32_t clique, depth; /* depth: from 1 */
	uint64_t allocs, bytes;
};
/* By clique and depth. A recursive clique without rows: its depths are not known. */
struct hi_deep_depths {
	struct hi_deep_depth *rows;
	size_t n;
};
void hi_deep_depths_free(struct hi_deep_depths *depths);
/* The rows of a clique; *n_ret: 0: it is not recursive, or they are not known. */
const struct hi_deep_depth *hi_deep_depths_of(const struct hi_deep_depths *depths,
					      uint32_t clique, size_t *n_ret);

struct hi_deep_depth_maker;
/* The graph is borrowed. *ret: hi_deep_depth_maker_destroy(). HI_NO_MEMORY. */
enum hi_status hi_deep_depth_maker_create(const struct hi_deep_graph *graph,
					  struct hi_deep_depth_maker **ret,
					  struct hi_error *err);
void hi_deep_depth_maker_destroy(struct hi_deep_depth_maker *maker); /* NULL is fine */
/* A stack that is in the graph, as hi_deep_add() has it. HI_NO_MEMORY. HI_BAD_DATA: it
 * is not in the graph; nothing was counted. */
enum hi_status hi_deep_depth_maker_add(struct hi_deep_depth_maker *maker,
				       const struct hi_deep_frame *frames, size_t n,
				       const struct hi_deep_costs *costs,
				       struct hi_error *err);
/* *ret: hi_deep_depths_free(). The maker has none any more. */
void hi_deep_depth_maker_finish(struct hi_deep_depth_maker *maker,
				struct hi_deep_depths *ret);

/* A graph with its depths; functions and call sites have the numbers of the merged one.
 */
struct hi_deep_with_depths {
	const struct hi_deep_graph *graph;
	const struct hi_deep_depths *depths;
};
/*
 * The depths of two graphs that were merged into a third one. They are known where each
 * of the two has one clique at most in a merged one: where several have become one, a
 * stack may have passed through more than one of them. *ret: hi_deep_depths_free().
 * HI_NO_MEMORY.
 */
enum hi_status hi_deep_depths_merge(struct hi_deep_with_depths a,
				    struct hi_deep_with_depths b,
				    const struct hi_deep_graph *merged,
				    struct hi_deep_depths *ret, struct hi_error *err);

#endif
