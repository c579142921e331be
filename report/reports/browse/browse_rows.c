/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of the dominator tree; and what all lists have in common. */
#include "report/reports/browse/browse_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/field_pattern.h"
#include "report/reports/browse/browse_rows_internal.h"

enum {
	TOP_SHARE = 100, /* of live: an object at the top has its own row */
	AHEAD = 16,	 /* nodes to prefetch */
};

/* ---- the browser ---- */

enum hi_status hi_browser_init(struct hi_browser *ret, const struct hi_browse_heap *heap,
			       struct hi_error *err)
{
	const struct hi_dominators *d = heap->dominators;
	struct hi_browser b = {.heap = heap};
	enum hi_status status = hi_grouping_init(&b.grouping, heap->graph, heap->reach, d,
						 heap->fields, err);

	b.grouping.most_edges = HI_BROWSE_EDGES;
	b.grouping.most_links = HI_BROWSE_LINKS;
	b.type_names.keep_full = heap->full_names;
	b.most_children = HI_BROWSE_CHILDREN;
	b.place = hi_calloc((size_t)heap->graph->n_nodes + 1, sizeof(*b.place));
	if (status != HI_OK || !b.place) {
		hi_browser_deinit(&b);
		return status != HI_OK ? status : hi_fail_memory(err, "browser");
	}
	for (hi_node i = 0; i < d->n_order; i++)
		b.place[d->order[i]] = i;
	for (uint32_t i = 0; i < heap->graph->n_types; i++)
		hi_type_names_add(&b.type_names, heap->graph->types[i].name);
	b.walk = hi_browse_walk_start(heap);
	*ret = b;
	return HI_OK;
}

void hi_browser_deinit(struct hi_browser *b)
{
	hi_browse_walk_end(b->walk);
	hi_grouping_deinit(&b->grouping);
	hi_type_names_free(&b->type_names);
	free(b->place);
	*b = (struct hi_browser){};
}

/* ---- lists ---- */

struct hi_browse_list *hi_browse_list_create(struct hi_browser *b,
					     enum hi_browse_list_kind kind, hi_node node)
{
	struct hi_browse_list *list = hi_calloc(1, sizeof(*list));

	if (!list)
		return NULL;
	*list = (struct hi_browse_list){.kind = kind,
					.node = node,
					.title = "",
					.step = "",
					.page = hi_page_create()};
	if (!list->page) {
		hi_browse_list_destroy(list);
		return NULL;
	}
	list->page->type_names = b->type_names;
	b->type_names = (struct hi_type_names){};
	if (node != HI_NODE_NONE) {
		struct hi_node_info info =
			hi_node_info(b->heap->graph, b->heap->dominators, node);

		list->bytes = info.retained;
		list->title = hi_node_label(&info, list->page);
	}
	return list;
}

enum hi_status hi_browse_list_close(struct hi_browser *b, struct hi_browse_list *list,
				    enum hi_status status, struct hi_browse_list **ret,
				    struct hi_error *err)
{
	b->type_names = list->page->type_names;
	list->page->type_names = (struct hi_type_names){};
	if (status == HI_OK && list->page->failed)
		status = hi_fail_memory(err, "list");
	if (status == HI_OK)
		*ret = list;
	else
		hi_browse_list_destroy(list);
	return status;
}

void hi_browse_list_destroy(struct hi_browse_list *list)
{
	if (!list)
		return;
	hi_vector_free(&list->rows);
	hi_group_list_free(&list->groups);
	hi_vector_free(&list->at);
	hi_page_destroy(list->page);
	free(list);
}

uint64_t hi_browse_objects(const struct hi_browser *b, hi_node node)
{
	const struct hi_dominators *d = b->heap->dominators;

	if (node >= d->n_nodes || d->idom[node] == HI_NODE_NONE)
		return 0;
	return d->span[b->place[node]] - !hi_graph_is_object(b->heap->graph, node);
}

enum hi_status hi_browse_push_row(struct hi_browse_list *list, struct hi_browse_row row,
				  struct hi_error *err)
{
	return hi_vector_push(&list->rows, row) ? HI_OK : hi_fail_memory(err, "list");
}

static const char *describe_node(const struct hi_node_info *info, struct hi_page *page)
{
	if (info->sort == HI_NODE_ROOT && !*info->type)
		return hi_page_printf(page, "%s root", hi_root_kind_key(info->kind));
	return hi_node_type_label(info, page);
}

