/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All edges of a node in words at once: what hi_typing_describe_edge says of each, for
 * one pass over the node's bytes instead of one for each edge.
 */
#ifndef HI_DECODE_DESCRIBE_EDGE_LABELS_H
#define HI_DECODE_DESCRIBE_EDGE_LABELS_H

#include "census/graph/edge_name.h"
#include "decode/inference/typing.h"

struct hi_edge_labels;

/* Borrows both. */
enum hi_status hi_edge_labels_create(struct hi_typing *typing,
				     const struct hi_graph *graph,
				     struct hi_edge_labels **ret, struct hi_error *err);
void hi_edge_labels_destroy(struct hi_edge_labels *labels);
/* names: as many as the node has edges; they live until the next call. */
enum hi_status hi_edge_names_of(struct hi_edge_labels *labels, hi_node node,
				struct hi_edge_name *names, struct hi_error *err);
/* The same in one piece each. */
enum hi_status hi_edge_labels_of(struct hi_edge_labels *labels, hi_node node,
				 const char **texts, struct hi_error *err);

#endif
