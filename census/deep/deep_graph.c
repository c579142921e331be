/* SPDX-License-Identifier: BSD-2-Clause */
/* Classes become nodes with numbers, cliques and the costs of descendants. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "census/deep/deep.h"
#include "census/deep/deep_internal.h"

/* An edge while edges are sorted. */
struct sorted_edge {
	uint32_t caller, site, function, edge;
};

/* A node of the walk, and its next edge. */
struct walk_step {
	uint32_t node, next;
};

struct numbering {
	struct hi_deep *deep;
	struct sorted_edge *sorted; /* by class of the caller */
	uint32_t n_sorted;
	uint32_t *first_sorted; /* by class; after the last: n_sorted */
	uint32_t *number_of;	/* by class; HI_DEEP_NONE: not reached yet */
	uint32_t *classes;	/* by number */
	uint32_t n_classes;
	struct hi_deep_graph *graph;
};

static void free_numbering(struct numbering *n)
{
	free(n->sorted);
	free(n->first_sorted);
	free(n->number_of);
	free(n->classes);
}

static bool allocate_numbering(struct numbering *n)
{
	size_t nodes = n->deep->nodes.count, edges = n->deep->edges.count;

	n->sorted = hi_calloc(edges + 1, sizeof(*n->sorted));
	n->first_sorted = hi_calloc(nodes + 1, sizeof(*n->first_sorted));
	n->number_of = hi_calloc(nodes + 1, sizeof(*n->number_of));
	n->classes = hi_calloc(nodes + 1, sizeof(*n->classes));
	return n->sorted && n->first_sorted && n->number_of && n->classes;
}

/* ---- numbers ---- */

static int compare_sorted_edges(const void *a, const void *b)
{
	const struct sorted_edge *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return x->function == y->function ? 0 : x->function < y->function ? -1 : 1;
}

static void sort_edges(struct numbering *n)
{
	struct hi_deep *d = n->deep;
	uint32_t at = 0;

	for (uint32_t i = 0; i < d->edges.count; i++) {
		const struct hi_deep_building_edge *e = &d->edges.items[i];
		const struct hi_deep_target *t = &d->targets.items[e->target];

		if (e->into == HI_DEEP_NONE)
			n->sorted[n->n_sorted++] = (struct sorted_edge){
				hi_deep_class_of(d, e->caller), t->site,
				d->functions.items[t->function].number, i};
	}
	qsort(n->sorted, n->n_sorted, sizeof(*n->sorted), compare_sorted_edges);
	for (uint32_t i = 0; i <= d->nodes.count; i++) {
		while (at < n->n_sorted && n->sorted[at].caller < i)
			at++;
		n->first_sorted[i] = at;
	}
}

static void number_class(struct numbering *n, uint32_t node, struct walk_step *step)
{
	n->number_of[node] = n->n_classes;
	n->classes[n->n_classes++] = node;
	*step = (struct walk_step){node, n->first_sorted[node]};
}

/* From the root, all of an edge before the next one. */
static bool number_classes(struct numbering *n)
{
	struct hi_deep *d = n->deep;
	HI_GUARD(free)
	struct walk_step *steps = hi_calloc(d->nodes.count + 1, sizeof(*steps));
	size_t depth = 1;

	if (!steps)
		return false;
	for (uint32_t i = 0; i < d->nodes.count; i++)
		n->number_of[i] = HI_DEEP_NONE;
	number_class(n, hi_deep_class_of(d, 0), &steps[0]);
	while (depth) {
		struct walk_step *step = &steps[depth - 1];
		uint32_t callee;

		if (step->next == n->first_sorted[step->node + 1]) {
			depth--;
			continue;
		}
		callee = d->edges.items[n->sorted[step->next++].edge].callee;
		callee = hi_deep_class_of(d, callee);
		if (n->number_of[callee] == HI_DEEP_NONE)
			number_class(n, callee, &steps[depth++]);
	}
	return true;
}

/* ---- the graph ---- */

static void fill_edges(const struct numbering *n)
{
	struct hi_deep_graph *g = n->graph;
	struct hi_deep *d = n->deep;

	for (uint32_t i = 0; i < n->n_classes; i++) {
		uint32_t class = n->classes[i];
		struct hi_deep_node *node = &g->nodes[i];

		node->function =
			d->functions.items[d->nodes.items[class].function].number;
		node->first_edge = g->n_edges;
		for (uint32_t k = n->first_sorted[class]; k < n->first_sorted[class + 1];
		     k++) {
			const struct hi_deep_building_edge *e =
				&d->edges.items[n->sorted[k].edge];

			g->edges[g->n_edges++] = (struct hi_deep_edge){
				.caller = i,
				.site = n->sorted[k].site,
				.callee = n->number_of[hi_deep_class_of(d, e->callee)],
				.own = e->own};
		}
		node->n_edges = g->n_edges - node->first_edge;
	}
	for (uint32_t i = 0; i < g->n_edges; i++)
		hi_deep_costs_add(&g->nodes[g->edges[i].callee].own, &g->edges[i].own);
}

