/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/tree/tree_report.h"

#include <string.h>

#include "report/address.h"
#include "report/parts/decoded_share.h"

/* ---- data ---- */

/* Kinds of roots and the super-root are no steps. */
static void find_way_down(struct hi_tree_report *r)
{
	const struct hi_graph *g = r->tree->heap.graph;
	const hi_node *idom = r->tree->heap.dominators->idom;
	uint64_t n = 0;

	for (hi_node at = r->level.node; at < g->first_kind && n < HI_TREE_WALK;
	     at = idom[at]) {
		if (n++ >= HI_TREE_STEPS)
			continue;
		memmove(&r->path[1], r->path, r->n_path * sizeof(*r->path));
		r->path[0] = at;
		r->n_path++;
	}
	r->n_above = n - r->n_path;
}

enum hi_status hi_tree_report_make(struct hi_tree *tree,
				   const struct hi_report_header *header, hi_node node,
				   size_t group, size_t top, struct hi_tree_report *ret,
				   struct hi_error *err)
{
	struct hi_tree_report r = {.header = header,
				   .tree = tree,
				   .live_bytes = tree->heap.reach->live_bytes};
	enum hi_status status = hi_tree_open(tree, node, group, &r.level, err);

	if (status != HI_OK)
		return status;
	if (node != HI_NODE_NONE)
		r.info = hi_node_info(tree->heap.graph, tree->heap.dominators, node);
	r.n_shown = r.level.list->rows.count < top ? r.level.list->rows.count : top;
	if (node != HI_NODE_NONE)
		find_way_down(&r);
	*ret = r;
	return HI_OK;
}

void hi_tree_report_free(struct hi_tree_report *report)
{
	hi_tree_level_close(&report->level);
}

/* ---- page ---- */

/* "->sessions", as what dominates it refers to it; "" unknown. */
static const char *name_of_step(const struct hi_tree_report *r, size_t step,
				struct hi_page *page)
{
	const struct hi_browse_heap *heap = &r->tree->heap;
	hi_node node = r->path[step], up = heap->dominators->idom[node];
	struct hi_node_info info = hi_node_info(heap->graph, NULL, node);

	if (info.sort != HI_NODE_OBJECT)
		return hi_node_short_label(&info, page);
	if (!heap->edge_text || up >= heap->graph->first_kind)
		return "";
	return hi_page_safe_again(page, heap->edge_text(heap->arg, up, node));
}

static void add_way_down(const struct hi_tree_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"", HI_COLUMN_TEXT},
						   {"type", HI_COLUMN_TEXT},
						   {"retained", HI_COLUMN_BYTES},
						   {"of live", HI_COLUMN_PERCENT},
						   {"address", HI_COLUMN_ADDRESS}};
	struct hi_report_table *t;
	char n[32];

	hi_page_heading(page, "What keeps it alive",
			"each is the nearest that alone keeps the next one");
	t = hi_page_table(page, columns, 5);
	hi_cell_text(t, "(all roots)", 0);
	hi_cell_link(t, hi_tree_address(r->tree, HI_NODE_NONE, 0, page));
	hi_cell_empty(t);
	hi_cell_number(t, r->live_bytes);
	hi_cell_percent(t, r->live_bytes, r->live_bytes);
	hi_cell_empty(t);
	if (r->n_above) {
		hi_cell_text(
			t, hi_page_printf(page, "(%s more)", hi_count(n, r->n_above)), 1);
		for (int i = 0; i < 4; i++)
			hi_cell_empty(t);
	}
	for (size_t i = 0; i < r->n_path; i++) {
		struct hi_node_info info = hi_node_info(
			r->tree->heap.graph, r->tree->heap.dominators, r->path[i]);
		const char *name = name_of_step(r, i, page);

		hi_cell_text(t, *name ? name : "\xc2\xb7",
			     (unsigned)i + 1 + (r->n_above > 0));
		if (i + 1 < r->n_path || r->level.group)
			hi_cell_link(t, hi_tree_address(r->tree, r->path[i], 0, page));
		hi_cell_text(t, hi_node_type_label(&info, page), 0);
		hi_cell_number(t, info.retained);
		hi_cell_percent(t, info.retained, r->live_bytes);
		hi_cell_address(t, info.address);
		if (info.address && info.sort == HI_NODE_OBJECT)
			hi_cell_link(t, hi_address_of_object(page, info.address));
	}
	hi_report_table_stress(t);
}

/* What opens the row; "": nothing. */
static const char *address_of_row(const struct hi_tree_report *r, size_t at,
				  struct hi_page *page)
{
	const struct hi_browse_row *row = &r->level.list->rows.items[at];

