/* SPDX-License-Identifier: BSD-2-Clause */
/* Sharing bins as a page and as JSON. */
#include <string.h>

#include "report/parts/hidden_rows.h"
#include "report/parts/report_node.h"
#include "report/reports/roots/bins_report.h"

/* ---- as a page ---- */

/* What is under one root alone. */
static const char *address_under(const struct hi_bins_report *r, const char *name,
				 struct hi_page *page)
{
	const char *census = hi_address_where(page, "census", "under", name);

	return hi_address_with_options(page, census, &r->options);
}

/* The text as SQL has it, with its quotes. */
static const char *quote_for_sql(const char *text, struct hi_page *page)
{
	char *quoted = hi_arena_alloc(&page->arena, 2 * strlen(text) + 3), *out = quoted;

	if (!quoted) {
		page->failed = true;
		return "''";
	}
	for (*out++ = '\''; *text; text++) {
		if (*text == '\'')
			*out++ = '\'';
		*out++ = *text;
	}
	*out++ = '\'';
	*out = '\0';
	return quoted;
}

/* Its objects by type. What is leaked has a page of its own. */
static const char *address_of_bin(const struct hi_bins_report *r,
				  const struct hi_bins_row *row, struct hi_page *page)
{
	const char *address;

	if (!row->members)
		return strcmp(row->label, "LEAK") == 0 ? hi_address(page, "leaks", NULL)
						       : "";
	address = hi_address_of_query(
		page,
		hi_page_printf(
			page,
			"SELECT type, count(*) AS objects, sum(shallow) AS bytes "
			"FROM objects WHERE bin = (SELECT id FROM bins WHERE bin = "
			"%s) GROUP BY type ORDER BY bytes DESC",
			quote_for_sql(row->label, page)),
		&r->options);
	return r->join ? hi_address_with(page, address, "join", r->join) : address;
}

static void show_named_roots(const struct hi_bins_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"root", HI_COLUMN_TEXT},
						   {"expression", HI_COLUMN_TEXT},
						   {"type", HI_COLUMN_TEXT},
						   {"reaches", HI_COLUMN_BYTES},
						   {"alone", HI_COLUMN_BYTES}};
	struct hi_report_table *t;

	hi_page_heading(page, "Roots",
			"reaches: bytes that the root reaches; alone: bytes that no "
			"other root reaches");
	t = hi_page_table(page, columns, 5);
	for (size_t i = 0; i < r->n_roots; i++) {
		const struct hi_bins_root *root = &r->roots[i];

		hi_cell_text(t, hi_page_safe(page, root->name), 0);
		hi_cell_link(t, address_under(r, root->name, page));
		hi_cell_text(t, hi_page_safe(page, root->expression), 0);
		hi_cell_text(t, hi_page_type(page, root->type), 0);
		hi_cell_link(t, hi_address_of_object(page, root->address));
		hi_cell_number(t, root->reached);
		hi_cell_number(t, root->alone);
	}
	for (size_t i = 0; i < r->n_roots; i++) {
		const struct hi_bins_root *root = &r->roots[i];
		const char *name = hi_page_safe(page, root->name);

		if (root->inside)
			hi_page_note(page,
				     hi_page_printf(page,
						    root->each_other
							    ? "%s and %s reach each other"
							    : "%s is inside %s",
						    name,
						    hi_page_safe(page, root->inside)));
	}
}

static void show_bin_row(const struct hi_bins_report *r, const char *label,
			 const char *address, const struct hi_set_row *sum,
			 struct hi_report_table *t)
{
	static const struct hi_set_row unknown = {
		.cost = UINT64_MAX, .cost_pure = UINT64_MAX, .objects = UINT64_MAX};

	sum = sum ? sum : &unknown;
	hi_cell_text(t, label, 0);
	hi_cell_link(t, address);
	hi_cell_number(t, r->pure ? sum->cost_pure : sum->cost);
	hi_cell_percent(t, r->pure ? sum->cost_pure : sum->cost,
			r->pure ? r->pure_bytes : r->bytes);
	hi_cell_number(t, sum->objects);
}

