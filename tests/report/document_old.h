/* SPDX-License-Identifier: BSD-2-Clause */
/* The writers that described fields replace, for document_same_test.c alone. */
#include <inttypes.h>

#include "report/parts/decoded_share.h"
#include "report/parts/hidden_rows.h"
#include "report/parts/report_links.h"
#include "report/reports/leaks/leaks_report.h"

static void old_leak_name_json(const struct hi_leak_name *name, struct hi_json *json)
{
	hi_json_text(json, "type", hi_type_key(name->type));
	if (name->usable)
		hi_json_number(json, "size", name->usable);
	if (name->like && *name->like) {
		hi_json_text(json, "like", name->like);
		hi_json_number(json, "like_count", name->n_like);
	}
	if (name->n_fits) {
		hi_json_array(json, "fits");
		for (uint32_t i = 0; i < name->n_fits; i++)
			hi_json_text(json, NULL, name->fits[i]);
		hi_json_end(json);
	}
}

static void show_leaks_headline(const struct hi_leaks_report *r, struct hi_page *page)
{
	enum hi_heap_known known = hi_heap_known(r->header);
	char objects[32], roots[32], live[24];
	const char *beyond = "";
	uint64_t certain;

	hi_bytes(live, r->live_bytes);
	if (known == HI_HEAP_UNKNOWN) {
		hi_page_text(page,
			     hi_page_printf(page, "Leaks are unknown: %s; ≥ %s live",
					    hi_heap_unknown_text(r->header, page), live));
		return;
	}
	if (known == HI_HEAP_KNOWN_IN_PART)
		beyond = hi_page_printf(page, "%s, others are unknown: %s",
					r->objects ? ""
						   : hi_page_printf(page,
								    " in the heap of %s",
								    r->header->allocator),
					hi_heap_unknown_text(r->header, page));
	if (r->objects == 0) {
		hi_page_text(page, hi_page_printf(page, "No leaks%s; %s%s live", beyond,
						  hi_heap_at_least(r->header), live));
		return;
	}
	certain = r->bytes - r->likely_bytes;
	hi_page_text(
		page,
		hi_page_printf(
			page, "%s%s in %s object%s under %s root%s%s; %s%s live",
			certain ? hi_unreachable_classes_text(r->by_class, certain, page)
				: "",
			hi_likely_text(certain, r->likely_bytes, page),
			hi_count(objects, r->objects), r->objects == 1 ? "" : "s",
			hi_count(roots, r->n_leak_roots), r->n_leak_roots == 1 ? "" : "s",
			beyond, hi_heap_at_least(r->header), live));
	hi_unread_display(&r->unread, page);
	if (r->likely_bytes && !r->unread.is_doubtful)
		hi_page_text(page,
			     "certain: no word in live memory refers to it; likely: only "
			     "values that are not pointers (such as integers) do");
}

static bool has_what(const struct hi_leaks_report *r)
{
	return r->by_class || r->likely_objects;
}

/* The first column, the class, is shown only where a runtime reports classes. */
static struct hi_report_table *table_with_or_without_what(const struct hi_leaks_report *r,
							  const struct hi_column *columns,
							  size_t n, struct hi_page *page)
{
	return has_what(r) ? hi_page_table(page, columns, n)
			   : hi_page_table(page, columns + 1, n - 1);
}

/* The class from the runtime, if there is one, else the verdict. */
static void print_class_cell(const struct hi_leaks_report *r,
			     const struct hi_leaks_row *row, struct hi_report_table *t)
{
	if (r->by_class && row->unreachable_class)
		hi_cell_text(t, hi_unreachable_class_key(row->unreachable_class), 0);
	else if (has_what(r))
		hi_cell_text(t,
			     row->is_likely ? "likely leaked"
			     : r->by_class
				     ? hi_unreachable_class_key(row->unreachable_class)
				     : "leaked",
			     0);
}

static bool has_root_names(const struct hi_leaks_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].name && *rows[i].name)
			return true;
	return false;
}

static void cell_name(const struct hi_leaks_row *row, bool named,
		      struct hi_report_table *t, struct hi_page *page)
{
	if (named)
		hi_cell_text(t, hi_page_safe(page, row->name ? row->name : ""), 0);
}

