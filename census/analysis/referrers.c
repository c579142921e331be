/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the nodes that refer to a node. All rows are scanned: no reverse edges are
 * stored. */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "census/analysis/analysis.h"
#include "census/graph/graph_internal.h"

struct scan {
	const struct hi_graph *graph;
	hi_node node;
	size_t *counts; /* per chunk; the last is the root chunk */
};

static const struct hi_edge_chunk *edge_chunk_at(const struct hi_graph *g, size_t index,
						 hi_node *first, uint32_t *n)
{
	if (index == g->priv->n_chunks) {
		*first = g->first_root;
		*n = g->n_nodes - g->first_root;
		return &g->root_chunk;
	}
	*first = (hi_node)index << HI_CHUNK_SHIFT;
	*n = hi_chunk_nodes(g->n_objects, (uint32_t)index);
	return &g->chunks[index];
}

static void count_chunk(void *arg, size_t task, unsigned worker)
{
	const struct scan *s = arg;
	uint32_t n;
	hi_node first;
	const struct hi_edge_chunk *c = edge_chunk_at(s->graph, task, &first, &n);
	size_t count = 0;

	(void)worker;
	for (uint32_t e = 0; e < c->row[n]; e++)
		count += c->to[e] == s->node;
	s->counts[task] = count;
}

static void collect_chunk(const struct scan *s, size_t index, struct hi_referrers *r,
			  size_t max)
{
	uint32_t n;
	hi_node first;
	const struct hi_edge_chunk *c = edge_chunk_at(s->graph, index, &first, &n);

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t e = c->row[i]; e < c->row[i + 1] && r->count < max; e++) {
			if (c->to[e] != s->node)
				continue;
			r->from[r->count] = first + i;
			r->grade[r->count++] = c->grade[e];
		}
}

enum hi_status hi_referrers_find(const struct hi_graph *g, hi_node node, size_t max,
				 unsigned threads, struct hi_referrers **ret,
				 struct hi_error *err)
{
	HI_GUARD(hi_referrers_destroy) struct hi_referrers *r = hi_calloc(1, sizeof(*r));
	size_t n = (size_t)g->priv->n_chunks + 1;
	HI_GUARD(free) size_t *counts = hi_calloc(n, sizeof(*counts));
	struct scan scan = {g, node, counts};

	if (!r || !counts)
		return hi_fail_memory(err, "referrers");
	hi_parallel(threads, n, count_chunk, &scan);
	for (size_t i = 0; i < n; i++)
		r->total += counts[i];
	if (max > r->total)
		max = r->total;
	r->from = hi_alloc(max * sizeof(*r->from));
	r->grade = hi_alloc(max);
	if (!r->from || !r->grade)
		return hi_fail_memory(err, "referrers");
	for (size_t i = 0; i < n && r->count < max; i++)
		if (counts[i])
			collect_chunk(&scan, i, r, max);
	*ret = hi_take(r);
	return HI_OK;
}

void hi_referrers_destroy(struct hi_referrers *r)
{
	if (!r)
		return;
	free(r->from);
	free(r->grade);
	free(r);
}
