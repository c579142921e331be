/* SPDX-License-Identifier: BSD-2-Clause */
/* The writers that described fields replace, for document_same_test.c alone. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/report_links.h"
#include "report/reports/audit/audit_report.h"
#include "report/reports/snapshots/snapshots_report.h"

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

static void old_audit_display(const struct hi_audit_report *r, struct hi_page *page)
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

static void old_audit_json(const struct hi_audit_report *r, struct hi_json *json)
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
/* ---- as a page ---- */

static const char *time_text(uint64_t wall_ns, struct hi_page *page)
{
	char time[24];

	return wall_ns ? hi_page_printf(page, "%s", hi_text_duration(time, wall_ns))
		       : "0 s";
}

static const char *after_text(const struct hi_snapshots_row *row, struct hi_page *page)
{
	return time_text(row->wall_ns, page);
}

static const char *end_text(const struct hi_snapshots_report *r)
{
	static const struct {
		const char *key, *text;
	} ends[] = {{"over", "complete"},
		    {"exited", "until the target exited"},
		    {"stopped", "stopped by a signal"},
		    {"failed", "ended by an error"}};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (strcmp(r->end, ends[i].key) == 0)
			return ends[i].text;
	return "still running, or its writer was killed";
}

static const struct hi_snapshots_row *
find_highest_census(const struct hi_snapshots_report *r)
{
	const struct hi_snapshots_row *best = &r->rows[0];

	for (size_t i = 1; i < r->n_rows; i++)
		if (r->rows[i].bytes > best->bytes)
			best = &r->rows[i];
	return best;
}

/* What the file has of a census: its heap, or the totals by type. */
static const char *address_of_census(const struct hi_snapshots_row *row,
				     struct hi_page *page)
{
	return hi_address_in_census(page, row->graph ? "summary" : "snapshots",
				    row->number);
}

static void show_series_file_facts(const struct hi_snapshots_report *r,
				   struct hi_page *page)
{
	const struct hi_snapshots_row *peak = find_highest_census(r),
				      *last = &r->rows[r->n_rows - 1];
	char n[32], bytes[24];
	size_t graphs = 0;

	for (size_t i = 0; i < r->n_rows; i++)
		graphs += r->rows[i].graph != 0;
	hi_page_fact(page, "series",
		     hi_page_printf(page, "%s census%s in %s: %s", hi_count(n, r->n_rows),
				    r->n_rows == 1 ? "" : "es", after_text(last, page),
				    end_text(r)));
	hi_page_fact(page, "most",
		     hi_page_printf(page, "%s live in census %" PRIu64 ", after %s",
				    hi_bytes(bytes, peak->bytes), peak->number,
				    after_text(peak, page)));
	hi_page_link(page, address_of_census(peak, page));
	hi_page_fact(
		page, "file",
		hi_page_printf(page, "%s; %zu %s graph, the others totals by type",
			       hi_bytes(bytes, r->size), graphs,
			       graphs == 1 ? "census has its" : "censuses have their"));
}

static void show_damage(const struct hi_snapshots_report *r, struct hi_page *page)
{
	char bytes[24];

	if (r->damaged || r->lost)
		hi_page_warning(page,
				hi_page_printf(page,
					       "the file is damaged: %s between its "
					       "censuses, %" PRIu64 " part%s missing",
					       hi_bytes(bytes, r->damaged), r->lost,
					       r->lost == 1 ? " is" : "s are"));
	if (r->torn)
		hi_page_warning(page,
				hi_page_printf(page,
					       "%s behind the last census: a census that "
					       "is not complete (yet), or damage",
					       hi_bytes(bytes, r->torn)));
}

