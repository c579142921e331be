/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Two walks]
 *
 * Most objects have one way in, or all ways in bring the same set. So the first
 * walk visits every object once, in any order, and hands the set that it has by
 * then to its successors. What gets another set after its visit is visited again,
 * but only as long as sets are few and such visits no more than the objects: this
 * settles heaps where little is shared, or by few. Later it is *late*: it, and all
 * that can be reached from it, may lack members. All others are final, and have
 * given all that they have to the late ones.
 *
 * The second walk numbers the late part and writes its edges out in these
 * numbers, so that neighbours are near (Note [Phases and their memory] in
 * dominators.c); its strongly connected components are found, and the sets go
 * once more along its edges, from sources to sinks, a component at a time. The
 * sets that an object has from the first walk are part of its solution, so
 * nothing has to be forgotten.
 *
 * The second walk costs two to four times the first, and is often short.
 */
#include <string.h>

#include "census/set_flow_internal.h"
#include "census/walk_internal.h"

/* In a column during the first walk. A node that is cut has both from the start:
 * nobody visits it, and nothing needs to be told when its set changes. */
#define VISITED (1u << 31)
#define LATE (1u << 30)
#define REF ((uint32_t)HI_SET_REF_MAX)

#define LAST (1u << 31)	    /* in succ: the row ends; in done: the component ends */
#define NO_EDGES UINT32_MAX /* in start */

/* Numbers beside a bit, edges in a 32-bit index. */
#define MAX_OBJECTS ((1u << 31) - 1)
#define MAX_EDGES (UINT32_MAX - 1)

enum hi_status hi_set_flow_init(struct hi_set_flow *f, const struct hi_graph *g,
				struct hi_set_pool *pool, struct hi_error *err)
{
	*f = (struct hi_set_flow){.graph = g,
				  .pool = pool,
				  .max = UINT32_MAX,
				  .worst = HI_GRADE_CONSERVATIVE,
				  .repeats = g->n_objects,
				  .column_size = (size_t)g->n_objects * sizeof(uint32_t)};
	if (g->n_objects > MAX_OBJECTS || g->n_edges > MAX_EDGES)
		return hi_fail(err, HI_LIMIT, 0, "sets: the graph is too large");
	f->column = hi_pages_alloc(f->column_size);
	f->cut = hi_calloc(1, hi_bits_size(g->n_nodes));
	return f->column && f->cut ? HI_OK : hi_fail_memory(err, "sets");
}

void hi_set_flow_deinit(struct hi_set_flow *f)
{
	hi_pages_free(f->column, f->column_size);
	free(f->cut);
	*f = (struct hi_set_flow){};
}

bool hi_set_flow_put(struct hi_set_flow *f, hi_node object, uint32_t ref)
{
	uint32_t old = f->column[object];

	f->column[object] = old ? hi_set_union(f->pool, old, ref, f->max) : ref;
	return f->column[object];
}

/* ---- Note [Prefetch ring], with a third step: what is stored by target ---- */

struct walk {
	struct hi_set_flow *flow;
	const uint32_t *targets; /* by object: the visit will look there */
	hi_node *stack;		 /* room for every object */
	size_t depth;
	bool failed;
};
typedef void visit_fn(struct walk *w, hi_node node, struct hi_edges edges);

enum { RING = 32, STEP = 10, ROW_AHEAD = 16, GIVE_AHEAD = 8, FEW_SETS = 1 << 12 };

HI_INLINE void prefetch_targets(const struct walk *w, const struct hi_edges *edges)
{
	for (uint32_t e = 0; e < edges->count && e < ROW_AHEAD; e++)
		__builtin_prefetch(&w->targets[edges->to[e]], 1);
}

HI_INLINE void walk_run(struct walk *w, visit_fn *visit)
{
	const struct hi_graph *g = w->flow->graph;
	struct {
		struct hi_edges edges;
		hi_node node;
	} ring[RING];
	uint32_t in = 0, rows = 0, targets = 0, out = 0;

	while ((w->depth || in != out) && !w->failed) {
		if (w->depth && in - out < RING) {
			ring[in % RING].node = w->stack[--w->depth];
			hi_prefetch_row(g, ring[in++ % RING].node);
			if (in - rows <= STEP && w->depth)
				continue;
		}
		if (rows != in) {
			uint32_t i = rows++ % RING;

			ring[i].edges = hi_graph_edges(g, ring[i].node);
			hi_prefetch_edges(&ring[i].edges);
			if (rows - targets <= STEP && in - out < RING && w->depth)
				continue;
		}
		if (targets != rows) {
			prefetch_targets(w, &ring[targets++ % RING].edges);
			if (targets - out <= STEP && in - out < RING && w->depth)
				continue;
		}
		visit(w, ring[out % RING].node, ring[out % RING].edges);
		out++;
	}
}

