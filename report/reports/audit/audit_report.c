/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/audit/audit_report.h"

#include <inttypes.h>

#include "base/text.h"
#include "report/parts/report_links.h"

static size_t count_shown_audit_rows(const struct hi_audit_report *r, size_t n)
{
	return n < r->top ? n : r->top;
}

static const char *name_of_audited_type(const struct hi_audit_report *r, uint32_t type)
{
	return r->graph->types[type].name;
}

static void note_more(const struct hi_audit_report *r, size_t n, struct hi_page *page)
{
	if (n > count_shown_audit_rows(r, n))
		hi_page_note(page, hi_page_printf(page, "%zu more types (--all)",
						  n - count_shown_audit_rows(r, n)));
}

static const char *example_name(const char *const *names, size_t i)
{
	return names && names[i] ? names[i] : "";
}

static bool has_example_names(const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (*example_name(names, i))
			return true;
	return false;
}

/* The cells from its type to its example. */
static void put_audit_row(const struct hi_audit_report *r, const struct hi_audit_row *row,
			  struct hi_page *page, struct hi_report_table *table)
{
	uint64_t example = hi_graph_address(r->graph, row->example);
	const char *type = name_of_audited_type(r, row->type);

	hi_cell_text(table, hi_page_type(page, type), 0);
	hi_cell_link(table, hi_address_of_any_type(page, type));
	hi_cell_number(table, row->objects);
	hi_cell_number(table, row->excess);
	hi_cell_number(table, row->bytes);
	hi_cell_address(table, example);
	hi_cell_link(table, hi_address_of_object(page, example));
}

#define ROW_COLUMNS(difference)                                                          \
	{                                                                                \
		{"type", HI_COLUMN_TEXT}, {"objects", HI_COLUMN_COUNT},                  \
			{difference, HI_COLUMN_COUNT}, {"bytes", HI_COLUMN_BYTES},       \
			{"example", HI_COLUMN_ADDRESS}, {"counts", HI_COLUMN_COUNT},     \
			{"found", HI_COLUMN_COUNT}, {"which is", HI_COLUMN_TEXT},        \
	}
enum { ROW_CELLS = 8 };
static const struct hi_column excess_columns[] = ROW_COLUMNS("excess"),
			      short_columns[] = ROW_COLUMNS("missing");

static void show_audit_table(const struct hi_audit_report *r,
			     const struct hi_audit_row *rows, size_t n,
			     const char *const *names, const struct hi_column *columns,
			     struct hi_page *page)
{
	bool named = has_example_names(names, count_shown_audit_rows(r, n));
	struct hi_report_table *table = hi_page_table(page, columns, ROW_CELLS - !named);

	for (size_t i = 0; i < count_shown_audit_rows(r, n); i++) {
		const struct hi_audit_row *row = &rows[i];

		put_audit_row(r, row, page, table);
		hi_cell_number(table, row->example_counted);
		hi_cell_number(table, row->example_found);
		if (named)
			hi_cell_text(table, hi_page_safe(page, example_name(names, i)),
				     0);
	}
	note_more(r, n, page);
}

static void show_audit_rows(const struct hi_audit_report *r, struct hi_page *page)
{
	const struct hi_audit *a = r->audit;

	if (a->n_short_rows) {
		hi_page_heading(page, "Too few by type",
				"more references exist than are counted: C code released "
				"a reference that it did not own, and the object will be "
				"freed while it is in use");
		show_audit_table(r, a->short_rows, a->n_short_rows, r->short_names,
				 short_columns, page);
	}
	if (a->n_rows) {
		hi_page_heading(page, "Excess by type",
				"references that are counted but were not found: lost by "
				"C code, or in memory that was not read");
		show_audit_table(r, a->rows, a->n_rows, r->names, excess_columns, page);
	}
}

