/* SPDX-License-Identifier: BSD-2-Clause */
/* Marking walks (walk_internal.h) by several threads. Marks are all that remains of them, so
 * that the result does not depend on the threads. */
#ifndef HI_CENSUS_ANALYSIS_WALK_SHARED_H
#define HI_CENSUS_ANALYSIS_WALK_SHARED_H

#include "census/graph/graph.h"

struct hi_shared_walk_request {
	const struct hi_graph *graph;
	uint64_t *bits;	      /* by node; those of the seeds are set */
	bool is_precise;      /* over precise edges alone, else over all but weak ones */
	const hi_node *seeds; /* n_seeds nodes to go on from */
	size_t n_seeds;
	unsigned threads;
};

/* Sets the bits of all nodes that edges lead to from the seeds, through nodes without a bit.
 * False: out of memory; then some of them are not set. */
bool hi_walk_shared(const struct hi_shared_walk_request *request);

#endif
