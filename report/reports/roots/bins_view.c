/* SPDX-License-Identifier: BSD-2-Clause */
/* Sharing bins as a page and as JSON. */
#include <string.h>

#include "report/parts/hidden_rows.h"
#include "report/parts/report_node.h"
#include "report/reports/roots/bins_report.h"

/* ---- fields of roots ---- */

/* To what is under one root alone. */
static const char *link_under_root(const struct hi_doc_row *row)
{
	const struct hi_bins_report *r = row->report;
	const struct hi_bins_root *root = row->row;

	return hi_address_with_options(
		row->page, hi_address_where(row->page, "census", "under", root->name),
		&r->options);
}

static struct hi_doc_value type_of_root(const struct hi_doc_row *row)
{
	const struct hi_bins_root *root = row->row;
	struct hi_doc_value value = hi_doc_text(root->type);

	value.shown = *value.text ? NULL : "";
	return value;
}

static const char *link_to_root_object(const struct hi_doc_row *row)
{
	return hi_address_of_object(row->page,
				    ((const struct hi_bins_root *)row->row)->address);
}

static const struct hi_doc_field root_fields[] = {
	{"name", "root", HI_DOC_TEXT, HI_AT(struct hi_bins_root, name),
	 .link = link_under_root},
	{"expression", "expression", HI_DOC_TEXT, HI_AT(struct hi_bins_root, expression)},
	{"type", "type", HI_DOC_TYPE, .value = type_of_root, .nullable = true,
	 .link = link_to_root_object},
	{"address", NULL, HI_DOC_ADDRESS, HI_AT(struct hi_bins_root, address),
	 .nullable = true},
	{"starts", NULL, HI_DOC_COUNT, HI_AT(struct hi_bins_root, n_starts),
	 .meaning = "objects that it leads to"},
	{"reached", "reaches", HI_DOC_BYTES, HI_AT(struct hi_bins_root, reached),
	 .meaning = "bytes of all bins that it is in"},
	{"alone", "alone", HI_DOC_BYTES, HI_AT(struct hi_bins_root, alone),
	 .meaning = "bytes that no other root reaches"},
	{"inside", NULL, HI_DOC_TEXT, HI_AT(struct hi_bins_root, inside),
	 .nullable = true,
	 .meaning = "a root that reaches all that this one starts from"},
	{"each_other", NULL, HI_DOC_FLAG, HI_AT(struct hi_bins_root, each_other)},
	{"warning", NULL, HI_DOC_TEXT, HI_AT(struct hi_bins_root, warning),
	 .nullable = true, .meaning = "why it leads to no object"},
};
static const struct hi_doc_fields roots =
	HI_DOC_FIELDS(root_fields, .row_size = sizeof(struct hi_bins_root));

/* ---- fields of bins ---- */

enum { PLAIN = 1 << false, PURE = 1 << true };

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

/* To its objects by type. What is leaked has a page of its own. */
static const char *link_to_bin(const struct hi_doc_row *row)
{
	const struct hi_bins_report *r = row->report;
	const struct hi_bins_row *bin = row->row;
	struct hi_page *page = row->page;
	const char *address;

	if (!bin->members)
		return strcmp(bin->label, "LEAK") == 0 ? hi_address(page, "leaks", NULL)
						       : "";
	address = hi_address_of_query(
		page,
		hi_page_printf(
			page,
			"SELECT type, count(*) AS objects, sum(shallow) AS bytes "
			"FROM objects WHERE bin = (SELECT id FROM bins WHERE bin = "
			"%s) GROUP BY type ORDER BY bytes DESC",
			quote_for_sql(bin->label, page)),
		&r->options);
	return r->join ? hi_address_with(page, address, "join", r->join) : address;
}

static struct hi_doc_value roots_of_bin(const struct hi_doc_row *row)
{
	const struct hi_bins_row *bin = row->row;

	return hi_doc_nested(bin->members, bin->members ? bin->sum.size : 0);
}

static struct hi_doc_value name_of_bin_root(const struct hi_doc_row *row)
{
	const struct hi_bins_report *r = row->report;

	return hi_doc_text(r->roots[*(const uint32_t *)row->row - 1].name);
}

static const struct hi_doc_field bin_root_fields[] = {
	{.unit = HI_DOC_TEXT, .value = name_of_bin_root}};
