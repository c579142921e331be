/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dominators by semi-NCA, and the sizes that follow from the tree.
 *
 * Note [Flow graph]
 *
 * An object that precise edges reach is dominated over precise edges alone,
 * any other over all edges that are not weak. So the edge u -> v counts when u
 * is reachable, and v is not in the exact set or both u is and the edge is
 * precise. Otherwise a single stale word on a stack would take gigabytes away
 * from the variable that owns them, and runs would differ.
 *
 * Note [Phases and their memory]
 *
 * The heap's address order is no order for a graph: depth-first search and the
 * forest of semi-NCA would miss the cache at every step. So the first phase
 * walks the flow graph with a prefetch ring, numbers the nodes in the order in
 * which they are marked, and writes their edges out in these numbers; all
 * later phases then work on arrays in which neighbours are near.
 *
 *	relabel   number (by node), stack; order, start, succ
 *	search    order, start (= pre), succ; parent, cursor
 *	turn      order, pre, succ, parent, cursor; node, row, pred
 *	semi      node, parent, row (= label), pred, ancestor, semi
 *	idom      node, parent (= idom), semi
 *	tree      node, parent, two of scratch; results order, span, idom
 *	sizes     results order, span, idom; result retained (8)
 *
 * All but the last are 4 bytes a node, succ 4 bytes an edge, pred 4 bytes an
 * edge that is not in the search tree. Columns go from phase to phase by a
 * pool, since the kernel's zeroing of fresh pages would take as long as a
 * phase. The peak, in turn, is about 20 bytes a node and 4 an edge above the graph.
 *
 * Numbers by preorder count from 1, so that 0 is no node of the tree.
 *
 * Note [Edges in preorder]
 *
 * The search passes every edge once. If its end was visited before, its preorder number is
 * at hand there and replaces the edge, so that no later phase looks it up again; an edge
 * of the search tree, which no later phase needs, becomes 0. The column of a node has the
 * beginning of its row until the node is visited, and its preorder number from then on, so
 * that a visit is one miss; a set of bits, small enough for the cache, has which it is.
 */
#include <string.h>

#include "base/cleanup.h"
#include "census/analysis/analysis.h"
#include "census/analysis/walk_internal.h"

#define LAST_EDGE (1u << 31) /* in succ: the row ends with this edge */
#define NO_EDGES UINT32_MAX  /* in start */

/* In succ, for prefetches; they may be those of the next row. */
enum { SEARCH_AHEAD = 4 };
/* Nodes ahead to prefetch when columns are scattered to another order. */
enum { AHEAD = 24 };

struct job {
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	struct hi_dominators *result;
	uint32_t n;	  /* nodes of the flow graph */
	uint32_t *order;  /* number -> node */
	uint32_t *start;  /* number -> first of its succ; becomes preorder */
	uint32_t *succ;	  /* numbers, LAST_EDGE at row ends; become preorder */
	uint32_t *node;	  /* preorder -> node */
	uint32_t *parent; /* preorder; becomes idom */
	uint32_t *cursor; /* preorder -> last of its succ */
	uint32_t *row;	  /* preorder -> first of its pred; becomes label */
	uint32_t *pred;	  /* preorder numbers */
	uint32_t *ancestor, *semi;
	size_t succ_size, pred_size;
	uint32_t *pool[8]; /* unused columns */
	unsigned n_pool;
};

/* Every column has room for any node, and two more. */
static size_t column_size(hi_node n_nodes)
{
	return ((size_t)n_nodes + 2) * sizeof(uint32_t);
}

static void column_free(struct job *j, uint32_t **column)
{
	if (*column)
		hi_pages_free(*column, column_size(j->graph->n_nodes));
	*column = NULL;
}

static bool column_take(struct job *j, uint32_t **column)
{
	*column = j->n_pool ? j->pool[--j->n_pool]
			    : hi_pages_alloc(column_size(j->graph->n_nodes));
	return *column;
}

/* The first `count` items are 0. */
static bool column_take_zeroed(struct job *j, uint32_t **column, size_t count)
{
	bool used = j->n_pool;

	if (!column_take(j, column))
		return false;
	if (used)
		memset(*column, 0, count * sizeof(**column));
	return true;
}

