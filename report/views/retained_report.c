/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Picking a tree without child lists]
 *
 * The dominator tree is stored as parents only. A level of the display is one pass over
 * all nodes: those whose parent was picked on the level above are candidates, and each
 * picked parent keeps its CHILDREN largest in a small sorted array. That takes LEVELS
 * passes and one bit of memory per node.
 */
#include "report/views/retained_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "report/views/rank.h"

enum { LEVELS = 3, CHILDREN = 3 };

HI_DEFINE_GUARD(struct hi_retained_report *, hi_retained_report_destroy)

struct node_list HI_VECTOR(hi_node);

/* A picked node, its position in the level and the largest of its children. */
struct branch {
	hi_node node;
	unsigned depth;
	size_t up; /* index of its parent's branch; SIZE_MAX: top level */
	uint32_t n_children, n_all;
	uint64_t all_bytes;
	hi_node children[CHILDREN]; /* by retained, then id */
	size_t branches[CHILDREN];
};
struct branch_list HI_VECTOR(struct branch);

struct picking {
	const struct hi_graph *g;
	const struct hi_dominators *d;
	const struct hi_reach *reach; /* of what is to be seen */
	uint64_t *picked;	      /* bit per node: on the level above */
	struct branch_list list; /* levels one behind the other; level sorted by node */
};

/* Kinds are no owners: what hangs below them is at the top. */
static bool is_top(const struct picking *p, hi_node node)
{
	hi_node up = p->d->idom[node];

	return up != HI_NODE_NONE && node < p->g->first_kind &&
	       hi_bit(p->reach->any, node) &&
	       (up >= p->g->first_kind || !hi_bit(p->reach->any, up));
}

static enum hi_status collect_top(struct picking *p, const struct hi_restrict *only,
				  struct hi_retained_report *r, struct node_list *top,
				  struct hi_error *err)
{
	for (hi_node i = 0; i < p->g->first_kind; i++) {
		uint64_t bytes = p->d->retained[i];

		if (!is_top(p, i) || bytes == 0)
			continue;
		if (bytes < only->min_size) {
			r->below.rows++;
			r->below.bytes += bytes;
			continue;
		}
		if (!hi_vector_push(top, i))
			return hi_fail_memory(err, "top of the dominator tree");
	}
	hi_rank_nodes(p->d, top->items, top->count);
	for (size_t i = only->top; i < top->count; i++) {
		r->beyond.rows++;
		r->beyond.bytes += p->d->retained[top->items[i]];
	}
	if (top->count > only->top)
		top->count = only->top;
	return HI_OK;
}

static void offer_child(const struct hi_dominators *d, struct branch *b, hi_node node)
{
	uint32_t at = b->n_children;

	b->n_all++;
	b->all_bytes += d->retained[node];
	while (at > 0 && d->retained[node] > d->retained[b->children[at - 1]])
		at--;
	if (at >= CHILDREN)
		return;
	if (b->n_children < CHILDREN)
		b->n_children++;
	for (uint32_t k = b->n_children - 1; k > at; k--)
		b->children[k] = b->children[k - 1];
	b->children[at] = node;
}

static int compare_branch_nodes(const void *a, const void *b)
{
	hi_node x = ((const struct branch *)a)->node,
		y = ((const struct branch *)b)->node;

	return x < y ? -1 : x > y;
}

/* In the level [from, to). */
static struct branch *find_branch(struct picking *p, size_t from, size_t to, hi_node node)
{
	struct branch key = {.node = node};

	return bsearch(&key, p->list.items + from, to - from, sizeof(struct branch),
		       compare_branch_nodes);
}

/* Fills the children of the level that starts at `from`. */
static void fill_level(struct picking *p, size_t from)
{
	size_t words = ((size_t)p->g->n_nodes + 63) / 64;

	memset(p->picked, 0, words * sizeof(*p->picked));
	for (size_t i = from; i < p->list.count; i++)
		p->picked[p->list.items[i].node >> 6] |= 1ull
							 << (p->list.items[i].node & 63);
	for (hi_node i = 0; i < p->g->first_kind; i++) {
		hi_node up = p->d->idom[i];

		if (up != HI_NODE_NONE && up < p->g->first_kind &&
		    hi_bit(p->picked, up) && p->d->retained[i] &&
		    hi_bit(p->reach->any, i))
			offer_child(p->d, find_branch(p, from, p->list.count, up), i);
	}
}