static void show_census_points(const struct hi_snapshots_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"census", HI_COLUMN_COUNT},
		{"after", HI_COLUMN_WORD},
		{"live", HI_COLUMN_BYTES},
		{"objects", HI_COLUMN_COUNT},
		{"leaked", HI_COLUMN_BYTES},
		{"likely leaked", HI_COLUMN_MINOR_BYTES},
		{"garbage", HI_COLUMN_MINOR_BYTES},
		{"paused", HI_COLUMN_WORD},
		{"graph", HI_COLUMN_MINOR_BYTES},
	};
	struct hi_report_table *table = hi_page_table(page, columns, 9);
	const struct hi_snapshots_row *peak = find_highest_census(r);
	char time[24];

	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hi_snapshots_row *row = &r->rows[i];

		hi_cell_number(table, row->number);
		hi_cell_link(table, address_of_census(row, page));
		hi_cell_text(table, after_text(row, page), 0);
		hi_cell_number(table, row->bytes);
		hi_cell_link(table, hi_address_in_census(
					    page, row->graph ? "census" : "snapshots",
					    row->number));
		hi_cell_number(table, row->objects);
		hi_cell_number(table, row->leaks.certain.bytes);
		if (row->graph)
			hi_cell_link(table,
				     hi_address_in_census(page, "leaks", row->number));
		hi_cell_number(table, row->leaks.likely.bytes);
		hi_cell_number(table, row->leaks.garbage.bytes);
		hi_cell_text(
			table,
			row->pause_ns == UINT64_MAX
				? "?"
				: hi_page_printf(page, "%s",
						 hi_text_duration(time, row->pause_ns)),
			0);
		if (row->graph)
			hi_cell_number(table, row->graph);
		else
			hi_cell_empty(table);
		if (row == peak)
			hi_report_table_stress(table);
	}
}

static void show_marks(const struct hi_snapshots_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"census", HI_COLUMN_COUNT},
						   {"after", HI_COLUMN_WORD},
						   {"mark", HI_COLUMN_TEXT}};
	struct hi_report_table *table;

	if (!r->n_marks)
		return;
	hi_page_heading(page, "Marks", "each with the last census before it");
	table = hi_page_table(page, columns, 3);
	for (size_t i = 0; i < r->n_marks; i++) {
		const struct hi_snapshots_mark_line *mark = &r->marks[i];

		if (mark->census) {
			hi_cell_number(table, mark->census);
			hi_cell_link(table, hi_address_in_census(page, "snapshots",
								 mark->census));
		} else
			hi_cell_empty(table);
		hi_cell_text(table, time_text(mark->wall_ns, page), 0);
		hi_cell_text(table, hi_page_safe(page, mark->text), 0);
	}
}

static const char *address_of_type_then(const struct hi_snapshots_report *r,
					const struct hi_snapshots_type *type,
					struct hi_page *page)
{
	return hi_address_with(page, hi_address_of_any_type(page, type->name), "census",
			       hi_page_printf(page, "%" PRIu64, r->of->number));
}

static void show_census_types(const struct hi_snapshots_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"live", HI_COLUMN_BYTES},
						   {"objects", HI_COLUMN_COUNT},
						   {"retained", HI_COLUMN_BYTES},
						   {"type", HI_COLUMN_TEXT}};
	struct hi_report_table *table;

	hi_page_heading(page, hi_page_printf(page, "Census %" PRIu64, r->of->number),
			"live objects by type");
	table = hi_page_table(page, columns, 4);
	for (size_t i = 0; i < r->shown; i++) {
		const struct hi_snapshots_type *type = &r->types[i];

		hi_cell_number(table, type->bytes);
		hi_cell_number(table, type->objects);
		hi_cell_at_least(table, type->retained);
		hi_cell_text(table,
			     *type->name ? hi_page_type(page, type->name) : "(untyped)",
			     0);
		if (r->of->graph)
			hi_cell_link(table, address_of_type_then(r, type, page));
	}
	if (r->n_types > r->shown)
		hi_page_note(page, hi_page_printf(page, "%zu more with --all",
						  r->n_types - r->shown));
}