/* The leak roots that have its type. */
static const char *address_of_leaks(const struct hi_leaks_row *row, struct hi_page *page)
{
	return hi_address_where_type(page, "leaks", row->kind.type);
}

static void show_leak_rows(const struct hi_leaks_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"what", HI_COLUMN_WORD},
		{"type of the leak root", HI_COLUMN_TEXT},
		{"shape", HI_COLUMN_WORD},
		{"roots", HI_COLUMN_COUNT},
		{"objects", HI_COLUMN_MINOR_COUNT},
		{"bytes", HI_COLUMN_BYTES},
		{"example", HI_COLUMN_ADDRESS},
		{"which is", HI_COLUMN_TEXT}};
	bool named = has_root_names(r->rows, r->n_rows);
	struct hi_report_table *t;

	hi_page_heading(page, "By type and layout",
			"single: holds no other object; chain: holds others; cycle: its "
			"members hold each other");
	for (size_t i = 0; i < r->n_rows; i++)
		if (*hi_leak_name_legend(&r->rows[i].kind)) {
			hi_page_text(page, hi_leak_name_legend(&r->rows[i].kind));
			break;
		}
	t = table_with_or_without_what(r, columns, 7 + named, page);
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hi_leaks_row *row = &r->rows[i];

		print_class_cell(r, row, t);
		hi_cell_text(t, hi_leak_name_text(&row->kind, row->shape, page), 0);
		hi_cell_link(t, address_of_leaks(row, page));
		hi_cell_text(t, hi_leak_shape_key(row->shape), 0);
		hi_cell_number(t, row->count);
		hi_cell_number(t, row->objects);
		hi_cell_number(t, row->bytes);
		hi_cell_number(t, row->address);
		hi_cell_link(t, hi_address_of_object(page, row->address));
		cell_name(row, named, t, page);
	}
	hi_hidden_note(page, &r->hidden.by_top, &r->hidden.by_min_size,
		       &r->hidden.by_type);
}

static void show_leak_site(const struct hi_leaks_row *row, struct hi_report_table *t,
			   struct hi_page *page)
{
	hi_cell_text(t, hi_birth_site_text(&row->birth, page), 0);
	hi_cell_link(t, hi_address_where(page, "leaks", "site",
					 hi_birth_site_name(&row->birth)));
}

static void show_leak_roots(const struct hi_leaks_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"what", HI_COLUMN_WORD},     {"address", HI_COLUMN_ADDRESS},
		{"type", HI_COLUMN_TEXT},     {"shape", HI_COLUMN_WORD},
		{"objects", HI_COLUMN_COUNT}, {"bytes", HI_COLUMN_BYTES},
		{"which is", HI_COLUMN_TEXT}};
	static const struct hi_column recorded[] = {
		{"what", HI_COLUMN_WORD},	 {"address", HI_COLUMN_ADDRESS},
		{"type", HI_COLUMN_TEXT},	 {"shape", HI_COLUMN_WORD},
		{"objects", HI_COLUMN_COUNT},	 {"bytes", HI_COLUMN_BYTES},
		{"allocated by", HI_COLUMN_TEXT}};
	static const struct hi_hidden none;
	bool named = !r->sites && has_root_names(r->roots, r->n_roots);
	struct hi_report_table *t;

	hi_page_heading(page, "Largest leak roots", NULL);
	t = r->sites ? table_with_or_without_what(r, recorded, 7, page)
		     : table_with_or_without_what(r, columns, 6 + named, page);
	for (size_t i = 0; i < r->n_roots; i++) {
		const struct hi_leaks_row *row = &r->roots[i];

		print_class_cell(r, row, t);
		hi_cell_number(t, row->address);
		hi_cell_link(t, hi_address_of_object(page, row->address));
		hi_cell_text(t, hi_leak_name_text(&row->kind, row->shape, page), 0);
		hi_cell_link(t, address_of_leaks(row, page));
		hi_cell_text(t, hi_leak_shape_key(row->shape), 0);
		hi_cell_number(t, row->objects);
		hi_cell_number(t, row->bytes);
		if (r->sites)
			show_leak_site(row, t, page);
		else
			cell_name(row, named, t, page);
	}
	hi_hidden_note(page, &r->roots_beyond, &none, &none);
}

static void show_leak_sites(const struct hi_leaks_report *r, struct hi_page *page)
{
	if (r->sites)
		hi_births_sites_show(r->sites, "By the function that allocated", "leaks",
				     page);
}

