/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One shortest path to each of a few nodes: a breadth-first walk from the variables in
 * which every node remembers the best one that it was reached from. It ends when all of
 * them are known: the nodes are mostly near the roots, most of the heap is not.
 */
#include "base/cleanup.h"
#include "census/analysis/path_index_internal.h"
#include "census/analysis/walk_internal.h"
#include "census/graph/graph_internal.h"

/* Longer than any path that is asked for by rank, and as often as there are ranks. */
#define RANK_DISTANCE (1u << 29)

struct walk {
	const struct hi_graph *graph;
	enum hi_grade worst; /* of the edges that are followed */
	uint32_t *distance;  /* from the roots, + 1; 0: not reached */
	uint32_t *doubt;     /* conservative edges on the path; NULL: it has none */
	hi_node *before;     /* on the path; of objects that were reached */
	hi_node *queue;
	size_t n;
	uint64_t *wanted;	 /* bits: not reached yet */
	size_t n_wanted;	 /* of them */
	uint32_t farthest;	 /* distance of the last one that was */
	uint32_t base;		 /* distances of this rank of roots begin there */
	const atomic_bool *stop; /* NULL */
};

static void walk_deinit(struct walk *w)
{
	size_t size = (size_t)w->graph->n_nodes * sizeof(uint32_t);

	hi_pages_free(w->distance, size);
	hi_pages_free(w->doubt, size);
	hi_pages_free(w->before, size);
	hi_pages_free(w->queue, size);
	free(w->wanted);
}

static bool walk_init(struct walk *w, const hi_node *targets, size_t n)
{
	size_t size = (size_t)w->graph->n_nodes * sizeof(uint32_t);

	w->distance = hi_pages_alloc(size);
	if (w->worst >= HI_GRADE_CONSERVATIVE)
		w->doubt = hi_pages_alloc(size);
	w->before = hi_pages_alloc(size);
	w->queue = hi_pages_alloc(size);
	w->wanted = hi_calloc(1, hi_bits_size(w->graph->n_nodes));
	if (!w->distance || !w->before || !w->queue || !w->wanted ||
	    (w->worst >= HI_GRADE_CONSERVATIVE && !w->doubt))
		return false;
	for (size_t i = 0; i < n; i++)
		if (targets[i] < w->graph->first_kind)
			w->n_wanted += hi_bit_take(w->wanted, targets[i]);
	return true;
}

static void reach_at_distance(struct walk *w, hi_node node, uint32_t distance)
{
	w->distance[node] = distance;
	w->queue[w->n++] = node;
	if (!hi_bit(w->wanted, node))
		return;
	w->wanted[node >> 6] &= ~(1ull << (node & 63));
	w->n_wanted--;
	w->farthest = distance;
}

/* Prefers, among paths of one length, fewer doubtful edges; then the lower number. */
HI_INLINE void relax(struct walk *w, hi_node from, hi_node to, uint8_t grade)
{
	uint32_t distance = w->distance[from] + 1;
	uint32_t doubt = 0;

	if (grade > w->worst)
		return;
	if (w->doubt)
		doubt = w->doubt[from] + (grade == HI_GRADE_CONSERVATIVE);
	if (w->distance[to] == 0)
		reach_at_distance(w, to, distance);
	else if (w->distance[to] != distance || (w->doubt && doubt > w->doubt[to]) ||
		 ((!w->doubt || doubt == w->doubt[to]) && from > w->before[to]))
		return;
	if (w->doubt)
		w->doubt[to] = doubt;
	w->before[to] = from;
}

static void relax_all(struct walk *w, hi_node from)
{
	enum { AHEAD = 16 };
	struct hi_edges edges = hi_graph_edges(w->graph, from);

	for (uint32_t e = 0; e < edges.count; e++) {
		if (e + AHEAD < edges.count)
			__builtin_prefetch(&w->distance[edges.to[e + AHEAD]]);
		relax(w, from, edges.to[e], edges.grade[e]);
	}
}

static bool is_to_stop(const struct walk *w, size_t at)
{
	enum { ONCE_IN = 1 << 14 };

	return w->stop && at % ONCE_IN == 0 && atomic_load(w->stop);
}

/* The last ones are known when all that is nearer to the roots has been left. */
static void walk_on(struct walk *w, size_t first)
{
	enum { ROW_AHEAD = 32, EDGES_AHEAD = 16 };
	const struct hi_graph *g = w->graph;

	for (size_t at = first; at < w->n; at++) {
		hi_node node = w->queue[at];

		if ((!w->n_wanted && w->distance[node] >= w->farthest) ||
		    is_to_stop(w, at))
			return;
		if (at + ROW_AHEAD < w->n)
			hi_prefetch_row(g, w->queue[at + ROW_AHEAD]);
		if (at + EDGES_AHEAD < w->n) {
			struct hi_edges later =
				hi_graph_edges(g, w->queue[at + EDGES_AHEAD]);

			hi_prefetch_edges(&later);
		}
		relax_all(w, node);
	}
}

static void walk_breadth_first(struct walk *w)
{
	const struct hi_graph *g = w->graph;

	for (hi_node i = g->first_root; i < g->first_kind; i++)
		reach_at_distance(w, i, 1);
	walk_on(w, 0);
}

