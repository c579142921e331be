/* SPDX-License-Identifier: BSD-2-Clause */
/* How deep recursion went: drawn, and of random stacks against counting by hand. */
#include "census/deep/depths.h"

#include "tests/census/deep_stacks.h"

enum { MAIN = 1, PARSE, EXPR, LOAD, WALK };
enum { A = 1, D, M0, B, M2, C, M1, E, M3, F, R, M4 };
enum { SETS = 5000 };

static const struct deep_stack drawn[] = {
	{100, 10, 2, {{MAIN, A}, {PARSE, M2}}},
	{40, 4, 3, {{MAIN, A}, {PARSE, B}, {EXPR, M1}}},
	{60, 6, 4, {{MAIN, A}, {PARSE, B}, {EXPR, C}, {PARSE, M2}}},
	{20, 2, 5, {{MAIN, A}, {PARSE, B}, {EXPR, C}, {PARSE, B}, {EXPR, M1}}},
	{500, 1, 2, {{MAIN, D}, {LOAD, M3}}},
	{30, 3, 3, {{MAIN, D}, {LOAD, E}, {PARSE, M2}}},
	{7, 1, 1, {{MAIN, M0}}},
	{80, 5, 4, {{MAIN, F}, {WALK, R}, {WALK, R}, {WALK, M4}}},
	{8, 1, 4, {{MAIN, F}, {WALK, R}, {WALK, E}, {LOAD, M3}}},
};
enum { N_DRAWN = sizeof(drawn) / sizeof(*drawn) };

static struct hi_deep_depths count_depths(const struct hi_deep_graph *g,
					  const struct deep_stack *stacks, size_t n)
{
	struct hi_deep_depth_maker *maker;
	struct hi_deep_depths depths;
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_depth_maker_create(g, &maker, &err), &err);
	for (size_t i = 0; i < n; i++) {
		struct hi_deep_costs costs = costs_of_stack(&stacks[i]);

		HI_ASSERT_OK(hi_deep_depth_maker_add(maker, stacks[i].frames, stacks[i].n,
						     &costs, &err),
			     &err);
	}
	hi_deep_depth_maker_finish(maker, &depths);
	hi_deep_depth_maker_destroy(maker);
	return depths;
}

/* The clique that a call of the function from another function enters. */
static uint32_t clique_entered(const struct hi_deep_graph *g, uint32_t function)
{
	for (uint32_t i = 0; i < g->n_cliques; i++)
		if (g->cliques[i].entry != HI_DEEP_NONE && g->cliques[i].n_members &&
		    g->nodes[g->edges[g->cliques[i].entry].callee].function == function &&
		    g->nodes[g->edges[g->cliques[i].entry].caller].function == MAIN)
			return i;
	HI_ASSERT_MSG(false, "no clique of %u", function);
	return 0;
}

static void expect_depths(const struct hi_deep_depths *d, uint32_t clique,
			  const struct hi_deep_depth *wanted, size_t n_wanted)
{
	size_t n;
	const struct hi_deep_depth *rows = hi_deep_depths_of(d, clique, &n);

	HI_ASSERT_EQ(n_wanted, n);
	for (size_t i = 0; i < n; i++) {
		HI_ASSERT_EQ(wanted[i].depth, rows[i].depth);
		HI_ASSERT_EQ(wanted[i].allocs, rows[i].allocs);
		HI_ASSERT_EQ(wanted[i].bytes, rows[i].bytes);
	}
}

HI_TEST(deep_depths, are_those_of_the_worked_example)
{
	static const struct hi_deep_depth parse[] = {
		{0, 1, 10, 100}, {0, 2, 4, 40}, {0, 3, 6, 60}, {0, 4, 2, 20}};
	static const struct hi_deep_depth walk[] = {{0, 2, 1, 8}, {0, 3, 5, 80}};
	struct hi_deep_graph g = graph_of_stacks(drawn, N_DRAWN);
	struct hi_deep_depths d = count_depths(&g, drawn, N_DRAWN);

	expect_depths(&d, clique_entered(&g, PARSE), parse, 4);
	expect_depths(&d, clique_entered(&g, WALK), walk, 2);
	expect_depths(&d, clique_entered(&g, LOAD), NULL, 0);
	HI_ASSERT_EQ(6, d.n);
	hi_deep_depths_free(&d);
	hi_deep_graph_free(&g);
}

