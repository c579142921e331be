/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The identities of retainers are known before the walk: the edges that leave a live
 * retainer are cut, and its identity is put where they lead. set_flow.c computes the
 * sets.
 */
#include <string.h>

#include "base/cleanup.h"
#include "census/analysis/walk_internal.h"
#include "census/graph/graph_internal.h"
#include "census/retainers/retainers.h"
#include "census/retainers/set_table_internal.h"

struct job {
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	const struct hi_retainer_options *options;
	struct hi_set_flow flow;
	uint64_t *alive;       /* reach->any, and what weak edges add */
	uint64_t *added;       /* alive, if that is not reach->any itself */
	uint32_t system, weak; /* refs; weak HI_SET_NONE: weak edges do not count */
};

static void deinit_retainer_job(struct job *j)
{
	hi_set_flow_deinit(&j->flow);
	free(j->added);
}

HI_INLINE uint32_t identity_of(const struct job *j, hi_node node)
{
	return j->options->identities ? j->options->identities[node]
				      : j->options->identity(j->options->arg, node);
}

/* ---- what weak edges add ---- */

HI_INLINE bool take_any(void *arg, hi_node from, hi_node to, uint8_t grade)
{
	(void)from;
	(void)grade;
	return hi_bit_take(arg, to);
}

/* Calls fn for each weak edge of a live node. */
typedef bool weak_fn(struct job *j, struct hi_walk *w, hi_node to);

HI_INLINE bool for_weak_rows(struct job *j, struct hi_walk *w,
			     const struct hi_edge_chunk *c, hi_node first, uint32_t n,
			     weak_fn *fn)
{
	if (!c->row[n] || !memchr(c->grade, HI_GRADE_WEAK, c->row[n]))
		return true;
	for (uint32_t i = 0; i < n; i++) {
		if (!hi_bit(j->alive, first + i))
			continue;
		for (uint32_t e = c->row[i]; e < c->row[i + 1]; e++)
			if (c->grade[e] == HI_GRADE_WEAK && !fn(j, w, c->to[e]))
				return false;
	}
	return true;
}

HI_INLINE bool for_weak_edges(struct job *j, struct hi_walk *w, weak_fn *fn)
{
	const struct hi_graph *g = j->graph;

	for (uint32_t k = 0; k < g->priv->n_chunks; k++)
		if (!for_weak_rows(j, w, &g->chunks[k], k << HI_CHUNK_SHIFT,
				   hi_chunk_nodes(g->n_objects, k), fn))
			return false;
	return for_weak_rows(j, w, &g->root_chunk, g->first_root,
			     g->n_nodes - g->first_root, fn);
}

HI_INLINE bool revive(struct job *j, struct hi_walk *w, hi_node to)
{
	if (hi_bit_take(j->alive, to))
		w->stack[w->depth++] = to;
	return true;
}

static bool revive_all(struct job *j)
{
	struct hi_walk w;
	bool ok;

	j->added = hi_alloc(hi_bits_size(j->graph->n_nodes));
	if (!j->added)
		return false;
	memcpy(j->added, j->alive, hi_bits_size(j->graph->n_nodes));
	j->alive = j->added;
	ok = hi_walk_init(&w, j->graph);
	if (ok) {
		(void)for_weak_edges(j, &w, revive);
		hi_walk_run(&w, take_any, j->alive);
	}
	hi_walk_deinit(&w);
	return ok;
}

HI_INLINE bool put_weak(struct job *j, struct hi_walk *w, hi_node to)
{
	(void)w;
	return hi_set_flow_is_exact(&j->flow, to) ||
	       hi_set_flow_put(&j->flow, to, j->weak);
}

/* ---- what roots and retainers hold ---- */

static bool put_retained_targets(struct job *j, hi_node from, uint32_t ref)
{
	struct hi_edges edges = hi_graph_edges(j->graph, from);
	bool exact = hi_set_flow_is_exact(&j->flow, from);

	for (uint32_t e = 0; e < edges.count; e++)
		if (hi_set_flow_follows(&j->flow, exact, edges.to[e], edges.grade[e]) &&
		    !hi_set_flow_put(&j->flow, edges.to[e], ref))
			return false;
	return ref;
}

/* The ref of what a node is called, or of `system`. */
static uint32_t set_ref_of_retainer(struct job *j, hi_node node)
{
	uint32_t identity = identity_of(j, node);

	return identity ? hi_set_singleton(j->flow.pool, identity) : j->system;
}

static bool put_retaining_roots(struct job *j)
{
	const struct hi_graph *g = j->graph;

	for (hi_node root = g->first_root; root < g->first_kind; root++)
		if (!put_retained_targets(j, root, set_ref_of_retainer(j, root)))
			return false;
	for (size_t i = 0; i < j->reach->n_internal_roots; i++) {
		hi_node object = j->reach->internal_roots[i];
		uint32_t ref = set_ref_of_retainer(j, object);

		if (!ref || !hi_set_flow_put(&j->flow, object, ref))
			return false;
	}
	return true;
}

