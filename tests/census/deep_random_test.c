/* SPDX-License-Identifier: BSD-2-Clause */
/* Deep profiles of random stacks, beside their definition. */
#include <string.h>

#include "tests/census/deep_stacks.h"

enum {
	SETS = 5000,
	STACKS = DEEP_STACKS,
	FUNCTIONS = DEEP_FUNCTIONS,
	NODES = STACKS * DEEP_FRAMES + 1
};

/* ---- the definition: a tree of stacks, united until nothing changes ---- */

struct naive {
	uint32_t n;
	uint32_t class[NODES]; /* the lowest node of its class */
	uint32_t function[NODES], site[NODES], parent[NODES];
	bool reaches[NODES][NODES]; /* of classes */
};

static uint32_t add_naive_node(struct naive *v, uint32_t parent, uint32_t site,
			       uint32_t function)
{
	for (uint32_t i = 1; i < v->n; i++)
		if (v->parent[i] == parent && v->site[i] == site &&
		    v->function[i] == function)
			return i;
	v->parent[v->n] = parent;
	v->site[v->n] = site;
	v->function[v->n] = function;
	v->class[v->n] = v->n;
	return v->n++;
}

static void unite_naive(struct naive *v, uint32_t a, uint32_t b, bool *changed)
{
	uint32_t x = v->class[a], y = v->class[b];

	if (x == y)
		return;
	for (uint32_t i = 0; i < v->n; i++)
		if (v->class[i] == (x > y ? x : y))
			v->class[i] = x < y ? x : y;
	*changed = true;
}

static void reach_naive(struct naive *v)
{
	memset(v->reaches, 0, sizeof(v->reaches));
	for (uint32_t i = 0; i < v->n; i++)
		v->reaches[v->class[i]][v->class[i]] = true;
	for (uint32_t i = 1; i < v->n; i++)
		v->reaches[v->class[v->parent[i]]][v->class[i]] = true;
	for (uint32_t k = 0; k < v->n; k++)
		for (uint32_t i = 0; i < v->n; i++)
			for (uint32_t j = 0; v->reaches[i][k] && j < v->n; j++)
				v->reaches[i][j] |= v->reaches[k][j];
}

static bool is_one_naive(const struct naive *v, uint32_t i, uint32_t k)
{
	uint32_t x = v->class[i], y = v->class[k];

	if (v->function[i] != v->function[k])
		return false;
	if (v->reaches[x][y] && v->reaches[y][x])
		return true; /* property 3 */
	if (v->site[i] == v->site[k] && i && k &&
	    v->class[v->parent[i]] == v->class[v->parent[k]])
		return true; /* 1 */
	for (uint32_t up = i; up; up = v->parent[up])
		if (v->parent[up] == k)
			return true; /* 2 */
	return false;
}

static void fold_naive(struct naive *v)
{
	bool changed = true;

	while (changed) {
		changed = false;
		reach_naive(v);
		for (uint32_t i = 0; i < v->n; i++)
			for (uint32_t k = 0; k < i; k++)
				if (is_one_naive(v, i, k))
					unite_naive(v, i, k, &changed);
	}
}

/* last: by stack, the node of its innermost frame. */
static void make_naive(struct naive *v, const struct deep_stack_set *set,
		       uint32_t last[STACKS][DEEP_FRAMES])
{
	*v = (struct naive){.n = 1};
	for (size_t i = 0; i < set->n; i++) {
		uint32_t node = 0, site = 0;

		for (uint32_t k = 0; k < set->of[i].n; k++) {
			const struct hi_deep_frame *f = &set->of[i].frames[k];

			last[i][k] = node = add_naive_node(v, node, site, f->function);
			site = f->site;
		}
	}
	fold_naive(v);
}

/* ---- the graph beside it ---- */

