/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Root keys without dominators]
 *
 * Each path from the super-root to an object passes one root variable, or none where it
 * begins with a block of the allocator's own; no edge leads from an object to a root. So
 * a root dominates an object (Note [Flow graph] in dominators.c) exactly if it is the
 * only one that has a path to it, and no path goes without. Marks are thus spread over
 * the edges of the flow graph: none, then the number of the one root, then MANY, which
 * covers all. A mark changes twice at most, so a node is visited twice at most.
 *
 * The order of the visits means nothing for the marks, but for how many nodes are visited
 * with both. First come, first served, except that large rows wait until nothing else
 * does: where several roots lead to a large structure they do so near its top, which is
 * MANY then before the table is visited that leads to all the rest. In a queue the next
 * nodes are known, so that their misses overlap.
 */
#include "census/analysis/root_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "census/analysis/walk_internal.h"

enum { NO_MARK = 0, FIRST_MARK = 1 };
#define MANY UINT32_MAX

enum {
	ROW_AHEAD = 16, /* edges to prefetch within a long row */
	LARGE_ROW = 32, /* edges of one that waits */
};

/* Each node changes its mark twice at most, and is queued then unless it waits already. */
struct key_queue {
	hi_node *items;
	size_t first, end, size;
};

struct key_walk {
	const struct hi_graph *graph;
	const uint64_t *exact;
	uint32_t *marks; /* by node */
	uint64_t *waits; /* a bit per node: it is in a queue */
	struct key_queue queue, large;
};

HI_INLINE void spread_mark(struct key_walk *w, hi_node to, uint32_t mark)
{
	uint32_t before = w->marks[to];

	if (before == mark || before == MANY)
		return;
	w->marks[to] = before == NO_MARK ? mark : MANY;
	if (hi_bit_take(w->waits, to))
		w->queue.items[w->queue.end++] = to;
}

/* A path that goes on to a root has its number from there on. */
static void spread_to_roots(struct key_walk *w, const struct hi_edges *edges)
{
	const struct hi_graph *g = w->graph;

	for (uint32_t e = 0; e < edges->count; e++) {
		hi_node to = edges->to[e];
		bool is_root = to >= g->first_root && to < g->first_kind;

		spread_mark(w, to, is_root ? to - g->first_root + FIRST_MARK : MANY);
	}
}

static void spread_to_objects(struct key_walk *w, hi_node from,
			      const struct hi_edges *edges)
{
	const bool exact = hi_bit(w->exact, from);
	const uint32_t mark = w->marks[from];

	for (uint32_t e = 0; e < edges->count; e++) {
		if (e + ROW_AHEAD < edges->count)
			__builtin_prefetch(&w->marks[edges->to[e + ROW_AHEAD]], 1);
		if (hi_is_flow(w->exact, exact, edges->to[e], edges->grade[e]))
			spread_mark(w, edges->to[e], mark);
	}
}

static void visit_marked(struct key_walk *w, hi_node from, const struct hi_edges *edges)
{
	w->waits[from >> 6] &= ~(1ull << (from & 63));
	if (from < w->graph->first_kind)
		spread_to_objects(w, from, edges);
	else
		spread_to_roots(w, edges);
}

static void visit_queued(struct key_walk *w)
{
	struct key_queue *q = &w->queue;

	for (; q->first < q->end; q->first++) {
		hi_node from = q->items[q->first];
		struct hi_edges edges = hi_graph_edges(w->graph, from);

		hi_walk_look_ahead(w->graph, &q->items[q->first], q->end - q->first,
				   w->marks);
		if (edges.count >= LARGE_ROW)
			w->large.items[w->large.end++] = from;
		else
			visit_marked(w, from, &edges);
	}
}

static void spread_all_marks(struct key_walk *w, const struct hi_reach *reach)
{
	spread_mark(w, w->graph->super_root, MANY);
	for (size_t i = 0; i < reach->n_internal_roots; i++)
		spread_mark(w, reach->internal_roots[i], MANY);
	visit_queued(w);
	while (w->large.first < w->large.end) {
		hi_node from = w->large.items[w->large.first++];
		struct hi_edges edges = hi_graph_edges(w->graph, from);

		visit_marked(w, from, &edges);
		visit_queued(w);
	}
}

static bool open_key_queue(struct key_queue *ret, size_t most)
{
	ret->size = (2 * most + 1) * sizeof(*ret->items);
	ret->items = hi_pages_alloc(ret->size);
	return ret->items;
}

static void close_key_walk(struct key_walk *w)
{
	if (w->queue.items)
		hi_pages_free(w->queue.items, w->queue.size);
	if (w->large.items)
		hi_pages_free(w->large.items, w->large.size);
	free(w->waits);
}

static void turn_marks_into_keys(const struct hi_graph *g, const uint32_t *of_root,
				 uint32_t several, uint32_t *keys)
{
	for (hi_node i = 0; i < g->n_nodes; i++)
		if (keys[i] == MANY)
			keys[i] = several;
		else if (keys[i] != NO_MARK)
			keys[i] = of_root[keys[i] - FIRST_MARK];
}

enum hi_status hi_root_keys_find(const struct hi_graph *g, const struct hi_reach *reach,
				 const uint32_t *of_root, uint32_t several,
				 uint32_t *keys, struct hi_error *err)
{
	struct key_walk w = {.graph = g,
			     .exact = reach->exact,
			     .marks = keys,
			     .waits = hi_calloc(1, hi_bits_size(g->n_nodes) + 8)};
	bool is_open = w.waits && open_key_queue(&w.queue, g->n_nodes) &&
		       open_key_queue(&w.large, g->n_edges / LARGE_ROW);

	if (is_open) {
		memset(keys, 0, (size_t)g->n_nodes * sizeof(*keys));
		spread_all_marks(&w, reach);
	}
	close_key_walk(&w);
	if (!is_open)
		return hi_fail_memory(err, "root variables of objects");
	turn_marks_into_keys(g, of_root, several, keys);
	return HI_OK;
}
