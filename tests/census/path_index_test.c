/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Searches that share an index, against searches that measure all distances anew, which
 * oracle_test.c holds against all ways that there are.
 */
#include "census/analysis/path_index.h"
#include "tests/census/naive.h"
#include "tests/census/snapshots.h"

static struct hi_path_index *index_of(const struct hi_graph *g, unsigned threads)
{
	struct hi_path_index *index = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_path_index_create(g, threads, &index, &err), &err);
	return index;
}

static struct hi_paths *search(const struct hi_graph *g, struct hi_path_index *index,
			       const hi_node *targets, size_t n, size_t k,
			       enum hi_grade worst)
{
	struct hi_paths_wanted wanted = {
		.k = k, .most = 2 * k, .worst = worst, .index = index};
	struct hi_paths *paths = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_paths_search(g, targets, n, &wanted, &paths, &err), &err);
	return paths;
}

static bool are_equal_paths(const struct hi_path *a, const struct hi_path *b)
{
	return a->length == b->length && a->worst == b->worst &&
	       (!a->length ||
		memcmp(a->nodes, b->nodes, a->length * sizeof(*a->nodes)) == 0);
}

static void check_same(const struct hi_paths *a, const struct hi_paths *b)
{
	HI_ASSERT_EQ(a->n_paths, b->n_paths);
	HI_ASSERT_EQ(a->more, b->more);
	for (size_t i = 0; i < a->n_paths; i++)
		HI_ASSERT(are_equal_paths(&a->paths[i], &b->paths[i]));
}

/* So many times the same targets are measured anew: more of them than an index corrects
 * its distances for. */
enum { OFTEN = 2000 };

static void check_search(const struct hi_graph *g, struct hi_path_index *index,
			 uint64_t *state, hi_node *often)
{
	size_t n = 1 + random_below(state, 4), k = 1 + random_below(state, 12);
	enum hi_grade worst =
		(enum hi_grade)random_below(state, HI_GRADE_CONSERVATIVE + 1);
	hi_node targets[4];

	for (size_t i = 0; i < n; i++)
		targets[i] = random_below(state, g->n_nodes);
	for (size_t i = 0; i < OFTEN; i++)
		often[i] = targets[i % n];
	OWN(paths) *kept = search(g, index, targets, n, k, worst);
	OWN(paths) *anew = search(g, NULL, often, OFTEN, k, worst);
	check_same(anew, kept);
}

HI_TEST(path_index, searches_that_share_it_find_the_same)
{
	HI_GUARD(free) hi_node *often = malloc(OFTEN * sizeof(*often));

	HI_ASSERT(often);
	for (uint64_t seed = 1; seed <= 25; seed++) {
		uint64_t state = seed;
		OWN(graph) *g = drawn_graph(seed, 3 + (uint32_t)(seed * 12));
		OWN(path_index) *index = index_of(g, 1 + (unsigned)(seed % 3));

		for (unsigned i = 0; i < 40; i++)
			check_search(g, index, &state, often);
	}
}

/* Of a node, what lies behind it is much of the graph: too much to correct. */
HI_TEST(path_index, descendants_of_a_target_may_be_the_whole_graph)
{
	enum { N = 3000 };
	struct object_spec objects[N] = {};
	struct hi_graph_builder *b = builder_of(objects, N, 1);
	hi_node targets[OFTEN];

	add_root(b, HI_ROOT_GLOBAL);
	root_edge(b, 0, 0, HI_GRADE_EXACT);
	root_edge(b, 0, N - 1, HI_GRADE_EXACT);
	for (hi_node i = 0; i + 1 < N; i++) {
		edge(b, i, i + 1, HI_GRADE_EXACT);
		edge(b, i + 1, i, HI_GRADE_CONSERVATIVE);
	}
	OWN(graph) *g = sealed(b);
	OWN(path_index) *index = index_of(g, 2);
	for (hi_node at = 1; at < N; at += 331) {
		for (size_t i = 0; i < OFTEN; i++)
			targets[i] = at;
		OWN(paths) *kept = search(g, index, &at, 1, 3, HI_GRADE_CONSERVATIVE);
		OWN(paths) *anew =
			search(g, NULL, targets, OFTEN, 3, HI_GRADE_CONSERVATIVE);

		check_same(anew, kept);
	}
}

HI_TEST(path_index, its_ways_are_those_of_one_walk)
{
	struct hi_error err;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct naive n;

		random_state = seed * 0x9e3779b97f4a7c15;
		OWN(graph) *g = random_graph(&n, MAX_OBJECTS);
		OWN(path_index) *index = index_of(g, 1);
		for (hi_node i = 0; i < n.n_nodes; i++) {
			OWN(paths) *one = NULL;
			struct hi_path path;

			HI_ASSERT_OK(hi_paths_shortest(g, &i, 1, &one, &err), &err);
			HI_ASSERT_OK(hi_path_index_way(index, i, &path, &err), &err);
			HI_ASSERT(are_equal_paths(&one->paths[0], &path));
			free(path.nodes);
		}
	}
}

static void check_referrers(const struct hi_graph *g, const struct hi_path_index *index,
			    hi_node node, size_t max)
{
	OWN(referrers) *a = NULL;
	OWN(referrers) *b = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_referrers_find(g, node, max, 1, &a, &err), &err);
	HI_ASSERT_OK(hi_path_index_referrers(index, node, max, &b, &err), &err);
	HI_ASSERT_EQ(a->total, b->total);
	HI_ASSERT_EQ(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		HI_ASSERT_EQ(a->from[i], b->from[i]);
		HI_ASSERT_EQ(a->grade[i], b->grade[i]);
	}
}

HI_TEST(path_index, its_referrers_are_those_of_a_scan)
{
	for (uint64_t seed = 1; seed <= 25; seed++) {
		OWN(graph) *g = drawn_graph(seed, (uint32_t)(seed * 7));
		OWN(path_index) *index = index_of(g, 1 + (unsigned)(seed % 4));

		for (hi_node i = 0; i < g->n_nodes; i++)
			check_referrers(g, index, i, seed % 2 ? 2 : SIZE_MAX);
	}
}
