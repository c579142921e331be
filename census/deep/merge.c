/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/deep/merge.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "census/deep/deep_internal.h"

/* The identity of a function or a call site; texts and functions are those of the merged
 * profile. The line and the index only distinguish otherwise equal ones. */
struct match_key {
	uint32_t same[5];
	uint32_t line, index;
};

/* By index of the second profile, the index in the merged one. */
struct match_map {
	uint32_t *functions, *sites;
};

enum { SAME = sizeof(((struct match_key *)NULL)->same) };

static int compare_same(const struct match_key *a, const struct match_key *b)
{
	for (size_t i = 0; i < SAME / sizeof(uint32_t); i++)
		if (a->same[i] != b->same[i])
			return a->same[i] < b->same[i] ? -1 : 1;
	return 0;
}

static int compare_match_keys(const void *a, const void *b)
{
	const struct match_key *x = a, *y = b;
	int order = compare_same(x, y);

	if (order)
		return order;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Fills map[index of b] with the index of what is the same in a; HI_DEEP_NONE: nothing
 * is. Sorts both. */
static void match_keys(struct match_key *a, size_t n_a, struct match_key *b, size_t n_b,
		       uint32_t *map)
{
	size_t i = 0;

	if (n_a)
		qsort(a, n_a, sizeof(*a), compare_match_keys);
	if (n_b)
		qsort(b, n_b, sizeof(*b), compare_match_keys);
	for (size_t k = 0; k < n_b; k++) {
		while (i < n_a && compare_same(&a[i], &b[k]) < 0)
			i++;
		if (i < n_a && compare_same(&a[i], &b[k]) == 0)
			map[b[k].index] = a[i++].index;
		else
			map[b[k].index] = HI_DEEP_NONE;
	}
}

/* ---- functions ---- */

static bool copy_profile_text(const struct hi_deep_profile *from, uint32_t text,
			      struct hi_deep_profile *to, uint32_t *ret)
{
	return hi_deep_profile_intern(to, hi_deep_profile_text(from, text), ret);
}

static bool copy_function(const struct hi_deep_profile *from, size_t i,
			  struct hi_deep_profile *to, struct hi_deep_procedure *ret)
{
	*ret = from->functions.items[i];
	return copy_profile_text(from, ret->name, to, &ret->name) &&
	       copy_profile_text(from, ret->module, to, &ret->module) &&
	       copy_profile_text(from, ret->file, to, &ret->file);
}

static struct match_key function_key(const struct hi_deep_procedure *f, size_t index)
{
	return (struct match_key){.same = {f->name, f->module, f->file},
				  .line = f->line,
				  .index = (uint32_t)index};
}

/* Function 0 is the root of both. */
static bool merge_functions(const struct hi_deep_profile *b, struct hi_deep_profile *to,
			    uint32_t *map)
{
	size_t n_a = to->functions.count, n_b = b->functions.count;
	HI_GUARD(free) struct match_key *x = hi_calloc(n_a + 1, sizeof(*x));
	HI_GUARD(free) struct match_key *y = hi_calloc(n_b + 1, sizeof(*y));
	struct hi_deep_procedure f;

	if (!x || !y)
		return false;
	for (size_t i = 1; i < n_a; i++)
		x[i - 1] = function_key(&to->functions.items[i], i);
	for (size_t i = 1; i < n_b; i++) {
		if (!copy_function(b, i, to, &f))
			return false;
		y[i - 1] = function_key(&f, i);
	}
	match_keys(x, n_a - 1, y, n_b - 1, map);
	map[0] = 0;
	for (size_t i = 1; i < n_b; i++) {
		if (map[i] != HI_DEEP_NONE)
			continue;
		map[i] = (uint32_t)to->functions.count;
		if (!copy_function(b, i, to, &f) || !hi_vector_push(&to->functions, f))
			return false;
	}
	return true;
}

/* ---- call sites ---- */

static bool copy_site(const struct hi_deep_profile *from, size_t i,
		      const uint32_t *functions, struct hi_deep_profile *to,
		      struct hi_deep_call_site *ret)
{
	*ret = from->sites.items[i];
	if (functions) {
		ret->function = functions[ret->function];
		if (ret->callee != HI_DEEP_NONE)
			ret->callee = functions[ret->callee];
	}
	return copy_profile_text(from, ret->file, to, &ret->file) &&
	       copy_profile_text(from, ret->place, to, &ret->place);
}

static struct match_key site_key(const struct hi_deep_call_site *s, size_t index)
{
	return (struct match_key){.same = {s->function, s->file, s->line, s->place},
				  .index = (uint32_t)index};
}

static bool merge_sites(const struct hi_deep_profile *b, struct hi_deep_profile *to,
			const struct match_map *map)
{
	size_t n_a = to->sites.count, n_b = b->sites.count;
	HI_GUARD(free) struct match_key *x = hi_calloc(n_a + 1, sizeof(*x));
	HI_GUARD(free) struct match_key *y = hi_calloc(n_b + 1, sizeof(*y));
	struct hi_deep_call_site s;

	if (!x || !y)
		return false;
	for (size_t i = 1; i < n_a; i++)
		x[i - 1] = site_key(&to->sites.items[i], i);
	for (size_t i = 1; i < n_b; i++) {
		if (!copy_site(b, i, map->functions, to, &s))
			return false;
		y[i - 1] = site_key(&s, i);
	}
	match_keys(x, n_a - 1, y, n_b - 1, map->sites);
	map->sites[0] = 0;
	for (size_t i = 1; i < n_b; i++) {
		if (map->sites[i] != HI_DEEP_NONE)
			continue;
		map->sites[i] = (uint32_t)to->sites.count;
		if (!copy_site(b, i, map->functions, to, &s) ||
		    !hi_vector_push(&to->sites, s))
			return false;
	}
	return true;
}

/* ---- profiles ---- */

bool hi_deep_is_described(const struct hi_deep_profile *p)
{
	const struct hi_deep_graph *g = &p->graph;

	for (uint32_t i = 0; i < g->n_nodes; i++)
		if (g->nodes[i].function >= p->functions.count)
			return false;
	for (uint32_t i = 0; i < g->n_edges; i++)
		if (g->edges[i].site >= p->sites.count)
			return false;
	for (uint32_t i = 0; i < g->n_leaves; i++)
		if (g->leaves[i].site >= p->sites.count)
			return false;
	for (size_t i = 0; i < p->sites.count; i++)
		if (p->sites.items[i].function >= p->functions.count ||
		    (p->sites.items[i].callee != HI_DEEP_NONE &&
		     p->sites.items[i].callee >= p->functions.count) ||
		    p->sites.items[i].kind >= HI_DEEP_SITE_KINDS)
			return false;
	return p->functions.count && p->sites.count && g->n_nodes && g->n_cliques;
}

/* All but the graph. Root and its call site are there. */
static bool copy_tables(const struct hi_deep_profile *a, struct hi_deep_profile *to)
{
	struct hi_deep_procedure f;
	struct hi_deep_call_site s;

	for (size_t i = 1; i < a->functions.count; i++)
		if (!copy_function(a, i, to, &f) || !hi_vector_push(&to->functions, f))
			return false;
	for (size_t i = 1; i < a->sites.count; i++)
		if (!copy_site(a, i, NULL, to, &s) || !hi_vector_push(&to->sites, s))
			return false;
	return true;
}

static bool merge_facts(const struct hi_deep_profile *a, const struct hi_deep_profile *b,
			struct hi_deep_profile *to)
{
	for (int i = 0; i < HI_DEEP_COSTS; i++)
		to->has[i] = a->has[i] && b->has[i];
	to->ticks_per_second = a->ticks_per_second;
	if (a->ticks_per_second != b->ticks_per_second) {
		to->has[HI_DEEP_TICKS] = false;
		to->ticks_per_second = 0;
	}
	to->tool_ticks = a->tool_ticks + b->tool_ticks;
	to->sequence = a->sequence + b->sequence;
	to->before_bytes = a->before_bytes + b->before_bytes;
	to->before_objects = a->before_objects + b->before_objects;
	to->sample_bytes =
		a->sample_bytes > b->sample_bytes ? a->sample_bytes : b->sample_bytes;
	to->n_missing = a->n_missing > b->n_missing ? a->n_missing : b->n_missing;
	to->lacks_end = a->lacks_end || b->lacks_end;
	return copy_profile_text(a, a->program, to, &to->program) &&
	       (a->n_missing >= b->n_missing
			? copy_profile_text(a, a->first_missing, to, &to->first_missing)
			: copy_profile_text(b, b->first_missing, to, &to->first_missing));
}

/* A copy of the graph's nodes, edges and leaves whose functions and call sites are those
 * of the map; the rest is the graph's own. */
static bool renumber_graph(const struct hi_deep_graph *g, const struct match_map *map,
			   struct hi_deep_graph *ret)
{
	*ret = *g;
	ret->nodes = hi_calloc(g->n_nodes + 1u, sizeof(*ret->nodes));
	ret->edges = hi_calloc(g->n_edges + 1u, sizeof(*ret->edges));
	ret->leaves = hi_calloc(g->n_leaves + 1u, sizeof(*ret->leaves));
	if (!ret->nodes || !ret->edges || !ret->leaves)
		return false;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		ret->nodes[i] = g->nodes[i];
		ret->nodes[i].function = map->functions[g->nodes[i].function];
	}
	for (uint32_t i = 0; i < g->n_edges; i++) {
		ret->edges[i] = g->edges[i];
		ret->edges[i].site = map->sites[g->edges[i].site];
	}
	for (uint32_t i = 0; i < g->n_leaves; i++) {
		ret->leaves[i] = g->leaves[i];
		ret->leaves[i].site = map->sites[g->leaves[i].site];
	}
	return true;
}