enum hi_status hi_browse_push_node(const struct hi_browser *b,
				   struct hi_browse_list *list, hi_node node,
				   const char *name, struct hi_error *err)
{
	struct hi_node_info info =
		hi_node_info(b->heap->graph, b->heap->dominators, node);
	struct hi_browse_row row = {.kind = HI_BROWSE_NODE,
				    .node = node,
				    .members = 1,
				    .bytes = info.retained,
				    .objects = hi_browse_objects(b, node)};

	if (*name)
		row.name = hi_page_safe_again(list->page, name);
	else if (info.sort == HI_NODE_OBJECT)
		row.name = "";
	else
		row.name = hi_node_short_label(&info, list->page);
	row.what = describe_node(&info, list->page);
	row.opens = row.objects > hi_graph_is_object(b->heap->graph, node);
	return hi_browse_push_row(list, row, err);
}

/* What the rows do not have of all these. */
static enum hi_status push_others(struct hi_browse_list *list, uint64_t members,
				  uint64_t objects, uint64_t bytes, struct hi_error *err)
{
	struct hi_browse_row rest = {.kind = HI_BROWSE_REST,
				     .node = HI_NODE_NONE,
				     .name = "(others)",
				     .what = "",
				     .members = members,
				     .objects = objects,
				     .bytes = bytes};

	return members ? hi_browse_push_row(list, rest, err) : HI_OK;
}

/* ---- names of elements ---- */

static bool wants_exact_name(const struct hi_browse_list *list,
			     const struct hi_browse_row *row)
{
	if (row->kind != HI_BROWSE_NODE)
		return false;
	return list->kind == HI_BROWSE_MEMBERS || strchr(row->name, '[');
}

/* From what an edge is called: `["SESSIONS"]`. */
static void name_row(const struct hi_browser *b, struct hi_browse_list *list,
		     struct hi_browse_row *row, hi_node parent, const char *text)
{
	char name[512];

	hi_field_clean(hi_grouping_exact_name(&b->grouping, parent, text), name,
		       sizeof(name));
	if (*name)
		row->name = hi_page_safe_again(list->page, name);
}

static enum hi_status name_by_edges(struct hi_browser *b, struct hi_browse_list *list,
				    hi_node parent, struct hi_table *wanted,
				    struct hi_error *err)
{
	struct hi_edges edges = hi_graph_edges(b->heap->graph, parent);
	const struct hi_field_reader *fields = b->heap->fields;
	enum hi_status status;
	uint64_t row;

	if (!hi_vector_reserve(&b->grouping.texts, edges.count))
		return hi_fail_memory(err, "names");
	status = fields->read(fields->arg, parent, b->grouping.texts.items, err);
	for (uint32_t i = 0; status == HI_OK && i < edges.count; i++) {
		if (edges.grade[i] == HI_GRADE_WEAK ||
		    !hi_table_get(wanted, edges.to[i], &row) || row == UINT64_MAX)
			continue;
		name_row(b, list, &list->rows.items[row], parent,
			 b->grouping.texts.items[i]);
		(void)hi_table_put(wanted, edges.to[i], UINT64_MAX);
	}
	return status;
}

/* Rows that the same node has edges to: that which dominates the first one. */
static enum hi_status name_elements(struct hi_browser *b, struct hi_browse_list *list,
				    struct hi_error *err)
{
	const struct hi_browse_heap *heap = b->heap;
	struct hi_table wanted = {};
	hi_node parent = HI_NODE_NONE;
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < list->rows.count; i++) {
		const struct hi_browse_row *row = &list->rows.items[i];

		if (!wants_exact_name(list, row))
			continue;
		if (parent == HI_NODE_NONE)
			parent = heap->dominators->idom[row->node];
		if (heap->dominators->idom[row->node] == parent &&
		    !hi_table_put(&wanted, row->node, i))
			status = hi_fail_memory(err, "names");
	}
	if (status == HI_OK && parent != HI_NODE_NONE && heap->fields &&
	    heap->fields->read &&
	    hi_graph_edges(heap->graph, parent).count <= HI_BROWSE_EDGES)
		status = name_by_edges(b, list, parent, &wanted, err);
	hi_table_free(&wanted);
	return status;
}

/* ---- groups of children ---- */

