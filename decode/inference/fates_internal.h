/* SPDX-License-Identifier: BSD-2-Clause */
/* For fates.c: objects that lie on cycles. */
#ifndef HI_DECODE_INFERENCE_FATES_INTERNAL_H
#define HI_DECODE_INFERENCE_FATES_INTERNAL_H

#include "census/graph/graph.h"

struct hi_cycles {
	const struct hi_graph *graph;
	const hi_node *nodes; /* ascending */
	size_t n;
	bool (*is_open)(void *arg, hi_node node);   /* others are left out */
	bool (*is_wanted)(void *arg, hi_node node); /* is it worth asking for? */
	void *arg;
};

/* closed_ret[i] is 1 for each of the nodes that is wanted and lies on a cycle of open
 * ones; weak edges make none. False: no memory. Linear in nodes and edges, and nothing is
 * done where no node is wanted. */
bool hi_cycles_through(const struct hi_cycles *cycles, uint8_t *closed_ret);

#endif
