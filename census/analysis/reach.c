/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reachability, first over precise edges and then, going on from there, over
 * all but weak ones.
 *
 * Note [Blocks of the allocator]
 *
 * Blocks that libc made for itself (HI_OBJECT_INTERNAL) are no leaks even if
 * no variable leads to them, and neither is what they hold: those that no root
 * reaches count as roots of their own (internal_roots), as precise or as
 * doubtful as their edges are. They are found after the walk from the true
 * roots, so that an internal block which a variable holds belongs to the
 * variable. Totals of live and leaked objects leave all internal blocks out.
 *
 * Note [Pieces of a live block]
 *
 * A block that was split (struct hi_pool) is one block to the allocator: as long as
 * anything leads to one of its pieces, all of them are there, and none of them is a leak.
 * Pieces that nothing leads to (an arena's object that was given up, or one that was
 * found by a pointer which turned out to be none) count as roots of their own as well,
 * doubtful ones, as their block holds them and no edge shows it. Slots are an exception:
 * if the manager of the block lists an object there (an item in a slab), and nothing
 * leads to it, the program has lost it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parallel.h"
#include "census/analysis/analysis.h"
#include "census/analysis/walk_internal.h"
#include "census/analysis/walk_shared.h"
#include "census/graph/graph_internal.h"

static void walk_guard(struct hi_walk *w)
{
	hi_walk_deinit(w);
}

HI_INLINE bool take_precise(void *arg, hi_node from, hi_node to, uint8_t grade)
{
	(void)from;
	return hi_grade_is_precise(grade) && hi_bit_take(arg, to);
}

static void mark_precise(struct hi_walk *w, uint64_t *bits)
{
	hi_walk_run(w, take_precise, bits);
}

static void mark_any(struct hi_walk *w, uint64_t *bits)
{
	hi_walk_run(w, hi_walk_take_strong, bits);
}

/* Smaller graphs are walked before other threads have begun. */
enum { SHARED_LEAST = 1 << 18 };

/* Goes on from the stack by all threads; false: out of memory. */
static bool mark_shared(struct hi_walk *w, uint64_t *bits, bool is_precise,
			unsigned threads)
{
	const struct hi_shared_walk_request request = {.graph = w->graph,
						       .bits = bits,
						       .is_precise = is_precise,
						       .seeds = w->stack,
						       .n_seeds = w->depth,
						       .threads = threads};

	if (threads > 1 && w->graph->n_nodes >= SHARED_LEAST) {
		w->depth = 0;
		return hi_walk_shared(&request);
	}
	if (is_precise)
		mark_precise(w, bits);
	else
		mark_any(w, bits);
	return true;
}

static void push_conservative(struct hi_walk *w, struct hi_reach *r,
			      const struct hi_edge_chunk *c, hi_node first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!hi_bit(r->exact, first + i))
			continue;
		for (uint32_t e = c->row[i]; e < c->row[i + 1]; e++)
			if (c->grade[e] == HI_GRADE_CONSERVATIVE &&
			    hi_bit_take(r->any, c->to[e]))
				w->stack[w->depth++] = c->to[e];
	}
}

/* Pushes what conservative edges lead to from the nodes that are marked exact. */
static void leave_exact(struct hi_walk *w, struct hi_reach *r)
{
	const struct hi_graph *g = w->graph;

	for (uint32_t k = 0; k < g->priv->n_chunks; k++) {
		const struct hi_edge_chunk *c = &g->chunks[k];
		uint32_t n = hi_chunk_nodes(g->n_objects, k);

		/* Most chunks of a typed heap have none at all. */
		if (c->row[n] && memchr(c->grade, HI_GRADE_CONSERVATIVE, c->row[n]))
			push_conservative(w, r, c, k << HI_CHUNK_SHIFT, n);
	}
	push_conservative(w, r, &g->root_chunk, g->first_root,
			  g->n_nodes - g->first_root);
}