static uint64_t count_group_objects(const struct hi_browser *b,
				    const struct hi_group *group)
{
	const struct hi_dominators *d = b->heap->dominators;
	uint64_t sum = 0;

	for (size_t i = 0; i < group->at.count; i++)
		sum += d->span[group->at.items[i]];
	/* The members are of one sort: variables are no objects. */
	return hi_graph_is_object(b->heap->graph, group->largest) ? sum
								  : sum - group->at.count;
}

/* Without the indices at its end, if several have it. */
static const char *group_name(const struct hi_browser *b, const struct hi_group *group,
			      struct hi_page *page)
{
	const char *pattern = hi_grouping_pattern(&b->grouping, group->field);

	if (group->tops > 1 && *pattern)
		pattern = hi_page_printf(page, "%.*s", (int)hi_field_stem(pattern),
					 pattern);
	return hi_page_safe_again(page, pattern);
}

static enum hi_status push_group_row(const struct hi_browser *b,
				     struct hi_browse_list *list, uint32_t at,
				     struct hi_error *err)
{
	const struct hi_group *group = &list->groups.items[at];
	struct hi_node_info info = hi_node_info(b->heap->graph, NULL, group->largest);
	const char *name = group_name(b, group, list->page);
	struct hi_browse_row row = {.kind = HI_BROWSE_GROUP,
				    .node = group->largest,
				    .group = at,
				    .members = group->tops,
				    .objects = count_group_objects(b, group),
				    .bytes = group->bytes,
				    .opens = true};

	if (group->tops == 1)
		return hi_browse_push_node(b, list, group->largest, name, err);
	row.name = *name ? name : "(others)";
	row.what = describe_node(&info, list->page);
	return hi_browse_push_row(list, row, err);
}

static enum hi_status push_group_rows(struct hi_browser *b, struct hi_browse_list *list,
				      struct hi_error *err)
{
	size_t n = list->groups.count;
	uint64_t members = 0, objects = 0, bytes = 0;
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; status == HI_OK && i < n && i < HI_BROWSE_ROWS; i++)
		status = push_group_row(b, list, i, err);
	for (size_t i = HI_BROWSE_ROWS; i < n; i++) {
		members += list->groups.items[i].tops;
		bytes += list->groups.items[i].bytes;
		objects += count_group_objects(b, &list->groups.items[i]);
	}
	if (status == HI_OK)
		status = push_others(list, members, objects, bytes, err);
	return status == HI_OK ? name_elements(b, list, err) : status;
}

/* ---- the top ---- */

/* Large objects that no variable alone retains. */
static enum hi_status name_top_objects(struct hi_browser *b, struct hi_browse_list *list,
				       struct hi_error *err)
{
	hi_node nodes[TOP_SHARE];
	size_t rows[TOP_SHARE], n = 0;
	const char *names[TOP_SHARE] = {};

	(void)err;
	for (size_t i = 0; i < list->rows.count && n < TOP_SHARE; i++) {
		const struct hi_browse_row *row = &list->rows.items[i];

		if (row->kind != HI_BROWSE_NODE || *row->name ||
		    !hi_graph_is_object(b->heap->graph, row->node))
			continue;
		nodes[n] = row->node;
		rows[n++] = i;
	}
	if (n && b->heap->name_nodes)
		b->heap->name_nodes(b->heap->arg, nodes, n, names);
	for (size_t i = 0; i < n; i++)
		if (names[i] && *names[i])
			list->rows.items[rows[i]].name =
				hi_page_safe_again(list->page, names[i]);
	return HI_OK;
}

enum hi_status hi_browse_top(struct hi_browser *b, struct hi_browse_list **ret,
			     struct hi_error *err)
{
	struct hi_browse_list *list =
		hi_browse_list_create(b, HI_BROWSE_TREE, HI_NODE_NONE);
	enum hi_status status = HI_OK;

	if (!list)
		return hi_fail_memory(err, "list");
	list->title = "";
	status =
		hi_grouping_tops(&b->grouping, b->heap->reach->live_bytes / TOP_SHARE + 1,
				 &list->groups, err);
	for (size_t i = 0; i < list->groups.count; i++)
		list->bytes += list->groups.items[i].bytes;
	if (status == HI_OK)
		status = push_group_rows(b, list, err);
	if (status == HI_OK)
		status = name_top_objects(b, list, err);
	return hi_browse_list_close(b, list, status, ret, err);
}

/* ---- the largest of many ---- */

/* Those of all `members`, which have so many objects and bytes together, and a row for
 * the others. Frees best. */