static int compare_leaves(const void *a, const void *b)
{
	const struct hi_deep_leaf *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->site == y->site ? 0 : x->site < y->site ? -1 : 1;
}

static void fill_leaves(const struct numbering *n)
{
	struct hi_deep_graph *g = n->graph;
	struct hi_deep *d = n->deep;

	for (size_t i = 0; i < d->leaves.count; i++) {
		const struct hi_deep_building_leaf *l = &d->leaves.items[i];

		if (!l->is_united)
			g->leaves[g->n_leaves++] = (struct hi_deep_leaf){
				n->number_of[hi_deep_class_of(d, l->node)], l->site,
				l->costs};
	}
	qsort(g->leaves, g->n_leaves, sizeof(*g->leaves), compare_leaves);
	for (uint32_t i = 0; i < g->n_leaves; i++) {
		struct hi_deep_node *node = &g->nodes[g->leaves[i].node];

		if (!node->n_leaves++)
			node->first_leaf = i;
		hi_deep_costs_add(&g->total, &g->leaves[i].costs);
	}
}

/* ---- cliques ---- */

/* Cliques while they are put in order. Their numbers here are in the order in which the
 * walk entered them. */
struct clique_order {
	uint32_t *of_class;  /* by class that stands for a clique; HI_DEEP_NONE */
	uint32_t *parent;    /* by clique; the root's: HI_DEEP_NONE */
	uint32_t *open, *to; /* cliques on the way; their final numbers */
	uint32_t *of_node;   /* by node */
	uint32_t n;
};

static void free_clique_order(struct clique_order *o)
{
	free(o->of_class);
	free(o->parent);
	free(o->open);
	free(o->to);
	free(o->of_node);
}

static bool allocate_clique_order(const struct numbering *n, struct clique_order *o)
{
	o->of_class = hi_calloc(n->deep->nodes.count + 1, sizeof(*o->of_class));
	o->parent = hi_calloc(n->n_classes + 1u, sizeof(*o->parent));
	o->open = hi_calloc(n->n_classes + 1u, sizeof(*o->open));
	o->to = hi_calloc(n->n_classes + 1u, sizeof(*o->to));
	o->of_node = hi_calloc(n->n_classes + 1u, sizeof(*o->of_node));
	return o->of_class && o->parent && o->open && o->to && o->of_node;
}

static void enter_cliques(const struct numbering *n, struct clique_order *o)
{
	for (uint32_t i = 0; i < n->deep->nodes.count; i++)
		o->of_class[i] = HI_DEEP_NONE;
	for (uint32_t i = 0; i < n->n_classes; i++) {
		uint32_t *clique =
			&o->of_class[hi_deep_clique_of(n->deep, n->classes[i])];

		if (*clique == HI_DEEP_NONE) {
			n->graph->cliques[o->n].entry = HI_DEEP_NONE;
			*clique = o->n++;
		}
		o->of_node[i] = *clique;
	}
	o->parent[0] = HI_DEEP_NONE;
	for (uint32_t i = 0; i < n->graph->n_edges; i++) {
		const struct hi_deep_edge *e = &n->graph->edges[i];
		uint32_t clique = o->of_node[e->callee];

		if (o->of_node[e->caller] == clique)
			continue;
		o->parent[clique] = o->of_node[e->caller];
		n->graph->cliques[clique].entry = i;
	}
}

/* The walk entered a clique after the one that calls it, and left it before that. */
static void order_cliques(struct clique_order *o)
{
	uint32_t depth = 0, done = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		while (depth && o->open[depth - 1] != o->parent[i])
			o->to[o->open[--depth]] = done++;
		o->open[depth++] = i;
	}
	while (depth)
		o->to[o->open[--depth]] = done++;
}

static bool reorder_cliques(struct hi_deep_graph *g, const struct clique_order *o)
{
	struct hi_deep_clique *cliques = hi_calloc(o->n + 1u, sizeof(*cliques));

	if (!cliques)
		return false;
	for (uint32_t i = 0; i < o->n; i++)
		cliques[o->to[i]] = g->cliques[i];
	free(g->cliques);
	g->cliques = cliques;
	g->n_cliques = o->n;
	return true;
}

static void fill_members(struct hi_deep_graph *g, const struct clique_order *o)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		g->nodes[i].clique = o->to[o->of_node[i]];
		g->cliques[g->nodes[i].clique].n_members++;
	}
	for (uint32_t i = 0; i < g->n_cliques; i++) {
		g->cliques[i].first_member = at;
		at += g->cliques[i].n_members;
		g->cliques[i].n_members = 0;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		struct hi_deep_clique *c = &g->cliques[g->nodes[i].clique];

		g->members[c->first_member + c->n_members++] = i;
	}
}

