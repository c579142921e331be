/* SPDX-License-Identifier: BSD-2-Clause */
/* Cycles of objects: strongly connected components of a part of the graph. */
#ifndef HI_DECODE_INFERENCE_CYCLES_H
#define HI_DECODE_INFERENCE_CYCLES_H

#include "census/graph/graph.h"

struct hi_cycles {
	const struct hi_graph *graph;
	const hi_node *nodes; /* ascending */
	size_t n;
	bool (*is_open)(void *arg, hi_node node);   /* others are not followed */
	bool (*is_wanted)(void *arg, hi_node node); /* is the answer needed? */
	void *arg;
};

/*
 * Sets closed_ret[i] to 1 for each wanted nodes[i] that lies on a cycle of open nodes.
 * Weak edges are not followed. Linear in nodes and edges; returns at once where no node
 * is wanted. False: out of memory.
 */
bool hi_cycles_through(const struct hi_cycles *cycles, uint8_t *closed_ret);

#endif
