/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small random graphs as lists, and what is computed from a graph by brute force over
 * these lists: reachability by repetition, dominators by taking a node away. Sets of
 * nodes are bits of a word.
 */
#ifndef HI_TESTS_CENSUS_NAIVE_H
#define HI_TESTS_CENSUS_NAIVE_H

#include "tests/census/graphs.h"
#include "tests/support/random.h"

enum { MAX_OBJECTS = 40, MAX_ROOTS = 5, MAX_NODES = 64, MAX_EDGES = 256, TYPES = 4 };

static uint64_t random_state;
struct edge_spec {
	hi_node from, to;
	uint8_t grade;
};

struct naive {
	struct object_spec objects[MAX_OBJECTS];
	enum hi_root_kind kinds[MAX_ROOTS];
	enum hi_root_rank ranks[MAX_ROOTS]; /* as given; naive_rank() */
	struct edge_spec edges[MAX_EDGES];  /* root and pseudo edges included */
	uint32_t n_objects, n_roots, n_nodes, n_edges, super;
	uint64_t exact, any;	       /* bit per node */
	uint64_t extra;		       /* internal objects that no root reaches */
	uint64_t dominated[MAX_NODES]; /* by node, itself included */
};
#define BIT(i) (1ull << (i))
#define HAS(set, i) ((set) >> (i)&1)

static inline void naive_edge(struct naive *n, hi_node from, hi_node to, uint8_t grade)
{
	HI_ASSERT(n->n_edges < MAX_EDGES);
	n->edges[n->n_edges++] = (struct edge_spec){from, to, grade};
}

static inline uint8_t random_grade(uint32_t mode)
{
	if (mode == 0)
		return HI_GRADE_EXACT;
	if (mode == 1)
		return random_below(&random_state, 2) ? HI_GRADE_EXACT
						      : HI_GRADE_CONSERVATIVE;
	return (uint8_t)random_below(&random_state, HI_GRADE_WEAK + 1);
}

static inline struct hi_graph *random_graph(struct naive *n, uint32_t max_objects)
{
	static const uint8_t evidence[] = {0, 1, 3, 4, 6, 7};
	uint32_t mode = random_below(&random_state, 4),
		 density = 1 + random_below(&random_state, 6),
		 internal = random_below(&random_state, 3);
	struct hi_graph_builder *b;

	memset(n, 0, sizeof(*n));
	n->n_objects = 3 + random_below(&random_state, max_objects - 2);
	n->n_roots = random_below(&random_state, MAX_ROOTS);
	n->super = n->n_objects + n->n_roots + HI_ROOT_KINDS;
	n->n_nodes = n->super + 1;
	for (uint32_t i = 0; i < n->n_objects; i++) {
		n->objects[i].cost = 8 * random_below(&random_state, 20);
		n->objects[i].type = random_below(&random_state, TYPES);
		n->objects[i].flags = evidence[random_below(&random_state, 6)];
		if (internal == 0 && random_below(&random_state, 4) == 0)
			n->objects[i].flags |= HI_OBJECT_INTERNAL;
	}
	b = builder_of(n->objects, n->n_objects, TYPES);
	for (uint32_t i = 0; i < n->n_roots; i++) {
		n->kinds[i] =
			(enum hi_root_kind)random_below(&random_state, HI_ROOT_KINDS);
		n->ranks[i] = (enum hi_root_rank)(
			random_below(&random_state, 2)
				? random_below(&random_state, HI_RANKS)
				: 0);
		HI_ASSERT_EQ(i, ranked_root(b, n->kinds[i], n->ranks[i]));
		for (uint32_t k = random_below(&random_state, 4); k; k--) {
			hi_node to = random_below(&random_state, n->n_objects);
			uint8_t grade = random_grade(mode);

			root_edge(b, i, to, grade);
			naive_edge(n, n->n_objects + i, to, grade);
		}
	}
	for (uint32_t k = random_below(&random_state, n->n_objects * density / 2 + 2); k;
	     k--) {
		hi_node from = random_below(&random_state, n->n_objects),
			to = random_below(&random_state, n->n_objects);
		uint8_t grade = random_grade(mode);

		edge(b, from, to, grade);
		naive_edge(n, from, to, grade);
	}
	for (uint32_t i = 0; i < n->n_roots; i++)
		naive_edge(n, n->n_objects + n->n_roots + n->kinds[i], n->n_objects + i,
			   HI_GRADE_EXACT);
	for (uint32_t k = 0; k < HI_ROOT_KINDS; k++)
		naive_edge(n, n->super, n->n_objects + n->n_roots + k, HI_GRADE_EXACT);
	return sealed(b);
}

