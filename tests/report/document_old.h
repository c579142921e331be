/* SPDX-License-Identifier: BSD-2-Clause */
/* The writers that described fields replace, for document_same_test.c alone. */
#include "report/parts/decoded_share.h"
#include "report/parts/hidden_rows.h"
#include "report/parts/report_links.h"
#include "report/reports/retained/retained_report.h"

static void old_node_json(const struct hi_node_info *info, struct hi_json *json)
{
	static const char *const sorts[] = {"object", "root", "kind", "all"};
	bool is_root = info->sort == HI_NODE_ROOT || info->sort == HI_NODE_KIND;

	hi_json_text(json, "node", sorts[info->sort]);
	hi_json_text(json, "kind", is_root ? hi_root_kind_key(info->kind) : NULL);
	hi_json_escaped(json, "name", hi_known(info->name));
	hi_json_text(json, "detail", hi_known(info->detail));
	hi_json_text(json, "type",
		     info->sort == HI_NODE_OBJECT ? hi_type_key(info->type)
						  : hi_known(info->type));
	hi_json_address(json, "address", info->address);
	hi_json_number(json, "shallow", info->shallow);
	hi_json_number(json, "retained", info->retained);
}

static const struct hi_hidden none;

static const char *row_type(const struct hi_retained_row *row, struct hi_page *page)
{
	const struct hi_node_info *info = &row->info;

	if (info->sort == HI_NODE_ROOT && !*info->type)
		return hi_page_printf(page, "%s root", hi_root_kind_key(info->kind));
	return hi_page_printf(page, "%s%s", row->is_list ? "list of " : "",
			      hi_node_type_label(info, page));
}

/* Several objects: all of their type. */
static void show_row_count(const struct hi_retained_row *row, struct hi_report_table *t)
{
	if (row->count <= 1) {
		hi_cell_empty(t);
		return;
	}
	hi_cell_number(t, row->count);
	if (row->info.sort == HI_NODE_OBJECT)
		hi_cell_link(t, hi_address_of_objects(t->page, row->info.type));
}

static void show_row_type(const struct hi_retained_row *row, struct hi_report_table *t)
{
	hi_cell_text(t, row_type(row, t->page), 0);
	if (row->info.sort == HI_NODE_OBJECT)
		hi_cell_link(t, hi_address_of_any_type(t->page, row->info.type));
}

/* What the rows below do not say: the children that are too small. */
static void show_rest(const struct hi_retained_report *r, size_t row,
		      struct hi_report_table *t)
{
	const struct hi_retained_row *up = &r->rows[row];

	hi_cell_text(t, "…", up->depth + 1);
	hi_cell_number(t, up->children_more);
	hi_cell_text(t, up->children_more == 1 ? "other" : "others", 0);
	hi_cell_number(t, up->children_more_bytes);
	hi_cell_percent(t, up->children_more_bytes, r->live_bytes);
	hi_cell_empty(t);
}

/* Behind row `at` end the rows that are as deep as the next one, or deeper: each has its
 * rest there, the deepest first. Rows with no row below have none. */
static void show_rests(const struct hi_retained_report *r, size_t at, size_t *open,
		       struct hi_report_table *t)
{
	unsigned next = at + 1 < r->n_rows ? r->rows[at + 1].depth : 0;

	for (unsigned depth = r->rows[at].depth; depth-- > next;)
		if (r->rows[open[depth]].children_more)
			show_rest(r, open[depth], t);
}

static void show_retained_rows(const struct hi_retained_report *r, struct hi_page *page)
{
	enum { DEEPEST = 16 };
	static const struct hi_column columns[] = {
		{"", HI_COLUMN_TEXT},		{"count", HI_COLUMN_COUNT},
		{"type", HI_COLUMN_TEXT},	{"retained", HI_COLUMN_BYTES},
		{"of live", HI_COLUMN_PERCENT}, {"address", HI_COLUMN_ADDRESS}};
	struct hi_report_table *t = hi_page_table(page, columns, 6);
	size_t open[DEEPEST] = {}; /* the row above, by depth */

	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hi_retained_row *row = &r->rows[i];
		const char *name = *row->info.name
					   ? hi_page_safe_again(page, row->info.name)
				   : !r->tree	? ""
				   : row->depth ? "·"
						: "(others)";

		hi_cell_text(t, name, row->depth);
		hi_cell_link(t, hi_address_of_node(page, &row->info));
		show_row_count(row, t);
		show_row_type(row, t);
		hi_cell_number(t, row->info.retained);
		hi_cell_link(t, hi_address_of_level(page, &row->info));
		hi_cell_percent(t, row->info.retained, r->live_bytes);
		hi_cell_address(t, row->info.address);
		hi_cell_link(t, hi_address_of_node(page, &row->info));
		if (row->depth < DEEPEST) {
			open[row->depth] = i;
			show_rests(r, i, open, t);
		}
	}
}

static const char *address_of_retained_type(const struct hi_retained_report *r,
					    const char *name, struct hi_page *page)
{
	return r->types_are_sites ? hi_address_of_site(page, "retained", name)
				  : hi_address_of_objects(page, name);
}

