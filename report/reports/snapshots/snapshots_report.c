/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/snapshots/snapshots_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/report_links.h"

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

void hi_snapshots_display(const struct hi_snapshots_report *r, struct hi_page *page)
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

void hi_snapshots_json(const struct hi_snapshots_report *r, struct hi_json *json)
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