static void show_known(const struct hi_audit_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"of", HI_COLUMN_TEXT},	      {"type", HI_COLUMN_TEXT},
		{"objects", HI_COLUMN_COUNT}, {"excess", HI_COLUMN_COUNT},
		{"bytes", HI_COLUMN_BYTES},   {"example", HI_COLUMN_ADDRESS}};
	const struct hi_audit *a = r->audit;
	struct hi_report_table *table;

	if (!a->n_known_rows)
		return;
	hi_page_heading(page, "Known losses",
			"references that libraries take once, when they are imported, "
			"and never give back: they cost what is here and do not grow");
	table = hi_page_table(page, columns, 6);
	for (size_t i = 0; i < count_shown_audit_rows(r, a->n_known_rows); i++) {
		const struct hi_audit_row *row = &a->known_rows[i];

		hi_cell_text(table, hi_known_loss_name(row->loss), 0);
		put_audit_row(r, row, page, table);
	}
	note_more(r, a->n_known_rows, page);
}

static void show_causes(const struct hi_audit_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"through", HI_COLUMN_TEXT},
						   {"objects", HI_COLUMN_COUNT},
						   {"example", HI_COLUMN_ADDRESS}};
	struct hi_report_table *table;

	if (!r->n_causes)
		return;
	hi_page_heading(page, "Why it is uncollectable",
			"cycles through objects of types that the collector cannot look "
			"into (no tp_traverse), or that it must not finalize");
	table = hi_page_table(page, columns, 3);
	for (size_t i = 0; i < count_shown_audit_rows(r, r->n_causes); i++) {
		const struct hi_audit_cause *cause = &r->causes[i];

		hi_cell_text(table,
			     hi_page_type(page, name_of_audited_type(r, cause->type)), 0);
		hi_cell_link(table, hi_address_of_any_type(
					    page, name_of_audited_type(r, cause->type)));
		hi_cell_number(table, cause->objects);
		hi_cell_address(table, hi_graph_address(r->graph, cause->example));
		hi_cell_link(table,
			     hi_address_of_object(
				     page, hi_graph_address(r->graph, cause->example)));
	}
	note_more(r, r->n_causes, page);
}

/* ---- garbage ---- */

static const char *text_of_garbage_state(const struct hi_garbage_row *row)
{
	static const char *const states[HI_UNREACHABLE_CLASSES] = {
		[HI_UNREACHABLE_NO_CLASS] = "leaked",
		[HI_UNREACHABLE_GARBAGE] = "not collected yet",
		[HI_UNREACHABLE_UNCOLLECTABLE] = "uncollectable",
		[HI_UNREACHABLE_LOST_REFERENCE] = "held by a lost reference"};

	return row->put_aside ? "uncollectable, put aside"
			      : states[row->unreachable_class];
}

static void show_garbage(const struct hi_audit_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"type", HI_COLUMN_TEXT},
						   {"state", HI_COLUMN_WORD},
						   {"objects", HI_COLUMN_COUNT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"example", HI_COLUMN_ADDRESS}};
	struct hi_report_table *table;

	if (!r->garbage->n_rows)
		return;
	hi_page_heading(page, "Garbage by type",
			"unreachable, or only in the collector's list of uncollectable "
			"objects (gc.garbage)");
	table = hi_page_table(page, columns, 5);
	for (size_t i = 0; i < count_shown_audit_rows(r, r->garbage->n_rows); i++) {
		const struct hi_garbage_row *row = &r->garbage->rows[i];

		hi_cell_text(table,
			     hi_page_type(page, name_of_audited_type(r, row->type)), 0);
		hi_cell_link(table, hi_address_of_any_type(
					    page, name_of_audited_type(r, row->type)));
		hi_cell_text(table, text_of_garbage_state(row), 0);
		hi_cell_number(table, row->objects);
		hi_cell_number(table, row->bytes);
		hi_cell_address(table, hi_graph_address(r->graph, row->example));
		hi_cell_link(table,
			     hi_address_of_object(
				     page, hi_graph_address(r->graph, row->example)));
	}
	note_more(r, r->garbage->n_rows, page);
}

/* ---- the page ---- */