/*
 * From the roots of one rank after those of all better ones. Distances of each rank have
 * a range of their own, so that what a better rank reached is never reached again.
 */
static void walk_by_rank(struct walk *w)
{
	const struct hi_graph *g = w->graph;

	for (unsigned rank = HI_RANKS; rank-- > HI_RANK_NOBODY && w->n_wanted;) {
		size_t first = w->n;

		for (hi_node i = g->first_root; i < g->first_kind; i++)
			if (hi_root_rank(&g->roots[i - g->first_root]) == rank &&
			    !w->distance[i])
				reach_at_distance(w, i, w->base + 1);
		walk_on(w, first);
		w->base += RANK_DISTANCE;
	}
}

static bool give_way(const struct walk *w, hi_node target, struct hi_path *ret)
{
	hi_node node = target;

	if (target >= w->graph->first_kind || !w->distance[target])
		return true;
	ret->length = w->distance[target] % RANK_DISTANCE;
	ret->nodes = hi_alloc(ret->length * sizeof(*ret->nodes));
	if (!ret->nodes)
		return false;
	for (size_t i = ret->length; i > 0; i--) {
		ret->nodes[i - 1] = node;
		node = w->before[node];
	}
	hi_path_grade(w->graph, ret);
	return true;
}

static enum hi_status find_shortest(const struct hi_graph *g, const hi_node *targets,
				    size_t n, enum hi_grade worst,
				    void (*go)(struct walk *), struct hi_paths **ret,
				    struct hi_error *err)
{
	HI_GUARD(hi_paths_destroy) struct hi_paths *paths = hi_calloc(1, sizeof(*paths));
	struct walk w = {.graph = g, .worst = worst};
	bool ok;

	if (!paths || !(paths->paths = hi_calloc(n + 1, sizeof(*paths->paths))))
		return hi_fail_memory(err, "paths to a root");
	paths->n_paths = n;
	ok = walk_init(&w, targets, n);
	if (ok)
		go(&w);
	for (size_t i = 0; i < n && ok; i++)
		ok = give_way(&w, targets[i], &paths->paths[i]);
	walk_deinit(&w);
	if (!ok)
		return hi_fail_memory(err, "paths to a root");
	*ret = hi_take(paths);
	return HI_OK;
}

enum hi_status hi_paths_shortest(const struct hi_graph *g, const hi_node *targets,
				 size_t n, struct hi_paths **ret, struct hi_error *err)
{
	return hi_paths_shortest_along(g, targets, n, HI_GRADE_CONSERVATIVE, ret, err);
}

enum hi_status hi_paths_shortest_along(const struct hi_graph *g, const hi_node *targets,
				       size_t n, enum hi_grade worst,
				       struct hi_paths **ret, struct hi_error *err)
{
	return find_shortest(g, targets, n, worst, walk_breadth_first, ret, err);
}

enum hi_status hi_paths_by_rank(const struct hi_graph *g, const hi_node *targets,
				size_t n, struct hi_paths **ret, struct hi_error *err)
{
	return find_shortest(g, targets, n, HI_GRADE_CONSERVATIVE, walk_by_rank, ret,
			     err);
}

/* ---- all nodes ---- */

struct hi_path_tree {
	struct walk walk;
};

static void free_scratch(struct walk *w)
{
	size_t size = (size_t)w->graph->n_nodes * sizeof(uint32_t);

	hi_pages_free(hi_take(w->doubt), size);
	hi_pages_free(hi_take(w->queue), size);
	free(hi_take(w->wanted));
}

enum hi_status hi_path_tree_compute(const struct hi_graph *g, const atomic_bool *stop,
				    struct hi_path_tree **ret, struct hi_error *err)
{
	struct hi_path_tree *tree = hi_calloc(1, sizeof(*tree));
	enum hi_status status = HI_OK;

	if (!tree)
		return hi_fail_memory(err, "paths to a root");
	tree->walk = (struct walk){.graph = g,
				   .worst = HI_GRADE_CONSERVATIVE,
				   .farthest = UINT32_MAX,
				   .stop = stop};
	if (walk_init(&tree->walk, NULL, 0))
		walk_breadth_first(&tree->walk);
	else
		status = hi_fail_memory(err, "paths to a root");
	if (status == HI_OK && stop && atomic_load(stop))
		status = hi_fail(err, HI_TIMEOUT, 0, "paths to a root: ended before");
	if (status != HI_OK) {
		hi_path_tree_destroy(tree);
		return status;
	}
	free_scratch(&tree->walk);
	*ret = tree;
	return HI_OK;
}

enum hi_status hi_path_tree_find(const struct hi_path_tree *tree, hi_node target,
				 struct hi_path *ret, struct hi_error *err)
{
	*ret = (struct hi_path){};
	return give_way(&tree->walk, target, ret)
		       ? HI_OK
		       : hi_fail_memory(err, "paths to a root");
}

void hi_path_tree_destroy(struct hi_path_tree *tree)
{
	if (tree)
		walk_deinit(&tree->walk);
	free(tree);
}
