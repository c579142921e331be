/* SPDX-License-Identifier: BSD-2-Clause */
/* What holds for every deep profile; also for the fuzzer. */
#ifndef HI_TESTS_CENSUS_DEEP_PROFILES_H
#define HI_TESTS_CENSUS_DEEP_PROFILES_H

#include <stdlib.h>
#include <string.h>

#include "census/deep/deep_profile.h"
#include "tests/harness.h"

static inline bool is_same_cost(const struct hi_deep_costs *a,
				const struct hi_deep_costs *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Numbers are those of the tables, and a call site is in the function that it is in. */
static inline void check_deep_numbers(const struct hi_deep_profile *p)
{
	const struct hi_deep_graph *g = &p->graph;

	HI_ASSERT_EQ(0, g->nodes[0].function);
	for (size_t i = 0; i < p->sites.count; i++) {
		const struct hi_deep_call_site *s = &p->sites.items[i];

		HI_ASSERT(s->function < p->functions.count);
		HI_ASSERT(s->kind < HI_DEEP_SITE_KINDS);
		HI_ASSERT(s->callee == HI_DEEP_NONE || s->callee < p->functions.count);
	}
	for (uint32_t i = 0; i < g->n_nodes; i++)
		HI_ASSERT(g->nodes[i].function < p->functions.count &&
			  (i == 0) == !g->nodes[i].function);
	for (uint32_t i = 0; i < g->n_edges; i++) {
		const struct hi_deep_edge *e = &g->edges[i];

		HI_ASSERT(e->site < p->sites.count);
		HI_ASSERT_EQ(p->sites.items[e->site].function,
			     g->nodes[e->caller].function);
	}
	for (uint32_t i = 0; i < g->n_leaves; i++)
		HI_ASSERT_EQ(p->sites.items[g->leaves[i].site].function,
			     g->nodes[g->leaves[i].node].function);
}

/* The sums of own costs of edges, of leaves and of all that the root has called. */
static inline void check_deep_totals(const struct hi_deep_graph *g)
{
	struct hi_deep_costs edges = {}, leaves = {};

	for (uint32_t i = 0; i < g->n_edges; i++)
		hi_deep_costs_add(&edges, &g->edges[i].own);
	for (uint32_t i = 0; i < g->n_leaves; i++)
		hi_deep_costs_add(&leaves, &g->leaves[i].costs);
	HI_ASSERT(is_same_cost(&edges, &g->total));
	HI_ASSERT(is_same_cost(&leaves, &g->total));
	HI_ASSERT(is_same_cost(&g->nodes[0].desc, &g->total));
}

static inline void check_deep_entries(const struct hi_deep_graph *g)
{
	uint32_t *entries = calloc(g->n_cliques + 1u, sizeof(*entries));

	HI_ASSERT(entries != NULL);
	for (uint32_t i = 0; i < g->n_edges; i++) {
		uint32_t caller = g->nodes[g->edges[i].caller].clique,
			 callee = g->nodes[g->edges[i].callee].clique;

		HI_ASSERT(callee <= caller);
		entries[callee] += caller != callee;
	}
	for (uint32_t i = 0; i < g->n_cliques; i++)
		HI_ASSERT_EQ(g->cliques[i].entry == HI_DEEP_NONE ? 0 : 1, entries[i]);
	HI_ASSERT_EQ(HI_DEEP_NONE, g->cliques[g->nodes[0].clique].entry);
	free(entries);
}

/* A function has one node in a clique; what called into a clique, and what was called
 * there, has no node below. limit: of cliques from a node to the root. */
static inline void check_deep_folded(const struct hi_deep_graph *g, uint32_t limit)
{
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct hi_deep_clique *c = &g->cliques[g->nodes[i].clique];
		uint32_t function = g->nodes[i].function, up = 0;

		for (uint32_t k = 0; k < c->n_members; k++) {
			uint32_t member = g->members[c->first_member + k];

			HI_ASSERT(member == i || g->nodes[member].function != function);
		}
		for (; c->entry != HI_DEEP_NONE && up < limit; up++) {
			const struct hi_deep_edge *e = &g->edges[c->entry];

			HI_ASSERT(g->nodes[e->caller].function != function);
			HI_ASSERT(e->callee == i ||
				  g->nodes[e->callee].function != function);
			c = &g->cliques[g->nodes[e->caller].clique];
		}
	}
}

static inline void check_deep_profile(const struct hi_deep_profile *p)
{
	check_deep_numbers(p);
	check_deep_totals(&p->graph);
	check_deep_entries(&p->graph);
	check_deep_folded(&p->graph, 1000);
}

#endif
