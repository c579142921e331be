/* SPDX-License-Identifier: BSD-2-Clause */
/* Cliques of a graph that a file has: its strongly connected components, and those that
 * recursion makes one. */
#include <stdlib.h>

#include "base/alloc.h"
#include "census/deep/mercury_internal.h"

struct visit_step {
	uint32_t node, next; /* edge */
};

/* A component on the way from the root, and what it has noted. */
struct fold_step {
	uint32_t component, next_child;
	uint32_t noted[2]; /* functions; HI_DEEP_NONE */
};

struct finding {
	struct hi_deep_graph *graph;
	/* By node: order of visits, 0: not visited; the first that it leads back to. */
	uint32_t *visit, *low;
	uint32_t *component; /* HI_DEEP_NONE: its component is open */
	uint32_t *open, n_open;
	uint32_t n_visits, n_components;
	/* By component. */
	uint32_t *entry, *first_child, *next_child;
	uint32_t *merged;    /* into which component; itself */
	uint32_t *top_depth; /* of those that were merged */
	/* By depth, and by function: the depth, from 1 on, at which it is active. */
	uint32_t *path, *active;
	struct visit_step *visits;
	struct fold_step *folds;
};

static void free_finding(struct finding *f)
{
	free(f->visit);
	free(f->low);
	free(f->component);
	free(f->open);
	free(f->entry);
	free(f->first_child);
	free(f->next_child);
	free(f->merged);
	free(f->top_depth);
	free(f->path);
	free(f->active);
	free(f->visits);
	free(f->folds);
}

static bool allocate_numbers(size_t n, uint32_t **ret)
{
	*ret = hi_calloc(n + 1, sizeof(**ret));
	return *ret != NULL;
}

static bool allocate_finding(struct finding *f, uint32_t n_functions)
{
	size_t n = f->graph->n_nodes;

	f->visits = hi_calloc(n + 1, sizeof(*f->visits));
	f->folds = hi_calloc(n + 1, sizeof(*f->folds));
	f->graph->cliques = hi_calloc(n + 1, sizeof(*f->graph->cliques));
	return f->visits && f->folds && f->graph->cliques &&
	       allocate_numbers(n, &f->visit) && allocate_numbers(n, &f->low) &&
	       allocate_numbers(n, &f->component) && allocate_numbers(n, &f->open) &&
	       allocate_numbers(n, &f->entry) && allocate_numbers(n, &f->first_child) &&
	       allocate_numbers(n, &f->next_child) && allocate_numbers(n, &f->merged) &&
	       allocate_numbers(n, &f->top_depth) && allocate_numbers(n, &f->path) &&
	       allocate_numbers(n_functions, &f->active) &&
	       allocate_numbers(n, &f->graph->members);
}

/* ---- components, by Tarjan's algorithm ---- */

static void visit_node(struct finding *f, uint32_t node, struct visit_step *step)
{
	f->visit[node] = f->low[node] = ++f->n_visits;
	f->component[node] = HI_DEEP_NONE;
	f->open[f->n_open++] = node;
	*step = (struct visit_step){node, f->graph->nodes[node].first_edge};
}

static void end_component(struct finding *f, uint32_t node)
{
	uint32_t member;

	do {
		member = f->open[--f->n_open];
		f->component[member] = f->n_components;
	} while (member != node);
	f->n_components++;
}

static void lower_visit(struct finding *f, uint32_t node, uint32_t visit)
{
	if (visit < f->low[node])
		f->low[node] = visit;
}

static void find_components(struct finding *f)
{
	const struct hi_deep_graph *g = f->graph;
	size_t depth = 1;

	visit_node(f, 0, &f->visits[0]);
	while (depth) {
		struct visit_step *step = &f->visits[depth - 1];
		const struct hi_deep_node *n = &g->nodes[step->node];
		uint32_t callee;

		if (step->next == n->first_edge + n->n_edges) {
			if (f->low[step->node] == f->visit[step->node])
				end_component(f, step->node);
			if (--depth)
				lower_visit(f, f->visits[depth - 1].node,
					    f->low[step->node]);
			continue;
		}
		callee = g->edges[step->next++].callee;
		if (!f->visit[callee])
			visit_node(f, callee, &f->visits[depth++]);
		else if (f->component[callee] == HI_DEEP_NONE)
			lower_visit(f, step->node, f->visit[callee]);
	}
}

static bool is_same_call(const struct hi_deep_edge *a, const struct hi_deep_edge *b)
{
	return a->caller == b->caller && a->site == b->site && a->callee == b->callee;
}

static enum hi_status find_entries(struct finding *f, struct hi_error *err)
{
	const struct hi_deep_graph *g = f->graph;

	for (uint32_t i = 0; i < f->n_components; i++)
		f->entry[i] = HI_DEEP_NONE;
	for (uint32_t i = 0; i < g->n_edges; i++) {
		const struct hi_deep_edge *e = &g->edges[i];
		uint32_t *entry = &f->entry[f->component[e->callee]];

		if (f->component[e->caller] == f->component[e->callee])
			continue;
		if (*entry == HI_DEEP_NONE)
			*entry = i;
		else if (!is_same_call(&g->edges[*entry], e))
			return hi_fail(err, HI_BAD_DATA, 0,
				       "damaged: two calls lead into one clique");
	}
	return HI_OK;
}

