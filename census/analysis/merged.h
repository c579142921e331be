/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dominator tree with like objects made one: those of a type that the same merged
 * node refers to by the same field. A run of one type (a list, a tree) is a few nodes.
 * Flame graphs and profiles show it as stacks.
 *
 * Note [Labels of merged nodes]
 *
 * A label is how the dominator refers to the object: "->next", ".items[…]",
 * "[\"SESSIONS\"]", of the key of a map "{\"token\"}"; "" where it does not refer to it
 * directly. Numbers in brackets are left out, so that the elements of an array are alike.
 * Keys in quotes stay where they carry information: of objects that retain much of the
 * heap, and keys that occur often, as the names of attributes do. The other ones become
 * "[\"…\"]".
 */
#ifndef HI_CENSUS_ANALYSIS_MERGED_H
#define HI_CENSUS_ANALYSIS_MERGED_H

#include "base/cleanup.h"
#include "census/analysis/merged_labels.h"

enum { HI_MERGED_DEPTH = 64 }; /* deeper ones are summed in their parent */

/* A key without a type: the label is all that the frame has (merged_births.h). */
#define HI_MERGED_PLAIN (UINT32_MAX - 1)

/* A merged node in a stack; each once. */
struct hi_merged_frame {
	/* HI_MERGED_PLAIN; a type; from n_types on, n_types + (node - first_root) of a
	 * root, a kind or the super-root. */
	uint32_t key;
	const char *label;  /* "" none; hostile */
	const char *module; /* of HI_MERGED_PLAIN: base name of the file; NULL: none;
			       hostile */
};
struct hi_merged_node {
	uint32_t parent; /* UINT32_MAX: none */
	uint32_t key;	 /* its frame's */
	uint32_t frame;
	uint32_t depth;
	uint64_t bytes, objects; /* its own: cost, of live objects */
};
struct hi_merged {
	struct hi_merged_node *nodes; /* parents before children; [0] the super-root */
	size_t count;
	struct hi_merged_frame *frames; /* [0] is that of the super-root */
	size_t n_frames;
	uint64_t cut_objects, cut_bytes; /* summed in a parent of another type */
	uint32_t before; /* the node of objects from before a recording; 0: none */
	struct hi_interner labels;
};

/* Makes the merged tree of all live objects. The arguments are borrowed during the call
 * only; labels NULL: no frame has one. *ret: hi_merged_destroy(). HI_NO_MEMORY, and the
 * errors of labels->read. */
enum hi_status hi_merged_make(const struct hi_graph *g, const struct hi_reach *reach,
			      const struct hi_dominators *d,
			      const struct hi_merged_labels *labels,
			      struct hi_merged **ret, struct hi_error *err);
/* Frees the tree; NULL is fine. */
void hi_merged_destroy(struct hi_merged *m);
HI_DEFINE_GUARD(struct hi_merged *, hi_merged_destroy)
/* Bytes of each node and all below it; freed by the caller. NULL: out of memory. */
uint64_t *hi_merged_below(const struct hi_merged *m);
/* Lists the children of each node, in the order of the nodes: those of i are
 * (*child_ret)[(*first_ret)[i] .. (*first_ret)[i + 1]). Both are freed by the caller,
 * also on failure. False: out of memory. */
bool hi_merged_list_children(const struct hi_merged *m, uint32_t **first_ret,
			     uint32_t **child_ret);
/* Returns the key of a node: hi_merged_node.key. */
static inline uint32_t hi_merged_key(const struct hi_graph *g, hi_node node)
{
	return node < g->n_objects ? g->objects->type[node]
				   : g->n_types + (node - g->first_root);
}
/* "server", "globals", "struct dict", "(untyped)", "(all)", "" of HI_MERGED_PLAIN;
 * hostile. */
const char *hi_merged_name(const struct hi_graph *g, uint32_t key);

#endif