static void column_give(struct job *j, uint32_t **column)
{
	if (j->n_pool < sizeof(j->pool) / sizeof(j->pool[0]) && *column)
		j->pool[j->n_pool++] = hi_take(*column);
	column_free(j, column);
}

static void pool_free(struct job *j)
{
	while (j->n_pool)
		column_free(j, &j->pool[--j->n_pool]);
}

static void succ_free(struct job *j)
{
	hi_pages_free(j->succ, j->succ_size);
	j->succ = NULL;
}

static void pred_free(struct job *j)
{
	hi_pages_free(j->pred, j->pred_size);
	j->pred = NULL;
}

static void deinit_dominator_job(struct job *j)
{
	uint32_t **columns[] = {&j->order,  &j->start, &j->cursor,   &j->node,
				&j->parent, &j->row,   &j->ancestor, &j->semi};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		column_free(j, columns[i]);
	pool_free(j);
	succ_free(j);
	pred_free(j);
}

/* ---- relabel ---- */

struct relabel {
	const struct hi_graph *graph;
	const uint64_t *exact;
	uint32_t *number; /* by node, + 1; 0: not marked */
	uint32_t *order, *start, *succ;
	uint32_t *stack; /* numbers */
	size_t depth;
	uint32_t n, n_succ;
};

HI_INLINE void relabel_edge(struct relabel *r, hi_node to)
{
	uint32_t number = r->number[to];

	if (!number) {
		r->order[r->n] = to;
		r->number[to] = number = ++r->n;
	}
	r->succ[r->n_succ++] = number - 1;
}

/* Pushes the nodes that were marked since there were n. The first is visited first, as in
 * the search: its row will be near. */
HI_INLINE void relabel_push(struct relabel *r, uint32_t n)
{
	for (uint32_t number = r->n; number-- > n;)
		r->stack[r->depth++] = number;
}

/* Edges ahead to prefetch within a long row. */
enum { ROW_AHEAD = 16 };

HI_INLINE void relabel_visit(struct relabel *r, uint32_t number, hi_node node,
			     struct hi_edges edges)
{
	bool exact = hi_bit(r->exact, node);
	uint32_t first = r->n_succ, n = r->n;

	for (uint32_t e = 0; e < edges.count; e++) {
		if (e + ROW_AHEAD < edges.count)
			__builtin_prefetch(&r->number[edges.to[e + ROW_AHEAD]], 1);
		if (edges.to[e] != node &&
		    hi_is_flow(r->exact, exact, edges.to[e], edges.grade[e]))
			relabel_edge(r, edges.to[e]);
	}
	relabel_push(r, n);
	r->start[number] = first;
	if (r->n_succ == first)
		r->start[number] = NO_EDGES;
	else
		r->succ[r->n_succ - 1] |= LAST_EDGE;
}

HI_INLINE void prefetch_numbers(const struct relabel *r, const struct hi_edges *edges)
{
	for (uint32_t e = 0; e < edges->count && e < ROW_AHEAD; e++)
		__builtin_prefetch(&r->number[edges->to[e]], 1);
}

/* Note [Prefetch ring] with a third step: the numbers of the targets. */
static void relabel_run(struct relabel *r)
{
	enum { RING = 32, STEP = 10 };
	struct {
		struct hi_edges edges;
		uint32_t number;
		hi_node node;
	} ring[RING];
	uint32_t in = 0, rows = 0, targets = 0, out = 0;

	while (r->depth || in != out) {
		if (r->depth && in - out < RING) {
			uint32_t number = r->stack[--r->depth], i = in++ % RING;

			ring[i].number = number;
			ring[i].node = r->order[number];
			hi_prefetch_row(r->graph, ring[i].node);
			if (in - rows <= STEP && r->depth)
				continue;
		}
		if (rows != in) {
			uint32_t i = rows++ % RING;

			ring[i].edges = hi_graph_edges(r->graph, ring[i].node);
			hi_prefetch_edges(&ring[i].edges);
			if (rows - targets <= STEP && in - out < RING && r->depth)
				continue;
		}
		if (targets != rows) {
			prefetch_numbers(r, &ring[targets++ % RING].edges);
			if (targets - out <= STEP && in - out < RING && r->depth)
				continue;
		}
		relabel_visit(r, ring[out % RING].number, ring[out % RING].node,
			      ring[out % RING].edges);
		out++;
	}
}