/* ---- the first walk ---- */

/*
 * The stack grows from the start of its memory, the list of late objects from
 * the end: one object is never in both, since the late ones have been visited.
 */
struct first {
	struct walk walk; /* the first member: visits get its address */
	hi_node *late_end;
	size_t n_late;
	size_t few;	  /* nodes of the pool up to which sets are few */
	uint64_t repeats; /* visits that may still be repeated */
};

HI_INLINE void first_edge(struct first *f, uint32_t from_set, hi_node to)
{
	struct hi_set_flow *flow = f->walk.flow;
	uint32_t old = flow->column[to], ref = old & REF;

	if (ref == from_set)
		return;
	if (!old) {
		flow->column[to] = from_set;
		f->walk.stack[f->walk.depth++] = to;
		return;
	}
	ref = ref ? hi_set_union(flow->pool, ref, from_set, flow->max) : from_set;
	if (ref == (old & REF))
		return;
	f->walk.failed |= !ref;
	flow->column[to] = ref | (old & ~REF);
	if ((old & ~REF) != VISITED)
		return;
	if (f->repeats && flow->pool->nodes.count < f->few) {
		f->repeats--;
		flow->column[to] = ref;
		f->walk.stack[f->walk.depth++] = to;
	} else {
		flow->column[to] |= LATE;
		*--f->late_end = to;
		f->n_late++;
	}
}

HI_INLINE void first_visit(struct walk *w, hi_node node, struct hi_edges edges)
{
	struct hi_set_flow *flow = w->flow;
	uint32_t set = flow->column[node] & REF;
	bool exact = hi_set_flow_is_exact(flow, node);

	flow->column[node] |= VISITED;
	for (uint32_t e = 0; e < edges.count; e++) {
		if (e + ROW_AHEAD < edges.count)
			__builtin_prefetch(&flow->column[edges.to[e + ROW_AHEAD]], 1);
		if (hi_set_flow_follows(flow, exact, edges.to[e], edges.grade[e]))
			first_edge((struct first *)w, set, edges.to[e]);
	}
}

/* The lowest address is to be on top: lists and arrays mostly lead upward. */
static void first_push(struct first *f)
{
	struct hi_set_flow *flow = f->walk.flow;

	for (hi_node i = flow->graph->n_objects; i-- > 0;) {
		if (hi_bit(flow->cut, i))
			flow->column[i] |= VISITED | LATE;
		else if (flow->column[i])
			f->walk.stack[f->walk.depth++] = i;
	}
}

/* Not inline: a loop of its own. */
static void first_run(struct first *f)
{
	walk_run(&f->walk, first_visit);
}

/* ---- the second walk: the late part in numbers of its own ---- */

struct late {
	struct walk walk; /* the first member */
	struct hi_set_flow *flow;
	uint32_t n, n_succ;
	uint32_t *number; /* by object, + 1; later Tarjan's state; later set */
	hi_node *order;	  /* number -> object */
	uint32_t *start;  /* number -> first of its succ */
	uint32_t *succ;	  /* numbers, LAST at row ends */
	uint32_t *set;	  /* by number: the memory of number */
	uint32_t *done;	  /* numbers, sources first, LAST at the ends of components */
	size_t column_size, succ_size;
};

HI_INLINE uint32_t late_number(struct late *l, hi_node object)
{
	if (!l->number[object]) {
		l->order[l->n] = object;
		l->start[l->n] = NO_EDGES;
		l->number[object] = ++l->n;
		if (!hi_bit(l->flow->cut, object))
			l->walk.stack[l->walk.depth++] = object;
	}
	return l->number[object] - 1;
}