static const struct hi_deep_edge *find_deep_edge(const struct hi_deep_graph *g,
						 uint32_t node, uint32_t site,
						 uint32_t function)
{
	for (uint32_t i = 0; i < g->nodes[node].n_edges; i++) {
		const struct hi_deep_edge *e = &g->edges[g->nodes[node].first_edge + i];

		if (e->site == site && g->nodes[e->callee].function == function)
			return e;
	}
	HI_ASSERT_MSG(false, "a call of a stack is missing");
	return NULL;
}

/* Frames of stacks are one node where the definition says so, and only there. */
static void check_nodes(const struct hi_deep_graph *g, const struct deep_stack_set *set)
{
	static struct naive v;
	static uint32_t last[STACKS][DEEP_FRAMES];
	uint32_t node_of_class[NODES], n_classes = 0;

	make_naive(&v, set, last);
	memset(node_of_class, 0xff, sizeof(node_of_class));
	for (size_t i = 0; i < set->n; i++) {
		uint32_t node = 0, site = 0;

		for (uint32_t k = 0; k < set->of[i].n; k++) {
			uint32_t class = v.class[last[i][k]];
			const struct hi_deep_frame *f = &set->of[i].frames[k];

			node = find_deep_edge(g, node, site, f->function)->callee;
			if (node_of_class[class] == UINT32_MAX)
				node_of_class[class] = node;
			HI_ASSERT_EQ(node_of_class[class], node);
			site = f->site;
		}
	}
	for (uint32_t i = 0; i < v.n; i++)
		n_classes += v.class[i] == i;
	HI_ASSERT_EQ(n_classes, g->n_nodes);
}

static void add_naive_costs(struct hi_deep_costs *sum, const struct deep_stack *s)
{
	sum->of[HI_DEEP_BYTES] += s->bytes;
	sum->of[HI_DEEP_ALLOCS] += s->count;
}

/* Each stack counts in the edge that entered its last node, and once in all cliques that
 * it went through. */
static void check_costs(const struct hi_deep_graph *g, const struct deep_stack_set *set)
{
	static struct hi_deep_costs own[NODES], whole[NODES];
	struct hi_deep_costs total = {};

	memset(own, 0, sizeof(own));
	memset(whole, 0, sizeof(whole));
	for (size_t i = 0; i < set->n; i++) {
		const struct hi_deep_edge *e = NULL;
		bool was_in[NODES] = {};
		uint32_t node = 0, site = 0;

		for (uint32_t k = 0; k < set->of[i].n; k++) {
			const struct hi_deep_frame *f = &set->of[i].frames[k];

			e = find_deep_edge(g, node, site, f->function);
			node = e->callee;
			site = f->site;
			if (!was_in[g->nodes[node].clique])
				add_naive_costs(&whole[g->nodes[node].clique],
						&set->of[i]);
			was_in[g->nodes[node].clique] = true;
		}
		add_naive_costs(&own[e - g->edges], &set->of[i]);
		add_naive_costs(&total, &set->of[i]);
	}
	HI_ASSERT(memcmp(&total, &g->total, sizeof(total)) == 0);
	for (uint32_t i = 0; i < g->n_edges; i++) {
		const struct hi_deep_edge *e = &g->edges[i];
		struct hi_deep_costs sum = e->own;

		HI_ASSERT(memcmp(&own[i], &e->own, sizeof(*own)) == 0);
		hi_deep_costs_add(&sum, &e->desc);
		if (g->nodes[e->caller].clique != g->nodes[e->callee].clique)
			HI_ASSERT(memcmp(&whole[g->nodes[e->callee].clique], &sum,
					 sizeof(sum)) == 0);
	}
	HI_ASSERT(memcmp(&total, &g->nodes[0].desc, sizeof(total)) == 0);
}