static enum hi_status push_best(struct hi_browser *b, struct hi_browse_list *list,
				struct hi_browse_best *best, uint64_t members,
				uint64_t objects, uint64_t bytes, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	hi_browse_best_sort(best);
	for (size_t i = 0; status == HI_OK && i < best->nodes.count; i++) {
		hi_node node = best->nodes.items[i];

		objects -= hi_browse_objects(b, node);
		bytes -= b->heap->dominators->retained[node];
		status = hi_browse_push_node(b, list, node, "", err);
	}
	if (status == HI_OK)
		status = push_others(list, members - best->nodes.count, objects, bytes,
				     err);
	hi_vector_free(&best->nodes);
	return status == HI_OK ? name_elements(b, list, err) : status;
}

static enum hi_status push_group_members(struct hi_browser *b,
					 struct hi_browse_list *list,
					 const struct hi_group *group,
					 struct hi_error *err)
{
	const struct hi_dominators *d = b->heap->dominators;
	struct hi_browse_best best = {.retained = d->retained};
	const struct hi_positions *at = &group->at;
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < at->count; i++) {
		if (i + AHEAD < at->count)
			__builtin_prefetch(&d->retained[d->order[at->items[i + AHEAD]]]);
		if (!hi_browse_best_add(&best, d->order[at->items[i]]))
			status = hi_fail_memory(err, "list");
	}
	if (status == HI_OK)
		return push_best(b, list, &best, at->count, count_group_objects(b, group),
				 group->bytes, err);
	hi_vector_free(&best.nodes);
	return status;
}

static bool has_many_children(const struct hi_browser *b, hi_node node)
{
	const struct hi_dominators *d = b->heap->dominators;
	hi_node at = b->place[node], end = at + d->span[at];
	uint32_t n = 0;

	for (hi_node c = at + 1; c < end && n <= b->most_children; c += d->span[c])
		n++;
	return n > b->most_children;
}

/* Each for itself: groups of so many take too long. */
static enum hi_status push_single_children(struct hi_browser *b,
					   struct hi_browse_list *list, hi_node node,
					   struct hi_error *err)
{
	const struct hi_dominators *d = b->heap->dominators;
	hi_node at = b->place[node], end = at + d->span[at];
	struct hi_browse_best best = {.retained = d->retained};
	uint64_t members = 0, bytes = 0, objects = 0;

	for (hi_node c = at + 1; c < end; c += d->span[c]) {
		if (end - c > AHEAD)
			__builtin_prefetch(&d->retained[d->order[c + AHEAD]]);
		if (!d->retained[d->order[c]] ||
		    !hi_bit(b->heap->reach->any, d->order[c]))
			continue;
		members++;
		objects += d->span[c];
		bytes += d->retained[d->order[c]];
		if (!hi_browse_best_add(&best, d->order[c])) {
			hi_vector_free(&best.nodes);
			return hi_fail_memory(err, "list");
		}
	}
	return push_best(b, list, &best, members, objects, bytes, err);
}

/* ---- below a node ---- */

static enum hi_status push_itself(struct hi_browse_list *list, struct hi_group *opened,
				  hi_node node, const char *what, struct hi_error *err)
{
	struct hi_browse_row row = {.kind = HI_BROWSE_ITSELF,
				    .node = node,
				    .name = opened->is_list	? "(list)"
					    : opened->count > 1 ? "(its objects)"
								: "(itself)",
				    .what = what,
				    .members = opened->count,
				    .objects = opened->count,
				    .bytes = opened->own,
				    .opens = opened->count > 1};

	list->at = opened->at;
	opened->at = (struct hi_positions){};
	return opened->own || opened->count > 1 ? hi_browse_push_row(list, row, err)
						: HI_OK;
}

static enum hi_status expand_node(struct hi_browser *b, struct hi_browse_list *list,
				  hi_node node, struct hi_error *err)
{
	const struct hi_graph *g = b->heap->graph;
	struct hi_node_info info = hi_node_info(g, b->heap->dominators, node);
	bool is_wide = has_many_children(b, node);
	struct hi_group opened = {.node = node,
				  .tops = 1,
				  .count = 1,
				  .bytes = info.retained,
				  .own = info.internal ? 0 : info.shallow,
				  .largest = node,
				  .held = HI_NODE_NONE,
				  .holder = HI_NODE_NONE};
	enum hi_status status = hi_vector_push(&opened.at, b->place[node])
					? HI_OK
					: hi_fail_memory(err, "list");
	const char *what;

	if (status == HI_OK && !is_wide)
		status = hi_grouping_expand(&b->grouping, &opened, &list->groups, err);
	what = describe_node(&info, list->page);
	if (status == HI_OK && hi_graph_is_object(g, node))
		status = push_itself(list, &opened, node, what, err);
	hi_vector_free(&opened.at);
	if (status != HI_OK)
		return status;
	return is_wide ? push_single_children(b, list, node, err)
		       : push_group_rows(b, list, err);
}