static bool collect_internal_roots(const struct hi_graph *g, struct hi_reach *r)
{
	size_t n = 0;

	for (hi_node i = 0; i < g->n_objects; i++)
		n += hi_is_internal(g, i) && !hi_bit(r->any, i);
	r->internal_roots = hi_alloc(n * sizeof(*r->internal_roots));
	if (!r->internal_roots)
		return false;
	for (hi_node i = 0; i < g->n_objects && r->n_internal_roots < n; i++)
		if (hi_is_internal(g, i) && !hi_bit(r->any, i))
			r->internal_roots[r->n_internal_roots++] = i;
	return true;
}

static void mark_from_internal(struct hi_walk *w, struct hi_reach *r)
{
	for (size_t i = 0; i < r->n_internal_roots; i++)
		if (hi_bit_take(r->exact, r->internal_roots[i]))
			w->stack[w->depth++] = r->internal_roots[i];
	mark_precise(w, r->exact);
	for (size_t i = 0; i < r->n_internal_roots; i++)
		if (hi_bit_take(r->any, r->internal_roots[i]))
			w->stack[w->depth++] = r->internal_roots[i];
	mark_any(w, r->any);
}

static bool is_any_reached(const struct hi_reach *r, const struct hi_pool *pool)
{
	for (hi_node i = pool->first; i <= pool->last; i++)
		if (hi_bit(r->any, i))
			return true;
	return false;
}

/* Adds the pieces of reached blocks that are not reached. Returns how many; what they
 * lead to may be in other blocks. */
static size_t take_pieces(struct hi_walk *w, struct hi_reach *r, hi_node *taken)
{
	const struct hi_pools *pools = &w->graph->pools;
	size_t n = 0;

	for (size_t k = 0; k < pools->count; k++) {
		const struct hi_pool *pool = &pools->items[k];

		if (!is_any_reached(r, pool))
			continue;
		for (hi_node i = pool->first; i <= pool->last; i++)
			if (!hi_is_internal(w->graph, i) && !hi_bit(pools->is_slot, i) &&
			    hi_bit_take(r->any, i)) {
				w->stack[w->depth++] = i;
				taken[n++] = i;
			}
	}
	return n;
}

