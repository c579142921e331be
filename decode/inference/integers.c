/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/integers.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "decode/inference/typing_state.h"

/* Pools whose pieces are reached by each other's: rounds over all of them. */
enum { MAX_ROUNDS = 64 };

/* A walk over all edges but those of integers. */
struct walk {
	const struct hi_typing *typing;
	const struct hi_graph *graph;
	uint64_t *seen; /* bits */
	struct HI_VECTOR(hi_node) todo;
	bool no_memory;
};

static void reach_node(struct walk *w, hi_node node)
{
	if (hi_bit_take(w->seen, node) && !hi_vector_push(&w->todo, node))
		w->no_memory = true;
}

static bool is_integer_of_object(const struct hi_edge_indexes *integers, uint32_t edge)
{
	size_t low = hi_search(i, integers->count, integers->items[i] < edge);

	return low < integers->count && integers->items[low] == edge;
}

static void leave_object(struct walk *w, hi_node node)
{
	uint32_t chunk = node >> HI_CHUNK_SHIFT, at = node & (HI_CHUNK_NODES - 1);
	const struct hi_edge_chunk *c = &w->graph->chunks[chunk];
	const struct hi_edge_indexes *integers = &w->typing->integer_edges[chunk];

	for (uint32_t e = c->row[at]; e < c->row[at + 1]; e++)
		if (c->grade[e] != HI_GRADE_WEAK &&
		    !(c->grade[e] == HI_GRADE_CONSERVATIVE && integers->count &&
		      is_integer_of_object(integers, e)))
			reach_node(w, c->to[e]);
}

static bool is_integer_of_variable(const struct hi_typing *typing, uint32_t variable,
				   hi_node to)
{
	size_t n = typing->integer_refs.count;
	const struct hi_variable_edge *refs = typing->integer_refs.items;
	size_t low = hi_search(i, n,
			       refs[i].variable < variable ||
				       (refs[i].variable == variable && refs[i].to < to));

	return low < n && refs[low].variable == variable && refs[low].to == to;
}

static void leave_root(struct walk *w, uint32_t root)
{
	struct hi_edges edges = hi_graph_edges(w->graph, w->graph->first_root + root);

	for (uint32_t e = 0; e < edges.count; e++)
		if (edges.grade[e] != HI_GRADE_WEAK &&
		    !(edges.grade[e] == HI_GRADE_CONSERVATIVE &&
		      is_integer_of_variable(w->typing, w->graph->roots[root].variable,
					     edges.to[e])))
			reach_node(w, edges.to[e]);
}

static void drain_todo(struct walk *w)
{
	while (w->todo.count && !w->no_memory) {
		hi_node node = w->todo.items[--w->todo.count];

		if (node < w->graph->n_objects)
			leave_object(w, node);
	}
}

static bool is_any_seen(const struct walk *w, const struct hi_pool *pool)
{
	for (hi_node i = pool->first; i <= pool->last; i++)
		if (hi_bit(w->seen, i))
			return true;
	return false;
}

/* Note [Pieces of a live block] in census/analysis/reach.c. Returns whether any is new.
 */
static bool reach_pieces(struct walk *w)
{
	const struct hi_pools *pools = &w->graph->pools;

	for (size_t k = 0; k < pools->count; k++) {
		const struct hi_pool *pool = &pools->items[k];

		for (hi_node i = pool->first; is_any_seen(w, pool) && i <= pool->last;
		     i++)
			if (!hi_bit(pools->is_slot, i))
				reach_node(w, i);
	}
	return w->todo.count;
}

static void walk_all(struct walk *w, const struct hi_reach *reach)
{
	for (uint32_t i = 0; i < w->graph->n_roots; i++)
		leave_root(w, i);
	for (size_t i = 0; i < reach->n_internal_roots; i++)
		if (hi_object_is_internal(w->graph->objects, reach->internal_roots[i]))
			reach_node(w, reach->internal_roots[i]);
	for (unsigned i = 0; i < MAX_ROUNDS; i++) {
		drain_todo(w);
		if (!reach_pieces(w))
			break;
	}
	drain_todo(w);
}

static void count_integer_holds(const struct walk *w, struct hi_reach *reach)
{
	const struct hi_objects *objects = w->graph->objects;

	for (hi_node i = 0; i < w->graph->n_objects; i++) {
		if (!hi_bit(reach->any, i) || hi_bit(w->seen, i) ||
		    hi_object_is_internal(objects, i))
			continue;
		reach->integer_objects++;
		reach->integer_bytes += hi_objects_cost(objects, i);
	}
}

static bool has_integers(const struct hi_typing *typing)
{
	bool any = typing->integer_refs.count;

	for (size_t i = 0; typing->integer_edges && i < typing->n_refined_chunks; i++)
		any |= typing->integer_edges[i].count > 0;
	return any;
}

enum hi_status hi_integers_count(const struct hi_typing *typing,
				 const struct hi_graph *graph, struct hi_reach *reach,
				 struct hi_error *err)
{
	HI_GUARD(free) uint64_t *seen = NULL;
	struct walk w = {.typing = typing, .graph = graph};

	if (!has_integers(typing))
		return HI_OK;
	seen = w.seen = hi_calloc(1, hi_bits_size(graph->n_nodes) + 8);
	if (!seen)
		return hi_fail_memory(err, "integers");
	walk_all(&w, reach);
	if (!w.no_memory)
		count_integer_holds(&w, reach);
	hi_vector_free(&w.todo);
	return w.no_memory ? hi_fail_memory(err, "integers") : HI_OK;
}