HI_TEST(deep_depths, a_stack_that_is_not_in_the_graph_is_refused)
{
	struct hi_deep_graph g = graph_of_stacks(drawn, 1);
	struct hi_deep_costs costs = {};
	struct hi_deep_depth_maker *maker;
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_depth_maker_create(&g, &maker, &err), &err);
	HI_ASSERT_STATUS(HI_BAD_DATA, hi_deep_depth_maker_add(maker, drawn[1].frames,
							      drawn[1].n, &costs, &err));
	hi_deep_depth_maker_destroy(maker);
	hi_deep_graph_free(&g);
}

/* All rows of a recursive clique are the call that enters it. */
static void check_depth_sums(const struct hi_deep_graph *g,
			     const struct hi_deep_depths *d)
{
	for (uint32_t i = 0; i < g->n_cliques; i++) {
		const struct hi_deep_edge *entry = &g->edges[g->cliques[i].entry];
		uint64_t allocs = 0, bytes = 0;
		size_t n;
		const struct hi_deep_depth *rows = hi_deep_depths_of(d, i, &n);

		if (g->cliques[i].n_members > 1)
			HI_ASSERT(n > 0);
		for (size_t k = 0; k < n; k++) {
			allocs += rows[k].allocs;
			bytes += rows[k].bytes;
			HI_ASSERT(rows[k].depth <= DEEP_FRAMES);
			HI_ASSERT(!k || rows[k].depth > rows[k - 1].depth);
		}
		if (!n)
			continue;
		HI_ASSERT_EQ(entry->own.of[HI_DEEP_ALLOCS] +
				     entry->desc.of[HI_DEEP_ALLOCS],
			     allocs);
		HI_ASSERT_EQ(entry->own.of[HI_DEEP_BYTES] + entry->desc.of[HI_DEEP_BYTES],
			     bytes);
	}
}

/* The graph of two sets together, as a merge makes it. */
static struct hi_deep_graph merge_two_graphs(const struct hi_deep_graph *a,
					     const struct hi_deep_graph *b)
{
	struct hi_deep_graph merged;
	struct hi_deep *deep;
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_create(&deep, &err), &err);
	HI_ASSERT_OK(hi_deep_merge(deep, a, &err), &err);
	HI_ASSERT_OK(hi_deep_merge(deep, b, &err), &err);
	HI_ASSERT_OK(hi_deep_graph(deep, &merged, &err), &err);
	hi_deep_destroy(deep);
	return merged;
}

/* What the merge says is what all stacks together say. Returns how many rows it knows.
 */
static size_t check_merged_depths(const struct deep_stack_set *set, size_t n_first)
{
	const struct deep_stack *second = set->of + n_first;
	struct hi_deep_graph a = graph_of_stacks(set->of, n_first);
	struct hi_deep_graph b = graph_of_stacks(second, set->n - n_first);
	struct hi_deep_graph merged = merge_two_graphs(&a, &b);
	struct hi_deep_depths of_a = count_depths(&a, set->of, n_first);
	struct hi_deep_depths of_b = count_depths(&b, second, set->n - n_first);
	struct hi_deep_depths all = count_depths(&merged, set->of, set->n), got;
	size_t known, n;
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_depths_merge((struct hi_deep_with_depths){&a, &of_a},
					  (struct hi_deep_with_depths){&b, &of_b},
					  &merged, &got, &err),
		     &err);
	for (uint32_t i = 0; i < merged.n_cliques; i++) {
		const struct hi_deep_depth *wanted = hi_deep_depths_of(&all, i, &n);

		(void)hi_deep_depths_of(&got, i, &known);
		if (known)
			expect_depths(&got, i, wanted, n);
	}
	known = got.n;
	hi_deep_depths_free(&of_a);
	hi_deep_depths_free(&of_b);
	hi_deep_depths_free(&all);
	hi_deep_depths_free(&got);
	hi_deep_graph_free(&a);
	hi_deep_graph_free(&b);
	hi_deep_graph_free(&merged);
	return known;
}

HI_TEST(deep_depths, depths_of_random_stacks_add_up)
{
	size_t known = 0;

	for (uint64_t seed = 0; seed < SETS; seed++) {
		struct deep_stack_set set = draw_deep_stacks(seed);
		struct hi_deep_graph g = graph_of_stacks(set.of, set.n);
		struct hi_deep_depths d = count_depths(&g, set.of, set.n);

		check_depth_sums(&g, &d);
		known += check_merged_depths(&set, set.n / 2);
		hi_deep_depths_free(&d);
		hi_deep_graph_free(&g);
	}
	HI_ASSERT_MSG(known > SETS / 10, "only %zu rows were known", known);
}