/* The next level: children that hold a tenth of their parent or more. */
static enum hi_status add_level(struct picking *p, size_t from, size_t to,
				struct hi_error *err)
{
	for (size_t i = from; i < to; i++) {
		uint64_t whole = p->d->retained[p->list.items[i].node];

		for (uint32_t k = 0; k < p->list.items[i].n_children; k++) {
			struct branch b = {.node = p->list.items[i].children[k],
					   .depth = p->list.items[i].depth + 1,
					   .up = i};

			if (p->d->retained[b.node] < whole / 10)
				continue;
			if (!hi_vector_push(&p->list, b))
				return hi_fail_memory(err, "dominator tree");
		}
	}
	qsort(p->list.items + to, p->list.count - to, sizeof(struct branch),
	      compare_branch_nodes);
	return HI_OK;
}

static enum hi_status pick_branches(struct picking *p, const struct node_list *top,
				    struct hi_error *err)
{
	size_t from = 0, to;

	for (size_t i = 0; i < top->count; i++)
		if (!hi_vector_push(&p->list, (struct branch){.node = top->items[i],
							      .up = SIZE_MAX}))
			return hi_fail_memory(err, "dominator tree");
	qsort(p->list.items, p->list.count, sizeof(struct branch), compare_branch_nodes);
	for (unsigned level = 0; level <= LEVELS && from < p->list.count; level++) {
		fill_level(p, from);
		to = p->list.count;
		if (level < LEVELS) {
			enum hi_status status = add_level(p, from, to, err);

			if (status != HI_OK)
				return status;
		}
		from = to;
	}
	return HI_OK;
}

/* Where each listed child has its branch. */
static void join_levels(struct picking *p)
{
	for (size_t i = 0; i < p->list.count; i++)
		for (uint32_t k = 0; k < CHILDREN; k++)
			p->list.items[i].branches[k] = SIZE_MAX;
	for (size_t i = 0; i < p->list.count; i++) {
		struct branch *b = &p->list.items[i], *up;

		if (b->up == SIZE_MAX)
			continue;
		up = &p->list.items[b->up];
		for (uint32_t k = 0; k < up->n_children; k++)
			if (up->children[k] == b->node)
				up->branches[k] = i;
	}
}

/* Depth first below one branch; at most LEVELS deep, by an explicit stack. */
static void put_branch_rows(struct hi_retained_report *r, struct picking *p,
			    size_t branch)
{
	struct {
		size_t branch;
		uint32_t next;
	} stack[LEVELS + 2];
	size_t depth = 0;

	stack[0].branch = branch;
	stack[0].next = 0;
	for (;;) {
		struct branch *b = &p->list.items[stack[depth].branch];

		if (stack[depth].next == 0) {
			struct hi_retained_row *row = &r->rows[r->n_rows++];

			row->info = hi_node_info(p->g, p->d, b->node);
			row->depth = b->depth;
			row->children_more = b->n_all;
			row->children_more_bytes = b->all_bytes;
			for (uint32_t k = 0; k < b->n_children; k++)
				if (b->branches[k] != SIZE_MAX) {
					row->children_more--;
					row->children_more_bytes -=
						p->d->retained[b->children[k]];
				}
		}
		while (stack[depth].next < b->n_children &&
		       b->branches[stack[depth].next] == SIZE_MAX)
			stack[depth].next++;
		if (stack[depth].next < b->n_children) {
			size_t child = b->branches[stack[depth].next++];

			depth++;
			stack[depth].branch = child;
			stack[depth].next = 0;
		} else if (depth-- == 0) {
			return;
		}
	}
}

static enum hi_status make_tree(struct picking *p, const struct hi_restrict *only,
				struct hi_retained_report *r, struct hi_error *err)
{
	struct node_list top = {};
	enum hi_status status = collect_top(p, only, r, &top, err);

	if (status == HI_OK)
		status = pick_branches(p, &top, err);
	if (status == HI_OK) {
		join_levels(p);
		r->rows = hi_calloc(p->list.count + 1, sizeof(*r->rows));
		if (!r->rows)
			status = hi_fail_memory(err, "rows of the dominator tree");
	}
	for (size_t i = 0; status == HI_OK && i < top.count; i++)
		put_branch_rows(r, p,
				(size_t)(find_branch(p, 0, top.count, top.items[i]) -
					 p->list.items));
	hi_vector_free(&top);
	return status;
}

/* Hidden rows count by their own bytes: what they retain may be nested. */
static enum hi_status make_list(const struct hi_graph *g, const struct hi_reach *reach,
				const struct hi_dominators *d,
				const struct hi_restrict *only,
				struct hi_retained_report *r, struct hi_error *err)
{
	struct node_list found = {};