/* The most urgent problem is named first. */
static const char *short_text(const struct hi_audit_report *r, struct hi_page *page)
{
	const struct hi_audit *a = r->audit;
	bool one = a->short_objects == 1;
	char objects[32];

	if (!a->missing)
		return "";
	return hi_page_printf(page,
			      "%s object%s count%s fewer references than exist to %s, "
			      "and will be freed while in use; ",
			      hi_text_count(objects, a->short_objects), one ? "" : "s",
			      one ? "s" : "", one ? "it" : "them");
}

/* "", or how many more there are that libraries are known to lose. */
static const char *known_text(const struct hi_audit_report *r, struct hi_page *page)
{
	char refs[32];

	return r->audit->known ? hi_page_printf(page,
						" (and %s that libraries are known "
						"to lose)",
						hi_text_count(refs, r->audit->known))
			       : "";
}

static const char *excess_text(const struct hi_audit_report *r, struct hi_page *page)
{
	const struct hi_audit *a = r->audit;
	const char *known = known_text(r, page);
	char objects[32], excess[32], refs[32];

	if (!a->excess && a->missing)
		return hi_page_printf(page, "no reference is lost%s", known);
	if (!a->excess && a->known)
		return hi_page_printf(page, "No reference is lost%s", known);
	if (!a->excess)
		return hi_page_printf(page,
				      "No reference is lost: all that %s objects count "
				      "were found",
				      hi_text_count(objects, a->objects));
	return hi_page_printf(page,
			      "%s reference%s lost: %s of %s objects count%s more "
			      "references than exist to %s%s",
			      hi_text_count(refs, a->excess), a->excess == 1 ? "" : "s",
			      hi_text_count(excess, a->excess_objects),
			      hi_text_count(objects, a->objects),
			      a->excess_objects == 1 ? "s" : "",
			      a->excess_objects == 1 ? "it" : "them", known);
}

static const char *garbage_text(const struct hi_audit_report *r, struct hi_page *page)
{
	const struct hi_garbage *g = r->garbage;
	uint64_t bad = g->bytes[HI_UNREACHABLE_UNCOLLECTABLE] + g->aside_bytes;
	char waits[24], never[24], objects[32];
	const char *text;

	hi_text_bytes(never, bad);
	if (!g->objects[HI_UNREACHABLE_GARBAGE])
		return bad ? hi_page_printf(page,
					    "garbage: %s that the collector cannot free",
					    never)
			   : "no garbage";
	text = hi_page_printf(
		page, "garbage: %s in %s objects that the collector has not freed yet",
		hi_text_bytes(waits, g->bytes[HI_UNREACHABLE_GARBAGE]),
		hi_text_count(objects, g->objects[HI_UNREACHABLE_GARBAGE]));
	return bad ? hi_page_printf(page, "%s, %s that it cannot free", text, never)
		   : text;
}

static void suggest_audit_commands(const struct hi_audit_report *r, struct hi_page *page)
{
	const struct hi_audit_row *row =
		r->audit->n_short_rows ? r->audit->short_rows : r->audit->rows;

	if (!r->audit->n_rows && !r->audit->n_short_rows)
		return;
	hi_page_blank(page);
	hi_page_command(page,
			hi_page_printf(page, "heapinspect explain 0x%" PRIx64 " %s",
				       hi_graph_address(r->graph, row->example),
				       hi_report_header_target(r->header, page)),
			"the references that were found");
}

void hi_audit_display(const struct hi_audit_report *r, struct hi_page *page)
{
	hi_report_header_title(r->header, page);
	hi_page_text(page, hi_page_printf(page, "%s%s; %s", short_text(r, page),
					  excess_text(r, page), garbage_text(r, page)));
	hi_report_header_facts(r->header, page, false);
	hi_report_header_collector(r->header, page);
	show_audit_rows(r, page);
	show_known(r, page);
	show_garbage(r, page);
	show_causes(r, page);
	suggest_audit_commands(r, page);
}

/* ---- JSON ---- */