/* The super-root. Its row also has the internal blocks that no root reaches. */
static void relabel_super_root(struct relabel *r, const struct hi_reach *reach)
{
	struct hi_edges edges = hi_graph_edges(r->graph, r->graph->super_root);

	r->order[0] = r->graph->super_root;
	r->number[r->graph->super_root] = r->n = 1;
	for (uint32_t e = 0; e < edges.count; e++)
		relabel_edge(r, edges.to[e]);
	for (size_t i = 0; i < reach->n_internal_roots; i++)
		relabel_edge(r, reach->internal_roots[i]);
	relabel_push(r, 1);
	r->succ[r->n_succ - 1] |= LAST_EDGE;
}

static bool relabel_nodes(struct job *j)
{
	const struct hi_graph *g = j->graph;
	uint32_t *number = NULL, *stack = NULL;
	bool ok;

	j->succ_size = (g->n_edges + j->reach->n_internal_roots + SEARCH_AHEAD) *
		       sizeof(*j->succ);
	j->succ = hi_pages_alloc(j->succ_size);
	ok = j->succ && column_take(j, &number) && column_take(j, &stack) &&
	     column_take(j, &j->order) && column_take(j, &j->start);
	if (ok) {
		struct relabel r = {.graph = g,
				    .exact = j->reach->exact,
				    .number = number,
				    .order = j->order,
				    .start = j->start,
				    .succ = j->succ,
				    .stack = stack};

		relabel_super_root(&r, j->reach);
		relabel_run(&r);
		j->n = r.n;
	}
	column_give(j, &number);
	column_give(j, &stack);
	return ok;
}

/* ---- search: depth first, by parent and cursor instead of a stack ---- */

/* The row of the edge that comes next after a subtree, and where that of the one after it
 * is: these are often of one cache line. */
HI_INLINE void prefetch_sibling(const struct job *j, const uint64_t *visited,
				uint32_t edge)
{
	uint32_t to = j->succ[edge] & ~LAST_EDGE;

	if (!hi_bit(visited, to) && j->start[to] != NO_EDGES)
		__builtin_prefetch(&j->succ[j->start[to]], 1);
	__builtin_prefetch(&j->start[j->succ[edge + SEARCH_AHEAD] & ~LAST_EDGE], 1);
}

/* Note [Edges in preorder] */
static void search_run(struct job *j, uint64_t *visited)
{
	uint32_t *start = j->start, *succ = j->succ;
	uint32_t *parent = j->parent, *cursor = j->cursor;
	uint32_t n = 1, p = 1, c = start[0];

	hi_bit_set(visited, 0);
	start[0] = 1;
	parent[1] = 0;
	for (;;) {
		uint32_t last = succ[c] & LAST_EDGE, to = succ[c] & ~LAST_EDGE;

		if (hi_bit(visited, to)) {
			succ[c] = last | start[to];
		} else {
			uint32_t first = start[to];

			succ[c] = last;
			hi_bit_set(visited, to);
			start[to] = ++n;
			parent[n] = p;
			cursor[n] = NO_EDGES;
			if (first != NO_EDGES) {
				__builtin_prefetch(&succ[first]);
				if (!last)
					prefetch_sibling(j, visited, c + 1);
				cursor[p] = c;
				p = n;
				c = first;
				continue;
			}
		}
		if (!last) {
			c++;
			continue;
		}
		cursor[p] = c;
		do {
			p = parent[p];
			if (p == 0)
				return;
			c = cursor[p];
		} while (succ[c] & LAST_EDGE);
		c++;
	}
}

