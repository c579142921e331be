/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dominator tree with like objects made one: those of a type below the same merged
 * node. A run of one type (a list) is one node. What flame graphs and profiles show as
 * stacks.
 */
#ifndef HI_CENSUS_GRAPH_MERGED_H
#define HI_CENSUS_GRAPH_MERGED_H

#include "census/analysis/analysis.h"

enum { HI_MERGED_DEPTH = 64 }; /* deeper ones are summed in their parent */

struct hi_merged_node {
	uint32_t parent; /* UINT32_MAX: none */
	/* A type; from n_types on, n_types + (node - first_root) of a root, a kind or
	 * the super-root. */
	uint32_t key;
	uint32_t depth;
	uint64_t bytes, objects; /* its own: cost, of live objects */
};
struct hi_merged {
	struct hi_merged_node *nodes; /* parents before children; [0] the super-root */
	size_t count;
	uint64_t cut_objects, cut_bytes; /* summed in a parent of another type */
};

/* Makes the merged tree of all live objects. The arguments are borrowed during the call
 * only. *ret: hi_merged_destroy(). HI_NO_MEMORY. */
enum hi_status hi_merged_make(const struct hi_graph *g, const struct hi_reach *reach,
			      const struct hi_dominators *d, struct hi_merged **ret,
			      struct hi_error *err);
/* Frees the tree; NULL is fine. */
void hi_merged_destroy(struct hi_merged *m);
/* Bytes of each node and all below it; freed by the caller. NULL: out of memory. */
uint64_t *hi_merged_below(const struct hi_merged *m);
/* Returns the key of a node: hi_merged_node.key. */
static inline uint32_t hi_merged_key(const struct hi_graph *g, hi_node node)
{
	return node < g->n_objects ? g->objects->type[node]
				   : g->n_types + (node - g->first_root);
}
/* "server", "globals", "struct dict", "(untyped)", "(all)"; hostile. */
const char *hi_merged_name(const struct hi_graph *g, uint32_t key);

#endif
