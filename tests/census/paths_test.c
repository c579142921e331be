/* SPDX-License-Identifier: BSD-2-Clause */
/* One walk for the ways to many objects, against a search for each of them, which
 * oracle_test.c holds against all ways that there are. */
#include "tests/census/naive.h"
#include "tests/census/snapshots.h"

static void check_each(uint64_t seed, uint32_t n)
{
	OWN(graph) *g = drawn_graph(seed, n);
	OWN(reach) *r = reach_of(g);
	OWN(paths) *all = NULL;
	HI_GUARD(free) hi_node *targets = malloc((g->n_nodes + 1) * sizeof(*targets));
	struct hi_error err;

	HI_ASSERT(targets);
	for (hi_node i = 0; i < g->n_nodes; i++)
		targets[i] = g->n_nodes - 1 - i; /* pseudo-nodes, too */
	HI_ASSERT_OK(hi_paths_shortest(g, targets, g->n_nodes, &all, &err), &err);
	HI_ASSERT_EQ(g->n_nodes, all->n_paths);
	for (hi_node i = 0; i < g->n_nodes; i++) {
		OWN(paths) *one = paths_of(g, r, &targets[i], 1, 1);
		const struct hi_path *a = &all->paths[i], *b = one->paths;

		HI_ASSERT_EQ(one->n_paths ? b->length : 0, a->length);
		if (!one->n_paths)
			continue;
		HI_ASSERT_EQ(b->worst, a->worst);
		for (size_t k = 0; k < a->length; k++)
			HI_ASSERT_EQ(b->nodes[k], a->nodes[k]);
	}
}

/* A few of them: the walk ends early, and knows the same. */
static void check_few(uint64_t seed, uint32_t n)
{
	OWN(graph) *g = drawn_graph(seed, n);
	OWN(reach) *r = reach_of(g);
	uint64_t state = seed;
	struct hi_error err;

	for (unsigned round = 0; round < 40; round++) {
		OWN(paths) *few = NULL;
		hi_node targets[3];

		for (unsigned i = 0; i < 3; i++)
			targets[i] = random_below(&state, g->n_nodes);
		HI_ASSERT_OK(hi_paths_shortest(g, targets, 3, &few, &err), &err);
		for (unsigned i = 0; i < 3; i++) {
			OWN(paths) *one = paths_of(g, r, &targets[i], 1, 1);
			size_t length = one->n_paths ? one->paths->length : 0;

			HI_ASSERT_EQ(length, few->paths[i].length);
			for (size_t k = 0; k < length; k++)
				HI_ASSERT_EQ(one->paths->nodes[k],
					     few->paths[i].nodes[k]);
		}
	}
}

/* The same with worse edges left out. */
static void check_few_along(uint64_t seed, uint32_t n)
{
	OWN(graph) *g = drawn_graph(seed, n);
	uint64_t state = seed;
	struct hi_error err;

	for (unsigned round = 0; round < 40; round++) {
		OWN(paths) *few = NULL;
		struct hi_paths_wanted wanted = {.k = 1, .most = 1, .worst = round % 3};
		hi_node targets[3];

		for (unsigned i = 0; i < 3; i++)
			targets[i] = random_below(&state, g->n_nodes);
		HI_ASSERT_OK(
			hi_paths_shortest_along(g, targets, 3, wanted.worst, &few, &err),
			&err);
		for (unsigned i = 0; i < 3; i++) {
			OWN(paths) *one = NULL;
			size_t length;

			HI_ASSERT_OK(
				hi_paths_search(g, &targets[i], 1, &wanted, &one, &err),
				&err);
			length = one->n_paths ? one->paths->length : 0;
			HI_ASSERT_EQ(length, few->paths[i].length);
			for (size_t k = 0; k < length; k++)
				HI_ASSERT_EQ(one->paths->nodes[k],
					     few->paths[i].nodes[k]);
		}
	}
}

HI_TEST(census_paths, a_walk_along_better_edges_gives_the_same)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		check_few_along(seed, 3 + (uint32_t)(seed % 30 * 3));
}

HI_TEST(census_paths, a_walk_for_a_few_gives_the_same)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		check_few(seed, 3 + (uint32_t)(seed % 30 * 3));
}

HI_TEST(census_paths, one_walk_gives_the_first_way_to_each)
{
	for (uint64_t seed = 1; seed <= 80; seed++)
		check_each(seed, (uint32_t)(seed % 30 * 3));
}

/* ---- one walk for all ---- */

