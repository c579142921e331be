/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The top of the dominator tree with like siblings made one: "->sessions 1,000 × struct
 * session 1.3 MiB". `retained` lists it, and pictures of one census show it.
 *
 *	struct hi_field_reader fields = { … };	(session: hi_edge_text_fields)
 *	struct hi_retained_limits limits = {.depth = 6, .tops = 15, .children = 5,
 *					    .share = 0.01};
 *	struct hi_retained_tree *tree;
 *	status = hi_retained_tree_make(graph, reach, dominators, &fields, &limits, &tree,
 *				       err);
 *	for (uint32_t n = 0; n < tree->nodes[at].n_children; n++)
 *		… tree->nodes[tree->nodes[at].first_child + n] …
 *	hi_retained_tree_destroy(tree);
 *
 * In each node, bytes = own + bytes of its children; the last child may be the rest
 * (HI_RETAINED_REST). Only with a restriction (`reach` is of a part) bytes may be more.
 */
#ifndef HI_CENSUS_ANALYSIS_RETAINED_TREE_H
#define HI_CENSUS_ANALYSIS_RETAINED_TREE_H

#include "base/cleanup.h"
#include "census/analysis/groups.h"

enum hi_retained_sort {
	HI_RETAINED_ALL,     /* nodes[0]: the whole live heap */
	HI_RETAINED_ROOT,    /* one root variable: `example` */
	HI_RETAINED_OBJECTS, /* one object, or several of one type */
	HI_RETAINED_REST, /* the other children of the parent; no children of its own */
};

struct hi_retained_node {
	enum hi_retained_sort sort;
	uint32_t parent;		  /* index; UINT32_MAX: none */
	uint32_t depth;			  /* [0] has 0 */
	uint32_t first_child, n_children; /* adjacent, by bytes, rest last */
	uint32_t type;			  /* OBJECTS: of all of them; 0 untyped */
	/* How the parent refers to them: "->sessions", `["SESSIONS"]`, "[]" (elements);
	 * "" where no edge of it does, and directly below a root whose value is a
	 * pointer. A root's own name. For one object with a name of its own, the caller
	 * may write it here (a string that lives long enough). Hostile. */
	const char *label;
	hi_node example; /* the one that retains most; HI_NODE_NONE: ALL, REST */
	/* A member that an edge of `holder` leads to; HI_NODE_NONE: none. */
	hi_node held, holder;
	uint64_t groups; /* REST: groups in it; else 1 */
	uint64_t count;	 /* objects; of REST without those that they hold */
	uint64_t bytes;	 /* retained by all of them together */
	uint64_t own;	 /* cost of themselves; REST: all bytes */
	bool is_list; /* linked one after the other by one field: "list of 2,000 × T" */
};
struct hi_retained_tree {
	struct hi_retained_node *nodes; /* parents before their children */
	uint32_t count;
	uint64_t below_groups, below_bytes; /* under limits.tops_least */
	struct hi_arena arena;		    /* of the labels */
};

struct hi_retained_limits {
	uint32_t depth;	     /* >= 1: levels below ALL */
	uint64_t tops;	     /* children of ALL; the others are its rest */
	uint64_t tops_least; /* bytes; less is in no node (hi_retained_tree.below_groups)
			      */
	uint32_t children;   /* of every other node */
	double share; /* of its parent's bytes that a child has at least; the children of
		       * ALL are not measured */
	uint64_t least; /* bytes that any other node has at least */
	uint32_t nodes; /* at most so many and a rest for each; 0: 100,000 */
};

/*
 * Makes the tree. fields NULL: groups by type alone, without labels. Linear in the
 * objects of the groups that are shown, and independent of how deep the heap's tree is.
 * *ret: hi_retained_tree_destroy(). HI_NO_MEMORY, or what the reader returns.
 */
enum hi_status hi_retained_tree_make(const struct hi_graph *graph,
				     const struct hi_reach *reach,
				     const struct hi_dominators *dominators,
				     const struct hi_field_reader *fields,
				     const struct hi_retained_limits *limits,
				     struct hi_retained_tree **ret, struct hi_error *err);
void hi_retained_tree_destroy(struct hi_retained_tree *tree); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_retained_tree *, hi_retained_tree_destroy)

#endif
