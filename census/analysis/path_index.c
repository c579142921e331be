/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/path_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parallel.h"
#include "census/analysis/path_index_internal.h"
#include "census/analysis/walk_internal.h"
#include "census/graph/graph_internal.h"

/* ---- edges, turned round ---- */

/* Each task takes the edges to its own range of objects, in order: the rows do not depend
 * on the number of threads. */
struct turning {
	struct hi_path_index *index;
	size_t n_tasks;
	bool fills; /* else counts */
};

static void turn_chunk(const struct turning *t, const struct hi_edge_chunk *c,
		       hi_node first, uint32_t n, hi_node low, hi_node size)
{
	enum { AHEAD = 24 };
	uint32_t *row = t->index->row, *from = t->index->from;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t e = c->row[i]; e < c->row[i + 1]; e++) {
			if (e + AHEAD < c->row[n])
				__builtin_prefetch(&row[c->to[e + AHEAD]], 1);
			if (c->to[e] - low >= size)
				continue;
			if (t->fills)
				from[row[c->to[e] + 1]++] =
					(first + i) | (uint32_t)(c->grade[e] & 3)
							      << HI_TURNED_SHIFT;
			else
				row[c->to[e] + 2]++;
		}
}

/* hi_task_fn. While rows are filled, row[i + 1] is where the next edge to i goes. */
static void turn_range(void *arg, size_t task, unsigned worker)
{
	const struct turning *t = arg;
	const struct hi_graph *g = t->index->graph;
	uint64_t n = g->n_objects;
	hi_node low = (hi_node)(n * task / t->n_tasks);
	hi_node size = (hi_node)(n * (task + 1) / t->n_tasks) - low;

	(void)worker;
	for (uint32_t k = 0; k < g->priv->n_chunks; k++)
		turn_chunk(t, &g->chunks[k], k << HI_CHUNK_SHIFT,
			   hi_chunk_nodes(g->n_objects, k), low, size);
	turn_chunk(t, &g->root_chunk, g->first_root, g->n_roots, low, size);
}

static size_t turned_row_size(const struct hi_graph *g)
{
	return ((size_t)g->n_objects + 3) * sizeof(uint32_t);
}

static void note_grades(struct hi_path_index *index)
{
	const struct hi_graph *g = index->graph;

	for (uint32_t k = 0; k <= g->priv->n_chunks; k++) {
		const struct hi_edge_chunk *c =
			k < g->priv->n_chunks ? &g->chunks[k] : &g->root_chunk;
		uint32_t n =
			c->row[k < g->priv->n_chunks ? hi_chunk_nodes(g->n_objects, k)
						     : g->n_roots];
		uint32_t found[HI_GRADE_WEAK + 1] = {};

		for (uint32_t e = 0; e < n; e++)
			found[c->grade[e] & 3]++;
		for (unsigned i = 0; i <= HI_GRADE_WEAK; i++)
			index->has_grade[i] |= found[i] != 0;
	}
}

static bool turn_edges(struct hi_path_index *index, unsigned threads)
{
	const struct hi_graph *g = index->graph;
	struct turning t = {.index = index, .n_tasks = threads ? threads : 1};

	index->row = hi_pages_alloc(turned_row_size(g));
	if (!index->row)
		return false;
	hi_parallel(threads, t.n_tasks, turn_range, &t);
	for (hi_node i = 0; i < g->n_objects; i++)
		index->row[i + 2] += index->row[i + 1];
	index->n_from = index->row[g->n_objects + 1];
	index->from = hi_pages_alloc(index->n_from * sizeof(*index->from) + 1);
	if (!index->from)
		return false;
	t.fills = true;
	hi_parallel(threads, t.n_tasks, turn_range, &t);
	return true;
}

enum hi_status hi_path_index_create(const struct hi_graph *g, unsigned threads,
				    struct hi_path_index **ret, struct hi_error *err)
{
	HI_GUARD(hi_path_index_destroy)
	struct hi_path_index *index = hi_calloc(1, sizeof(*index));

	if (!index)
		return hi_fail_memory(err, "paths to a root");
	index->graph = g;
	if (g->n_nodes >= HI_TURNED_NODE || g->n_edges >= UINT32_MAX)
		return hi_fail(err, HI_LIMIT, 0,
			       "paths to a root: the graph is too large");
	if (!turn_edges(index, threads ? threads : hi_parallel_threads()))
		return hi_fail_memory(err, "paths to a root");
	note_grades(index);
	*ret = hi_take(index);
	return HI_OK;
}

