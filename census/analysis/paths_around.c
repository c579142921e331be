/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Around the targets]
 *
 * A path ends at the first target on it, so a search needs the distances of paths that
 * leave no target. They differ from those of all paths only where all shortest paths go
 * over a target. Such nodes are found in order of their distance: one is changed if no
 * referrer is left that is a step nearer, is no target and is not changed itself. Their
 * new distances begin at referrers that are not changed, the nearest first (Dijkstra), by
 * distance and then by doubtful edges.
 *
 * The cost is that of the objects reached through the targets. If these are much of the
 * heap, all is measured again instead.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/path_index_internal.h"
#include "census/analysis/walk_internal.h"

struct reached {
	uint64_t key; /* distance << 32 | doubt */
	hi_node node;
};

struct change {
	struct hi_path_around *around;
	struct node_list HI_VECTOR(hi_node) level, next; /* of one distance each */
	struct HI_VECTOR(struct reached) heap;
	struct hi_path_changed *targets; /* by distance */
	size_t n_targets;
	bool too_many;
};

static bool is_marked(const struct hi_path_around *a, hi_node node)
{
	return hi_bit(a->is_changed, node);
}

static uint32_t doubt_of(uint32_t grade)
{
	return grade == HI_GRADE_CONSERVATIVE;
}

/* ---- which nodes ---- */

/* Does a shortest path lead there that leaves no target? */
static bool is_held_from_elsewhere(const struct hi_path_around *a, hi_node node)
{
	const struct hi_path_index *index = a->index;
	const struct hi_path_distances *d = a->d;

	for (uint32_t i = index->row[node]; i < index->row[node + 1]; i++) {
		hi_node from = index->from[i] & HI_TURNED_NODE;
		uint32_t grade = index->from[i] >> HI_TURNED_SHIFT;

		if (grade <= a->worst && d->distance[from] + 1 == d->distance[node] &&
		    d->distance[from] &&
		    hi_path_doubt(d, from) + doubt_of(grade) == hi_path_doubt(d, node) &&
		    !hi_bit(a->is_target, from) && !is_marked(a, from))
			return true;
	}
	return false;
}

/* Adds the nodes one step after the node, on shortest paths. */
static bool add_candidates(struct change *c, hi_node from)
{
	struct hi_path_around *a = c->around;
	const struct hi_path_distances *d = a->d;
	struct hi_edges edges = hi_graph_edges(a->index->graph, from);

	for (uint32_t e = 0; e < edges.count; e++) {
		hi_node to = edges.to[e];

		if (edges.grade[e] <= a->worst &&
		    d->distance[to] == d->distance[from] + 1 &&
		    hi_bit_take(a->is_seen, to) && !hi_vector_push(&c->next, to))
			return false;
	}
	return true;
}

static bool mark_changed(struct change *c, hi_node node)
{
	struct hi_path_around *a = c->around;
	struct hi_path_changed was = {node, a->d->distance[node],
				      hi_path_doubt(a->d, node)};

	if (a->changed.count >= a->most) {
		c->too_many = true;
		return false;
	}
	return hi_bit_take(a->is_changed, node) && hi_vector_push(&a->changed, was);
}

/* The nodes of c->level, all of one distance. */
static bool mark_level(struct change *c)
{
	for (size_t i = 0; i < c->level.count; i++) {
		hi_node node = c->level.items[i];

		if (is_held_from_elsewhere(c->around, node))
			continue;
		if (!mark_changed(c, node) || !add_candidates(c, node))
			return false;
	}
	return true;
}

static bool find_changed(struct change *c)
{
	size_t at = 0;
	uint32_t distance = 0;

	while (c->level.count || at < c->n_targets) {
		struct node_list done = c->level;

		if (!c->level.count)
			distance = c->targets[at].distance;
		if (!mark_level(c))
			return false;
		for (; at < c->n_targets && c->targets[at].distance == distance; at++)
			if (!add_candidates(c, c->targets[at].node))
				return false;
		c->level = c->next;
		c->next = done;
		c->next.count = 0;
		distance++;
	}
	return true;
}

/* ---- their distances ---- */

static bool heap_push(struct change *c, struct reached item)
{
	size_t at = c->heap.count;

	if (!hi_vector_push(&c->heap, item))
		return false;
	for (; at > 0 && c->heap.items[(at - 1) / 2].key > item.key; at = (at - 1) / 2)
		c->heap.items[at] = c->heap.items[(at - 1) / 2];
	c->heap.items[at] = item;
	return true;
}

static struct reached heap_pop(struct change *c)
{
	struct reached *h = c->heap.items, first = h[0], last = h[--c->heap.count];
	size_t at = 0, n = c->heap.count;

