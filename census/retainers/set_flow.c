/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Two walks]
 *
 * Most objects have one referrer, or all their referrers have the same set. So the
 * first walk (set_flow_try.c) passes the set that an object has at its visit to its
 * successors, and visits objects again whose set grows afterwards. This takes the least
 * time and memory where little is shared. The walk stops when it has made more than twice
 * as many repeated visits as first ones, or when there are many sets. Objects that it has
 * visited by then, and that depend on no others, have their sets and have passed them on.
 *
 * The second walk (set_flow_walk.c) does the remaining objects. In a large graph nearly
 * every step to a neighbour is a cache miss. So the walk numbers the objects in the order
 * of their visits and writes their edges with these numbers: neighbours are then near
 * each other (Note [Phases and their memory] in dominators.c). It passes sets on, too,
 * but visits no object twice. An object whose set would grow after its visit is *late*,
 * and the sets of all objects that it reaches may be incomplete. All other objects are
 * *final*, but they have passed their sets only to objects that had none.
 *
 * If there are late objects, the strongly connected components of what they reach are
 * found (set_flow_order.c). Then the final objects pass their sets on, in any order, and
 * after them the components from sources to sinks: every edge is read once, and the set
 * of a component is computed once. The sets from the walks are subsets of the solution,
 * so none has to be discarded.
 *
 * Memory, in bytes an object: the column 4, the first walk's stack, which is done later,
 * 4; start 4, set 4, state 4, pairs 8; succ 4 an edge. Stacks are touched only as far as
 * paths are deep.
 */
#include "census/retainers/set_flow_rows_internal.h"
#include "census/retainers/set_merge_internal.h"

/* Numbers share a word with a flag; edges have a 32-bit index that counts from 1. */
#define MAX_OBJECTS ((1u << 31) - 1)
#define MAX_EDGES (UINT32_MAX - 1)

enum { FEW_SETS = 1 << 12, FIRST_CREDIT = 0 };

enum hi_status hi_set_flow_init(struct hi_set_flow *f, const struct hi_graph *g,
				struct hi_set_pool *pool, struct hi_error *err)
{
	*f = (struct hi_set_flow){.graph = g,
				  .pool = pool,
				  .max = UINT32_MAX,
				  .worst = HI_GRADE_CONSERVATIVE,
				  .few = FEW_SETS,
				  .credit = FIRST_CREDIT,
				  .column_size = (size_t)g->n_objects * sizeof(uint32_t)};
	if (g->n_objects > MAX_OBJECTS || g->n_edges > MAX_EDGES)
		return hi_fail(err, HI_LIMIT, 0, "sets: the graph is too large");
	f->column = hi_pages_alloc(f->column_size);
	return f->column ? HI_OK : hi_fail_memory(err, "sets");
}

void hi_set_flow_deinit(struct hi_set_flow *f)
{
	hi_pages_free(f->column, f->column_size);
	*f = (struct hi_set_flow){};
}

bool hi_set_flow_put(struct hi_set_flow *f, hi_node object, uint32_t ref)
{
	uint32_t c = f->column[object], old = c & HI_SET_FLOW_REF;

	if (old)
		ref = hi_set_union(f->pool, old, ref, f->max);
	f->column[object] = (c & HI_SET_FLOW_CUT) | ref;
	return ref;
}

/* ---- from sources to sinks ---- */

struct giver {
	struct hi_set_pool *pool;
	uint32_t max;
	const uint32_t *start, *succ;
	uint32_t *set;
	struct hi_set_merge *merge; /* empty */
};

HI_INLINE bool give(const struct giver *g, uint32_t node, uint32_t set)
{
	uint32_t c = g->start[node], edge, *to;

	if (!c)
		return true;
	do {
		edge = g->succ[c++];
		to = &g->set[edge & ~HI_FLOW_LAST];
		if (*to == set)
			continue;
		*to = hi_set_union(g->pool, *to, set, g->max);
		if (!*to)
			return false;
	} while (!(edge & HI_FLOW_LAST));
	return true;
}

/* The order of `done` is known in advance: three steps, as in the ring. It looks past the
 * end of done, where HI_FLOW_SLACK has room for it. */
HI_INLINE void prefetch_given(const struct giver *g, const uint32_t *at)
{
	uint32_t row = g->start[at[2 * HI_FLOW_AHEAD] & ~HI_FLOW_LAST];
	uint32_t edge = g->start[at[HI_FLOW_AHEAD] & ~HI_FLOW_LAST];

	__builtin_prefetch(&g->start[at[3 * HI_FLOW_AHEAD] & ~HI_FLOW_LAST]);
	__builtin_prefetch(&g->set[at[3 * HI_FLOW_AHEAD] & ~HI_FLOW_LAST]);
	if (row)
		__builtin_prefetch(&g->succ[row]);
	if (!edge)
		return;
	__builtin_prefetch(&g->set[g->succ[edge] & ~HI_FLOW_LAST], 1);
	if (!(g->succ[edge] & HI_FLOW_LAST))
		__builtin_prefetch(&g->set[g->succ[edge + 1] & ~HI_FLOW_LAST], 1);
}

/* The set of a component, HI_SET_NONE when out of memory. None of its n nodes is
 * without one: each has a number, and so a set from the walk. */