static bool are_same_path(const struct hi_path *a, const struct hi_path *b)
{
	return a->length == b->length && a->worst == b->worst &&
	       (!a->length ||
		memcmp(a->nodes, b->nodes, a->length * sizeof(*a->nodes)) == 0);
}

HI_TEST(paths, a_tree_has_the_shortest_path_to_every_node)
{
	struct hi_error err;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct naive n;
		struct hi_path_tree *tree;

		random_state = seed * 0x9e3779b97f4a7c15;
		OWN(graph) *g = random_graph(&n, MAX_OBJECTS);
		HI_ASSERT_OK(hi_path_tree_compute(g, NULL, &tree, &err), &err);
		for (hi_node i = 0; i < n.n_nodes; i++) {
			OWN(paths) *one = NULL;
			struct hi_path path;

			HI_ASSERT_OK(hi_paths_shortest(g, &i, 1, &one, &err), &err);
			HI_ASSERT_OK(hi_path_tree_find(tree, i, &path, &err), &err);
			HI_ASSERT(are_same_path(&one->paths[0], &path));
			free(path.nodes);
		}
		hi_path_tree_destroy(tree);
	}
}

/* Steps from the nearest root of the rank, + 1; 0: none of them leads there. */
static uint32_t steps_from_rank(const struct naive *n, hi_node node,
				enum hi_root_rank rank)
{
	uint64_t set = 0;

	for (uint32_t i = 0; i < n->n_roots; i++)
		if (naive_rank(n, i) == rank)
			set |= BIT(n->n_objects + i);
	for (uint32_t steps = 1; steps <= n->n_nodes; steps++) {
		uint64_t next = set;

		if (HAS(set, node))
			return steps;
		for (uint32_t e = 0; e < n->n_edges; e++)
			if (n->edges[e].grade != HI_GRADE_WEAK &&
			    HAS(set, n->edges[e].from))
				next |= BIT(n->edges[e].to);
		set = next;
	}
	return 0;
}

HI_TEST(paths, by_rank_begin_at_the_best_root_that_leads_there)
{
	struct hi_error err;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct naive n;

		random_state = seed * 0x9e3779b97f4a7c15;
		OWN(graph) *g = random_graph(&n, MAX_OBJECTS);
		for (hi_node i = 0; i < n.n_objects; i++) {
			OWN(paths) *one = NULL;
			const struct hi_path *path;
			unsigned rank = HI_RANKS;
			uint32_t steps = 0;

			HI_ASSERT_OK(hi_paths_by_rank(g, &i, 1, &one, &err), &err);
			path = &one->paths[0];
			while (!steps && rank-- > HI_RANK_NOBODY)
				steps = steps_from_rank(&n, i, (enum hi_root_rank)rank);
			HI_ASSERT_EQ(steps, path->length);
			if (steps)
				HI_ASSERT_EQ(rank, naive_rank(&n, path->nodes[0] -
									  n.n_objects));
		}
	}
}

HI_TEST(paths, a_walk_that_is_to_stop_gives_no_tree)
{
	struct naive n;
	struct hi_path_tree *tree = NULL;
	atomic_bool stop = true;
	struct hi_error err;

	random_state = 5;
	OWN(graph) *g = random_graph(&n, MAX_OBJECTS);
	HI_ASSERT_EQ(HI_TIMEOUT, hi_path_tree_compute(g, &stop, &tree, &err));
	HI_ASSERT(!tree);
}

/* Each node of the chain refers to the first one too, which is on the way to all: so many
 * tries, and one way. */
HI_TEST(paths, the_one_way_down_a_long_chain_with_ways_back_is_known_to_be_alone)
{
	enum { LONG = 40000 };
	struct object_spec *specs = calloc(LONG, sizeof(*specs));
	struct hi_graph_builder *b;
	hi_node last = LONG - 1;

	HI_ASSERT(specs);
	for (uint32_t i = 0; i < LONG; i++)
		specs[i].cost = 16;
	b = builder_of(specs, LONG, 1);
	root_edge(b, add_root(b, HI_ROOT_GLOBAL), 0, HI_GRADE_EXACT);
	for (hi_node i = 0; i < last; i++) {
		edge(b, i, i + 1, HI_GRADE_EXACT);
		edge(b, i, 0, HI_GRADE_EXACT);
	}
	OWN(graph) *g = sealed(b);
	OWN(reach) *r = reach_of(g);
	OWN(paths) *paths = paths_of(g, r, &last, 1, 5);

	HI_ASSERT_EQ(1, paths->n_paths);
	HI_ASSERT_EQ(LONG + 1, paths->paths[0].length);
	HI_ASSERT(!paths->more);
	free(specs);
}