static enum hi_status open_node_row(struct hi_browser *b, hi_node node,
				    struct hi_browse_list **ret, struct hi_error *err)
{
	struct hi_browse_list *list = hi_browse_list_create(b, HI_BROWSE_TREE, node);
	enum hi_status status = HI_OK;

	if (!list)
		return hi_fail_memory(err, "list");
	if (hi_browse_objects(b, node))
		status = expand_node(b, list, node, err);
	return hi_browse_list_close(b, list, status, ret, err);
}

/* ---- members ---- */

static enum hi_status open_group_row(struct hi_browser *b, struct hi_browse_list *from,
				     const struct hi_browse_row *row,
				     struct hi_browse_list **ret, struct hi_error *err)
{
	struct hi_browse_list *list =
		hi_browse_list_create(b, HI_BROWSE_MEMBERS, HI_NODE_NONE);
	char n[32];
	enum hi_status status = HI_OK;

	if (!list)
		return hi_fail_memory(err, "list");
	list->bytes = row->bytes;
	list->title = hi_page_printf(list->page, "%s  %s × %s", row->name,
				     hi_count(n, row->members), row->what);
	status = push_group_members(b, list, &from->groups.items[row->group], err);
	return hi_browse_list_close(b, list, status, ret, err);
}

/* One behind the other, each with its own bytes. */
static enum hi_status push_links(struct hi_browser *b, struct hi_browse_list *list,
				 const struct hi_positions *at, uint64_t bytes,
				 struct hi_error *err)
{
	const struct hi_dominators *d = b->heap->dominators;
	size_t n = at->count < HI_BROWSE_ROWS ? at->count : HI_BROWSE_ROWS;
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < n; i++) {
		hi_node node = d->order[at->items[i]];

		status = hi_browse_push_node(b, list, node, "", err);
		if (status != HI_OK)
			break;
		list->rows.items[i].objects = 1;
		list->rows.items[i].bytes = hi_is_internal(b->heap->graph, node)
						    ? 0
						    : hi_graph_cost(b->heap->graph, node);
		bytes -= list->rows.items[i].bytes;
	}
	if (status == HI_OK)
		status = push_others(list, at->count - n, at->count - n, bytes, err);
	return status;
}

static enum hi_status open_itself_row(struct hi_browser *b, struct hi_browse_list *from,
				      const struct hi_browse_row *row,
				      struct hi_browse_list **ret, struct hi_error *err)
{
	struct hi_browse_list *list =
		hi_browse_list_create(b, HI_BROWSE_MEMBERS, HI_NODE_NONE);
	char n[32];
	enum hi_status status = HI_OK;

	if (!list)
		return hi_fail_memory(err, "list");
	list->is_chain = true;
	list->bytes = row->bytes;
	list->title = hi_page_printf(list->page, "%s × %s", hi_count(n, row->members),
				     row->what);
	status = push_links(b, list, &from->at, row->bytes, err);
	return hi_browse_list_close(b, list, status, ret, err);
}

enum hi_status hi_browse_open(struct hi_browser *b, struct hi_browse_list *from,
			      size_t at, struct hi_browse_list **ret,
			      struct hi_error *err)
{
	const struct hi_browse_row *row = &from->rows.items[at];

	switch (row->kind) {
	case HI_BROWSE_GROUP:
		return open_group_row(b, from, row, ret, err);
	case HI_BROWSE_ITSELF:
		return open_itself_row(b, from, row, ret, err);
	case HI_BROWSE_TYPE:
		return hi_browse_objects_of_type(b, row->type, ret, err);
	case HI_BROWSE_NODE:
		if (from->kind == HI_BROWSE_REFERRERS)
			return hi_browse_referrers(b, row->node, ret, err);
		return open_node_row(b, row->node, ret, err);
	case HI_BROWSE_REST:
	default:
		return hi_fail(err, HI_USAGE, 0, "this row has nothing below it");
	}
}
