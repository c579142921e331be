/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/deep/depths.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "census/deep/deep_internal.h"

HI_DEFINE_GUARD(struct hi_deep_depth_maker *, hi_deep_depth_maker_destroy)

struct hi_deep_depth_maker {
	const struct hi_deep_graph *graph;
	bool *is_recursive;	/* by clique */
	struct hi_table row_of; /* clique and depth -> index of rows */
	struct HI_VECTOR(struct hi_deep_depth) rows;
	struct HI_VECTOR(uint32_t) cliques; /* of the frames of a stack */
};

static enum hi_status fail_depths(struct hi_error *err)
{
	return hi_fail_memory(err, "depths of recursion");
}

void hi_deep_depths_free(struct hi_deep_depths *depths)
{
	free(depths->rows);
	*depths = (struct hi_deep_depths){};
}

const struct hi_deep_depth *hi_deep_depths_of(const struct hi_deep_depths *depths,
					      uint32_t clique, size_t *n_ret)
{
	const struct hi_deep_depth *rows = depths->rows;
	size_t at = hi_search(i, depths->n, rows[i].clique < clique), end = at;

	while (end < depths->n && rows[end].clique == clique)
		end++;
	*n_ret = end - at;
	return rows ? rows + at : NULL;
}

/* ---- making them ---- */

void hi_deep_depth_maker_destroy(struct hi_deep_depth_maker *maker)
{
	if (!maker)
		return;
	free(maker->is_recursive);
	hi_table_free(&maker->row_of);
	hi_vector_free(&maker->rows);
	hi_vector_free(&maker->cliques);
	free(maker);
}

enum hi_status hi_deep_depth_maker_create(const struct hi_deep_graph *graph,
					  struct hi_deep_depth_maker **ret,
					  struct hi_error *err)
{
	HI_GUARD(hi_deep_depth_maker_destroy)
	struct hi_deep_depth_maker *maker = hi_calloc(1, sizeof(*maker));

	if (!maker)
		return fail_depths(err);
	maker->graph = graph;
	maker->is_recursive =
		hi_calloc(graph->n_cliques + 1u, sizeof(*maker->is_recursive));
	if (!maker->is_recursive)
		return fail_depths(err);
	for (uint32_t i = 0; i < graph->n_edges; i++) {
		uint32_t clique = graph->nodes[graph->edges[i].callee].clique;

		if (graph->nodes[graph->edges[i].caller].clique == clique)
			maker->is_recursive[clique] = true;
	}
	*ret = hi_take(maker);
	return HI_OK;
}

static bool count_depth(struct hi_deep_depth_maker *maker, struct hi_deep_depth more)
{
	uint64_t key = (uint64_t)more.clique << 32 | more.depth, at;

	if (!hi_table_get(&maker->row_of, key, &at)) {
		at = maker->rows.count;
		return hi_vector_push(&maker->rows, more) &&
		       hi_table_put(&maker->row_of, key, at);
	}
	maker->rows.items[at].allocs += more.allocs;
	maker->rows.items[at].bytes += more.bytes;
	return true;
}

/* Fills maker->cliques. */
static enum hi_status follow_stack(struct hi_deep_depth_maker *maker,
				   const struct hi_deep_frame *frames, size_t n,
				   struct hi_error *err)
{
	const struct hi_deep_graph *g = maker->graph;
	uint32_t node = 0;

	maker->cliques.count = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t edge = hi_deep_edge_at(g, node, i ? frames[i - 1].site : 0,
						frames[i].function);

		if (edge == HI_DEEP_NONE)
			return hi_fail(err, HI_BAD_DATA, 0,
				       "a stack is not in the graph of the profile");
		node = g->edges[edge].callee;
		if (!hi_vector_push(&maker->cliques, g->nodes[node].clique))
			return fail_depths(err);
	}
	return HI_OK;
}

enum hi_status hi_deep_depth_maker_add(struct hi_deep_depth_maker *maker,
				       const struct hi_deep_frame *frames, size_t n,
				       const struct hi_deep_costs *costs,
				       struct hi_error *err)
{
	enum hi_status status = follow_stack(maker, frames, n, err);

	for (size_t i = 0, end; status == HI_OK && i < n; i = end) {
		struct hi_deep_depth row = {.clique = maker->cliques.items[i],
					    .allocs = costs->of[HI_DEEP_ALLOCS],
					    .bytes = costs->of[HI_DEEP_BYTES]};

		for (end = i + 1; end < n && maker->cliques.items[end] == row.clique;)
			end++;
		row.depth = (uint32_t)(end - i);
		if (maker->is_recursive[row.clique] && !count_depth(maker, row))
			return fail_depths(err);
	}
	return status;
}

