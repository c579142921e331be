/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of a graph by their address, wherever it is from. */
#ifndef HI_TESTS_SUPPORT_TYPED_GRAPH_H
#define HI_TESTS_SUPPORT_TYPED_GRAPH_H

#include "census/graph/graph.h"

/* Node of the object that starts at addr; fails the test if there is none. */
hi_node typed_graph_node(const struct hi_graph *g, uint64_t addr);
/* Its type's name, with "[]" for an array of elements; "" unknown, or only named by a
 * field. One of four buffers in turn. */
const char *typed_graph_type(const struct hi_graph *g, uint64_t addr);

#endif
