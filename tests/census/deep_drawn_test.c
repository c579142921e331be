/* SPDX-License-Identifier: BSD-2-Clause */
/* The worked example of the deep profile: every figure is drawn. */
#include "tests/census/deep_stacks.h"

enum { MAIN = 1, PARSE, EXPR, LOAD };
/* Call sites, by the function that they are in. */
enum { A = 1, D, M0, B, M2, C, M1, E, M3 };

static const struct deep_stack drawn[] = {
	{100, 10, 2, {{MAIN, A}, {PARSE, M2}}},
	{40, 4, 3, {{MAIN, A}, {PARSE, B}, {EXPR, M1}}},
	{60, 6, 4, {{MAIN, A}, {PARSE, B}, {EXPR, C}, {PARSE, M2}}},
	{20, 2, 5, {{MAIN, A}, {PARSE, B}, {EXPR, C}, {PARSE, B}, {EXPR, M1}}},
	{500, 1, 2, {{MAIN, D}, {LOAD, M3}}},
	{30, 3, 3, {{MAIN, D}, {LOAD, E}, {PARSE, M2}}},
	{7, 1, 1, {{MAIN, M0}}},
};
enum { N_DRAWN = sizeof(drawn) / sizeof(*drawn) };

/* Nodes, by the walk. */
enum { N_ROOT, N_MAIN, N_PARSE, N_EXPR, N_LOAD, N_PARSE_OF_LOAD, N_NODES };

static void expect_costs(uint64_t bytes, uint64_t count,
			 const struct hi_deep_costs *costs)
{
	HI_ASSERT_EQ(bytes, costs->of[HI_DEEP_BYTES]);
	HI_ASSERT_EQ(count, costs->of[HI_DEEP_ALLOCS]);
}

HI_TEST(deep_drawn, recursion_leads_back_to_the_active_node)
{
	static const struct {
		uint32_t caller, site, callee;
		uint64_t own[2], desc[2];
	} wanted[] = {
		{N_ROOT, 0, N_MAIN, {7, 1}, {750, 26}},
		{N_MAIN, A, N_PARSE, {100, 10}, {120, 12}},
		{N_MAIN, D, N_LOAD, {500, 1}, {30, 3}},
		{N_PARSE, B, N_EXPR, {60, 6}, {0, 0}},
		{N_EXPR, C, N_PARSE, {60, 6}, {0, 0}},
		{N_LOAD, E, N_PARSE_OF_LOAD, {30, 3}, {0, 0}},
	};
	struct hi_deep_graph g = graph_of_stacks(drawn, N_DRAWN);

	HI_ASSERT_EQ(N_NODES, g.n_nodes);
	HI_ASSERT_EQ(sizeof(wanted) / sizeof(*wanted), g.n_edges);
	for (uint32_t i = 0; i < g.n_edges; i++) {
		const struct hi_deep_edge *e = &g.edges[i];

		HI_ASSERT_EQ(wanted[i].caller, e->caller);
		HI_ASSERT_EQ(wanted[i].site, e->site);
		HI_ASSERT_EQ(wanted[i].callee, e->callee);
		expect_costs(wanted[i].own[0], wanted[i].own[1], &e->own);
		expect_costs(wanted[i].desc[0], wanted[i].desc[1], &e->desc);
	}
	expect_costs(757, 27, &g.total);
	hi_deep_graph_free(&g);
}

HI_TEST(deep_drawn, cliques_come_after_their_callees)
{
	static const struct {
		uint32_t n, members[2];
	} wanted[] = {{2, {N_PARSE, N_EXPR}},
		      {1, {N_PARSE_OF_LOAD}},
		      {1, {N_LOAD}},
		      {1, {N_MAIN}},
		      {1, {N_ROOT}}};
	struct hi_deep_graph g = graph_of_stacks(drawn, N_DRAWN);

	HI_ASSERT_EQ(sizeof(wanted) / sizeof(*wanted), g.n_cliques);
	for (uint32_t i = 0; i < g.n_cliques; i++) {
		const struct hi_deep_clique *c = &g.cliques[i];

		HI_ASSERT_EQ(wanted[i].n, c->n_members);
		for (uint32_t k = 0; k < c->n_members; k++)
			HI_ASSERT_EQ(wanted[i].members[k],
				     g.members[c->first_member + k]);
	}
	HI_ASSERT_EQ(A, g.edges[g.cliques[0].entry].site);
	HI_ASSERT_EQ(HI_DEEP_NONE, g.cliques[4].entry);
	hi_deep_graph_free(&g);
}

HI_TEST(deep_drawn, functions_have_the_sums_of_their_nodes)
{
	static const uint64_t own[] =
		{[MAIN] = 7, [PARSE] = 190, [EXPR] = 60, [LOAD] = 500},
			      desc[] = {750, [MAIN] = 750, [LOAD] = 30};
	struct hi_deep_graph g = graph_of_stacks(drawn, N_DRAWN);
	uint64_t sums[5] = {};

	for (uint32_t i = 0; i < g.n_nodes; i++)
		sums[g.nodes[i].function] += g.nodes[i].own.of[HI_DEEP_BYTES];
	for (uint32_t f = MAIN; f <= LOAD; f++)
		HI_ASSERT_EQ(own[f], sums[f]);
	HI_ASSERT_EQ(757, g.nodes[N_ROOT].desc.of[HI_DEEP_BYTES]);
	for (uint32_t i = N_MAIN; i < g.n_nodes; i++)
		HI_ASSERT_EQ(g.nodes[i].function == PARSE ? 0 : desc[g.nodes[i].function],
			     g.nodes[i].desc.of[HI_DEEP_BYTES]);
	hi_deep_graph_free(&g);
}

HI_TEST(deep_drawn, allocations_are_at_their_place_in_a_node)
{
	struct hi_deep_graph g = graph_of_stacks(drawn, N_DRAWN);
	const struct hi_deep_node *parse = &g.nodes[N_PARSE];

	HI_ASSERT_EQ(1, parse->n_leaves);
	HI_ASSERT_EQ(M2, g.leaves[parse->first_leaf].site);
	expect_costs(160, 16, &g.leaves[parse->first_leaf].costs);
	HI_ASSERT_EQ(5, g.n_leaves);
	hi_deep_graph_free(&g);
}

/* Function 1 calls 2, which calls 3; 1 also calls 3 itself. Both ways lead back to 1. */
HI_TEST(deep_drawn, a_function_is_once_in_a_clique_in_any_order)
{
	static const struct deep_stack stacks[] = {
		{1, 1, 4, {{1, 1}, {2, 2}, {3, 3}, {1, 4}}},
		{2, 1, 3, {{1, 5}, {3, 3}, {1, 4}}},
		{4, 1, 5, {{1, 1}, {2, 2}, {3, 6}, {4, 7}, {2, 8}}},
	};
	struct deep_stack turned[3] = {stacks[2], stacks[1], stacks[0]};
	struct hi_deep_graph g = graph_of_stacks(stacks, 3);
	struct hi_deep_graph h = graph_of_stacks(turned, 3);

	HI_ASSERT_EQ(5, g.n_nodes); /* the root, and each function once */
	HI_ASSERT_EQ(2, g.n_cliques);
	HI_ASSERT_EQ(g.n_nodes, h.n_nodes);
	HI_ASSERT_EQ(g.n_edges, h.n_edges);
	HI_ASSERT(memcmp(g.edges, h.edges, g.n_edges * sizeof(*g.edges)) == 0);
	hi_deep_graph_free(&g);
	hi_deep_graph_free(&h);
}
