/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks by several threads (census/analysis/walk_shared.h) against a plain search. */
#include "tests/census/graphs.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "census/analysis/walk_shared.h"
#include "tests/support/random.h"

#define NODES 100000u

static struct hi_graph_builder *many_objects(void)
{
	struct object_spec *specs = calloc(NODES, sizeof(*specs));
	struct hi_graph_builder *b;

	HI_ASSERT(specs);
	for (uint32_t i = 0; i < NODES; i++)
		specs[i].cost = 16;
	b = builder_of(specs, NODES, 1);
	free(specs);
	return b;
}

static uint64_t *search_plainly(const struct hi_graph *g, bool is_precise,
				const hi_node *seeds, size_t n_seeds)
{
	uint64_t *bits = calloc(1, hi_bits_size(g->n_nodes));
	hi_node *queue = calloc(g->n_nodes, sizeof(*queue));
	size_t first = 0, n = 0;

	HI_ASSERT(bits && queue);
	for (size_t i = 0; i < n_seeds; i++)
		if (hi_bit_take(bits, seeds[i]))
			queue[n++] = seeds[i];
	while (first < n) {
		struct hi_edges edges = hi_graph_edges(g, queue[first++]);

		for (uint32_t i = 0; i < edges.count; i++)
			if (edges.grade[i] <= (is_precise ? HI_GRADE_INTERIOR
							  : HI_GRADE_CONSERVATIVE) &&
			    hi_bit_take(bits, edges.to[i]))
				queue[n++] = edges.to[i];
	}
	free(queue);
	return bits;
}

static void check_shared(const struct hi_graph *g, const hi_node *seeds, size_t n_seeds)
{
	static const unsigned threads[] = {1, 2, 3, 8};
	size_t size = hi_bits_size(g->n_nodes);

	for (unsigned k = 0; k < 8; k++) {
		bool is_precise = k % 2;
		HI_GUARD(free)
		uint64_t *want = search_plainly(g, is_precise, seeds, n_seeds);
		HI_GUARD(free) uint64_t *bits = calloc(1, size);
		struct hi_shared_walk_request request = {.graph = g,
							 .bits = bits,
							 .is_precise = is_precise,
							 .seeds = seeds,
							 .n_seeds = n_seeds,
							 .threads = threads[k / 2]};

		HI_ASSERT(bits);
		for (size_t i = 0; i < n_seeds; i++)
			hi_bit_take(bits, seeds[i]);
		HI_ASSERT(hi_walk_shared(&request));
		HI_ASSERT(memcmp(want, bits, size) == 0);
	}
}

HI_TEST(walk_shared, random_graphs_are_marked_as_by_a_plain_search)
{
	/* About one edge a node: a part of it is reached, by long ways. */
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct hi_graph_builder *b = many_objects();
		uint64_t state = seed;
		hi_node seeds[40];
		OWN(graph) *g = NULL;

		for (uint32_t i = 0; i < NODES * 4 / 3; i++)
			edge(b, (hi_node)(next_random(&state) % NODES),
			     (hi_node)(next_random(&state) % NODES),
			     (enum hi_grade)(next_random(&state) % 16
						     ? 0
						     : 1 + next_random(&state) % 3));
		g = sealed(b);
		for (unsigned i = 0; i < 40; i++)
			seeds[i] = (hi_node)(next_random(&state) % NODES);
		check_shared(g, seeds, 40);
	}
}

/* An array of chains: its row alone is more than a stack has room for. */
HI_TEST(walk_shared, a_node_with_many_edges_is_shared)
{
	struct hi_graph_builder *b = many_objects();
	hi_node seed = 0;
	OWN(graph) *g = NULL;

	for (hi_node i = 1; i < NODES; i++)
		if (i % 2)
			edge(b, 0, i, HI_GRADE_EXACT);
		else
			edge(b, i - 1, i, i % 3 ? HI_GRADE_EXACT : HI_GRADE_WEAK);
	g = sealed(b);
	check_shared(g, &seed, 1);
}

HI_TEST(walk_shared, a_chain_and_nothing_are_walked)
{
	struct hi_graph_builder *b = many_objects();
	hi_node seed = NODES - 1;
	OWN(graph) *g = NULL;

	for (hi_node i = NODES - 1; i > 0; i--)
		edge(b, i, i - 1, HI_GRADE_INTERIOR);
	g = sealed(b);
	check_shared(g, &seed, 1);
	check_shared(g, &seed, 0);
}

HI_TEST(walk_shared, memory_that_runs_out_is_reported)
{
	struct hi_graph_builder *b = many_objects();
	HI_GUARD(free) uint64_t *bits = calloc(1, hi_bits_size(NODES + 64));
	hi_node seed = 0;
	OWN(graph) *g = NULL;
	struct hi_shared_walk_request request = {
		.bits = bits, .seeds = &seed, .n_seeds = 1, .threads = 2};

	for (hi_node i = 1; i < NODES; i++)
		edge(b, 0, i, HI_GRADE_EXACT);
	g = sealed(b);
	request.graph = g;
	HI_ASSERT(bits && g->n_nodes <= NODES + 64);
	hi_bit_take(bits, seed);
	hi_alloc_fail_at(4);
	HI_ASSERT(!hi_walk_shared(&request));
	hi_alloc_fail_at(0);
}
