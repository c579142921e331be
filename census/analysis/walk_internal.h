/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marking walks: every node is pushed at most once, when it is marked. The
 * order of the visits means nothing to the callers, which is what allows the
 * ring.
 *
 * Note [Prefetch ring]
 *
 * In a large graph every visit misses the cache twice, for the row and for the
 * edges, and a plain stack waits for each miss in turn. So nodes that leave
 * the stack go through a short queue: on entry their row is prefetched, half
 * way their edges, and only at its end are they visited. Misses of up to
 * HI_RING nodes are under way at once. When the stack runs dry the queue just
 * gets shorter, so a single chain costs no more than without it.
 */
#ifndef HI_CENSUS_ANALYSIS_WALK_INTERNAL_H
#define HI_CENSUS_ANALYSIS_WALK_INTERNAL_H

#include "base/alloc.h"
#include "base/bits.h"
#include "census/graph/graph.h"

#define HI_INLINE static inline __attribute__((always_inline))
enum { HI_RING = 16 }; /* a power of two */

struct hi_walk {
	const struct hi_graph *graph;
	hi_node *stack; /* room for every node */
	size_t depth;
};

static inline bool hi_walk_init(struct hi_walk *w, const struct hi_graph *g)
{
	*w = (struct hi_walk){.graph = g};
	w->stack = hi_pages_alloc((size_t)g->n_nodes * sizeof(*w->stack));
	return w->stack;
}
static inline void hi_walk_deinit(struct hi_walk *w)
{
	if (w->stack)
		hi_pages_free(w->stack, (size_t)w->graph->n_nodes * sizeof(*w->stack));
}

HI_INLINE void hi_prefetch_row(const struct hi_graph *g, hi_node node)
{
	if (node < g->n_objects)
		__builtin_prefetch(&g->chunks[node >> HI_CHUNK_SHIFT]
					    .row[node & (HI_CHUNK_NODES - 1)]);
}
HI_INLINE void hi_prefetch_edges(const struct hi_edges *edges)
{
	__builtin_prefetch(edges->to);
	__builtin_prefetch(edges->grade);
}

/* Is the edge to be followed? If so it marks `to`, and to was not marked. */
typedef bool hi_walk_take_fn(void *arg, hi_node from, hi_node to, uint8_t grade);

/* Until the stack is empty; take is to be inlined. */
HI_INLINE void hi_walk_run(struct hi_walk *w, hi_walk_take_fn *take, void *arg)
{
	struct {
		struct hi_edges edges;
		hi_node node;
	} ring[HI_RING];
	uint32_t in = 0, half = 0, out = 0; /* ring positions, out <= half <= in */

	while (w->depth || in != out) {
		if (w->depth && in - out < HI_RING) {
			ring[in % HI_RING].node = w->stack[--w->depth];
			hi_prefetch_row(w->graph, ring[in++ % HI_RING].node);
			/* Fill it up before visiting anything. */
			if (in - half <= HI_RING / 2 && w->depth)
				continue;
		}
		if (half != in) {
			uint32_t i = half++ % HI_RING;

			ring[i].edges = hi_graph_edges(w->graph, ring[i].node);
			hi_prefetch_edges(&ring[i].edges);
			if (in - out < HI_RING && w->depth)
				continue;
		}
		for (uint32_t i = out++ % HI_RING, k = 0; k < ring[i].edges.count; k++)
			if (take(arg, ring[i].node, ring[i].edges.to[k],
				 ring[i].edges.grade[k]))
				w->stack[w->depth++] = ring[i].edges.to[k];
	}
}

/* A hi_walk_take_fn: follows every edge that is not weak; arg: the bits to mark. */
HI_INLINE bool hi_walk_take_strong(void *arg, hi_node from, hi_node to, uint8_t grade)
{
	(void)from;
	return grade != HI_GRADE_WEAK && hi_bit_take(arg, to);
}

/* Types are written by the caller into a plain column: never trust them as an index. */
HI_INLINE uint32_t hi_type_of(const struct hi_graph *g, hi_node object)
{
	uint32_t type = g->objects->type[object];

	return type < g->n_types ? type : 0;
}

/* hi_objects_cost() without a call, for loops over all objects. */
HI_INLINE uint64_t hi_cost_of(const struct hi_objects *o, hi_node object)
{
	uint32_t usable = o->usable_low[object];

	if (__builtin_expect(usable == UINT32_MAX, 0))
		return hi_objects_cost(o, object);
	return (uint64_t)usable +
	       o->overhead[o->flags[object] >> HI_OBJECT_OVERHEAD_SHIFT & 3];
}

/*
 * Does this edge belong to the flow graph of the dominators? An object that
 * precise edges reach is held by precise edges alone. `from` is reachable.
 */
HI_INLINE bool hi_is_flow(const uint64_t *exact, bool from_exact, hi_node to,
			  uint8_t grade)
{
	bool precise = grade <= 1; /* hi_grade_is_precise */

	if (exact[to >> 6] >> (to & 63) & 1)
		return precise && from_exact;
	return grade != HI_GRADE_WEAK;
}

/*
 * For visits of nodes in an order that is known: next[0] is visited now, next[left - 1]
 * last. Fetches the rows, the edges and the entries of their ends in a column by node, of
 * nodes that are further and further ahead, so that their misses overlap.
 */
HI_INLINE void hi_walk_look_ahead(const struct hi_graph *g, const hi_node *next,
				  size_t left, const uint32_t *column)
{
	enum { STEP = 8, FEW_EDGES = 8 };
	struct hi_edges edges;

	if (left > (size_t)3 * STEP && next[3 * STEP] < g->n_objects)
		__builtin_prefetch(&g->chunks[next[3 * STEP] >> HI_CHUNK_SHIFT]
					    .row[next[3 * STEP] & (HI_CHUNK_NODES - 1)]);
	if (left > (size_t)2 * STEP) {
		edges = hi_graph_edges(g, next[2 * STEP]);
		__builtin_prefetch(edges.to);
		__builtin_prefetch(edges.grade);
	}
	if (left > STEP) {
		edges = hi_graph_edges(g, next[STEP]);
		for (uint32_t i = 0; i < edges.count && i < FEW_EDGES; i++)
			__builtin_prefetch(&column[edges.to[i]], 1);
	}
}

#endif