/* The rank of root number i: what it was given, else that of its kind. */
static inline enum hi_root_rank naive_rank(const struct naive *n, uint32_t i)
{
	if (n->ranks[i] != HI_RANK_BY_KIND)
		return n->ranks[i];
	if (n->kinds[i] == HI_ROOT_UNTYPED || n->kinds[i] == HI_ROOT_REGISTER)
		return HI_RANK_NOBODY;
	return HI_RANK_PROGRAM;
}

static inline bool is_object(const struct naive *n, hi_node i)
{
	return i < n->n_objects;
}
static inline bool is_internal(const struct naive *n, hi_node i)
{
	return is_object(n, i) && n->objects[i].flags & HI_OBJECT_INTERNAL;
}
static inline uint64_t cost_of(const struct naive *n, hi_node i)
{
	return is_object(n, i) ? n->objects[i].cost : 0;
}
static inline uint64_t set_cost(const struct naive *n, uint64_t set, bool with_internal)
{
	uint64_t sum = 0;

	for (hi_node i = 0; i < n->n_objects; i++)
		if (HAS(set, i) && (with_internal || !is_internal(n, i)))
			sum += cost_of(n, i);
	return sum;
}

/* Nodes from `start` over edges of at most that grade, never entering `without`. */
static inline uint64_t closure(const struct naive *n, uint64_t start, int worst,
			       uint64_t without)
{
	uint64_t set = start & ~without, before;

	do {
		before = set;
		for (uint32_t e = 0; e < n->n_edges; e++)
			if (HAS(set, n->edges[e].from) && n->edges[e].grade <= worst &&
			    !HAS(without, n->edges[e].to))
				set |= BIT(n->edges[e].to);
	} while (set != before);
	return set;
}

static inline void naive_reach(struct naive *n)
{
	uint64_t any = closure(n, BIT(n->super), HI_GRADE_CONSERVATIVE, 0);

	for (hi_node i = 0; i < n->n_objects; i++)
		if (is_internal(n, i) && !HAS(any, i))
			n->extra |= BIT(i);
	n->any = closure(n, BIT(n->super) | n->extra, HI_GRADE_CONSERVATIVE, 0);
	n->exact = closure(n, BIT(n->super) | n->extra, HI_GRADE_INTERIOR, 0);
}

static inline bool in_flow(const struct naive *n, const struct edge_spec *e)
{
	if (!HAS(n->any, e->from) || e->grade == HI_GRADE_WEAK)
		return false;
	return !HAS(n->exact, e->to) ||
	       (HAS(n->exact, e->from) && e->grade <= HI_GRADE_INTERIOR);
}

/* The flow graph's nodes that can be reached without entering `without`. */
static inline uint64_t flow(const struct naive *n, uint64_t without)
{
	uint64_t set = (BIT(n->super) | n->extra) & ~without, before;

	if (!HAS(set, n->super))
		return 0;
	do {
		before = set;
		for (uint32_t e = 0; e < n->n_edges; e++)
			if (HAS(set, n->edges[e].from) && in_flow(n, &n->edges[e]) &&
			    !HAS(without, n->edges[e].to))
				set |= BIT(n->edges[e].to);
	} while (set != before);
	return set;
}

static inline void naive_dominators(struct naive *n)
{
	uint64_t all = flow(n, 0);

	HI_ASSERT_EQ(n->any, all);
	for (hi_node v = 0; v < n->n_nodes; v++)
		n->dominated[v] = HAS(all, v) ? all & ~flow(n, BIT(v)) : 0;
}

static inline hi_node naive_idom(const struct naive *n, hi_node w)
{
	hi_node best = HI_NODE_NONE;

	/* The strict dominator that dominates the fewest is the nearest. */
	for (hi_node v = 0; v < n->n_nodes; v++)
		if (v != w && HAS(n->dominated[v], w) &&
		    (best == HI_NODE_NONE || HAS(n->dominated[best], v)))
			best = v;
	return best;
}

#endif