static bool search_depth_first(struct job *j)
{
	HI_GUARD(free)
	uint64_t *visited = hi_calloc((size_t)j->n / 64 + 1, sizeof(*visited));
	bool ok = visited && column_take(j, &j->parent) && column_take(j, &j->cursor);

	if (ok)
		search_run(j, visited);
	return ok;
}

/* ---- turn: predecessors that are not the parent, in preorder numbers ---- */

typedef void edge_fn(struct job *j, uint32_t from, uint32_t to);

/* From the end of each row back to the end of the one before. */
HI_INLINE void for_each_cross_edge(struct job *j, edge_fn *fn)
{
	const uint32_t *succ = j->succ, *cursor = j->cursor;

	for (uint32_t v = 1; v <= j->n; v++) {
		uint32_t at = cursor[v];

		if (v + AHEAD <= j->n && cursor[v + AHEAD] != NO_EDGES)
			__builtin_prefetch(&succ[cursor[v + AHEAD]]);
		if (at == NO_EDGES)
			continue;
		do {
			uint32_t to = succ[at] & ~LAST_EDGE;

			if (to)
				fn(j, v, to);
		} while (at-- > 0 && !(succ[at] & LAST_EDGE));
	}
}

HI_INLINE void count_edge(struct job *j, uint32_t from, uint32_t to)
{
	(void)from;
	j->row[to]++;
}

HI_INLINE void put_edge(struct job *j, uint32_t from, uint32_t to)
{
	j->pred[--j->row[to]] = from;
}

static bool name_preorder(struct job *j)
{
	const uint32_t *order = j->order, *pre = j->start;

	if (!column_take(j, &j->node))
		return false;
	for (uint32_t v = 0; v < j->n; v++) {
		if (v + AHEAD < j->n)
			__builtin_prefetch(&j->node[pre[v + AHEAD]], 1);
		j->node[pre[v]] = order[v];
	}
	column_give(j, &j->order);
	column_give(j, &j->start);
	return true;
}

static bool turn_cross_edges(struct job *j)
{
	uint32_t total = 0;

	if (!name_preorder(j) || !column_take_zeroed(j, &j->row, (size_t)j->n + 2))
		return false;
	for_each_cross_edge(j, count_edge);
	for (uint32_t i = 1; i <= j->n; i++)
		j->row[i] = total += j->row[i];
	j->row[j->n + 1] = total;
	j->pred_size = (size_t)total * sizeof(*j->pred);
	j->pred = hi_pages_alloc(j->pred_size);
	if (!j->pred)
		return false;
	for_each_cross_edge(j, put_edge);
	succ_free(j);
	column_give(j, &j->cursor);
	return true;
}

/* ---- semi-dominators ---- */

/*
 * The least semi-dominator on the forest path from v up to the root of its
 * tree; nodes above `linked` are in the forest. The path is compressed: its
 * ancestor pointers are turned round on the way up and reset on the way down,
 * so that it needs no stack.
 */
HI_INLINE uint32_t eval(uint32_t *ancestor, uint32_t *label, uint32_t v, uint32_t linked)
{
	uint32_t below = 0, top, up;

	while (ancestor[v] > linked) {
		uint32_t next = ancestor[v];

		ancestor[v] = below;
		below = v;
		v = next;
	}
	top = ancestor[v];
	for (up = v; below;) {
		uint32_t next = ancestor[below];

		if (label[up] < label[below])
			label[below] = label[up];
		ancestor[below] = top;
		up = below;
		below = next;
	}
	return label[up];
}

static bool compute_semidominators(struct job *j)
{
	uint32_t *label = j->row, *ancestor, *semi, end;
	const uint32_t *parent = j->parent, *pred = j->pred;

	if (!column_take(j, &j->ancestor) || !column_take(j, &j->semi))
		return false;
	ancestor = j->ancestor;
	semi = j->semi;
	end = label[j->n + 1];
	for (uint32_t w = j->n; w > 1; w--) {
		uint32_t first = label[w], least = parent[w];

		for (uint32_t i = first; i < end; i++) {
			uint32_t s = pred[i];

			if (s > w)
				s = eval(ancestor, label, s, w);
			if (s < least)
				least = s;
		}
		end = first; /* the row becomes the label */
		semi[w] = label[w] = least;
		ancestor[w] = parent[w];
	}
	pred_free(j);
	return true;
}