static void check_cliques(const struct hi_deep_graph *g)
{
	for (uint32_t i = 0; i < g->n_cliques; i++) {
		const struct hi_deep_clique *c = &g->cliques[i];
		bool has[FUNCTIONS + 1] = {};
		uint32_t entries = 0;

		for (uint32_t k = 0; k < g->n_edges; k++)
			entries += g->nodes[g->edges[k].callee].clique == i &&
				   g->nodes[g->edges[k].caller].clique != i;
		HI_ASSERT_EQ(c->entry == HI_DEEP_NONE ? 0 : 1, entries);
		for (uint32_t k = 0; k < c->n_members; k++) {
			uint32_t f = g->nodes[g->members[c->first_member + k]].function;

			HI_ASSERT(!has[f]);
			has[f] = true;
		}
	}
	for (uint32_t i = 0; i < g->n_edges; i++)
		HI_ASSERT(g->nodes[g->edges[i].callee].clique <=
			  g->nodes[g->edges[i].caller].clique);
}

static void check_leaf_costs(const struct hi_deep_graph *g)
{
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct hi_deep_node *n = &g->nodes[i];
		struct hi_deep_costs sum = {};

		for (uint32_t k = 0; k < n->n_leaves; k++)
			hi_deep_costs_add(&sum, &g->leaves[n->first_leaf + k].costs);
		HI_ASSERT(memcmp(&sum, &n->own, sizeof(sum)) == 0);
	}
}

static void expect_same_graph(const struct hi_deep_graph *g,
			      const struct hi_deep_graph *h)
{
	HI_ASSERT_EQ(g->n_nodes, h->n_nodes);
	HI_ASSERT_EQ(g->n_edges, h->n_edges);
	HI_ASSERT_EQ(g->n_leaves, h->n_leaves);
	HI_ASSERT_EQ(g->n_cliques, h->n_cliques);
	HI_ASSERT(memcmp(g->nodes, h->nodes, g->n_nodes * sizeof(*g->nodes)) == 0);
	HI_ASSERT(memcmp(g->edges, h->edges, g->n_edges * sizeof(*g->edges)) == 0);
	HI_ASSERT(memcmp(g->leaves, h->leaves, g->n_leaves * sizeof(*g->leaves)) == 0);
	HI_ASSERT(memcmp(g->cliques, h->cliques, g->n_cliques * sizeof(*g->cliques)) ==
		  0);
}

static void check_other_order(const struct hi_deep_graph *g, struct deep_stack_set set,
			      uint64_t seed)
{
	struct hi_deep_graph other;

	for (size_t i = set.n; i > 1; i--) {
		uint32_t k = random_below(&seed, (uint32_t)i);
		struct deep_stack taken = set.of[i - 1];

		set.of[i - 1] = set.of[k];
		set.of[k] = taken;
	}
	other = graph_of_stacks(set.of, set.n);
	expect_same_graph(g, &other);
	hi_deep_graph_free(&other);
}

static void check_merged(const struct hi_deep_graph *g, const struct deep_stack_set *set)
{
	struct hi_deep_graph parts[2] = {
		graph_of_stacks(set->of, set->n / 2),
		graph_of_stacks(set->of + set->n / 2, set->n - set->n / 2)};
	struct hi_deep_graph merged;
	struct hi_deep *deep;
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_create(&deep, &err), &err);
	for (int i = 0; i < 2; i++)
		HI_ASSERT_OK(hi_deep_merge(deep, &parts[i], &err), &err);
	HI_ASSERT_OK(hi_deep_graph(deep, &merged, &err), &err);
	expect_same_graph(g, &merged);
	hi_deep_destroy(deep);
	hi_deep_graph_free(&merged);
	hi_deep_graph_free(&parts[0]);
	hi_deep_graph_free(&parts[1]);
}

HI_TEST(deep_random, graphs_are_as_defined)
{
	for (uint64_t seed = 0; seed < SETS; seed++) {
		struct deep_stack_set set = draw_deep_stacks(seed);
		struct hi_deep_graph g = graph_of_stacks(set.of, set.n);

		check_cliques(&g);
		check_costs(&g, &set);
		check_leaf_costs(&g);
		check_other_order(&g, set, seed);
		check_merged(&g, &set);
		if (seed < 1000)
			check_nodes(&g, &set);
		hi_deep_graph_free(&g);
	}
}