static uint32_t component_set(const struct giver *g, const uint32_t *nodes, size_t n)
{
	uint32_t first = g->set[nodes[0] & ~HI_FLOW_LAST], last = first;
	bool many = false; /* more than these two: first is in the merge */

	for (size_t i = 1; i < n; i++) {
		uint32_t set = g->set[nodes[i] & ~HI_FLOW_LAST];

		if (set == first || set == last)
			continue;
		if (last != first) {
			if (!many && !hi_set_merge_add(g->merge, g->pool, first, g->max))
				return HI_SET_NONE;
			if (!hi_set_merge_add(g->merge, g->pool, last, g->max))
				return HI_SET_NONE;
			many = true;
		}
		last = set;
	}
	if (!many)
		return hi_set_union(g->pool, first, last, g->max);
	if (!hi_set_merge_add(g->merge, g->pool, last, g->max))
		return HI_SET_NONE;
	return hi_set_merge_take(g->merge, g->pool, g->max);
}

/* A component of n nodes, all of which end up with the same set. */
static bool give_component(const struct giver *g, const uint32_t *nodes, size_t n)
{
	uint32_t set = component_set(g, nodes, n);

	if (!set)
		return false;
	for (size_t i = 0; i < n; i++)
		g->set[nodes[i] & ~HI_FLOW_LAST] = set;
	for (size_t i = 0; i < n; i++) {
		prefetch_given(g, nodes + i);
		if (!give(g, nodes[i] & ~HI_FLOW_LAST, set))
			return false;
	}
	return true;
}

static bool give_late(const struct giver *g, const uint32_t *done, uint32_t n)
{
	size_t first = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(done[i] & HI_FLOW_LAST))
			continue;
		if (!give_component(g, done + first, i + 1 - first))
			return false;
		first = i + 1;
	}
	return true;
}

static bool give_all(struct hi_set_flow *flow, const struct hi_flow_rows *rows)
{
	struct hi_set_merge merge;
	struct giver g = {.pool = flow->pool,
			  .max = flow->max,
			  .start = rows->start,
			  .succ = rows->succ,
			  .set = rows->set,
			  .merge = &merge};
	bool ok = hi_set_merge_init(&merge, flow->pool);

	for (uint32_t i = 0; i < rows->n; i++)
		g.set[i] &= HI_SET_FLOW_REF;
	for (uint32_t i = 0; ok && i < rows->n; i++)
		if (rows->state[i] == HI_FLOW_FINAL)
			ok = give(&g, i, g.set[i]);
	ok = ok && give_late(&g, rows->done + rows->n - rows->n_late, rows->n_late);
	hi_set_merge_deinit(&merge);
	return ok;
}

/* ---- the whole ---- */

struct sizes {
	size_t column, pairs, succ;
};

static bool alloc_flow_rows(struct hi_flow_rows *r, const struct sizes *s)
{
	r->start = hi_pages_alloc(s->column);
	r->set = hi_pages_alloc(s->column);
	r->succ = hi_pages_alloc(s->succ);
	r->pairs = hi_pages_alloc(s->pairs);
	return r->start && r->set && r->succ && r->pairs;
}

static void rows_free(struct hi_flow_rows *r, const struct sizes *s)
{
	hi_pages_free(r->start, s->column);
	hi_pages_free(r->set, s->column);
	hi_pages_free(r->succ, s->succ);
	hi_pages_free(r->pairs, s->pairs);
	hi_pages_free(r->state, s->column);
}

/* Settles the components that the second walk left open. */
static bool settle_flow_components(struct hi_set_flow *flow, struct hi_flow_rows *r,
				   const struct sizes *s)
{
	r->state = hi_pages_alloc(s->column);
	if (!r->state)
		return false;
	if (r->has_late)
		hi_flow_rows_order(r);
	return give_all(flow, r);
}

/* From numbers to refs. */
static void finish_flow_column(struct hi_set_flow *flow, const struct hi_flow_rows *r)
{
	enum { AHEAD = 24 };
	uint32_t n = flow->graph->n_objects, *column = flow->column;

	for (hi_node i = 0; i < n; i++) {
		uint32_t c = column[i], far = i + AHEAD < n ? column[i + AHEAD] : 0;

		if (far & HI_FLOW_NUMBERED)
			__builtin_prefetch(&r->set[far & ~HI_FLOW_NUMBERED]);
		if (c & HI_FLOW_NUMBERED)
			column[i] = r->set[c & ~HI_FLOW_NUMBERED] & HI_SET_FLOW_REF;
	}
}

/* Its stack has been read when done is written. */
static bool run_second(struct hi_set_flow *flow, hi_node *stack, size_t left)
{
	const struct sizes s = {.column = flow->column_size,
				.pairs = 2 * flow->column_size,
				.succ = (flow->graph->n_edges + 1) * sizeof(uint32_t)};
	struct hi_flow_rows r = {.done = stack};
	bool ok = alloc_flow_rows(&r, &s) && hi_flow_rows_walk(&r, flow, stack, left) &&
		  (!r.has_doubt || settle_flow_components(flow, &r, &s));

	flow->again = r.n;
	if (ok)
		finish_flow_column(flow, &r);
	rows_free(&r, &s);
	return ok;
}

bool hi_set_flow_run(struct hi_set_flow *flow)
{
	size_t size = flow->column_size + HI_FLOW_SLACK * sizeof(hi_node), left;
	hi_node *stack = hi_pages_alloc(size);
	bool ok = stack && hi_flow_try(flow, stack, &left);

	if (ok && left)
		ok = run_second(flow, stack, left);
	for (hi_node i = 0; ok && i < flow->graph->n_objects; i++)
		flow->column[i] &= HI_SET_FLOW_REF;
	hi_pages_free(stack, size);
	return ok;
}