/* ---- immediate dominators ---- */

/*
 * idom[w] is the nearest ancestor of parent[w] in the dominator tree that is
 * not below semi[w]. The plain climb is short on real heaps but can be made as
 * long as the heap is deep: when the climbs get long, jump pointers take over
 * (Myers' skew-binary ones: at most 2 log n steps).
 */
struct climber {
	uint32_t *idom, *depth, *jump;
	uint32_t ready; /* nodes below have depth and jump */
};

static void climber_extend(struct climber *c, uint32_t w)
{
	for (; c->ready < w; c->ready++) {
		uint32_t i = c->ready, up = c->idom[i], over = c->jump[up];
		bool equal = c->depth[up] - c->depth[over] ==
			     c->depth[over] - c->depth[c->jump[over]];

		c->depth[i] = c->depth[up] + 1;
		c->jump[i] = equal ? c->jump[over] : up;
	}
}

static uint32_t climb_to_ancestor(struct climber *c, uint32_t from, uint32_t to)
{
	while (from > to)
		from = c->jump[from] >= to ? c->jump[from] : c->idom[from];
	return from;
}

static void immediate_dominators(struct job *j)
{
	uint32_t *idom = j->parent;
	const uint32_t *semi = j->semi;
	/* Plain steps that we are willing to make before the jumps. */
	uint64_t patience = 8 * (uint64_t)j->n + 64;
	/* Scratch of the phase before; its contents do not matter. */
	struct climber c = {idom, j->ancestor, j->row, 2};
	uint32_t w;

	for (w = 2; w <= j->n && patience; w++) {
		uint32_t d = idom[w];

		while (d > semi[w] && patience) {
			d = idom[d];
			patience--;
		}
		if (d > semi[w])
			break;
		idom[w] = d;
	}
	c.depth[1] = 0;
	c.jump[1] = 1;
	for (; w <= j->n; w++) {
		climber_extend(&c, w);
		idom[w] = climb_to_ancestor(&c, idom[w], semi[w]);
	}
}

/* ---- results ---- */

/*
 * Preorder of the dominator tree. Subtrees are sized bottom up and placed top
 * down, in the order of their numbers. Uses up ancestor and row.
 */
static bool tree_order(struct job *j)
{
	uint32_t *size = j->ancestor, *next = j->row;
	const uint32_t *idom = j->parent, *node = j->node;
	struct hi_dominators *d = j->result;

	if (!column_take(j, &d->order) || !column_take(j, &d->span))
		return false;
	d->n_order = j->n;
	for (uint32_t w = 1; w <= j->n; w++)
		size[w] = 1;
	for (uint32_t w = j->n; w > 1; w--)
		size[idom[w]] += size[w];
	d->order[0] = node[1];
	d->span[0] = size[1];
	next[1] = 1;
	for (uint32_t w = 2; w <= j->n; w++) {
		uint32_t at = next[idom[w]];

		d->order[at] = node[w];
		d->span[at] = size[w];
		next[idom[w]] = at + size[w];
		next[w] = at + 1;
	}
	column_give(j, &j->ancestor);
	column_give(j, &j->row);
	return true;
}

/* Uses up node and parent. */
static bool give_idom(struct job *j)
{
	const uint32_t *idom = j->parent, *node = j->node;
	hi_node *out;

	if (!column_take(j, &j->result->idom))
		return false;
	out = j->result->idom;
	memset(out, 0xff, column_size(j->graph->n_nodes)); /* HI_NODE_NONE */
	for (uint32_t w = 2; w <= j->n; w++) {
		if (w + AHEAD <= j->n)
			__builtin_prefetch(&out[node[w + AHEAD]], 1);
		out[node[w]] = node[idom[w]];
	}
	column_give(j, &j->node);
	column_give(j, &j->parent);
	pool_free(j);
	return true;
}