	if (!row->opens)
		return "";
	if (row->kind == HI_BROWSE_NODE)
		return hi_tree_address(r->tree, row->node, 0, page);
	/* Groups of members are none. */
	return r->level.group ? ""
			      : hi_tree_address(r->tree, r->level.node, at + 1, page);
}

static uint64_t address_of_single(const struct hi_tree_report *r,
				  const struct hi_browse_row *row)
{
	struct hi_node_info info;

	if (row->node == HI_NODE_NONE || row->members != 1)
		return 0;
	info = hi_node_info(r->tree->heap.graph, NULL, row->node);
	return info.address;
}

static bool has_groups(const struct hi_tree_report *r)
{
	for (size_t i = 0; i < r->n_shown; i++)
		if (r->level.list->rows.items[i].members > 1)
			return true;
	return false;
}

static void add_tree_row(const struct hi_tree_report *r, size_t at, bool groups,
			 struct hi_report_table *t, struct hi_page *page)
{
	const struct hi_browse_row *row = &r->level.list->rows.items[at];
	const char *address = address_of_row(r, at, page);
	uint64_t single = address_of_single(r, row);

	hi_cell_number(t, row->bytes);
	hi_cell_percent(t, row->bytes, r->level.list->bytes);
	hi_cell_number(t, row->objects);
	if (groups && row->members > 1)
		hi_cell_number(t, row->members);
	else if (groups)
		hi_cell_empty(t);
	hi_cell_text(t, *row->name ? row->name : "\xc2\xb7", 0);
	hi_cell_link(t, address);
	hi_cell_text(t, row->what, 0);
	if (!*row->name)
		hi_cell_link(t, address);
	hi_cell_address(t, single);
	if (single && hi_graph_is_object(r->tree->heap.graph, row->node))
		hi_cell_link(t, hi_address_of_object(page, single));
	if (groups && *address && row->kind != HI_BROWSE_NODE)
		hi_cell_number(t, at + 1);
	else if (groups)
		hi_cell_empty(t);
}

static void add_tree_rows(const struct hi_tree_report *r, struct hi_page *page)
{
	static const struct hi_column with_groups[] = {
		{"retained", HI_COLUMN_BYTES},	{"share", HI_COLUMN_PERCENT},
		{"objects", HI_COLUMN_COUNT},	{"members", HI_COLUMN_COUNT},
		{"", HI_COLUMN_TEXT},		{"type", HI_COLUMN_TEXT},
		{"address", HI_COLUMN_ADDRESS}, {"group", HI_COLUMN_COUNT}};
	static const struct hi_column without[] = {
		{"retained", HI_COLUMN_BYTES}, {"share", HI_COLUMN_PERCENT},
		{"objects", HI_COLUMN_COUNT},  {"", HI_COLUMN_TEXT},
		{"type", HI_COLUMN_TEXT},      {"address", HI_COLUMN_ADDRESS}};
	const struct hi_browse_list *list = r->level.list;
	bool groups = has_groups(r);
	struct hi_report_table *t;
	uint64_t bytes = 0;
	char n[32], text[24];

	hi_page_heading(page,
			r->level.group			? "Its objects"
			: r->level.node == HI_NODE_NONE ? "Top of the dominator tree"
							: "What it keeps alive directly",
			r->level.group ? NULL
				       : "siblings of one field and type together");
	t = hi_page_table(page, groups ? with_groups : without, groups ? 8 : 6);
	for (size_t i = 0; i < r->n_shown; i++)
		add_tree_row(r, i, groups, t, page);
	for (size_t i = r->n_shown; i < list->rows.count; i++)
		bytes += list->rows.items[i].bytes;
	if (r->n_shown < list->rows.count)
		hi_page_note(page,
			     hi_page_printf(page, "%s more rows have %s (--all)",
					    hi_count(n, list->rows.count - r->n_shown),
					    hi_bytes(text, bytes)));
}

static void add_top_line(const struct hi_tree_report *r, struct hi_page *page)
{
	char bytes[24], n[32];

	hi_page_text(page,
		     hi_page_printf(page,
				    "%s%s live in %s objects, by what keeps them alive",
				    hi_heap_at_least(r->header),
				    hi_bytes(bytes, r->level.list->bytes),
				    hi_count(n, r->tree->heap.reach->live_objects)));
}

static void add_first_line(const struct hi_tree_report *r, struct hi_page *page)
{
	const struct hi_browse_list *list = r->level.list;
	char bytes[24], percent[16];

	if (r->level.node == HI_NODE_NONE && !r->level.group)
		add_top_line(r, page);
	else
		hi_page_text(
			page,
			hi_page_printf(page, "%s %s %s alive, %s of live", list->title,
				       r->level.group ? "keep" : "keeps",
				       hi_bytes(bytes, list->bytes),
				       hi_percent(percent, list->bytes, r->live_bytes)));
}