void hi_path_index_destroy(struct hi_path_index *index)
{
	if (!index)
		return;
	for (unsigned i = 0; i < HI_GRADE_WEAK; i++)
		hi_path_distances_free(index->graph, &index->levels[i]);
	hi_pages_free(index->row, index->row ? turned_row_size(index->graph) : 0);
	hi_pages_free(index->from,
		      index->from ? index->n_from * sizeof(*index->from) + 1 : 0);
	free(index);
}

enum hi_status hi_path_index_referrers(const struct hi_path_index *index, hi_node node,
				       size_t max, struct hi_referrers **ret,
				       struct hi_error *err)
{
	HI_GUARD(hi_referrers_destroy) struct hi_referrers *r = NULL;
	const uint32_t *from;

	/* To variables and kinds lead only a few edges, of pseudo-nodes. */
	if (node >= index->graph->n_objects)
		return hi_referrers_find(index->graph, node, max, 1, ret, err);
	r = hi_calloc(1, sizeof(*r));
	if (!r)
		return hi_fail_memory(err, "referrers");
	from = index->from + index->row[node];
	r->total = index->row[node + 1] - index->row[node];
	r->count = max < r->total ? max : r->total;
	r->from = hi_alloc(r->count * sizeof(*r->from) + 1);
	r->grade = hi_alloc(r->count + 1);
	if (!r->from || !r->grade)
		return hi_fail_memory(err, "referrers");
	for (size_t i = 0; i < r->count; i++) {
		r->from[i] = from[i] & HI_TURNED_NODE;
		r->grade[i] = (uint8_t)(from[i] >> HI_TURNED_SHIFT);
	}
	*ret = hi_take(r);
	return HI_OK;
}

/* ---- distances ---- */

void hi_path_distances_free(const struct hi_graph *g, struct hi_path_distances *d)
{
	size_t size = (size_t)g->n_nodes * sizeof(uint32_t);

	hi_pages_free(d->distance, d->distance ? size : 0);
	hi_pages_free(d->doubt, d->doubt ? size : 0);
	*d = (struct hi_path_distances){};
}

struct measuring {
	const struct hi_graph *graph;
	enum hi_grade worst;
	const uint64_t *is_target;
	struct hi_path_distances *d;
	hi_node *queue;
	size_t n;
};

HI_INLINE void relax_turned(struct measuring *m, hi_node from, hi_node to, uint8_t grade)
{
	struct hi_path_distances *d = m->d;
	uint32_t distance = d->distance[from] + 1, doubt;

	if (grade > m->worst)
		return;
	if (d->distance[to] == 0) {
		d->distance[to] = distance;
		m->queue[m->n++] = to;
		if (d->doubt)
			d->doubt[to] = d->doubt[from] + (grade == HI_GRADE_CONSERVATIVE);
	} else if (d->doubt && d->distance[to] == distance) {
		doubt = d->doubt[from] + (grade == HI_GRADE_CONSERVATIVE);
		if (doubt < d->doubt[to])
			d->doubt[to] = doubt;
	}
}

static void relax_row(struct measuring *m, hi_node from)
{
	enum { AHEAD = 16 };
	struct hi_edges edges = hi_graph_edges(m->graph, from);

	for (uint32_t e = 0; e < edges.count; e++) {
		if (e + AHEAD < edges.count)
			__builtin_prefetch(&m->d->distance[edges.to[e + AHEAD]]);
		relax_turned(m, from, edges.to[e], edges.grade[e]);
	}
}

static void measure_in_breadth(struct measuring *m)
{
	enum { ROW_AHEAD = 32, EDGES_AHEAD = 16, TO_AHEAD = 8 };
	const struct hi_graph *g = m->graph;

	for (hi_node i = g->first_root; i < g->first_kind; i++) {
		m->d->distance[i] = 1;
		m->queue[m->n++] = i;
	}
	for (size_t at = 0; at < m->n; at++) {
		if (at + ROW_AHEAD < m->n)
			hi_prefetch_row(g, m->queue[at + ROW_AHEAD]);
		if (at + EDGES_AHEAD < m->n) {
			struct hi_edges later =
				hi_graph_edges(g, m->queue[at + EDGES_AHEAD]);

			hi_prefetch_edges(&later);
		}
		if (at + TO_AHEAD < m->n) {
			struct hi_edges soon = hi_graph_edges(g, m->queue[at + TO_AHEAD]);

			for (uint32_t e = 0; e < soon.count && e < 4; e++)
				__builtin_prefetch(&m->d->distance[soon.to[e]]);
		}
		if (m->is_target && hi_bit(m->is_target, m->queue[at]))
			continue;
		relax_row(m, m->queue[at]);
	}
}