static void free_renumbered(struct hi_deep_graph *g)
{
	free(g->nodes);
	free(g->edges);
	free(g->leaves);
}

static enum hi_status merge_graphs(const struct hi_deep_graph *a,
				   const struct hi_deep_graph *b,
				   struct hi_deep_graph *ret, struct hi_error *err)
{
	struct hi_deep *deep;
	enum hi_status status = hi_deep_create(&deep, err);

	if (status)
		return status;
	status = hi_deep_merge(deep, a, err);
	if (!status)
		status = hi_deep_merge(deep, b, err);
	if (!status)
		status = hi_deep_graph(deep, ret, err);
	hi_deep_destroy(deep);
	return status;
}

static bool allocate_match_map(const struct hi_deep_profile *b, struct match_map *map)
{
	map->functions = hi_calloc(b->functions.count + 1, sizeof(*map->functions));
	map->sites = hi_calloc(b->sites.count + 1, sizeof(*map->sites));
	return map->functions && map->sites;
}

static void free_match_map(struct match_map *map)
{
	free(map->functions);
	free(map->sites);
}

/* *b_ret: the graph of b with the numbers of *to; free_renumbered(). */
static enum hi_status merge_numbered(const struct hi_deep_profile *a,
				     const struct hi_deep_profile *b,
				     struct hi_deep_profile *to,
				     struct hi_deep_graph *b_ret, struct hi_error *err)
{
	struct match_map map = {};
	enum hi_status status;
	bool ok = allocate_match_map(b, &map) && copy_tables(a, to) &&
		  merge_functions(b, to, map.functions) && merge_sites(b, to, &map) &&
		  merge_facts(a, b, to) && renumber_graph(&b->graph, &map, b_ret);

