/* SPDX-License-Identifier: BSD-2-Clause */
/* The walk over the graph: Note [Two walks] in set_flow.c. */
#include "census/graph/graph_internal.h"
#include "census/retainers/set_flow_rows_internal.h"

enum { RING = 32, STEP = 10, ROW_AHEAD = 16, STARTS_AHEAD = 12 };

struct walk {
	struct hi_set_flow *flow;
	uint32_t *column;      /* the flow's: room for numbers */
	bool *plain;	       /* by chunk: Note [Plain chunks] */
	const hi_node *starts; /* the last is the next */
	size_t n_starts;
	uint32_t n, n_succ;
	uint32_t *start, *set, *succ;
	struct hi_flow_pair *stack;
	size_t depth, most; /* most: of depth, so far */
	size_t few;	    /* nodes of the pool up to which sets are few */
	bool failed, has_late, has_doubt;
};

/* ---- where it goes next ---- */

HI_INLINE uint32_t number_new(struct walk *w, hi_node object, uint32_t ref)
{
	uint32_t number = w->n++;

	w->set[number] = ref;
	if (w->column[object] & HI_SET_FLOW_CUT)
		w->set[number] |= HI_FLOW_VISITED;
	else
		w->stack[w->depth++] = (struct hi_flow_pair){number, {object}};
	w->column[object] = HI_FLOW_NUMBERED | number;
	return number;
}

/* Starts come one by one, each when all is under way that the ones before it lead
 * to: near numbers then mean near addresses. */
HI_INLINE bool take(struct walk *w, struct hi_flow_pair *ret)
{
	while (!w->depth && w->n_starts) {
		hi_node start = w->starts[--w->n_starts];
		uint32_t c = w->column[start];

		if (w->n_starts >= STARTS_AHEAD)
			__builtin_prefetch(
				&w->column[w->starts[w->n_starts - STARTS_AHEAD]], 1);
		if (!(c & HI_FLOW_NUMBERED))
			(void)number_new(w, start, c & HI_SET_FLOW_REF);
	}
	if (!w->depth)
		return false;
	w->most = w->depth > w->most ? w->depth : w->most;
	*ret = w->stack[--w->depth];
	return true;
}

HI_INLINE bool has_more(const struct walk *w)
{
	return w->depth || w->n_starts;
}

/* ---- a visit ---- */

/*
 * Note [Plain chunks]
 *
 * If all edges of a chunk are followed, whatever they lead to, the walk does not look at
 * their grades: a cache miss less for each object.
 */
static bool is_plain_edge_chunk(const struct hi_set_flow *f, uint32_t index)
{
	const struct hi_edge_chunk *c = &f->graph->chunks[index];
	uint32_t n = c->row[hi_chunk_nodes(f->graph->n_objects, index)];
	uint8_t worst = 0;

	for (uint32_t e = 0; e < n; e++)
		worst = c->grade[e] > worst ? c->grade[e] : worst;
	return worst <= f->worst && (!f->exact || hi_grade_is_precise(worst));
}

HI_INLINE bool is_plain_row(const struct walk *w, hi_node object)
{
	return w->plain[object >> HI_CHUNK_SHIFT] &&
	       (!w->flow->exact || hi_bit(w->flow->exact, object));
}

/*
 * Note [Unions in the walk]
 *
 * A set that comes before the visit need not make its object late: the union can be
 * handed on. That is well as long as there are few sets. If there are many, most objects
 * will be late anyway, and the unions would be of incomplete sets.
 */
HI_INLINE uint32_t unite_or_late(struct walk *w, uint32_t old, uint32_t set)
{
	if (w->flow->pool->nodes.count >= w->few) {
		w->has_late = true;
		return old | HI_FLOW_LATE;
	}
	set = hi_set_union(w->flow->pool, old, set, w->flow->max);
	w->failed |= !set;
	return set;
}

/* A set for what has a number. */
HI_INLINE void reach_again(struct walk *w, uint32_t number, uint32_t set)
{
	uint32_t old = w->set[number];

	if ((old & HI_SET_FLOW_REF) == set || old & HI_FLOW_LATE)
		return;
	if (!(old & HI_FLOW_VISITED)) {
		w->set[number] = unite_or_late(w, old, set);
		return;
	}
	w->has_doubt = true;
	if (w->start[number]) {
		w->has_late = true;
		w->set[number] |= HI_FLOW_LATE;
	}
}