static void show_retained_types(const struct hi_retained_report *r, struct hi_page *page)
{
	static const struct hi_column by_type[] = {{"type", HI_COLUMN_TEXT},
						   {"count", HI_COLUMN_COUNT},
						   {"retained", HI_COLUMN_BYTES},
						   {"of live", HI_COLUMN_PERCENT},
						   {"shallow", HI_COLUMN_BYTES}};
	static const struct hi_column by_site[] = {{"function", HI_COLUMN_TEXT},
						   {"count", HI_COLUMN_COUNT},
						   {"retained", HI_COLUMN_BYTES},
						   {"of live", HI_COLUMN_PERCENT},
						   {"shallow", HI_COLUMN_BYTES}};
	struct hi_report_table *t;

	if (r->n_types == 0)
		return;
	hi_page_heading(page,
			r->types_are_sites ? "Retained by the function that allocated"
					   : "Retained by type",
			r->types_are_sites
				? "lower bounds"
				: "lower bounds; exact for one by --type NAME");
	t = hi_page_table(page, r->types_are_sites ? by_site : by_type, 5);
	for (size_t i = 0; i < r->n_types; i++) {
		hi_cell_text(t,
			     r->types_are_sites ? hi_page_safe(page, r->types[i].type)
						: hi_type_label(r->types[i].type, page),
			     0);
		hi_cell_link(
			t, r->types_are_sites
				   ? hi_address_of_site(page, "census", r->types[i].type)
				   : hi_address_of_any_type(page, r->types[i].type));
		hi_cell_number(t, r->types[i].count);
		hi_cell_link(t, address_of_retained_type(r, r->types[i].type, page));
		hi_cell_at_least(t, r->types[i].retained);
		hi_cell_link(t, address_of_retained_type(r, r->types[i].type, page));
		hi_cell_percent(t, r->types[i].retained, r->live_bytes);
		hi_cell_number(t, r->types[i].shallow);
	}
}

static void show_type_total(const struct hi_retained_report *r, struct hi_page *page)
{
	char n[32], shallow[24], exact[24], percent[16];
	const char *text = hi_page_printf(
		page, "%s%s live object%s of %s, %s shallow", hi_heap_at_least(r->header),
		hi_count(n, r->type_count), r->type_count == 1 ? "" : "s",
		hi_type_label(r->type_pattern, page), hi_bytes(shallow, r->type_shallow));

	if (r->type_exact != UINT64_MAX)
		text = hi_page_printf(page,
				      "%s; together they retain %s (%s of live), exactly",
				      text, hi_bytes(exact, r->type_exact),
				      hi_percent(percent, r->type_exact, r->live_bytes));
	if (r->type_reachable.bytes != UINT64_MAX)
		text = hi_page_printf(page, "%s; they lead to %s in %s object%s", text,
				      hi_bytes(exact, r->type_reachable.bytes),
				      hi_count(n, r->type_reachable.objects),
				      r->type_reachable.objects == 1 ? "" : "s");
	hi_page_text(page, text);
}

static void old_retained_display(const struct hi_retained_report *r, struct hi_page *page)
{
	char bytes[24];
	bool unknown = hi_heap_known(r->header) == HI_HEAP_UNKNOWN;

	hi_report_header_title(r->header, page);
	if (r->tree)
		hi_page_text(page, hi_page_printf(page,
						  "%s%s %s; retained: bytes that would "
						  "be freed with a variable or an object",
						  hi_heap_at_least(r->header),
						  hi_bytes(bytes, r->live_bytes),
						  unknown ? "is known (a lower bound)"
							  : "live"));
	else
		show_type_total(r, page);
	hi_report_header_facts(r->header, page, false);
	hi_page_heading(page, r->tree ? "Top of the dominator tree" : "Objects",
			r->tree ? "siblings of one field and type together"
				: "by retained bytes");
	if (r->tree)
		hi_page_link(page, hi_address(page, "tree", NULL));
	show_retained_rows(r, page);
	hi_hidden_note(page, &r->hidden.by_top, &r->hidden.by_min_size, &none);
	if (r->tree)
		show_retained_types(r, page);
}

static void put_retained_row_json(const struct hi_retained_row *row, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_number(json, "depth", row->depth);
	hi_json_number(json, "count", row->count);
	hi_json_bool(json, "list", row->is_list);
	old_node_json(&row->info, json);
	hi_json_number(json, "children_not_listed", row->children_more);
	hi_json_number(json, "children_not_listed_retained", row->children_more_bytes);
	hi_json_end(json);
}

static void old_retained_json(const struct hi_retained_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/retained/v1", json);
	hi_json_number(json, "live", r->live_bytes);
	if (!r->tree) {
		hi_json_object(json, "of_type");
		hi_json_text(json, "pattern", r->type_pattern);
		hi_json_number(json, "count", r->type_count);
		hi_json_number(json, "shallow", r->type_shallow);
		hi_json_number(json, "retained", r->type_exact);
		hi_json_number(json, "reachable", r->type_reachable.bytes);
		hi_json_end(json);
	}
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_rows; i++)
		put_retained_row_json(&r->rows[i], json);
	hi_json_end(json);
	hi_json_array(json, "types");
	for (size_t i = 0; i < r->n_types; i++) {
		hi_json_object(json, NULL);
		if (r->types_are_sites)
			hi_json_text(json, "site", r->types[i].type);
		else
			hi_json_text(json, "type", hi_type_key(r->types[i].type));
		hi_json_number(json, "count", r->types[i].count);
		hi_json_number(json, "shallow", r->types[i].shallow);
		hi_json_number(json, "retained", r->types[i].retained);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_hidden_json(json, &r->hidden.by_top, &r->hidden.by_min_size, &none);
	hi_json_end(json);
}