/* The sum over the children of order[i]. Their subtrees follow each other. */
static uint64_t children_retained(const struct hi_dominators *d, uint32_t i,
				  const uint64_t *retained)
{
	const uint32_t end = i + d->span[i];
	uint32_t ahead = i + 1;
	uint64_t sum = 0;

	for (unsigned k = 0; k < AHEAD && ahead < end; k++) {
		__builtin_prefetch(&retained[d->order[ahead]]);
		ahead += d->span[ahead];
	}
	for (uint32_t child = i + 1; child < end; child += d->span[child]) {
		if (ahead < end) {
			__builtin_prefetch(&retained[d->order[ahead]]);
			ahead += d->span[ahead];
		}
		sum += retained[d->order[child]];
	}
	return sum;
}

/* From the last in preorder to the first: children before their parents. */
static bool give_retained(struct job *j)
{
	const struct hi_objects *o = j->graph->objects;
	const struct hi_dominators *d = j->result;
	const hi_node *order = d->order;
	uint64_t *out = hi_pages_alloc((size_t)d->n_nodes * sizeof(*out));

	if (!out)
		return false;
	j->result->retained = out;
	for (uint32_t i = j->n; i-- > 0;) {
		if (i >= AHEAD) {
			__builtin_prefetch(&out[order[i - AHEAD]], 1);
			if (order[i - AHEAD] < o->count) {
				__builtin_prefetch(&o->usable_low[order[i - AHEAD]]);
				__builtin_prefetch(&o->flags[order[i - AHEAD]]);
			}
		}
		out[order[i]] =
			children_retained(d, i, out) +
			(order[i] < o->count && !hi_is_internal(j->graph, order[i])
				 ? hi_cost_of(o, order[i])
				 : 0);
	}
	return true;
}

static bool compute_dominators(struct job *j)
{
	if (!relabel_nodes(j) || !search_depth_first(j) || !turn_cross_edges(j) ||
	    !compute_semidominators(j))
		return false;
	immediate_dominators(j);
	column_give(j, &j->semi);
	return tree_order(j) && give_idom(j) && give_retained(j);
}

enum hi_status hi_dominators_compute(const struct hi_graph *g,
				     const struct hi_reach *reach,
				     struct hi_dominators **ret, struct hi_error *err)
{
	HI_GUARD(hi_dominators_destroy)
	struct hi_dominators *d = hi_calloc(1, sizeof(*d));
	struct job j = {.graph = g, .reach = reach, .result = d};
	bool ok;

	if (!d)
		return hi_fail_memory(err, "dominators");
	/* LAST_EDGE takes a bit of the numbers; succ is indexed by 32 bits. */
	if (g->n_nodes >= LAST_EDGE || g->n_edges + reach->n_internal_roots >= NO_EDGES)
		return hi_fail(err, HI_LIMIT, 0,
			       "dominators: over 2 G nodes or 4 G edges");
	d->n_nodes = g->n_nodes;
	ok = compute_dominators(&j);
	deinit_dominator_job(&j);
	if (!ok)
		return hi_fail_memory(err, "dominators");
	*ret = hi_take(d);
	return HI_OK;
}

void hi_dominators_destroy(struct hi_dominators *d)
{
	if (!d)
		return;
	if (d->is_borrowed) {
		free(d);
		return;
	}
	hi_pages_free(d->idom, column_size(d->n_nodes));
	hi_pages_free(d->order, column_size(d->n_nodes));
	hi_pages_free(d->span, column_size(d->n_nodes));
	hi_pages_free(d->retained, (size_t)d->n_nodes * sizeof(*d->retained));
	free(d);
}

void hi_dominators_root_keys(const struct hi_graph *g, const struct hi_dominators *d,
			     const uint32_t *of_root, uint32_t several, uint32_t *keys)
{
	for (hi_node i = 0; i < d->n_order; i++) {
		hi_node node = d->order[i], up = d->idom[node];

		if (node >= g->first_root && node < g->first_kind)
			keys[node] = of_root[node - g->first_root];
		else if (node >= g->first_kind || up == HI_NODE_NONE)
			keys[node] = several;
		else
			keys[node] = keys[up];
	}
}