/* The number of what an edge leads to, which gets the set. */
HI_INLINE uint32_t reach(struct walk *w, hi_node to, uint32_t set)
{
	uint32_t c = w->column[to], put = c & HI_SET_FLOW_REF;

	if (!(c & HI_FLOW_NUMBERED))
		return number_new(w, to,
				  put && put != set ? unite_or_late(w, put, set) : set);
	reach_again(w, c & ~HI_FLOW_NUMBERED, set);
	return c & ~HI_FLOW_NUMBERED;
}

HI_INLINE void visit_edges(struct walk *w, hi_node node, uint32_t number,
			   const struct hi_edges *edges, bool plain)
{
	bool exact = hi_set_flow_is_exact(w->flow, node);
	uint32_t first = w->n_succ, set = w->set[number] & HI_SET_FLOW_REF;

	w->set[number] |= HI_FLOW_VISITED;
	for (uint32_t e = 0; e < edges->count; e++) {
		if (e + ROW_AHEAD < edges->count)
			__builtin_prefetch(&w->column[edges->to[e + ROW_AHEAD]], 1);
		if (edges->to[e] != node &&
		    (plain ||
		     hi_set_flow_follows(w->flow, exact, edges->to[e], edges->grade[e])))
			w->succ[w->n_succ++] = reach(w, edges->to[e], set);
	}
	if (w->n_succ == first)
		return;
	w->succ[w->n_succ - 1] |= HI_FLOW_LAST;
	w->start[number] = first;
}

/* ---- Note [Prefetch ring], with a third step: what is stored by target ---- */

struct ring_item {
	struct hi_flow_pair pair;
	struct hi_edges edges;
	bool plain;
};

HI_INLINE void look_up_row(const struct walk *w, struct ring_item *item)
{
	item->edges = hi_graph_edges(w->flow->graph, item->pair.object);
	item->plain = is_plain_row(w, item->pair.object);
	__builtin_prefetch(item->edges.to);
	if (!item->plain)
		__builtin_prefetch(item->edges.grade);
}

HI_INLINE void prefetch_targets(const struct walk *w, const struct ring_item *item)
{
	for (uint32_t e = 0; e < item->edges.count && e < ROW_AHEAD; e++)
		__builtin_prefetch(&w->column[item->edges.to[e]], 1);
}

HI_INLINE void visit(struct walk *w, const struct ring_item *item)
{
	if (item->plain)
		visit_edges(w, item->pair.object, item->pair.number, &item->edges, true);
	else
		visit_edges(w, item->pair.object, item->pair.number, &item->edges, false);
}

/* Not inline: a loop of its own. */
static __attribute__((noinline)) void run_flow_walk(struct walk *given)
{
	struct walk copy = *given, *w = &copy;
	struct ring_item ring[RING];
	uint32_t in = 0, rows = 0, targets = 0, out = 0;

	while (!w->failed) {
		if (in - out < RING && take(w, &ring[in % RING].pair)) {
			hi_prefetch_row(w->flow->graph, ring[in++ % RING].pair.object);
			if (in - rows <= STEP && has_more(w))
				continue;
		}
		if (rows != in) {
			look_up_row(w, &ring[rows++ % RING]);
			if (rows - targets <= STEP && in - out < RING && has_more(w))
				continue;
		}
		if (targets != rows) {
			prefetch_targets(w, &ring[targets++ % RING]);
			if (targets - out <= STEP && in - out < RING && has_more(w))
				continue;
		}
		if (out == in)
			break;
		visit(w, &ring[out++ % RING]);
	}
	*given = copy;
}

bool hi_flow_rows_walk(struct hi_flow_rows *rows, struct hi_set_flow *flow,
		       const hi_node *starts, size_t n)
{
	uint32_t n_chunks = hi_chunk_count(flow->graph->n_objects);
	struct walk w = {.flow = flow,
			 .column = flow->column,
			 .plain = hi_calloc(n_chunks + 1, sizeof(*w.plain)),
			 .starts = starts,
			 .n_starts = n,
			 .n_succ = 1,
			 .start = rows->start,
			 .set = rows->set,
			 .succ = rows->succ,
			 .stack = rows->pairs,
			 .few = flow->pool->nodes.count + flow->few};

	if (!w.plain)
		return false;
	for (uint32_t i = 0; i < n_chunks; i++)
		w.plain[i] = is_plain_edge_chunk(flow, i);
	run_flow_walk(&w);
	free(w.plain);
	flow->waiting = w.most > flow->waiting ? w.most : flow->waiting;
	rows->n = w.n;
	rows->has_late = w.has_late;
	rows->has_doubt = w.has_doubt || w.has_late;
	return !w.failed;
}