	for (size_t down = 1; down < n; down = 2 * at + 1) {
		if (down + 1 < n && h[down + 1].key < h[down].key)
			down++;
		if (h[down].key >= last.key)
			break;
		h[at] = h[down];
		at = down;
	}
	h[at] = last;
	return first;
}

static uint64_t key_behind(const struct hi_path_distances *d, hi_node from,
			   uint32_t grade)
{
	return ((uint64_t)d->distance[from] + 1) << 32 |
	       (hi_path_doubt(d, from) + doubt_of(grade));
}

/* From referrers that keep their distance. */
static bool reach_from_outside(struct change *c, hi_node node)
{
	const struct hi_path_around *a = c->around;
	const struct hi_path_index *index = a->index;
	struct reached best = {UINT64_MAX, node};

	for (uint32_t i = index->row[node]; i < index->row[node + 1]; i++) {
		hi_node from = index->from[i] & HI_TURNED_NODE;
		uint32_t grade = index->from[i] >> HI_TURNED_SHIFT;

		if (grade <= a->worst && a->d->distance[from] && !is_marked(a, from) &&
		    !hi_bit(a->is_target, from) &&
		    key_behind(a->d, from, grade) < best.key)
			best.key = key_behind(a->d, from, grade);
	}
	return best.key == UINT64_MAX || heap_push(c, best);
}

static bool reach_behind(struct change *c, hi_node from)
{
	const struct hi_path_around *a = c->around;
	struct hi_edges edges = hi_graph_edges(a->index->graph, from);

	if (hi_bit(a->is_target, from))
		return true;
	for (uint32_t e = 0; e < edges.count; e++) {
		hi_node to = edges.to[e];

		if (edges.grade[e] <= a->worst && is_marked(a, to) &&
		    !a->d->distance[to] &&
		    !heap_push(c, (struct reached){key_behind(a->d, from, edges.grade[e]),
						   to}))
			return false;
	}
	return true;
}

static bool measure_changed(struct change *c)
{
	struct hi_path_around *a = c->around;

	for (size_t i = 0; i < a->changed.count; i++)
		a->d->distance[a->changed.items[i].node] = 0;
	for (size_t i = 0; i < a->changed.count; i++)
		if (!reach_from_outside(c, a->changed.items[i].node))
			return false;
	while (c->heap.count) {
		struct reached r = heap_pop(c);

		if (a->d->distance[r.node])
			continue;
		a->d->distance[r.node] = (uint32_t)(r.key >> 32);
		if (a->d->doubt)
			a->d->doubt[r.node] = (uint32_t)r.key;
		if (!reach_behind(c, r.node))
			return false;
	}
	return true;
}

/* ---- the whole ---- */

static int compare_distances(const void *a, const void *b)
{
	const struct hi_path_changed *x = a, *y = b;

	return x->distance < y->distance ? -1 : x->distance > y->distance;
}

static bool sort_targets(struct change *c, const hi_node *targets, size_t n)
{
	const struct hi_path_around *a = c->around;

	c->targets = hi_alloc(n * sizeof(*c->targets) + 1);
	if (!c->targets)
		return false;
	for (size_t i = 0; i < n; i++)
		if (targets[i] < a->index->graph->first_kind &&
		    a->d->distance[targets[i]])
			c->targets[c->n_targets++] = (struct hi_path_changed){
				targets[i], a->d->distance[targets[i]], 0};
	if (c->n_targets)
		qsort(c->targets, c->n_targets, sizeof(*c->targets), compare_distances);
	return true;
}

enum hi_path_outcome hi_path_around_change(struct hi_path_around *a,
					   const hi_node *targets, size_t n)
{
	size_t bits = hi_bits_size(a->index->graph->n_nodes);
	struct change c = {.around = a};
	bool ok;

	if (n > a->most)
		return HI_AROUND_TOO_MANY;
	a->is_changed = hi_calloc(1, bits);
	a->is_seen = hi_calloc(1, bits);
	ok = a->is_changed && a->is_seen && sort_targets(&c, targets, n) &&
	     find_changed(&c) && measure_changed(&c);
	hi_vector_free(&c.level);
	hi_vector_free(&c.next);
	hi_vector_free(&c.heap);
	free(c.targets);
	if (ok)
		return HI_AROUND_DONE;
	hi_path_around_restore(a);
	return c.too_many ? HI_AROUND_TOO_MANY : HI_AROUND_NO_MEMORY;
}

void hi_path_around_restore(struct hi_path_around *a)
{
	for (size_t i = 0; i < a->changed.count; i++) {
		const struct hi_path_changed *was = &a->changed.items[i];

		a->d->distance[was->node] = was->distance;
		if (a->d->doubt)
			a->d->doubt[was->node] = was->doubt;
	}
	hi_vector_free(&a->changed);
	free(hi_take(a->is_changed));
	free(hi_take(a->is_seen));
}
