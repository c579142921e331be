/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first attempt: Note [Two walks] in set_flow.c. It hands sets along the graph
 * itself and visits again what got another set after its visit.
 */
#include "census/retainers/set_flow_rows_internal.h"

#define VISITED (1u << 31) /* in the flow's column */

enum { RING = 32, STEP = 10, ROW_AHEAD = 16 };
/* Two visits may be repeated for each that was not. No more than this are saved up,
 * or a heap that is shared in its last part would be walked twice. */
enum { MAX_CREDIT = 1 << 17 };

struct
try {
	struct hi_set_flow *flow;
	uint32_t *column;
	hi_node *stack;
	size_t depth, most; /* most: of depth, so far */
	size_t few;	    /* nodes of the pool up to which sets are few */
	int64_t credit;	    /* below 0: it gives up */
	bool failed;
};

HI_INLINE void try_edge(struct try *t, hi_node to, uint32_t set)
{
	uint32_t old = t->column[to], ref = old & HI_SET_FLOW_REF;

	if (ref == set)
		return;
	if (ref) {
		set = hi_set_union(t->flow->pool, ref, set, t->flow->max);
		t->failed |= !set;
		if (set == ref)
			return;
	}
	t->column[to] = set | (old & HI_SET_FLOW_CUT);
	if (old & HI_SET_FLOW_CUT || (ref && !(old & VISITED)))
		return;
	t->stack[t->depth++] = to;
	if (ref)
		t->credit -= 3; /* its visit gives two back */
}

HI_INLINE void try_visit(struct try *t, hi_node node, const struct hi_edges *edges)
{
	const struct hi_set_flow *flow = t->flow;
	uint32_t set = t->column[node] & HI_SET_FLOW_REF;
	bool exact = hi_set_flow_is_exact(flow, node);

	t->column[node] |= VISITED;
	t->credit += t->credit < MAX_CREDIT ? 2 : 0;
	for (uint32_t e = 0; e < edges->count; e++) {
		if (e + ROW_AHEAD < edges->count)
			__builtin_prefetch(&t->column[edges->to[e + ROW_AHEAD]], 1);
		if (hi_set_flow_follows(flow, exact, edges->to[e], edges->grade[e]))
			try_edge(t, edges->to[e], set);
	}
}

/* ---- Note [Prefetch ring], with a third step: what is stored by target ---- */

HI_INLINE void prefetch_targets(const struct try *t, const struct hi_edges *edges)
{
	for (uint32_t e = 0; e < edges->count && e < ROW_AHEAD; e++)
		__builtin_prefetch(&t->column[edges->to[e]], 1);
}

/* Until all are settled, or it gives up; what is not visited is on the stack then. */
static __attribute__((noinline)) void run_flow_try(struct try *given)
{
	struct try copy = *given, *t = &copy;
	const struct hi_graph *g = t->flow->graph;
	struct {
		struct hi_edges edges;
		hi_node node;
	} ring[RING];
	uint32_t in = 0, rows = 0, targets = 0, out = 0;

	while ((t->depth || in != out) && !t->failed && t->credit >= 0 &&
	       t->flow->pool->nodes.count < t->few) {
		if (t->depth && in - out < RING) {
			t->most = t->depth > t->most ? t->depth : t->most;
			ring[in % RING].node = t->stack[--t->depth];
			hi_prefetch_row(g, ring[in++ % RING].node);
			if (in - rows <= STEP && t->depth)
				continue;
		}
		if (rows != in) {
			uint32_t i = rows++ % RING;

			ring[i].edges = hi_graph_edges(g, ring[i].node);
			hi_prefetch_edges(&ring[i].edges);
			if (rows - targets <= STEP && in - out < RING && t->depth)
				continue;
		}
		if (targets != rows) {
			prefetch_targets(t, &ring[targets++ % RING].edges);
			if (targets - out <= STEP && in - out < RING && t->depth)
				continue;
		}
		try_visit(t, ring[out % RING].node, &ring[out % RING].edges);
		out++;
	}
	while (in != out)
		t->stack[t->depth++] = ring[--in % RING].node;
	*given = copy;
}

/* The lowest address is to be on top: lists and arrays mostly lead upward. */
static void push_all(struct try *t)
{
	for (hi_node i = t->flow->graph->n_objects; i-- > 0;)
		if (t->column[i] && !(t->column[i] & HI_SET_FLOW_CUT))
			t->stack[t->depth++] = i;
}

bool hi_flow_try(struct hi_set_flow *flow, hi_node *stack, size_t *left_ret)
{
	struct try t = {.flow = flow,
			.column = flow->column,
			.stack = stack,
			.few = flow->pool->nodes.count + flow->few,
			.credit = flow->credit};

	push_all(&t);
	run_flow_try(&t);
	*left_ret = t.depth;
	flow->waiting = t.most > flow->waiting ? t.most : flow->waiting;
	for (hi_node i = 0; t.depth && i < flow->graph->n_objects; i++)
		t.column[i] &= ~VISITED;
	return !t.failed;
}