static void put_audit_row_json(const struct hi_audit_report *r,
			       const struct hi_audit_row *row, const char *name,
			       const char *difference, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "type", name_of_audited_type(r, row->type));
	hi_json_number(json, "objects", row->objects);
	hi_json_number(json, difference, row->excess);
	hi_json_number(json, "bytes", row->bytes);
	hi_json_address(json, "example", hi_graph_address(r->graph, row->example));
	if (row->loss)
		hi_json_text(json, "of", hi_known_loss_name(row->loss));
	hi_json_text(json, "name", *name ? name : NULL);
	hi_json_number(json, "counted", row->example_counted);
	hi_json_number(json, "found", row->example_found);
	hi_json_end(json);
}

static void causes_json(const struct hi_audit_report *r, struct hi_json *json)
{
	hi_json_array(json, "causes");
	for (size_t i = 0; i < count_shown_audit_rows(r, r->n_causes); i++) {
		const struct hi_audit_cause *cause = &r->causes[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "type", name_of_audited_type(r, cause->type));
		hi_json_number(json, "objects", cause->objects);
		hi_json_address(json, "example",
				hi_graph_address(r->graph, cause->example));
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void garbage_json(const struct hi_audit_report *r,
			 const struct hi_garbage_row *row, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "type", name_of_audited_type(r, row->type));
	hi_json_text(json, "fate", hi_unreachable_class_key(row->unreachable_class));
	hi_json_bool(json, "put_aside", row->put_aside);
	hi_json_number(json, "objects", row->objects);
	hi_json_number(json, "bytes", row->bytes);
	hi_json_address(json, "example", hi_graph_address(r->graph, row->example));
	hi_json_end(json);
}

void hi_audit_json(const struct hi_audit_report *r, struct hi_json *json)
{
	const struct hi_garbage *g = r->garbage;

	hi_report_header_json(r->header, "heapinspect/audit/v1", json);
	hi_json_number(json, "objects", r->audit->objects);
	hi_json_number(json, "excess_objects", r->audit->excess_objects);
	hi_json_number(json, "excess", r->audit->excess);
	hi_json_number(json, "short_objects", r->audit->short_objects);
	hi_json_number(json, "missing", r->audit->missing);
	hi_json_number(json, "known_objects", r->audit->known_objects);
	hi_json_number(json, "known", r->audit->known);
	hi_json_number(json, "garbage_objects", g->objects[HI_UNREACHABLE_GARBAGE]);
	hi_json_number(json, "garbage", g->bytes[HI_UNREACHABLE_GARBAGE]);
	hi_json_number(json, "uncollectable", g->bytes[HI_UNREACHABLE_UNCOLLECTABLE]);
	hi_json_number(json, "put_aside_objects", g->aside_objects);
	hi_json_number(json, "put_aside", g->aside_bytes);
	hi_json_number(json, "lost", g->bytes[HI_UNREACHABLE_LOST_REFERENCE]);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < count_shown_audit_rows(r, r->audit->n_rows); i++)
		put_audit_row_json(r, &r->audit->rows[i], example_name(r->names, i),
				   "excess", json);
	hi_json_end(json);
	hi_json_array(json, "short_rows");
	for (size_t i = 0; i < count_shown_audit_rows(r, r->audit->n_short_rows); i++)
		put_audit_row_json(r, &r->audit->short_rows[i],
				   example_name(r->short_names, i), "missing", json);
	hi_json_end(json);
	hi_json_array(json, "known_rows");
	for (size_t i = 0; i < count_shown_audit_rows(r, r->audit->n_known_rows); i++)
		put_audit_row_json(r, &r->audit->known_rows[i], "", "excess", json);
	hi_json_end(json);
	causes_json(r, json);
	hi_json_array(json, "garbage_rows");
	for (size_t i = 0; i < count_shown_audit_rows(r, g->n_rows); i++)
		garbage_json(r, &g->rows[i], json);
	hi_json_end(json);
	hi_json_end(json);
}