HI_INLINE void late_visit(struct walk *w, hi_node node, struct hi_edges edges)
{
	struct late *l = (struct late *)w;
	bool exact = hi_set_flow_is_exact(l->flow, node);
	uint32_t first = l->n_succ;

	for (uint32_t e = 0; e < edges.count; e++) {
		if (e + ROW_AHEAD < edges.count)
			__builtin_prefetch(&l->number[edges.to[e + ROW_AHEAD]], 1);
		if (edges.to[e] != node &&
		    hi_set_flow_follows(l->flow, exact, edges.to[e], edges.grade[e]))
			l->succ[l->n_succ++] = late_number(l, edges.to[e]);
	}
	if (l->n_succ == first)
		return;
	l->succ[l->n_succ - 1] |= LAST;
	l->start[l->number[node] - 1] = first;
}

static void late_run(struct late *l)
{
	walk_run(&l->walk, late_visit);
}

/* ---- components of the late part: scc.c says how ---- */

struct frame {	       /* one node of the path at hand */
	uint32_t node; /* LOWERED: something below leads above it */
	uint32_t next;
};
struct tarjan {
	uint32_t *state; /* 0, low link, or COMPLETE */
	struct frame *frames;
	uint32_t *open;	    /* upward from the start; */
	uint32_t *done_end; /* complete nodes downward from the end of the same memory */
	uint32_t depth, n_open, next_index;
};
#define COMPLETE UINT32_MAX
#define LOWERED (1u << 31)

HI_INLINE void enter(struct tarjan *t, const struct late *l, uint32_t node)
{
	t->state[node] = t->next_index++;
	t->frames[t->depth++] = (struct frame){node, l->start[node]};
	t->open[t->n_open++] = node;
}

HI_INLINE void complete(struct tarjan *t, uint32_t node)
{
	uint32_t member, last = LAST;

	do {
		member = t->open[--t->n_open];
		t->state[member] = COMPLETE;
		t->next_index--;
		*--t->done_end = member | last;
		last = 0;
	} while (member != node);
}

HI_INLINE void leave(struct tarjan *t)
{
	uint32_t node = t->frames[--t->depth].node, low, *state;
	struct frame *above;

	if (!(node & LOWERED)) {
		complete(t, node);
		return;
	}
	low = t->state[node & ~LOWERED];
	above = &t->frames[t->depth - 1];
	state = &t->state[above->node & ~LOWERED];
	if (low < *state) {
		*state = low;
		above->node |= LOWERED;
	}
}

static void search(struct tarjan *t, const struct late *l, uint32_t start)
{
	enter(t, l, start);
	while (t->depth) {
		struct frame *top = &t->frames[t->depth - 1];
		uint32_t *low = &t->state[top->node & ~LOWERED];
		uint32_t c = top->next, found = UINT32_MAX;

		while (c != NO_EDGES && found == UINT32_MAX) {
			uint32_t edge = l->succ[c], state = t->state[edge & ~LAST];

			c = edge & LAST ? NO_EDGES : c + 1;
			if (state == 0) {
				found = edge & ~LAST;
			} else if (state < *low) {
				*low = state;
				top->node |= LOWERED;
			}
		}
		top->next = c;
		if (found != UINT32_MAX)
			enter(t, l, found);
		else
			leave(t);
	}
}

static bool components(struct late *l)
{
	size_t frames_size = (size_t)l->n * sizeof(struct frame);
	struct tarjan t = {.state = l->number,
			   .open = l->done,
			   .done_end = l->done + l->n,
			   .next_index = 1};

	t.frames = hi_pages_alloc(frames_size);
	if (!t.frames)
		return false;
	memset(t.state, 0, l->n * sizeof(*t.state));
	for (uint32_t i = 0; i < l->n; i++)
		if (!t.state[i])
			search(&t, l, i);
	hi_pages_free(t.frames, frames_size);
	return true;
}

/* ---- from sources to sinks ---- */

HI_INLINE bool give(struct late *l, uint32_t node, uint32_t set)
{
	uint32_t c = l->start[node], edge, *to;

	if (c == NO_EDGES)
		return true;
	do {
		edge = l->succ[c++];
		to = &l->set[edge & ~LAST];
		if (*to == set)
			continue;
		*to = hi_set_union(l->flow->pool, *to, set, l->flow->max);
		if (!*to)
			return false;
	} while (!(edge & LAST));
	return true;
}

/*
 * The order of `done` is known in advance: three steps, as in the ring. It looks
 * behind the end of done, where numbers or objects of before are left: there is
 * room for these in the columns.
 */