/* They may be leaked as well. */
static void show_integers(const struct hi_leaks_report *r, struct hi_page *page)
{
	char bytes[24], objects[32];

	if (r->integer_objects && hi_heap_known(r->header) != HI_HEAP_UNKNOWN)
		hi_page_text(
			page,
			hi_page_printf(page,
				       "Of the live memory %s in %s object%s hang%s on "
				       "integers alone: no pointer leads there",
				       hi_bytes(bytes, r->integer_bytes),
				       hi_count(objects, r->integer_objects),
				       r->integer_objects == 1 ? "" : "s",
				       r->integer_objects == 1 ? "s" : ""));
}

static void old_leaks_display(const struct hi_leaks_report *r, struct hi_page *page)
{
	hi_report_header_title(r->header, page);
	show_leaks_headline(r, page);
	show_integers(r, page);
	hi_report_header_facts(r->header, page, false);
	if (r->objects == 0)
		return;
	show_leak_rows(r, page);
	show_leak_sites(r, page);
	if (r->n_roots) {
		show_leak_roots(r, page);
		hi_page_blank(page);
		hi_page_command(page,
				hi_page_printf(page,
					       "heapinspect explain 0x%" PRIx64 " %s",
					       r->roots[0].address,
					       hi_report_header_target(r->header, page)),
				"what the largest leak root holds");
	}
}

static void rows_json(const struct hi_leaks_report *r, const struct hi_leaks_row *rows,
		      size_t n, struct hi_json *json)
{
	bool single = rows == r->roots;

	hi_json_array(json, single ? "roots" : "rows");
	for (size_t i = 0; i < n; i++) {
		hi_json_object(json, NULL);
		old_leak_name_json(&rows[i].kind, json);
		hi_json_text(json, "shape", hi_leak_shape_key(rows[i].shape));
		if (single && rows[i].shape == HI_LEAK_CYCLE)
			hi_json_number(json, "members", rows[i].kind.most_members);
		if (r->by_class)
			hi_json_text(json, "fate",
				     hi_unreachable_class_key(rows[i].unreachable_class));
		hi_json_text(json, "verdict", hi_leak_verdict_key(rows[i].is_likely));
		if (!single)
			hi_json_number(json, "count", rows[i].count);
		hi_json_number(json, "bytes", rows[i].bytes);
		hi_json_number(json, "objects", rows[i].objects);
		hi_json_address(json, single ? "address" : "example", rows[i].address);
		if (rows[i].name && *rows[i].name)
			hi_json_text(json, "name", rows[i].name);
		if (single)
			hi_birth_json(&rows[i].birth, json);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void old_leaks_json(const struct hi_leaks_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/leaks/v1", json);
	hi_json_object(json, "leaks");
	hi_json_number(json, "bytes",
		       hi_heap_if_known(r->header, r->bytes - r->likely_bytes));
	hi_json_number(json, "objects",
		       hi_heap_if_known(r->header, r->objects - r->likely_objects));
	hi_json_number(json, "roots",
		       hi_heap_if_known(r->header, r->n_leak_roots - r->n_likely_roots));
	hi_json_number(json, "likely_bytes",
		       hi_heap_if_known(r->header, r->likely_bytes));
	hi_json_number(json, "likely_objects",
		       hi_heap_if_known(r->header, r->likely_objects));
	hi_json_number(json, "likely_roots",
		       hi_heap_if_known(r->header, r->n_likely_roots));
	hi_heap_leaks_json(r->header, r->bytes - r->likely_bytes,
			   r->objects - r->likely_objects, json);
	hi_unread_json(&r->unread, json);
	hi_json_number(json, "integer_bytes", r->integer_bytes);
	hi_json_number(json, "integer_objects", r->integer_objects);
	if (r->by_class)
		hi_unreachable_classes_json(r->by_class, json);
	hi_json_end(json);
	rows_json(r, r->rows, r->n_rows, json);
	rows_json(r, r->roots, r->n_roots, json);
	if (r->sites)
		hi_births_sites_json(r->sites, json);
	hi_hidden_json(json, &r->hidden.by_top, &r->hidden.by_min_size,
		       &r->hidden.by_type);
	hi_json_end(json);
}