/* ---- members ---- */

/* group: of each component. */
static void fill_members_of_groups(struct finding *f, const uint32_t *group)
{
	struct hi_deep_graph *g = f->graph;
	uint32_t at = 0;

	for (uint32_t i = 0; i < f->n_components; i++)
		g->cliques[i] = (struct hi_deep_clique){.entry = HI_DEEP_NONE};
	for (uint32_t i = 0; i < g->n_nodes; i++)
		g->cliques[group[f->component[i]]].n_members++;
	for (uint32_t i = 0; i < f->n_components; i++) {
		g->cliques[i].first_member = at;
		at += g->cliques[i].n_members;
		g->cliques[i].n_members = 0;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		struct hi_deep_clique *c = &g->cliques[group[f->component[i]]];

		g->members[c->first_member + c->n_members++] = i;
	}
	g->n_cliques = f->n_components;
}

/* ---- recursion that leads to another component ---- */

static uint32_t find_merged(struct finding *f, uint32_t component)
{
	uint32_t *m = f->merged;

	while (m[component] != component)
		component = m[component] = m[m[component]];
	return component;
}

/* All components of the path from that depth on are one. */
static void merge_path(struct finding *f, uint32_t component, uint32_t depth)
{
	uint32_t at = find_merged(f, component);

	while (f->top_depth[at] > depth) {
		uint32_t above = find_merged(f, f->path[f->top_depth[at] - 1]);

		f->merged[at] = above;
		at = above;
	}
}

static void note_function(struct finding *f, uint32_t function, uint32_t depth,
			  uint32_t *noted_ret)
{
	if (f->active[function])
		return;
	f->active[function] = depth + 1;
	*noted_ret = function;
}

/* The caller of a call into a component is active in it; the callee is below. */
static void enter_component(struct finding *f, uint32_t component, uint32_t depth)
{
	const struct hi_deep_graph *g = f->graph;
	const struct hi_deep_clique *c = &g->cliques[component];
	const struct hi_deep_edge *e = &g->edges[f->entry[component]];
	struct fold_step *step = &f->folds[depth];

	*step = (struct fold_step){
		component, f->first_child[component], {HI_DEEP_NONE, HI_DEEP_NONE}};
	f->path[depth] = component;
	f->top_depth[component] = depth;
	if (!depth)
		return;
	note_function(f, g->nodes[e->caller].function, depth - 1, &step->noted[0]);
	for (uint32_t i = 0; i < c->n_members; i++) {
		uint32_t function = g->nodes[g->members[c->first_member + i]].function;

		if (f->active[function])
			merge_path(f, component, f->active[function] - 1);
	}
	note_function(f, g->nodes[e->callee].function, depth, &step->noted[1]);
}

static void leave_component(struct finding *f, const struct fold_step *step)
{
	for (int i = 0; i < 2; i++)
		if (step->noted[i] != HI_DEEP_NONE)
			f->active[step->noted[i]] = 0;
}

static uint32_t link_mercury_children(struct finding *f)
{
	uint32_t root = f->component[0];

	for (uint32_t i = 0; i < f->n_components; i++) {
		f->first_child[i] = HI_DEEP_NONE;
		f->merged[i] = i;
	}
	for (uint32_t i = 0; i < f->n_components; i++) {
		uint32_t parent;

		if (i == root)
			continue;
		parent = f->component[f->graph->edges[f->entry[i]].caller];
		f->next_child[i] = f->first_child[parent];
		f->first_child[parent] = i;
	}
	return root;
}

static void fold_components(struct finding *f)
{
	uint32_t depth = 1;

	enter_component(f, link_mercury_children(f), 0);
	while (depth) {
		struct fold_step *step = &f->folds[depth - 1];
		uint32_t child = step->next_child;

		if (child == HI_DEEP_NONE) {
			leave_component(f, step);
			depth--;
			continue;
		}
		step->next_child = f->next_child[child];
		enter_component(f, child, depth++);
	}
	for (uint32_t i = 0; i < f->n_components; i++)
		f->merged[i] = find_merged(f, i);
}

enum hi_status hi_mercury_find_cliques(struct hi_deep_graph *graph, uint32_t n_functions,
				       struct hi_error *err)
{
	struct finding f = {.graph = graph};
	enum hi_status status = HI_OK;

	if (!allocate_finding(&f, n_functions))
		status = hi_fail_memory(err, "deep profile");
	if (status == HI_OK) {
		find_components(&f);
		status = find_entries(&f, err);
	}
	if (status == HI_OK) {
		for (uint32_t i = 0; i < f.n_components; i++)
			f.merged[i] = i;
		fill_members_of_groups(&f, f.merged);
		fold_components(&f);
		fill_members_of_groups(&f, f.merged);
	}
	free_finding(&f);
	return status;
}