	free_match_map(&map);
	if (!ok)
		return hi_fail_memory(err, "merged deep profile");
	status = merge_graphs(&a->graph, b_ret, &to->graph, err);
	return status ? status
		      : hi_deep_depths_merge(
				(struct hi_deep_with_depths){&a->graph, &a->depths},
				(struct hi_deep_with_depths){b_ret, &b->depths},
				&to->graph, &to->depths, err);
}

static enum hi_status merge_profiles(const struct hi_deep_profile *a,
				     const struct hi_deep_profile *b,
				     struct hi_deep_profile *ret,
				     struct hi_deep_graph *b_ret, struct hi_error *err)
{
	enum hi_status status;

	if (!hi_deep_is_described(a) || !hi_deep_is_described(b))
		return hi_fail(err, HI_BAD_DATA, 0,
			       "deep profile: it has no description of a call site or "
			       "function");
	status = hi_deep_profile_init(ret, err);
	if (status)
		return status;
	*b_ret = (struct hi_deep_graph){};
	status = merge_numbered(a, b, ret, b_ret, err);
	if (status) {
		free_renumbered(b_ret);
		hi_deep_profile_free(ret);
	}
	return status;
}

enum hi_status hi_deep_profile_merge(const struct hi_deep_profile *a,
				     const struct hi_deep_profile *b,
				     struct hi_deep_profile *ret, struct hi_error *err)
{
	struct hi_deep_profile merged;
	struct hi_deep_graph b_graph;
	enum hi_status status = merge_profiles(a, b, &merged, &b_graph, err);

	if (status)
		return status;
	free_renumbered(&b_graph);
	*ret = merged;
	return HI_OK;
}

