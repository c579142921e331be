/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The deep profile: the cost of each function in each calling context, by itself and with
 * all that it calls. The definitions are those of Mercury's deep profiler; its names are
 * in brackets.
 *
 * A *node* is a function in a calling context [ProcDynamic], an *edge* a call of one node
 * by another at one call site [CallSiteDynamic], a *clique* a set of nodes that call each
 * other in a circle. A recursive call leads back to the node that is active, so that a
 * stack of any depth has few nodes. Costs are those of the allocations at the end of
 * stacks: *own* costs of an edge are those in its callee when it was called this way;
 * *desc* (descendants) are those in what that has called.
 *
 * Pure: functions and call sites are numbers of the caller. A call site belongs to one
 * function. Function 0 is the root, which calls the outermost function of each stack at
 * site 0.
 *
 * Note [Canonical folding]
 *
 * Mercury lets a call lead to the active node of its callee, or else to the node that the
 * same call has led to before. Which one it is depends on the order of calls, and one
 * function may have several nodes in a clique. Here the graph is the coarsest tree of
 * stacks with these properties, which depend on no order:
 *
 *	1. the same call (node, call site, callee) leads to the same node;
 *	2. a function that is on the stack already is the node that it is there;
 *	3. a function has at most one node in a clique.
 *
 * Each of these only ever unites nodes, and to unite some never takes the reason away to
 * unite others, so that the result is the same whichever comes first. Each clique is
 * entered by exactly one edge: that holds for a tree, and each step keeps it. Two nodes
 * that are united by 1 have the same caller; if one of them is in the caller's clique,
 * all of the other's clique reaches it and is reached from it. By 2, all cliques along the
 * stack between the two become one, which is entered where the outermost of them was.
 */
#ifndef HI_CENSUS_DEEP_DEEP_H
#define HI_CENSUS_DEEP_DEEP_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

/* Kinds of cost. A name with BYTES counts bytes. */
enum hi_deep_cost {
	HI_DEEP_CALLS,	    /* of the allocator: exits + fails + exceptions */
	HI_DEEP_EXITS,	    /* that returned memory */
	HI_DEEP_FAILS,	    /* that returned none */
	HI_DEEP_REDOS,	    /* reallocations that moved a block, among the exits */
	HI_DEEP_EXCEPTIONS, /* that were left by an exception */
	HI_DEEP_TICKS,	    /* timer samples */
	HI_DEEP_CALLSEQS,   /* [callseqs] calls of all kinds; only of Mercury */
	HI_DEEP_ALLOCS,	    /* objects that were allocated */
	HI_DEEP_BYTES,	    /* of them */
	HI_DEEP_LIVE,	    /* objects that are live */
	HI_DEEP_LIVE_BYTES,
	HI_DEEP_LEAKED_BYTES,
	/* Parts of the live bytes, by biographies, if those prove use or no use: */
	HI_DEEP_USE_BYTES,  /* it was used in the last period */
	HI_DEEP_DRAG_BYTES, /* it was used, and is not any more */
	HI_DEEP_VOID_BYTES, /* it is not used, and no use of it was seen */
	/* Parts of the live bytes, by contents: */
	HI_DEEP_COPIED_BYTES,	/* copies of what another object has, too */
	HI_DEEP_SPARE_BYTES,	/* that a request for the used bytes alone would save */
	HI_DEEP_RETAINED_BYTES, /* kept by the topmost dominators among these objects */
	HI_DEEP_COSTS
};
struct hi_deep_costs {
	uint64_t of[HI_DEEP_COSTS];
};
static inline void hi_deep_costs_add(struct hi_deep_costs *sum,
				     const struct hi_deep_costs *more)
{
	for (int i = 0; i < HI_DEEP_COSTS; i++)
		sum->of[i] += more->of[i];
}

/* A frame: the function, and the call site in it at which it calls the next one, or the
 * allocator. */
struct hi_deep_frame {
	uint32_t function, site;
};

struct hi_deep;
/* *ret: hi_deep_destroy(). HI_NO_MEMORY. */
enum hi_status hi_deep_create(struct hi_deep **ret, struct hi_error *err);
void hi_deep_destroy(struct hi_deep *deep); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_deep *, hi_deep_destroy)

/*
 * Adds the costs of a stack, outermost frame first, at least one. Functions are not 0.
 * HI_NO_MEMORY: nothing more may be added. HI_LIMIT: 2^31 calls, or more functions.
 */
enum hi_status hi_deep_add(struct hi_deep *deep, const struct hi_deep_frame *frames,
			   size_t n, const struct hi_deep_costs *costs,
			   struct hi_error *err);

/* ---- the graph ---- */

#define HI_DEEP_NONE UINT32_MAX

struct hi_deep_node {
	uint32_t function;
	uint32_t clique;
	/* Its edges, and the calls of the allocator in it: both by call site. */
	uint32_t first_edge, n_edges, first_leaf, n_leaves;
	struct hi_deep_costs own;  /* of all edges to it */
	struct hi_deep_costs desc; /* of all edges out of its clique, with theirs */
};
struct hi_deep_edge {
	uint32_t caller, site, callee;
	/* desc: only where it enters a clique; within a clique 0. */
	struct hi_deep_costs own, desc;
};
/* Calls of the allocator at one place of a node. */
struct hi_deep_leaf {
	uint32_t node, site;
	struct hi_deep_costs costs;
};
struct hi_deep_clique {
	uint32_t first_member, n_members; /* index of `members` */
	uint32_t entry;			  /* edge; HI_DEEP_NONE: of the root */
};

/*
 * All of it. Node 0 is the root. Nodes have numbers in the order of a walk from there
 * that follows edges by call site and function, so that the same stacks have the same
 * numbers. Edges are sorted by caller, call site and the callee's function. Cliques come
 * bottom-up: after all that their members call.
 */
struct hi_deep_graph {
	struct hi_deep_node *nodes;
	struct hi_deep_edge *edges;
	struct hi_deep_leaf *leaves;
	struct hi_deep_clique *cliques;
	uint32_t *members; /* nodes, by clique, in ascending order */
	uint32_t n_nodes, n_edges, n_leaves, n_cliques;
	struct hi_deep_costs total;
};
/* *ret: hi_deep_graph_free(). HI_NO_MEMORY. More may be added later. */
enum hi_status hi_deep_graph(struct hi_deep *deep, struct hi_deep_graph *ret,
			     struct hi_error *err);
void hi_deep_graph_free(struct hi_deep_graph *graph);

/* Adds another graph, whose functions and call sites are numbered likewise: as if its
 * stacks had been added. Errors as of hi_deep_add(). */
enum hi_status hi_deep_merge(struct hi_deep *deep, const struct hi_deep_graph *other,
			     struct hi_error *err);

#endif