static void show_commands(const struct hi_snapshots_report *r, struct hi_page *page)
{
	const char *file = hi_report_header_target(r->header, page);
	const struct hi_snapshots_row *first = NULL, *last = NULL;

	for (size_t i = 0; i < r->n_rows; i++) {
		if (!r->rows[i].graph)
			continue;
		first = first ? first : &r->rows[i];
		last = &r->rows[i];
	}
	if (first && first != last)
		hi_page_command(page,
				hi_page_printf(page,
					       "heapinspect diff %s@%" PRIu64
					       " %s@%" PRIu64,
					       file, first->number, file, last->number),
				"what was born, and what holds it");
	if (last)
		hi_page_command(page,
				hi_page_printf(page, "heapinspect %s@%" PRIu64, file,
					       last->number),
				"any command can use one of them");
	if (!r->of)
		hi_page_command(
			page,
			hi_page_printf(page, "heapinspect snapshots %s --census %" PRIu64,
				       file, find_highest_census(r)->number),
			"its totals by type, with or without a graph");
}

static void old_snapshots_display(const struct hi_snapshots_report *r,
				  struct hi_page *page)
{
	hi_report_header_title(r->header, page);
	show_series_file_facts(r, page);
	show_damage(r, page);
	if (r->of) {
		show_census_types(r, page);
	} else {
		hi_page_blank(page);
		show_census_points(r, page);
		show_marks(r, page);
	}
	hi_page_blank(page);
	show_commands(r, page);
}

/* ---- as JSON ---- */

static void put_census_point_json(const struct hi_snapshots_row *row,
				  struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_number(json, "census", row->number);
	hi_json_number(json, "time_ns", row->time_ns);
	hi_json_number(json, "wall_ns", row->wall_ns);
	hi_json_number(json, "cpu_ns", row->cpu_ns);
	hi_json_number(json, "pause_ns", row->pause_ns);
	hi_json_number(json, "bytes", row->bytes);
	hi_json_number(json, "objects", row->objects);
	hi_leak_totals_json(json, "leaked", &row->leaks);
	hi_json_number(json, "graph", row->graph ? row->graph : UINT64_MAX);
	hi_json_end(json);
}

static void json_types(const struct hi_snapshots_report *r, struct hi_json *json)
{
	hi_json_array(json, "types");
	for (size_t i = 0; i < r->shown; i++) {
		const struct hi_snapshots_type *type = &r->types[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "type", hi_known(type->name));
		hi_json_text(json, "module", hi_known(type->module));
		hi_json_number(json, "count", type->objects);
		hi_json_number(json, "shallow", type->bytes);
		hi_json_number(json, "retained", type->retained);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_number(json, "hidden", r->n_types - r->shown);
}

static void json_marks(const struct hi_snapshots_report *r, struct hi_json *json)
{
	hi_json_array(json, "marks");
	for (size_t i = 0; i < r->n_marks; i++) {
		const struct hi_snapshots_mark_line *mark = &r->marks[i];

		hi_json_object(json, NULL);
		hi_json_number(json, "census", mark->census ? mark->census : UINT64_MAX);
		hi_json_number(json, "wall_ns", mark->wall_ns);
		hi_json_number(json, "cpu_ns", mark->cpu_ns);
		hi_json_text(json, "text", mark->text);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void old_snapshots_json(const struct hi_snapshots_report *r, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", "heapinspect/snapshots/v1");
	hi_json_object(json, "target");
	hi_json_number(json, "pid",
		       r->header->pid > 0 ? (uint64_t)r->header->pid : UINT64_MAX);
	hi_json_text(json, "exe", hi_known(r->header->exe));
	hi_json_end(json);
	hi_json_number(json, "size", r->size);
	hi_json_text(json, "end", r->end);
	hi_json_number(json, "damaged", r->damaged);
	hi_json_number(json, "lost", r->lost);
	hi_json_number(json, "torn", r->torn);
	if (r->of) {
		hi_json_number(json, "census", r->of->number);
		json_types(r, json);
	}
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_rows; i++)
		if (!r->of || &r->rows[i] == r->of)
			put_census_point_json(&r->rows[i], json);
	hi_json_end(json);
	if (!r->of)
		json_marks(r, json);
	hi_json_end(json);
}