/* ---- differences ---- */

static void *copy_graph_items(const void *items, size_t n, size_t size)
{
	void *copy = hi_calloc(n + 1, size);

	if (copy && n)
		memcpy(copy, items, n * size);
	return copy;
}

/* The same graph without costs. */
static bool copy_shape(const struct hi_deep_graph *g, struct hi_deep_graph *ret)
{
	*ret = (struct hi_deep_graph){.n_nodes = g->n_nodes,
				      .n_edges = g->n_edges,
				      .n_leaves = g->n_leaves,
				      .n_cliques = g->n_cliques};
	ret->nodes = copy_graph_items(g->nodes, g->n_nodes, sizeof(*g->nodes));
	ret->edges = copy_graph_items(g->edges, g->n_edges, sizeof(*g->edges));
	ret->leaves = copy_graph_items(g->leaves, g->n_leaves, sizeof(*g->leaves));
	ret->cliques = copy_graph_items(g->cliques, g->n_cliques, sizeof(*g->cliques));
	ret->members = copy_graph_items(g->members, g->n_nodes, sizeof(*g->members));
	if (!ret->nodes || !ret->edges || !ret->leaves || !ret->cliques || !ret->members)
		return false;
	for (uint32_t i = 0; i < ret->n_nodes; i++)
		ret->nodes[i].own = ret->nodes[i].desc = (struct hi_deep_costs){};
	for (uint32_t i = 0; i < ret->n_edges; i++)
		ret->edges[i].own = ret->edges[i].desc = (struct hi_deep_costs){};
	for (uint32_t i = 0; i < ret->n_leaves; i++)
		ret->leaves[i].costs = (struct hi_deep_costs){};
	return true;
}

static struct hi_deep_leaf *deep_leaf_at(struct hi_deep_graph *g, uint32_t node,
					 uint32_t site)
{
	uint32_t first = g->nodes[node].first_leaf, end = first + g->nodes[node].n_leaves;

	return &g->leaves[hi_search_from(i, first, end, g->leaves[i].site < site)];
}

/* The costs of one profile, whose graph has the numbers of the merged one. */
static bool place_costs(const struct hi_deep_graph *from, struct hi_deep_graph *to)
{
	HI_GUARD(free)
	uint32_t *node_of = hi_calloc(from->n_nodes + 1u, sizeof(*node_of));

	if (!node_of)
		return false;
	hi_deep_find_nodes(from, to, node_of);
	for (uint32_t i = 0; i < from->n_edges; i++) {
		const struct hi_deep_edge *e = &from->edges[i];
		struct hi_deep_edge *at =
			&to->edges[hi_deep_edge_at(to, node_of[e->caller], e->site,
						   from->nodes[e->callee].function)];

		hi_deep_costs_add(&at->own, &e->own);
		hi_deep_costs_add(&to->nodes[at->callee].own, &e->own);
	}
	for (uint32_t i = 0; i < from->n_leaves; i++) {
		const struct hi_deep_leaf *leaf = &from->leaves[i];

		hi_deep_costs_add(
			&deep_leaf_at(to, node_of[leaf->node], leaf->site)->costs,
			&leaf->costs);
	}
	to->total = from->total;
	hi_deep_propagate(to);
	return true;
}

enum hi_status hi_deep_diff(const struct hi_deep_profile *before,
			    const struct hi_deep_profile *after, struct hi_deep_diff *ret,
			    struct hi_error *err)
{
	struct hi_deep_graph after_graph;
	struct hi_deep_diff diff = {};
	enum hi_status status =
		merge_profiles(before, after, &diff.merged, &after_graph, err);
	bool ok;

	if (status)
		return status;
	ok = copy_shape(&diff.merged.graph, &diff.before) &&
	     copy_shape(&diff.merged.graph, &diff.after) &&
	     place_costs(&before->graph, &diff.before) &&
	     place_costs(&after_graph, &diff.after);
	free_renumbered(&after_graph);
	if (!ok) {
		hi_deep_diff_free(&diff);
		return hi_fail_memory(err, "difference of deep profiles");
	}
	*ret = diff;
	return HI_OK;
}

void hi_deep_diff_free(struct hi_deep_diff *diff)
{
	hi_deep_profile_free(&diff->merged);
	hi_deep_graph_free(&diff->before);
	hi_deep_graph_free(&diff->after);
	*diff = (struct hi_deep_diff){};
}