	for (hi_node i = 0; i < g->n_objects; i++) {
		if (!hi_bit(reach->any, i) ||
		    !hi_type_set_has(only->types, g->objects->type[i]) ||
		    (g->objects->flags[i] & HI_OBJECT_INTERNAL))
			continue;
		r->type_count++;
		r->type_shallow += hi_objects_cost(g->objects, i);
		if (d->retained[i] < only->min_size) {
			r->below.rows++;
			r->below.bytes += hi_objects_cost(g->objects, i);
			continue;
		}
		if (!hi_vector_push(&found, i)) {
			hi_vector_free(&found);
			return hi_fail_memory(err, "objects of a type");
		}
	}
	hi_rank_nodes(d, found.items, found.count);
	for (size_t i = only->top; i < found.count; i++) {
		r->beyond.rows++;
		r->beyond.bytes += hi_objects_cost(g->objects, found.items[i]);
	}
	if (found.count > only->top)
		found.count = only->top;
	r->rows = hi_calloc(found.count + 1, sizeof(*r->rows));
	for (size_t i = 0; r->rows && i < found.count; i++)
		r->rows[r->n_rows++].info = hi_node_info(g, d, found.items[i]);
	hi_vector_free(&found);
	return r->rows ? HI_OK : hi_fail_memory(err, "rows of objects");
}

static int by_type_retained(const void *a, const void *b)
{
	const struct hi_census_row *x = *(const struct hi_census_row *const *)a;
	const struct hi_census_row *y = *(const struct hi_census_row *const *)b;

	if (x->retained != y->retained)
		return x->retained > y->retained ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

static enum hi_status make_types(const struct hi_graph *g, const struct hi_census *census,
				 size_t top, struct hi_retained_report *r,
				 struct hi_error *err)
{
	HI_GUARD(free)
	const struct hi_census_row **order =
		hi_alloc((census->n_rows + 1) * sizeof(*order));

	r->n_types_total = census->n_rows;
	r->n_types = census->n_rows < top ? census->n_rows : top;
	r->types = hi_calloc(r->n_types + 1, sizeof(*r->types));
	if (!order || !r->types)
		return hi_fail_memory(err, "retained by type");
	for (size_t i = 0; i < census->n_rows; i++)
		order[i] = &census->rows[i];
	qsort(order, census->n_rows, sizeof(*order), by_type_retained);
	for (size_t i = 0; i < r->n_types; i++) {
		uint32_t type = order[i]->type;

		r->types[i] = (struct hi_retained_type){
			.type = type < g->n_types ? g->types[type].name : "",
			.count = order[i]->count,
			.shallow = order[i]->shallow,
			.retained = order[i]->retained,
		};
	}
	return HI_OK;
}

enum hi_status hi_retained_report_create(
	const struct hi_report_header *header, const struct hi_graph *graph,
	const struct hi_reach *reach, const struct hi_dominators *dominators,
	const struct hi_census *census, const struct hi_restrict *only,
	uint64_t type_exact, struct hi_retained_report **ret, struct hi_error *err)
{
	HI_GUARD(hi_retained_report_destroy)
	struct hi_retained_report *r = hi_calloc(1, sizeof(*r));
	struct picking p = {.g = graph, .d = dominators, .reach = reach};
	enum hi_status status;

	if (!r)
		return hi_fail_memory(err, "report of retained sizes");
	r->header = header;
	r->live_bytes = reach->live_bytes;
	r->tree = only->types == NULL;
	r->type_pattern = only->type_pattern;
	r->type_exact = type_exact;
	if (r->tree) {
		p.picked = hi_calloc(((size_t)graph->n_nodes + 63) / 64 + 1, 8);
		if (!p.picked)
			return hi_fail_memory(err, "dominator tree");
		status = make_tree(&p, only, r, err);
		free(p.picked);
		hi_vector_free(&p.list);
		if (status == HI_OK)
			status = make_types(graph, census, only->top, r, err);
	} else {
		status = make_list(graph, reach, dominators, only, r, err);
	}
	if (status == HI_OK)
		*ret = hi_take(r);
	return status;
}

enum hi_status hi_retained_report_restore(
	const struct hi_report_header *header, const struct hi_graph *graph,
	uint64_t live_bytes, const struct hi_census *census, size_t top,
	struct hi_retained_row *rows, size_t n_rows, struct hi_hidden beyond,
	struct hi_retained_report **ret, struct hi_error *err)
{
	HI_GUARD(hi_retained_report_destroy)
	struct hi_retained_report *r = hi_calloc(1, sizeof(*r));
	enum hi_status status;

	if (!r) {
		free(rows);
		return hi_fail_memory(err, "report of retained sizes");
	}
	*r = (struct hi_retained_report){.header = header,
					 .live_bytes = live_bytes,
					 .tree = true,
					 .rows = rows,
					 .n_rows = n_rows,
					 .beyond = beyond,
					 .type_exact = UINT64_MAX};
	status = make_types(graph, census, top, r, err);
	if (status == HI_OK)
		*ret = hi_take(r);
	return status;
}

void hi_retained_report_destroy(struct hi_retained_report *report)
{
	if (!report)
		return;
	free(report->rows);
	free(report->types);
	free(report);
}
