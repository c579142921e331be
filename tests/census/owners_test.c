/* SPDX-License-Identifier: BSD-2-Clause */
/* Owners against walks from each variable, on random graphs. */
#include <string.h>

#include "census/analysis/owners.h"
#include "tests/census/naive.h"

/* What a variable reaches in the flow graph, without entering other roots. */
static uint64_t reached_from(const struct naive *n, hi_node root)
{
	uint64_t set = BIT(root), before;

	if (!HAS(n->any, root))
		return 0;
	do {
		before = set;
		for (uint32_t e = 0; e < n->n_edges; e++)
			if (HAS(set, n->edges[e].from) && in_flow(n, &n->edges[e]))
				set |= BIT(n->edges[e].to);
	} while (set != before);
	return set;
}

/* The first root that has the name, kind and rank of this one. */
static uint32_t first_alike(const struct naive *n, const struct hi_graph *g,
			    uint32_t root)
{
	for (uint32_t i = 0; i < root; i++)
		if (g->roots[i].kind == g->roots[root].kind &&
		    naive_rank(n, i) == naive_rank(n, root) &&
		    strcmp(g->roots[i].name, g->roots[root].name) == 0)
			return i;
	return root;
}

/* Bits of the roots that own the object: those of the best rank that reach it. */
static uint64_t naive_owners(const struct naive *n, const struct hi_graph *g,
			     hi_node node)
{
	uint64_t by_rank[HI_RANKS] = {};
	unsigned rank = HI_RANKS - 1;

	for (uint32_t i = 0; i < n->n_roots; i++)
		if (HAS(reached_from(n, n->n_objects + i), node))
			by_rank[naive_rank(n, i)] |= BIT(first_alike(n, g, i));
	while (rank > 0 && !by_rank[rank])
		rank--;
	return by_rank[rank];
}

static uint64_t set_of_row(const struct hi_graph *g, const struct hi_owner_row *row)
{
	uint64_t set = 0;

	for (uint32_t i = 0; i < row->n; i++)
		set |= BIT(row->variables[i] - g->first_root);
	return set;
}

static void check_owners(uint64_t seed)
{
	struct naive n;
	OWN(graph) *g = random_graph(&n, seed % 4 ? 12 : MAX_OBJECTS);
	OWN(reach) *reach = NULL;
	OWN(dominators) *dominators = NULL;
	OWN(owners) *owners = NULL;
	struct hi_error err = {};
	uint64_t bytes[BIT(MAX_ROOTS)] = {}, sum = 0;

	naive_reach(&n);
	HI_ASSERT_OK(hi_reach_compute(g, 1, &reach, &err), &err);
	HI_ASSERT_OK(hi_dominators_compute(g, reach, &dominators, &err), &err);
	HI_ASSERT_OK(hi_owners_compute(g, reach, dominators, &owners, &err), &err);
	for (hi_node i = 0; i < n.n_objects; i++)
		if (HAS(n.any, i) && !is_internal(&n, i))
			bytes[naive_owners(&n, g, i)] += cost_of(&n, i);
	for (size_t i = 0; i < owners->n_rows; i++) {
		const struct hi_owner_row *row = &owners->rows[i];
		uint64_t set = set_of_row(g, row);

		HI_ASSERT_MSG(bytes[set] == row->bytes,
			      "seed %lu: set %lx has %lu, wanted %lu", seed, set,
			      row->bytes, bytes[set]);
		HI_ASSERT(i == 0 || owners->rows[i - 1].bytes >= row->bytes);
		HI_ASSERT(!row->is_many);
		sum += row->bytes;
	}
	HI_ASSERT_EQ(reach->live_bytes, sum);
}

HI_TEST(owners, bytes_of_each_set_equal_walks_from_each_variable)
{
	for (uint64_t seed = 1; seed <= 1500; seed++) {
		random_state = seed * 0x9e3779b97f4a7c15;
		check_owners(seed);
	}
}

/*	variables 0 .. n-1 -> shared -> tail;  variable 0 -> own	*/
static void check_shared(uint32_t n, bool is_many)
{
	static const struct object_spec specs[] = {
		{.cost = 64}, {.cost = 32}, {.cost = 16}};
	struct hi_graph_builder *b = builder_of(specs, 3, 1);
	OWN(graph) *g = NULL;
	OWN(reach) *reach = NULL;
	OWN(dominators) *dominators = NULL;
	OWN(owners) *owners = NULL;
	struct hi_error err = {};
	static char names[64][12];

	for (uint32_t i = 0; i < n; i++) {
		struct hi_root root = {.kind = HI_ROOT_GLOBAL, .name = names[i]};
		uint32_t id;

		snprintf(names[i], sizeof(names[i]), "v%u", i);
		HI_ASSERT_OK(hi_graph_builder_root(b, &root, &id, &err), &err);
		root_edge(b, id, 0, HI_GRADE_EXACT);
	}
	root_edge(b, 0, 2, HI_GRADE_EXACT);
	edge(b, 0, 1, HI_GRADE_EXACT);
	g = sealed(b);
	HI_ASSERT_OK(hi_reach_compute(g, 1, &reach, &err), &err);
	HI_ASSERT_OK(hi_dominators_compute(g, reach, &dominators, &err), &err);
	HI_ASSERT_OK(hi_owners_compute(g, reach, dominators, &owners, &err), &err);
	HI_ASSERT_EQ(2, owners->n_rows);
	HI_ASSERT_EQ(96, owners->rows[0].bytes);
	HI_ASSERT_EQ(is_many, owners->rows[0].is_many);
	HI_ASSERT_EQ(is_many ? 0 : n, owners->rows[0].n);
	HI_ASSERT_EQ(0, owners->rows[0].largest);
	HI_ASSERT_EQ(16, owners->rows[1].bytes);
	HI_ASSERT_EQ(1, owners->rows[1].n);
	HI_ASSERT_EQ(g->first_root, owners->rows[1].variables[0]);
}

HI_TEST(owners, a_set_of_too_many_variables_is_many)
{
	check_shared(2, false);
	check_shared(HI_OWNERS_MAX, false);
	check_shared(HI_OWNERS_MAX + 1, true);
	check_shared(60, true);
}