static bool find_cliques(const struct numbering *n)
{
	struct clique_order order = {};
	bool ok = allocate_clique_order(n, &order);

	if (ok) {
		enter_cliques(n, &order);
		order_cliques(&order);
		ok = reorder_cliques(n->graph, &order);
	}
	if (ok)
		fill_members(n->graph, &order);
	free_clique_order(&order);
	return ok;
}

/* ---- descendants ---- */

static void subtract_costs(struct hi_deep_costs *from, const struct hi_deep_costs *less)
{
	for (int i = 0; i < HI_DEEP_COSTS; i++)
		from->of[i] -= less->of[i];
}

/* Sums the costs of the node's calls out of its clique. */
static void sum_descendants(struct hi_deep_graph *g, struct hi_deep_node *node)
{
	for (uint32_t i = 0; i < node->n_edges; i++) {
		const struct hi_deep_edge *e = &g->edges[node->first_edge + i];

		if (g->nodes[e->callee].clique == node->clique)
			continue;
		hi_deep_costs_add(&node->desc, &e->own);
		hi_deep_costs_add(&node->desc, &e->desc);
	}
}

void hi_deep_propagate(struct hi_deep_graph *g)
{
	for (uint32_t i = 0; i < g->n_cliques; i++) {
		const struct hi_deep_clique *c = &g->cliques[i];
		struct hi_deep_costs all = {};

		for (uint32_t k = 0; k < c->n_members; k++) {
			struct hi_deep_node *node =
				&g->nodes[g->members[c->first_member + k]];

			sum_descendants(g, node);
			hi_deep_costs_add(&all, &node->own);
			hi_deep_costs_add(&all, &node->desc);
		}
		if (c->entry == HI_DEEP_NONE)
			continue;
		subtract_costs(&all, &g->edges[c->entry].own);
		g->edges[c->entry].desc = all;
	}
}

/* ---- looking up ---- */

/* Edges of a node are sorted by call site and function. */
uint32_t hi_deep_edge_at(const struct hi_deep_graph *g, uint32_t node, uint32_t site,
			 uint32_t function)
{
	uint32_t first = g->nodes[node].first_edge, end = first + g->nodes[node].n_edges;
	uint32_t at = hi_search_from(
		i, first, end,
		g->edges[i].site < site ||
			(g->edges[i].site == site &&
			 g->nodes[g->edges[i].callee].function < function));

	return at < end && g->edges[at].site == site &&
			       g->nodes[g->edges[at].callee].function == function
		       ? at
		       : HI_DEEP_NONE;
}

/* A node is reached first by an edge of one with a lower number. */
void hi_deep_find_nodes(const struct hi_deep_graph *from, const struct hi_deep_graph *in,
			uint32_t *node_of)
{
	node_of[0] = 0;
	for (uint32_t i = 0; i < from->n_edges; i++) {
		const struct hi_deep_edge *e = &from->edges[i];
		uint32_t at = hi_deep_edge_at(in, node_of[e->caller], e->site,
					      from->nodes[e->callee].function);

		node_of[e->callee] = in->edges[at].callee;
	}
}

/* ---- all of it ---- */

static bool allocate_graph(const struct numbering *n)
{
	struct hi_deep_graph *g = n->graph;

	g->nodes = hi_calloc(n->n_classes + 1u, sizeof(*g->nodes));
	g->edges = hi_calloc(n->n_sorted + 1u, sizeof(*g->edges));
	g->leaves = hi_calloc(n->deep->leaves.count + 1, sizeof(*g->leaves));
	g->cliques = hi_calloc(n->n_classes + 1u, sizeof(*g->cliques));
	g->members = hi_calloc(n->n_classes + 1u, sizeof(*g->members));
	g->n_nodes = n->n_classes;
	return g->nodes && g->edges && g->leaves && g->cliques && g->members;
}

static bool make_deep_graph(struct numbering *n)
{
	if (!allocate_numbering(n))
		return false;
	sort_edges(n);
	if (!number_classes(n) || !allocate_graph(n))
		return false;
	fill_edges(n);
	fill_leaves(n);
	if (!find_cliques(n))
		return false;
	hi_deep_propagate(n->graph);
	return true;
}

enum hi_status hi_deep_graph(struct hi_deep *deep, struct hi_deep_graph *ret,
			     struct hi_error *err)
{
	struct numbering n = {.deep = deep, .graph = ret};
	bool ok;

	*ret = (struct hi_deep_graph){};
	ok = make_deep_graph(&n);
	free_numbering(&n);
	if (ok)
		return HI_OK;
	hi_deep_graph_free(ret);
	return hi_fail_memory(err, "deep profile");
}

void hi_deep_graph_free(struct hi_deep_graph *graph)
{
	free(graph->nodes);
	free(graph->edges);
	free(graph->leaves);
	free(graph->cliques);
	free(graph->members);
	*graph = (struct hi_deep_graph){};
}