static const struct hi_doc_fields bin_roots =
	HI_DOC_FIELDS(bin_root_fields, .row_size = sizeof(uint32_t));

static struct hi_doc_value share_of_bin(const struct hi_doc_row *row)
{
	const struct hi_bins_report *r = row->report;
	const struct hi_set_row *sum = &((const struct hi_bins_row *)row->row)->sum;

	return r->pure ? hi_doc_part(sum->cost_pure, r->pure_bytes)
		       : hi_doc_part(sum->cost, r->bytes);
}

static const struct hi_doc_field bin_fields[] = {
	{"bin", "bin", HI_DOC_TEXT, HI_AT(struct hi_bins_row, label),
	 .link = link_to_bin},
	{"roots", NULL, HI_DOC_LIST, .value = roots_of_bin, .nested = &bin_roots},
	{"bytes", "bytes", HI_DOC_BYTES, HI_AT(struct hi_bins_row, sum.cost),
	 .nullable = true, .shown_in = PLAIN},
	{"pure", "pure bytes", HI_DOC_BYTES, HI_AT(struct hi_bins_row, sum.cost_pure),
	 .nullable = true, .shown_in = PURE},
	{NULL, "of all", HI_DOC_SHARE, .value = share_of_bin},
	{"objects", "objects", HI_DOC_COUNT, HI_AT(struct hi_bins_row, sum.objects),
	 .nullable = true},
	{"exact", NULL, HI_DOC_BYTES, HI_AT(struct hi_bins_row, sum.exact_cost),
	 .nullable = true},
	{"leaked", NULL, HI_DOC_BYTES, HI_AT(struct hi_bins_row, sum.leak_cost),
	 .nullable = true, .meaning = "bytes that no root of the program reaches"},
};
static const struct hi_doc_fields bins =
	HI_DOC_FIELDS(bin_fields, .row_size = sizeof(struct hi_bins_row));

static const struct hi_doc_field allocated_fields[] = {
	{"objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_bins_report, objects)},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_bins_report, bytes)},
};
static const struct hi_doc_fields allocated = HI_DOC_FIELDS(allocated_fields);

static const struct hi_doc_field fields[] = {
	{"allocated", NULL, HI_DOC_OBJECT, .nested = &allocated},
	{"sanity", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_bins_report, sanity),
	 .nested = &hi_sanity_fields},
	{"roots", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_bins_report, roots, n_roots),
	 .nested = &roots},
	{"rows", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_bins_report, rows, n_rows),
	 .nested = &bins},
	{"hidden", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_bins_report, hidden),
	 .nested = &hi_hidden_fields},
};
const struct hi_doc_fields hi_bins_document = HI_DOC_FIELDS(
	fields, .is_open = true,
	.meaning =
		"roots: a row a sharing bin, and NOROOT and LEAK; together: allocated");

/* ---- as a page ---- */

static void show_named_roots(const struct hi_bins_report *r, struct hi_page *page)
{
	hi_page_heading(page, "Roots",
			"reaches: bytes that the root reaches; alone: bytes that no "
			"other root reaches");
	hi_doc_show_rows(page, &roots, r, 0, r->roots, r->n_roots);
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

static void show_bins(const struct hi_bins_report *r, struct hi_page *page)
{
	const struct hi_bins_row all = {.label = "all",
					.sum = {.objects = r->objects,
						.cost = r->bytes,
						.cost_pure = r->pure_bytes}};
	struct hi_report_table *t;
	uint64_t leaked = 0;
	char bytes[24];

	for (size_t i = 0; i < r->n_rows; i++)
		leaked += r->rows[i].members ? r->rows[i].sum.leak_cost : 0;
	hi_page_heading(page, "Sharing bins",
			"bytes that exactly these roots reach; NOROOT: live, reached by "
			"none of them");
	t = hi_doc_show_rows(page, &bins, r, 1u << r->pure, r->rows, r->n_rows);
	hi_doc_show_row(t, &bins,
			&(struct hi_doc_row){.report = r,
					     .row = &all,
					     .variant = 1u << r->pure,
					     .page = page});
	hi_report_table_stress(t);
	hi_hidden_note(page, &r->hidden.by_top, &r->hidden.by_min_size,
		       &r->hidden.by_type);
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

void hi_bins_json(const struct hi_bins_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/roots/v1", json);
	hi_doc_put_report(&hi_bins_document, r, 1u << r->pure, json);
	hi_json_end(json);
}