static void show_bins(const struct hi_bins_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"bin", HI_COLUMN_TEXT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"of all", HI_COLUMN_PERCENT},
						   {"objects", HI_COLUMN_COUNT}};
	static const struct hi_column pure[] = {{"bin", HI_COLUMN_TEXT},
						{"pure bytes", HI_COLUMN_BYTES},
						{"of all", HI_COLUMN_PERCENT},
						{"objects", HI_COLUMN_COUNT}};
	struct hi_set_row all = {
		.objects = r->objects, .cost = r->bytes, .cost_pure = r->pure_bytes};
	static const struct hi_hidden none;
	struct hi_report_table *t;
	uint64_t leaked = 0;
	char bytes[24];

	for (size_t i = 0; i < r->n_rows; i++)
		leaked += r->rows[i].members ? r->rows[i].sum.leak_cost : 0;
	hi_page_heading(page, "Sharing bins",
			"bytes that exactly these roots reach; NOROOT: live, reached by "
			"none of them");
	t = hi_page_table(page, r->pure ? pure : columns, 4);
	for (size_t i = 0; i < r->n_rows; i++)
		show_bin_row(r, hi_page_safe(page, r->rows[i].label),
			     address_of_bin(r, &r->rows[i], page),
			     r->rows[i].is_unknown ? NULL : &r->rows[i].sum, t);
	show_bin_row(r, "all", "", &all, t);
	hi_report_table_stress(t);
	hi_hidden_note(page, &r->beyond, &r->below, &none);
	if (leaked)
		hi_page_note(page, hi_page_printf(page,
						  "of the bins, %s are leaked: no root "
						  "of the program reaches them",
						  hi_bytes(bytes, leaked)));
}

void hi_bins_display(const struct hi_bins_report *r, struct hi_page *page)
{
	char bytes[24], objects[32];

	hi_report_header_title(r->header, page);
	hi_page_text(page, hi_page_printf(page, "%s in %s objects under %zu root%s",
					  hi_bytes(bytes, r->bytes),
					  hi_count(objects, r->objects), r->n_roots,
					  r->n_roots == 1 ? "" : "s"));
	hi_report_header_facts(r->header, page, false);
	hi_sanity_show(&r->sanity, page);
	show_named_roots(r, page);
	show_bins(r, page);
}

/* ---- as JSON ---- */

static void root_json(const struct hi_bins_root *root, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "name", root->name);
	hi_json_text(json, "expression", root->expression);
	hi_json_text(json, "type", hi_known(root->type));
	hi_json_address(json, "address", root->address);
	hi_json_number(json, "starts", root->n_starts);
	hi_json_number(json, "reached", root->reached);
	hi_json_number(json, "alone", root->alone);
	hi_json_text(json, "inside", root->inside);
	hi_json_bool(json, "each_other", root->each_other);
	hi_json_text(json, "warning", root->warning);
	hi_json_end(json);
}

static void put_bin_row_json(const struct hi_bins_report *r,
			     const struct hi_bins_row *row, struct hi_json *json)
{
	const uint64_t unknown = row->is_unknown ? UINT64_MAX : 0;

	hi_json_object(json, NULL);
	hi_json_text(json, "bin", row->label);
	hi_json_array(json, "roots");
	for (uint32_t i = 0; row->members && i < row->sum.size; i++)
		hi_json_text(json, NULL, r->roots[row->members[i] - 1].name);
	hi_json_end(json);
	hi_json_number(json, "bytes", row->sum.cost | unknown);
	hi_json_number(json, "pure", row->sum.cost_pure | unknown);
	hi_json_number(json, "objects", row->sum.objects | unknown);
	hi_json_number(json, "exact", row->sum.exact_cost | unknown);
	hi_json_number(json, "leaked", row->sum.leak_cost | unknown);
	hi_json_end(json);
}

void hi_bins_json(const struct hi_bins_report *r, struct hi_json *json)
{
	static const struct hi_hidden none;

	hi_report_header_json(r->header, "heapinspect/roots/v1", json);
	hi_json_object(json, "allocated");
	hi_json_number(json, "objects", r->objects);
	hi_json_number(json, "bytes", r->bytes);
	hi_json_end(json);
	hi_sanity_json(&r->sanity, json);
	hi_json_array(json, "roots");
	for (size_t i = 0; i < r->n_roots; i++)
		root_json(&r->roots[i], json);
	hi_json_end(json);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_rows; i++)
		put_bin_row_json(r, &r->rows[i], json);
	hi_json_end(json);
	hi_hidden_json(json, &r->beyond, &r->below, &none);
	hi_json_end(json);
}