bool hi_path_distances_measure(const struct hi_graph *g, enum hi_grade worst,
			       const uint64_t *is_target, bool with_doubt,
			       struct hi_path_distances *ret)
{
	size_t size = (size_t)g->n_nodes * sizeof(uint32_t);
	hi_node *queue = hi_pages_alloc(size);
	struct measuring m = {g, worst, is_target, ret, queue, 0};

	ret->distance = hi_pages_alloc(size);
	ret->doubt = with_doubt ? hi_pages_alloc(size) : NULL;
	if (queue && ret->distance && (ret->doubt || !with_doubt))
		measure_in_breadth(&m);
	else
		hi_path_distances_free(g, ret);
	hi_pages_free(queue, queue ? size : 0);
	return ret->distance;
}

enum hi_grade hi_path_index_level(const struct hi_path_index *index, enum hi_grade worst)
{
	while (worst > HI_GRADE_EXACT && !index->has_grade[worst])
		worst--;
	return worst;
}

bool hi_path_index_has_grade(const struct hi_path_index *index, enum hi_grade grade)
{
	return index->has_grade[grade];
}

bool hi_path_index_is_measured(const struct hi_path_index *index, enum hi_grade worst)
{
	return index->levels[hi_path_index_level(index, worst)].distance;
}

enum hi_status hi_path_index_measure(struct hi_path_index *index, enum hi_grade worst,
				     struct hi_error *err)
{
	enum hi_grade level = hi_path_index_level(index, worst);

	if (index->levels[level].distance ||
	    hi_path_distances_measure(index->graph, level, NULL,
				      level == HI_GRADE_CONSERVATIVE,
				      &index->levels[level]))
		return HI_OK;
	return hi_fail_memory(err, "paths to a root");
}

/* ---- one way ---- */

/* The best grade of the edges from -> to. */
static enum hi_grade best_grade(const struct hi_graph *g, hi_node from, hi_node to)
{
	struct hi_edges edges = hi_graph_edges(g, from);
	enum hi_grade best = HI_GRADE_WEAK;

	for (uint32_t e = 0; e < edges.count; e++)
		if (edges.to[e] == to && edges.grade[e] < best)
			best = edges.grade[e];
	return best;
}

void hi_path_grade(const struct hi_graph *g, struct hi_path *path)
{
	path->worst = HI_GRADE_EXACT;
	for (size_t i = 1; i < path->length; i++) {
		enum hi_grade grade = best_grade(g, path->nodes[i - 1], path->nodes[i]);

		if (grade > path->worst)
			path->worst = grade;
	}
}

/* Returns the first of the referrers on shortest paths with the fewest doubtful edges. */
static hi_node find_step_back(const struct hi_path_index *index,
			      const struct hi_path_distances *d, hi_node node)
{
	for (uint32_t i = index->row[node]; i < index->row[node + 1]; i++) {
		hi_node from = index->from[i] & HI_TURNED_NODE;
		uint32_t grade = index->from[i] >> HI_TURNED_SHIFT;

		if (grade != HI_GRADE_WEAK && d->distance[from] &&
		    d->distance[from] + 1 == d->distance[node] &&
		    hi_path_doubt(d, from) + (grade == HI_GRADE_CONSERVATIVE) ==
			    hi_path_doubt(d, node))
			return from;
	}
	return HI_NODE_NONE;
}

enum hi_status hi_path_index_way(struct hi_path_index *index, hi_node target,
				 struct hi_path *ret, struct hi_error *err)
{
	const struct hi_path_distances *d =
		&index->levels[hi_path_index_level(index, HI_GRADE_CONSERVATIVE)];
	enum hi_status status = hi_path_index_measure(index, HI_GRADE_CONSERVATIVE, err);
	hi_node node = target;

	*ret = (struct hi_path){};
	if (status != HI_OK || target >= index->graph->first_kind || !d->distance[target])
		return status;
	ret->length = d->distance[target];
	ret->nodes = hi_alloc(ret->length * sizeof(*ret->nodes));
	if (!ret->nodes)
		return hi_fail_memory(err, "paths to a root");
	for (size_t i = ret->length; i > 0; i--) {
		ret->nodes[i - 1] = node;
		if (i > 1)
			node = find_step_back(index, d, node);
	}
	hi_path_grade(index->graph, ret);
	return HI_OK;
}
