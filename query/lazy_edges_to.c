/* SPDX-License-Identifier: BSD-2-Clause */
/* Edges of objects and variables by the object that they lead to: counted, then sorted
 * into an array, in the order of their sources. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "query/query_internal.h"

HI_DEFINE_GUARD(struct hi_edges_to *, hi_edges_to_destroy)

/* first[n + 1]: as in lazy_orders.c. */
static void count_edges_to(const struct hi_graph *g, struct hi_edges_to *to)
{
	uint64_t sum = 0;

	for (hi_node i = 0; i < g->first_kind; i++) {
		struct hi_edges edges = hi_graph_edges(g, i);

		for (uint32_t k = 0; k < edges.count; k++)
			if (edges.to[k] < g->n_objects)
				to->first[edges.to[k] + 1]++;
	}
	for (hi_node i = 0; i < g->n_objects; i++) {
		uint64_t n = to->first[i + 1];

		to->first[i + 1] = sum;
		sum += n;
	}
}

static void place_edges_to(const struct hi_graph *g, struct hi_edges_to *to)
{
	for (hi_node i = 0; i < g->first_kind; i++) {
		struct hi_edges edges = hi_graph_edges(g, i);

		for (uint32_t k = 0; k < edges.count; k++)
			if (edges.to[k] < g->n_objects)
				to->sources[to->first[edges.to[k] + 1]++] =
					(struct hi_edge_source){i, k};
	}
}

static enum hi_status make_edges_to(const struct hi_graph *g, struct hi_edges_to **ret,
				    struct hi_error *err)
{
	HI_GUARD(hi_edges_to_destroy)
	struct hi_edges_to *to = hi_calloc(1, sizeof(*to));

	if (!to)
		return hi_fail_memory(err, "edges by target");
	to->n = g->n_objects;
	to->first = hi_calloc((size_t)g->n_objects + 2, sizeof(*to->first));
	if (!to->first)
		return hi_fail_memory(err, "edges by target");
	count_edges_to(g, to);
	/* Edges of roots may be in n_edges or not: room for both. */
	to->sources = hi_alloc(
		(g->n_edges + g->root_chunk.row[g->first_kind - g->first_root] + 1) *
		sizeof(*to->sources));
	if (!to->sources)
		return hi_fail_memory(err, "edges by target");
	place_edges_to(g, to);
	*ret = hi_take(to);
	return HI_OK;
}

enum hi_status hi_query_edges_to(struct hi_query *q, const struct hi_edges_to **ret,
				 struct hi_error *err)
{
	enum hi_status status =
		q->edges_to ? HI_OK : make_edges_to(q->source.graph, &q->edges_to, err);

	*ret = q->edges_to;
	return status;
}

void hi_edges_to_destroy(struct hi_edges_to *to)
{
	if (!to)
		return;
	free(to->sources);
	free(to->first);
	free(to);
}