static int compare_depths(const void *a, const void *b)
{
	const struct hi_deep_depth *x = a, *y = b;

	if (x->clique != y->clique)
		return x->clique < y->clique ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

void hi_deep_depth_maker_finish(struct hi_deep_depth_maker *maker,
				struct hi_deep_depths *ret)
{
	*ret = (struct hi_deep_depths){maker->rows.items, maker->rows.count};
	if (ret->n)
		qsort(ret->rows, ret->n, sizeof(*ret->rows), compare_depths);
	maker->rows.items = NULL;
	hi_vector_free(&maker->rows);
}

/* ---- merging them ---- */

/* By clique of the merged graph: what one of the two graphs has there. */
struct depth_origin {
	uint32_t clique, n; /* the last one; how many */
};

/* Fills by clique of the merged graph. False: out of memory. */
static bool find_origins(const struct hi_deep_graph *from,
			 const struct hi_deep_graph *merged, struct depth_origin *ret)
{
	HI_GUARD(free)
	uint32_t *node_of = hi_calloc(from->n_nodes + 1u, sizeof(*node_of));

	if (!node_of)
		return false;
	hi_deep_find_nodes(from, merged, node_of);
	for (uint32_t i = 0; i < from->n_cliques; i++) {
		uint32_t member = from->members[from->cliques[i].first_member];
		struct depth_origin *o = &ret[merged->nodes[node_of[member]].clique];

		o->clique = i;
		o->n++;
	}
	return true;
}

/* Is the origin recursive, as it has an edge within? */
static bool has_inner_edge(const struct hi_deep_graph *g, uint32_t clique)
{
	const struct hi_deep_clique *c = &g->cliques[clique];
	const struct hi_deep_node *node = &g->nodes[g->members[c->first_member]];

	if (c->n_members > 1)
		return true;
	for (uint32_t i = 0; i < node->n_edges; i++)
		if (g->nodes[g->edges[node->first_edge + i].callee].clique == clique)
			return true;
	return false;
}

/* Whether it is known how deep the clique went in this graph. */
static bool is_origin_known(struct hi_deep_with_depths from, const struct depth_origin *o)
{
	size_t n;

	if (o->n != 1)
		return o->n == 0;
	if (!has_inner_edge(from.graph, o->clique))
		return true;
	(void)hi_deep_depths_of(from.depths, o->clique, &n);
	return n > 0;
}

static bool add_origin(struct hi_deep_depth_maker *maker, uint32_t clique,
		       struct hi_deep_with_depths from, const struct depth_origin *o)
{
	const struct hi_deep_clique *c = &from.graph->cliques[o->clique];
	const struct hi_deep_edge *entry;
	const struct hi_deep_depth *rows;
	size_t n;

	if (!o->n || c->entry == HI_DEEP_NONE)
		return true;
	rows = hi_deep_depths_of(from.depths, o->clique, &n);
	for (size_t i = 0; i < n; i++)
		if (!count_depth(maker,
				 (struct hi_deep_depth){clique, rows[i].depth,
							rows[i].allocs, rows[i].bytes}))
			return false;
	if (n)
		return true;
	entry = &from.graph->edges[c->entry];
	return count_depth(
		maker,
		(struct hi_deep_depth){
			clique, 1,
			entry->own.of[HI_DEEP_ALLOCS] + entry->desc.of[HI_DEEP_ALLOCS],
			entry->own.of[HI_DEEP_BYTES] + entry->desc.of[HI_DEEP_BYTES]});
}

enum hi_status hi_deep_depths_merge(struct hi_deep_with_depths a,
				    struct hi_deep_with_depths b,
				    const struct hi_deep_graph *merged,
				    struct hi_deep_depths *ret, struct hi_error *err)
{
	size_t n = merged->n_cliques + 1u;
	HI_GUARD(free) struct depth_origin *of_a = hi_calloc(n, sizeof(*of_a));
	HI_GUARD(free) struct depth_origin *of_b = hi_calloc(n, sizeof(*of_b));
	HI_GUARD(hi_deep_depth_maker_destroy) struct hi_deep_depth_maker *maker = NULL;
	enum hi_status status = hi_deep_depth_maker_create(merged, &maker, err);

	if (status != HI_OK)
		return status;
	if (!of_a || !of_b || !find_origins(a.graph, merged, of_a) ||
	    !find_origins(b.graph, merged, of_b))
		return fail_depths(err);
	for (uint32_t i = 0; i < merged->n_cliques; i++)
		if (maker->is_recursive[i] && is_origin_known(a, &of_a[i]) &&
		    is_origin_known(b, &of_b[i]) &&
		    (!add_origin(maker, i, a, &of_a[i]) ||
		     !add_origin(maker, i, b, &of_b[i])))
			return fail_depths(err);
	hi_deep_depth_maker_finish(maker, ret);
	return HI_OK;
}
