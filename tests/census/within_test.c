/* SPDX-License-Identifier: BSD-2-Clause */
/* Restrictions to what some nodes lead to, against brute force on random graphs. */
#include <stdlib.h>

#include "census/analysis/subgraph.h"
#include "tests/census/naive.h"

/* Up to three nodes, objects and root variables. */
static size_t draw_starts(const struct naive *n, hi_node *starts, uint64_t *set_ret)
{
	size_t count = random_below(&random_state, 4);

	*set_ret = 0;
	for (size_t i = 0; i < count; i++) {
		starts[i] = random_below(&random_state, n->n_objects + n->n_roots);
		*set_ret |= BIT(starts[i]);
	}
	return count;
}

/* What a node has of the live objects in `set`. */
static uint64_t retained_of(const struct naive *n, hi_node node, uint64_t set)
{
	return set_cost(n, n->dominated[node] & n->any & set, false);
}

static void check_restriction(uint32_t max_objects)
{
	static struct naive n;
	OWN(graph) *g = random_graph(&n, max_objects);
	OWN(reach) *r = reach_of(g), *shown = NULL;
	OWN(dominators) *d = NULL;
	HI_GUARD(free) uint64_t *bits = NULL;
	HI_GUARD(free) uint64_t *retained = NULL;
	struct hi_dominators view;
	hi_node starts[4];
	uint64_t set;
	size_t count = draw_starts(&n, starts, &set);
	struct hi_error err;

	naive_reach(&n);
	naive_dominators(&n);
	d = dominators_of(g, r);
	set = closure(&n, set, HI_GRADE_CONSERVATIVE, 0);
	HI_ASSERT_OK(hi_within_mark(g, starts, count, &bits, &err), &err);
	for (hi_node i = 0; i < n.n_nodes; i++)
		HI_ASSERT_EQ(HAS(set, i), hi_bit(bits, i));
	HI_ASSERT_OK(hi_within_reach(g, r, bits, false, &shown, &err), &err);
	HI_ASSERT_EQ(set_cost(&n, set & n.any, false), shown->live_bytes);
	HI_ASSERT_OK(hi_within_dominators(g, shown, d, &view, &err), &err);
	retained = view.retained;
	for (hi_node i = 0; i < n.n_nodes; i++)
		HI_ASSERT_EQ(retained_of(&n, i, set), retained[i]);
	HI_ASSERT_EQ(shown->live_bytes, retained[n.super]);
}

HI_TEST(census_within, restrictions_equal_brute_force_on_random_graphs)
{
	for (uint64_t seed = 1; seed <= 4000; seed++) {
		random_state = seed * 0x9e3779b97f4a7c15;
		check_restriction(seed % 4 ? 12 : MAX_OBJECTS);
	}
}