/* The largest row that can be opened. */
static void add_next_command(const struct hi_tree_report *r, struct hi_page *page)
{
	const char *target = hi_report_header_target(r->header, page);

	for (size_t i = 0; i < r->n_shown; i++) {
		const struct hi_browse_row *row = &r->level.list->rows.items[i];
		hi_node node = row->kind == HI_BROWSE_NODE ? row->node : r->level.node;
		const char *argument =
			node == HI_NODE_NONE ? "" : hi_tree_argument(r->tree, node, page);

		if (!*address_of_row(r, i, page))
			continue;
		argument = *argument ? hi_page_printf(page, " %s",
						      hi_page_shell_word(page, argument))
				     : "";
		if (row->kind != HI_BROWSE_NODE)
			argument =
				hi_page_printf(page, "%s --group %zu", argument, i + 1);
		hi_page_command(
			page,
			hi_page_printf(page, "heapinspect tree %s%s", target, argument),
			"the level below the largest row");
		break;
	}
	if (r->level.node != HI_NODE_NONE && r->info.address &&
	    r->info.sort == HI_NODE_OBJECT)
		hi_page_command(page,
				hi_page_printf(page, "heapinspect explain %s 0x%llx",
					       target,
					       (unsigned long long)r->info.address),
				"its fields, and what refers to it");
}

void hi_tree_display(const struct hi_tree_report *r, struct hi_page *page)
{
	hi_report_header_title(r->header, page);
	add_first_line(r, page);
	hi_report_header_facts(r->header, page, false);
	if (r->level.node != HI_NODE_NONE)
		add_way_down(r, page);
	hi_tree_picture(r, page);
	add_tree_rows(r, page);
	add_next_command(r, page);
}

/* ---- JSON ---- */

static void put_tree_row_json(const struct hi_tree_report *r, size_t at,
			      struct hi_page *page, struct hi_json *json)
{
	static const char *const kinds[] = {[HI_BROWSE_NODE] = "node",
					    [HI_BROWSE_GROUP] = "group",
					    [HI_BROWSE_ITSELF] = "itself",
					    [HI_BROWSE_TYPE] = "type",
					    [HI_BROWSE_REST] = "others"};
	const struct hi_browse_row *row = &r->level.list->rows.items[at];
	const char *argument = row->kind == HI_BROWSE_NODE
				       ? hi_tree_argument(r->tree, row->node, page)
				       : "";

	hi_json_object(json, NULL);
	hi_json_text(json, "row", kinds[row->kind]);
	hi_json_number(json, "number", at + 1);
	hi_json_escaped(json, "name", hi_known(row->name));
	hi_json_escaped(json, "type", hi_known(row->what));
	hi_json_address(json, "address", address_of_single(r, row));
	hi_json_number(json, "members", row->members);
	hi_json_number(json, "objects", row->objects);
	hi_json_number(json, "retained", row->bytes);
	hi_json_bool(json, "opens", row->opens);
	hi_json_text(json, "argument", hi_known(argument));
	hi_json_end(json);
}

static void put_way_down_json(const struct hi_tree_report *r, struct hi_page *page,
			      struct hi_json *json)
{
	hi_json_array(json, "path");
	for (size_t i = 0; i < r->n_path; i++) {
		struct hi_node_info info = hi_node_info(
			r->tree->heap.graph, r->tree->heap.dominators, r->path[i]);

		if (info.sort == HI_NODE_OBJECT)
			info.name = name_of_step(r, i, page);
		hi_json_object(json, NULL);
		hi_node_json(&info, json);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_number(json, "path_not_listed", r->n_above);
}

void hi_tree_json(const struct hi_tree_report *r, struct hi_json *json)
{
	struct hi_page *page = hi_page_create(); /* of texts */
	const struct hi_browse_list *list = r->level.list;
	struct hi_page nowhere = {.failed = true};
	uint64_t bytes = 0;

	hi_report_header_json(r->header, "heapinspect/tree/v1", json);
	hi_json_number(json, "live", r->live_bytes);
	put_way_down_json(r, page ? page : &nowhere, json);
	hi_json_number(json, "group", r->level.group ? r->level.group : UINT64_MAX);
	hi_json_number(json, "retained", list->bytes);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_shown; i++)
		put_tree_row_json(r, i, page ? page : &nowhere, json);
	hi_json_end(json);
	for (size_t i = r->n_shown; i < list->rows.count; i++)
		bytes += list->rows.items[i].bytes;
	hi_json_object(json, "hidden");
	hi_json_number(json, "rows", list->rows.count - r->n_shown);
	hi_json_number(json, "retained", bytes);
	hi_json_end(json);
	hi_json_end(json);
	hi_page_destroy(page);
	hi_arena_free(&nowhere.arena);
}