HI_INLINE void prefetch_given(const struct late *l, const uint32_t *at)
{
	uint32_t row = l->start[at[2 * GIVE_AHEAD] & ~LAST];
	uint32_t edge = l->start[at[GIVE_AHEAD] & ~LAST];

	__builtin_prefetch(&l->start[at[3 * GIVE_AHEAD] & ~LAST]);
	__builtin_prefetch(&l->set[at[3 * GIVE_AHEAD] & ~LAST]);
	if (row != NO_EDGES)
		__builtin_prefetch(&l->succ[row]);
	if (edge == NO_EDGES)
		return;
	__builtin_prefetch(&l->set[l->succ[edge] & ~LAST], 1);
	if (!(l->succ[edge] & LAST))
		__builtin_prefetch(&l->set[l->succ[edge + 1] & ~LAST], 1);
}

/* A component of n nodes, all of which end up with the same set. None of them is
 * without one: each was visited, or is a successor of what was. */
static bool give_component(struct late *l, const uint32_t *nodes, size_t n)
{
	uint32_t set = l->set[nodes[0] & ~LAST];

	for (size_t i = 1; i < n; i++) {
		uint32_t other = l->set[nodes[i] & ~LAST];

		if (set != other)
			set = hi_set_union(l->flow->pool, set, other, l->flow->max);
		if (!set)
			return false;
	}
	for (size_t i = 0; i < n; i++)
		l->set[nodes[i] & ~LAST] = set;
	for (size_t i = 0; i < n; i++) {
		prefetch_given(l, nodes + i);
		if (!give(l, nodes[i] & ~LAST, set))
			return false;
	}
	return true;
}

static bool give_all(struct late *l)
{
	size_t first = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (!(l->done[i] & LAST))
			continue;
		if (!give_component(l, l->done + first, i + 1 - first))
			return false;
		first = i + 1;
	}
	return true;
}

/* ---- the whole ---- */

static bool late_alloc(struct late *l)
{
	l->number = hi_pages_alloc(l->column_size);
	l->order = hi_pages_alloc(l->column_size);
	l->start = hi_pages_alloc(l->column_size);
	l->succ = hi_pages_alloc(l->succ_size);
	return l->number && l->order && l->start && l->succ;
}

static void late_deinit(struct late *l)
{
	uint32_t *columns[] = {l->number, l->order, l->start};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		hi_pages_free(columns[i], l->column_size);
	hi_pages_free(l->succ, l->succ_size);
}

/* The first walk's memory is free again: its stack serves here as stack and as done. */
static bool run_late(struct hi_set_flow *flow, struct first *f)
{
	struct late l = {.walk = {.flow = flow, .stack = f->walk.stack},
			 .flow = flow,
			 .done = f->walk.stack,
			 .column_size = flow->column_size,
			 .succ_size = (flow->graph->n_edges + 1) * sizeof(uint32_t)};
	bool ok = late_alloc(&l);

	if (ok) {
		l.walk.targets = l.number;
		/* Numbering pushes them from the other end of the same memory: each
		 * is read before its place can be reached. */
		for (size_t i = 0; i < f->n_late; i++)
			(void)late_number(&l, f->late_end[i]);
		late_run(&l);
		flow->again = l.n;
		ok = components(&l);
	}
	l.set = l.number;
	for (uint32_t i = 0; ok && i < l.n; i++)
		l.set[i] = flow->column[l.order[i]] & REF;
	ok = ok && give_all(&l);
	for (uint32_t i = 0; ok && i < l.n; i++)
		flow->column[l.order[i]] = l.set[i];
	late_deinit(&l);
	return ok;
}

bool hi_set_flow_run(struct hi_set_flow *flow)
{
	hi_node n = flow->graph->n_objects;
	size_t size = flow->column_size + 3 * GIVE_AHEAD * sizeof(hi_node);
	struct first f = {.walk = {.flow = flow, .targets = flow->column}};
	bool ok;

	f.walk.stack = hi_pages_alloc(size);
	if (!f.walk.stack)
		return false;
	f.late_end = f.walk.stack + n;
	f.few = flow->pool->nodes.count + FEW_SETS;
	f.repeats = flow->repeats;
	first_push(&f);
	first_run(&f);
	ok = !f.walk.failed && (!f.n_late || run_late(flow, &f));
	for (hi_node i = 0; ok && i < n; i++)
		flow->column[i] &= REF;
	hi_pages_free(f.walk.stack, size);
	return ok;
}
