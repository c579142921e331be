/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/retained/retained_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "report/node_order.h"

enum { LEVELS = 6, CHILDREN = 4, LIVE_SHARE = 200 /* of live: a row below the top */ };
static const double parent_share = 0.05; /* that a child has at least */

struct node_list HI_VECTOR(hi_node);

/* ---- the tree ---- */

static void push_tree_row(struct hi_retained_report *r, const struct hi_graph *g,
			  const struct hi_dominators *d,
			  const struct hi_retained_node *node)
{
	struct hi_retained_row *row = &r->rows[r->n_rows++];

	*row = (struct hi_retained_row){
		.depth = node->depth - 1, .count = node->count, .is_list = node->is_list};
	row->info = hi_node_info(g, d, node->example);
	row->info.retained = node->bytes;
	if (node->sort == HI_RETAINED_OBJECTS) {
		row->info.name = node->label;
		row->info.shallow = node->own;
	}
	if (node->count > 1)
		row->info.address = 0;
}

/* The rest is no row of its own: it counts with its parent. */
static void count_rest(struct hi_retained_row *row, const struct hi_retained_node *rest)
{
	row->children_more = rest->count;
	row->children_more_bytes = rest->bytes;
}

/* Depth first; a level of the tree is one behind the other. */
static enum hi_status list_tree(struct hi_retained_report *r, const struct hi_graph *g,
				const struct hi_dominators *d, struct hi_error *err)
{
	const struct hi_retained_tree *t = r->nodes;
	struct {
		uint32_t next, end;
		size_t row; /* of the parent */
	} stack[LEVELS + 2] = {};
	size_t depth = 0;

	r->rows = hi_calloc((size_t)t->count + 1, sizeof(*r->rows));
	if (!r->rows)
		return hi_fail_memory(err, "rows of the dominator tree");
	stack[0].next = t->nodes[0].first_child;
	stack[0].end = stack[0].next + t->nodes[0].n_children;
	for (;;) {
		const struct hi_retained_node *node;

		if (stack[depth].next == stack[depth].end) {
			if (depth-- == 0)
				return HI_OK;
			continue;
		}
		node = &t->nodes[stack[depth].next++];
		if (node->sort == HI_RETAINED_REST) {
			if (depth)
				count_rest(&r->rows[stack[depth].row], node);
			continue;
		}
		push_tree_row(r, g, d, node);
		if (!node->n_children)
			continue;
		depth++;
		stack[depth].next = node->first_child;
		stack[depth].end = node->first_child + node->n_children;
		stack[depth].row = r->n_rows - 1;
	}
}

static enum hi_status make_tree(const struct hi_graph *g, const struct hi_reach *reach,
				const struct hi_dominators *d,
				const struct hi_restrict *only,
				const struct hi_field_reader *fields,
				struct hi_retained_report *r, struct hi_error *err)
{
	struct hi_retained_limits limits = {.depth = LEVELS,
					    .tops = only->top,
					    .tops_least = only->min_size,
					    .children = CHILDREN,
					    .share = parent_share,
					    .least = reach->live_bytes / LIVE_SHARE};
	const struct hi_retained_node *top;
	enum hi_status status =
		hi_retained_tree_make(g, reach, d, fields, &limits, &r->nodes, err);

	if (status != HI_OK)
		return status;
	top = r->nodes->nodes;
	if (top->n_children) {
		const struct hi_retained_node *last =
			&top[top->first_child + top->n_children - 1];

		if (last->sort == HI_RETAINED_REST)
			r->hidden.by_top = (struct hi_hidden){last->groups, last->bytes};
	}
	r->hidden.by_min_size =
		(struct hi_hidden){r->nodes->below_groups, r->nodes->below_bytes};
	return list_tree(r, g, d, err);
}

/* ---- the objects of one type ---- */

static void push_object_row(struct hi_retained_report *r, struct hi_node_info info)
{
	r->rows[r->n_rows++] = (struct hi_retained_row){.info = info, .count = 1};
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
			r->hidden.by_min_size.rows++;
			r->hidden.by_min_size.bytes += hi_objects_cost(g->objects, i);
			continue;
		}
		if (!hi_vector_push(&found, i)) {
			hi_vector_free(&found);
			return hi_fail_memory(err, "objects of a type");
		}
	}
	hi_rank_nodes(d, found.items, found.count);
	for (size_t i = only->top; i < found.count; i++) {
		r->hidden.by_top.rows++;
		r->hidden.by_top.bytes += hi_objects_cost(g->objects, found.items[i]);
	}
	if (found.count > only->top)
		found.count = only->top;
	r->rows = hi_calloc(found.count + 1, sizeof(*r->rows));
	for (size_t i = 0; r->rows && i < found.count; i++)
		push_object_row(r, hi_node_info(g, d, found.items[i]));
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

/* names: by number; NULL: those of the types. */
static enum hi_status make_types(const struct hi_graph *g, const char *const *names,
				 const struct hi_census *census, size_t top,
				 struct hi_retained_report *r, struct hi_error *err)
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
			.type = names		    ? names[type]
				: type < g->n_types ? g->types[type].name
						    : "",
			.count = order[i]->count,
			.shallow = order[i]->shallow,
			.retained = order[i]->retained,
		};
	}
	return HI_OK;
}

enum hi_status
hi_retained_report_create(const struct hi_report_header *header,
			  const struct hi_graph *graph, const struct hi_reach *reach,
			  const struct hi_dominators *dominators,
			  const struct hi_census *census, const struct hi_restrict *only,
			  const struct hi_field_reader *fields, uint64_t type_exact,
			  struct hi_retained_report **ret, struct hi_error *err)
{
	HI_GUARD(hi_retained_report_destroy)
	struct hi_retained_report *r = hi_calloc(1, sizeof(*r));
	enum hi_status status;

	if (!r)
		return hi_fail_memory(err, "report of retained sizes");
	r->header = header;
	r->live_bytes = reach->live_bytes;
	r->tree = only->types == NULL;
	r->type_pattern = only->type_pattern;
	r->type_exact = type_exact;
	r->type_reachable = (struct hi_reachable){UINT64_MAX, UINT64_MAX};
	if (r->tree) {
		status = make_tree(graph, reach, dominators, only, fields, r, err);
		if (status == HI_OK)
			status = make_types(graph, NULL, census, only->top, r, err);
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
					 .hidden = {.by_top = beyond},
					 .type_exact = UINT64_MAX,
					 .type_reachable = {UINT64_MAX, UINT64_MAX}};
	status = make_types(graph, NULL, census, top, r, err);
	if (status == HI_OK)
		*ret = hi_take(r);
	return status;
}

enum hi_status hi_retained_report_set_sites(struct hi_retained_report *r,
					    const struct hi_census *sites,
					    const char *const *names, size_t top,
					    struct hi_error *err)
{
	if (!r->tree)
		return HI_OK;
	free(hi_take(r->types));
	r->types_are_sites = true;
	return make_types(NULL, names, sites, top, r, err);
}

void hi_retained_report_destroy(struct hi_retained_report *report)
{
	if (!report)
		return;
	hi_retained_tree_destroy(report->nodes);
	free(report->rows);
	free(report->types);
	free(report);
}