/* Retainers whose misses of the cache are under way at once: Note [Prefetch ring]. */
struct batch {
	struct {
		hi_node node;
		uint32_t identity;
	} items[64];
	unsigned n;
};

HI_INLINE void prefetch_batch(const struct job *j, const struct batch *b)
{
	for (unsigned i = 0; i < b->n; i++)
		hi_prefetch_row(j->graph, b->items[i].node);
	for (unsigned i = 0; i < b->n; i++) {
		struct hi_edges edges = hi_graph_edges(j->graph, b->items[i].node);

		hi_prefetch_edges(&edges);
	}
	for (unsigned i = 0; i < b->n; i++) {
		struct hi_edges edges = hi_graph_edges(j->graph, b->items[i].node);

		for (uint32_t e = 0; e < edges.count && e < 4; e++)
			__builtin_prefetch(&j->flow.column[edges.to[e]], 1);
	}
}

static bool put_batch(struct job *j, struct batch *b)
{
	prefetch_batch(j, b);
	for (unsigned i = 0; i < b->n; i++) {
		uint32_t ref = hi_set_singleton(j->flow.pool, b->items[i].identity);

		hi_set_flow_cut(&j->flow, b->items[i].node);
		if (!put_retained_targets(j, b->items[i].node, ref))
			return false;
	}
	b->n = 0;
	return true;
}

static bool put_retainers(struct job *j)
{
	struct batch batch = {};

	for (hi_node i = 0; i < j->graph->n_objects; i++) {
		uint32_t identity = identity_of(j, i);

		if (!identity || !hi_bit(j->alive, i))
			continue;
		batch.items[batch.n].node = i;
		batch.items[batch.n++].identity = identity;
		if (batch.n == sizeof(batch.items) / sizeof(batch.items[0]) &&
		    !put_batch(j, &batch))
			return false;
	}
	return put_batch(j, &batch);
}

static bool run_retainer_flow(struct job *j)
{
	j->system = hi_set_singleton(j->flow.pool, j->options->system);
	if (!j->system || !put_retaining_roots(j) || !put_retainers(j))
		return false;
	if (j->options->weak) {
		j->weak = hi_set_singleton(j->flow.pool, j->options->weak);
		if (!j->weak || !for_weak_edges(j, NULL, put_weak))
			return false;
	}
	return hi_set_flow_run(&j->flow);
}

static void count_weak(const struct job *j, struct hi_retainers *r)
{
	for (hi_node i = 0; j->added && i < j->graph->n_objects; i++)
		if (hi_bit(j->alive, i) && !hi_bit(j->reach->any, i) &&
		    !hi_is_internal(j->graph, i)) {
			r->weak_objects++;
			r->weak_cost += hi_cost_of(j->graph->objects, i);
		}
}

static enum hi_status compute_retainer_sets(struct job *j, struct hi_set_pool *pool,
					    struct hi_retainers *r, struct hi_error *err)
{
	const struct hi_retainer_options *o = j->options;
	enum hi_status status = hi_set_flow_init(&j->flow, j->graph, pool, err);

	if (status != HI_OK)
		return status;
	j->alive = j->reach->any;
	j->flow.max = o->max_set ? o->max_set : UINT32_MAX;
	j->flow.exact = o->prefer_precise ? j->reach->exact : NULL;
	if ((o->weak && !revive_all(j)) || !run_retainer_flow(j))
		return hi_fail_memory(err, "retainer sets");
	count_weak(j, r);
	r->revisited = j->flow.again;
	r->waiting = j->flow.waiting;
	return hi_set_table_make(&j->flow, j->reach, o->pure, o->arg, &r->table, err);
}

enum hi_status hi_retainers_compute(const struct hi_graph *g,
				    const struct hi_reach *reach,
				    const struct hi_retainer_options *options,
				    struct hi_set_pool *pool, struct hi_retainers **ret,
				    struct hi_error *err)
{
	HI_GUARD(hi_retainers_destroy) struct hi_retainers *r = NULL;
	struct job j = {.graph = g, .reach = reach, .options = options};
	enum hi_status status;

	if (!options->system || (!options->identities && !options->identity))
		return hi_fail(err, HI_USAGE, 0,
			       "retainer sets: no retainers were given");
	r = hi_calloc(1, sizeof(*r));
	if (!r)
		return hi_fail_memory(err, "retainer sets");
	status = compute_retainer_sets(&j, pool, r, err);
	deinit_retainer_job(&j);
	if (status == HI_OK)
		*ret = hi_take(r);
	return status;
}

void hi_retainers_destroy(struct hi_retainers *r)
{
	if (!r)
		return;
	hi_set_table_free(&r->table);
	free(r);
}