static int compare_nodes(const void *a, const void *b)
{
	const hi_node *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* See Note [Pieces of a live block]. */
static bool mark_pieces(struct hi_walk *w, struct hi_reach *r)
{
	enum { ROUNDS = 64 }; /* chains of blocks that pieces alone lead to */
	const struct hi_graph *g = w->graph;
	size_t n = r->n_internal_roots, left = 0;
	hi_node *roots;

	for (hi_node i = 0; g->pools.count && i < g->n_objects; i++)
		left += !hi_bit(r->any, i);
	if (!left)
		return true;
	roots = hi_realloc_array(r->internal_roots, n + left, sizeof(*roots));
	if (!roots)
		return false;
	r->internal_roots = roots;
	for (int i = 0; i < ROUNDS; i++) {
		size_t more = take_pieces(w, r, roots + n);

		if (!more)
			break;
		n += more;
		mark_any(w, r->any);
	}
	r->n_internal_roots = n;
	qsort(roots, n, sizeof(*roots), compare_nodes);
	return true;
}

static bool mark_reachable(const struct hi_graph *g, unsigned threads, struct hi_reach *r)
{
	__attribute__((cleanup(walk_guard))) struct hi_walk w;

	if (!hi_walk_init(&w, g))
		return false;
	w.stack[w.depth++] = g->super_root;
	hi_bit_take(r->exact, g->super_root);
	if (!mark_shared(&w, r->exact, true, threads))
		return false;
	memcpy(r->any, r->exact, hi_bits_size(g->n_nodes));
	leave_exact(&w, r);
	if (!mark_shared(&w, r->any, false, threads))
		return false;
	if (!collect_internal_roots(g, r))
		return false;
	mark_from_internal(&w, r);
	return mark_pieces(&w, r);
}

/* ---- totals ---- */

enum { SUM_LEAK, SUM_ANY, SUM_EXACT, SUM_INTERNAL, TOTALS };
struct sums {
	uint64_t objects[TOTALS], bytes[TOTALS];
};
struct sum_job {
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	struct sums *sums; /* per chunk */
};

static void sum_chunk(void *arg, size_t task, unsigned worker)
{
	const struct sum_job *job = arg;
	const struct hi_graph *g = job->graph;
	hi_node first = (hi_node)task << HI_CHUNK_SHIFT;
	hi_node end = first + hi_chunk_nodes(g->n_objects, (uint32_t)task);
	struct sums sums = {};

	(void)worker;
	for (hi_node i = first; i < end; i++) {
		unsigned which =
			hi_bit(job->reach->any, i) + hi_bit(job->reach->exact, i);

		if (hi_is_internal(g, i))
			which = SUM_INTERNAL;
		sums.objects[which]++;
		sums.bytes[which] += hi_cost_of(g->objects, i);
	}
	job->sums[task] = sums;
}

static bool sum_reached_chunks(const struct hi_graph *g, unsigned threads,
			       struct hi_reach *r)
{
	uint32_t n = g->priv->n_chunks;
	HI_GUARD(free) struct sums *sums = hi_calloc(n, sizeof(*sums));
	struct sum_job job = {g, r, sums};

	if (!sums)
		return false;
	hi_parallel(threads, n, sum_chunk, &job);
	for (uint32_t i = 0; i < n; i++) {
		r->leak_objects += sums[i].objects[SUM_LEAK];
		r->leak_bytes += sums[i].bytes[SUM_LEAK];
		r->exact_objects += sums[i].objects[SUM_EXACT];
		r->exact_bytes += sums[i].bytes[SUM_EXACT];
		r->live_objects += sums[i].objects[SUM_EXACT] + sums[i].objects[SUM_ANY];
		r->live_bytes += sums[i].bytes[SUM_EXACT] + sums[i].bytes[SUM_ANY];
		r->internal_objects += sums[i].objects[SUM_INTERNAL];
		r->internal_bytes += sums[i].bytes[SUM_INTERNAL];
	}
	return true;
}

enum hi_status hi_reach_compute(const struct hi_graph *g, unsigned threads,
				struct hi_reach **ret, struct hi_error *err)
{
	HI_GUARD(hi_reach_destroy) struct hi_reach *r = hi_calloc(1, sizeof(*r));

	threads = threads ? threads : hi_parallel_threads();
	if (!r)
		return hi_fail_memory(err, "reachability");
	r->any = hi_calloc(1, hi_bits_size(g->n_nodes));
	r->exact = hi_calloc(1, hi_bits_size(g->n_nodes));
	if (!r->any || !r->exact || !mark_reachable(g, threads, r) ||
	    !sum_reached_chunks(g, threads, r))
		return hi_fail_memory(err, "reachability");
	*ret = hi_take(r);
	return HI_OK;
}

void hi_reach_set_likely(const struct hi_graph *g, struct hi_reach *r, uint64_t *likely)
{
	r->likely = likely;
	r->likely_objects = r->likely_bytes = 0;
	for (hi_node i = 0; i < g->n_objects; i++) {
		if (!hi_bit(likely, i))
			continue;
		r->likely_objects++;
		r->likely_bytes += hi_cost_of(g->objects, i);
	}
}

bool hi_reach_is_piece(const struct hi_graph *g, const struct hi_reach *r, hi_node node)
{
	return node < g->n_objects && !hi_is_internal(g, node) && r->n_internal_roots &&
	       bsearch(&node, r->internal_roots, r->n_internal_roots,
		       sizeof(*r->internal_roots), compare_nodes);
}

void hi_reach_destroy(struct hi_reach *r)
{
	if (!r)
		return;
	free(r->likely);
	free(r->any);
	free(r->exact);
	free(r->internal_roots);
	free(r);
}
