/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Root keys without dominators]
 *
 * Each path from the super-root to an object passes one root variable, or none where it
 * begins with a block of the allocator's own; no edge leads from an object to a root. So
 * a root dominates an object (Note [Flow graph] in dominators.c) exactly if it is the
 * only one that has a path to it, and no path goes without. Marks are thus spread over
 * the edges of the flow graph: none, then the number of the one root, then MANY, which
 * covers all. A mark changes twice at most, so a node is visited twice at most, and the
 * order of the visits means nothing.
 */
#include "census/analysis/root_keys.h"

#include <string.h>

#include "base/cleanup.h"
#include "census/analysis/walk_internal.h"

enum { NO_MARK = 0, FIRST_MARK = 1 };
#define MANY UINT32_MAX

struct key_walk {
	const struct hi_graph *graph;
	const uint64_t *exact;
	uint32_t *marks; /* by node */
};

/* Returns whether the mark of `to` has changed. */
HI_INLINE bool spread_mark(uint32_t *marks, hi_node to, uint32_t mark)
{
	uint32_t before = marks[to];

	if (before == mark || before == MANY)
		return false;
	marks[to] = before == NO_MARK ? mark : MANY;
	return true;
}

/* The mark that a path has when it goes on from a node to this one. */
HI_INLINE uint32_t mark_of_step(const struct hi_graph *g, hi_node to, uint32_t mark)
{
	if (__builtin_expect(to < g->first_root || to >= g->first_kind, 1))
		return mark;
	return to - g->first_root + FIRST_MARK;
}

/* hi_walk_take_fn */
HI_INLINE bool take_root_mark(void *arg, hi_node from, hi_node to, uint8_t grade)
{
	const struct key_walk *w = arg;

	return hi_is_flow(w->exact, hi_bit(w->exact, from), to, grade) &&
	       spread_mark(w->marks, to, mark_of_step(w->graph, to, w->marks[from]));
}

/* All that the super-root has counts, whatever its edges are. */
static void push_first_nodes(struct key_walk *w, const struct hi_reach *reach,
			     struct hi_walk *walk)
{
	const struct hi_graph *g = w->graph;
	struct hi_edges edges = hi_graph_edges(g, g->super_root);

	w->marks[g->super_root] = MANY;
	for (uint32_t e = 0; e < edges.count; e++)
		if (spread_mark(w->marks, edges.to[e],
				mark_of_step(g, edges.to[e], MANY)))
			walk->stack[walk->depth++] = edges.to[e];
	for (size_t i = 0; i < reach->n_internal_roots; i++)
		if (spread_mark(w->marks, reach->internal_roots[i], MANY))
			walk->stack[walk->depth++] = reach->internal_roots[i];
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
	/* A node may be there with its first mark and with the second. */
	const size_t size = 2 * (size_t)g->n_nodes * sizeof(hi_node);
	struct hi_walk walk = {.graph = g, .stack = hi_pages_alloc(size)};
	struct key_walk w = {.graph = g, .exact = reach->exact, .marks = keys};

	if (!walk.stack)
		return hi_fail_memory(err, "root variables of objects");
	memset(keys, 0, (size_t)g->n_nodes * sizeof(*keys));
	push_first_nodes(&w, reach, &walk);
	hi_walk_run(&walk, take_root_mark, &w);
	hi_pages_free(walk.stack, size);
	turn_marks_into_keys(g, of_root, several, keys);
	return HI_OK;
}
