/* SPDX-License-Identifier: BSD-2-Clause */
/* The graph of a deep profile while stacks are added. */
#ifndef HI_CENSUS_DEEP_DEEP_INTERNAL_H
#define HI_CENSUS_DEEP_DEEP_INTERNAL_H

#include "base/table.h"
#include "base/vector.h"
#include "census/deep/deep.h"

/* Nodes that were united are one class, a tree whose root represents it; likewise the
 * nodes of a clique. The data of a class is at its root. */
struct hi_deep_class {
	uint32_t parent, clique_parent; /* of a root: itself */
	uint32_t function;		/* index of functions */
	/* Lists of edges and leaves: what is out of this class. */
	uint32_t first_edge, last_edge, first_leaf, last_leaf, n_out;
	/* List of the nodes of its clique, at the root of that. */
	uint32_t first_member, last_member, n_members, next_member;
};

struct hi_deep_building_edge {
	uint32_t caller, target, callee; /* classes, not always their roots */
	uint32_t next;
	uint32_t into; /* that it was united with; HI_DEEP_NONE: it stands for itself */
	struct hi_deep_costs own;
};

struct hi_deep_building_leaf {
	uint32_t node, site, next;
	bool is_united; /* with another one */
	struct hi_deep_costs costs;
};

/* A call site and what it calls. */
struct hi_deep_target {
	uint32_t site, function; /* index of functions */
};

struct hi_deep_function {
	uint32_t number; /* the caller's */
	/* Its place in the stack that is being added: see stamp. */
	uint32_t stamp, node, position;
};

struct hi_deep_pair {
	uint32_t a, b;
};

struct hi_deep {
	struct HI_VECTOR(struct hi_deep_class) nodes;
	struct HI_VECTOR(struct hi_deep_building_edge) edges;
	struct HI_VECTOR(struct hi_deep_building_leaf) leaves;
	struct HI_VECTOR(struct hi_deep_target) targets;
	struct HI_VECTOR(struct hi_deep_function) functions;
	struct hi_table function_of; /* number -> index */
	struct hi_table target_of;   /* call site and function -> index */
	struct hi_table edge_of;     /* class and target -> index */
	struct hi_table leaf_of;     /* class and call site -> index */
	struct hi_table node_of;     /* clique and function -> class */
	struct HI_VECTOR(struct hi_deep_pair) to_unite;
	/* Positions of the stack at which cliques begin, and its nodes. */
	struct HI_VECTOR(uint32_t) begins, stack;
	uint32_t stamp;
};

/* Returns the representative of the class of a node, and of the clique of one. */
uint32_t hi_deep_class_of(struct hi_deep *deep, uint32_t node);
uint32_t hi_deep_clique_of(struct hi_deep *deep, uint32_t node);

/* Computes `desc` of all nodes, where it is 0, and of edges that enter cliques, from the
 * own costs of both. */
void hi_deep_propagate(struct hi_deep_graph *graph);

/* The node's edge at a call site to a function; HI_DEEP_NONE: there is none. */
uint32_t hi_deep_edge_at(const struct hi_deep_graph *graph, uint32_t node, uint32_t site,
			 uint32_t function);
/* Fills, by node of a graph, which node of another one it is that has all its calls, with
 * the same numbers of functions and call sites. */
void hi_deep_find_nodes(const struct hi_deep_graph *from, const struct hi_deep_graph *in,
			uint32_t *node_of);

#endif
