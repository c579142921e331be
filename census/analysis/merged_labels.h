/* SPDX-License-Identifier: BSD-2-Clause */
/* The labels of all objects in the dominator tree: Note [Labels of merged nodes]
 * in merged.h. */
#ifndef HI_CENSUS_ANALYSIS_MERGED_LABELS_H
#define HI_CENSUS_ANALYSIS_MERGED_LABELS_H

#include "base/interner.h"
#include "base/vector.h"
#include "census/analysis/analysis.h"

/* Sources of the names of edges. */
struct hi_merged_labels {
	/* Fills texts with the names of the edges of a node, one for each edge of its
	 * row. They are valid until the next call. Hostile. */
	enum hi_status (*read)(void *arg, hi_node node, const char **texts,
			       struct hi_error *err);
	/* Fills texts with the names of n objects that no single variable holds: paths
	 * from a root. They are valid until the tree is made. Hostile. NULL: no names. */
	enum hi_status (*name_tops)(void *arg, const hi_node *nodes, size_t n,
				    const char **texts, struct hi_error *err);
	void *arg;
};

/* The share of the heap, 1/N, from which on a node has a name of its own. */
enum { HI_MERGED_WORTH_A_NAME = 200 };
static inline bool hi_merged_is_worth_a_name(const struct hi_graph *g,
					     const struct hi_dominators *d, hi_node node)
{
	return d->retained[node] > d->retained[g->super_root] / HI_MERGED_WORTH_A_NAME;
}

struct hi_merged_label {
	uint32_t folded; /* the label without keys; its own number: it has none */
	uint32_t field;	 /* the first field of it; 0: not known yet, or none */
	uint32_t count;	 /* objects that have it */
};

struct hi_merged_labelling {
	struct hi_interner *names;		     /* borrowed */
	struct HI_VECTOR(struct hi_merged_label) of; /* by number - 1 */
	uint32_t *label; /* by node: a number in names; 0: "" */
};

/* Does the label begin with a field of a library's own: "->_M_nxt", "->__left_"? */
bool hi_merged_is_library_field(const char *label);
/* Reads the labels of all nodes. ret is zeroed but for its names;
 * hi_merged_labelling_free(), also on failure. */
enum hi_status hi_merged_label_all(const struct hi_graph *g,
				   const struct hi_dominators *d,
				   const struct hi_merged_labels *labels,
				   struct hi_merged_labelling *ret, struct hi_error *err);
void hi_merged_labelling_free(struct hi_merged_labelling *labelling);

#endif
