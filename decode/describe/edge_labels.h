/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of all edges of a node (each as hi_typing_describe_edge) in one pass over
 * the node's bytes.
 */
#ifndef HI_DECODE_DESCRIBE_EDGE_LABELS_H
#define HI_DECODE_DESCRIBE_EDGE_LABELS_H

#include "census/graph/edge_name.h"
#include "decode/describe/object_text.h"

struct hi_edge_labels;

/* Borrows both. *ret: hi_edge_labels_destroy(). */
enum hi_status hi_edge_labels_create(struct hi_typing *typing,
				     const struct hi_graph *graph,
				     struct hi_edge_labels **ret, struct hi_error *err);
void hi_edge_labels_destroy(struct hi_edge_labels *labels);
/* Fills in names[], one for each edge of the node. They live until the next call. */
enum hi_status hi_edge_names_of(struct hi_edge_labels *labels, hi_node node,
				struct hi_edge_name *names, struct hi_error *err);
/* The same for patterns of names: the keys of elements may be left out ("[].name"). Names
 * above are best asked for in the order of nodes, these in any, with looks at them before.
 */
enum hi_status hi_edge_patterns_of(struct hi_edge_labels *labels, hi_node node,
				   struct hi_edge_name *names, struct hi_error *err);
/* Fetches what the patterns of an object need; is_near: what it fetched before for it has
 * arrived, and the row of its edges. */
void hi_edge_labels_look_at(struct hi_edge_labels *labels, hi_node object, bool is_near);
/* The same as one text each; with_marks: as steps of paths (HI_EDGE_LINK). */
enum hi_status hi_edge_labels_of(struct hi_edge_labels *labels, hi_node node,
				 bool with_marks, const char **texts,
				 struct hi_error *err);

#endif
