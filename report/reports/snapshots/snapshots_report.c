/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/snapshots/snapshots_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/report_links.h"

enum { TREND_SHOWN = 8 };

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

/* Parts of a census in the file: its heap, or the totals by type. */
static const char *address_of_census(const struct hi_snapshots_row *row,
				     struct hi_page *page)
{
	return hi_address_in_census(page, row->graph ? "summary" : "snapshots",
				    row->number);
}

/* ---- fields ---- */

enum { ALL = 1, ONE = 2 }; /* censuses; --census */

/* The time since the first census as pages show it. */
static struct hi_doc_value time_value(uint64_t wall_ns, struct hi_page *page)
{
	struct hi_doc_value value = hi_doc_number(wall_ns);

	if (page)
		value.shown = time_text(wall_ns, page);
	return value;
}

static struct hi_doc_value time_of_census_row(const struct hi_doc_row *row)
{
	const struct hi_snapshots_row *census = row->row;

	return time_value(census->wall_ns, row->page);
}

static struct hi_doc_value graph_of_census(const struct hi_doc_row *row)
{
	const struct hi_snapshots_row *census = row->row;

	return census->graph ? hi_doc_number(census->graph) : hi_doc_none();
}

static const char *link_to_census(const struct hi_doc_row *row)
{
	return address_of_census(row->row, row->page);
}
static const char *link_to_census_types(const struct hi_doc_row *row)
{
	const struct hi_snapshots_row *census = row->row;

	return hi_address_in_census(row->page, census->graph ? "census" : "snapshots",
				    census->number);
}
static const char *link_to_census_leaks(const struct hi_doc_row *row)
{
	const struct hi_snapshots_row *census = row->row;

	return census->graph ? hi_address_in_census(row->page, "leaks", census->number)
			     : "";
}

static bool is_highest_census(const struct hi_doc_row *row)
{
	return row->row == find_highest_census(row->report);
}
static bool is_other_census(const struct hi_doc_row *row)
{
	const struct hi_snapshots_report *r = row->report;

	return r->of && row->row != r->of;
}

static const struct hi_doc_field census_fields[] = {
	{"census", "census", HI_DOC_COUNT, HI_AT(struct hi_snapshots_row, number),
	 .least = 1, .link = link_to_census},
	{"time_ns", NULL, HI_DOC_TIME, HI_AT(struct hi_snapshots_row, time_ns),
	 .nullable = true, .meaning = "since 1970"},
	{"wall_ns", "after", HI_DOC_TIME, .value = time_of_census_row,
	 .meaning = "since the first"},
	{"cpu_ns", NULL, HI_DOC_TIME, HI_AT(struct hi_snapshots_row, cpu_ns),
	 .meaning = "of the target, since the first"},
	{"pause_ns", "paused", HI_DOC_TIME, HI_AT(struct hi_snapshots_row, pause_ns),
	 .place = 1, .nullable = true},
	{"bytes", "live", HI_DOC_BYTES, HI_AT(struct hi_snapshots_row, bytes),
	 .nullable = true, .link = link_to_census_types, .meaning = "live"},
	{"objects", "objects", HI_DOC_COUNT, HI_AT(struct hi_snapshots_row, objects),
	 .nullable = true},
	{"leaked", "leaked", HI_DOC_BYTES,
	 HI_AT(struct hi_snapshots_row, leaks.certain.bytes), .nullable = true,
	 .link = link_to_census_leaks,
	 .meaning = "bytes: certain leaks, without garbage; null: unknown"},
	{"likely", "likely leaked", HI_DOC_BYTES,
	 HI_AT(struct hi_snapshots_row, leaks.likely.bytes), .minor = true,
	 .nullable = true,
	 .meaning = "bytes: only words that are no pointers by their types lead there"},
	{"garbage", "garbage", HI_DOC_BYTES,
	 HI_AT(struct hi_snapshots_row, leaks.garbage.bytes), .minor = true,
	 .nullable = true, .meaning = "bytes: the next collection takes them"},
	{"uncollectable", NULL, HI_DOC_BYTES,
	 HI_AT(struct hi_snapshots_row, leaks.uncollectable.bytes), .nullable = true,
	 .meaning = "bytes: the collector cannot take them"},
	{"lost", NULL, HI_DOC_BYTES, HI_AT(struct hi_snapshots_row, leaks.lost.bytes),
	 .nullable = true, .meaning = "bytes: lost references hold them"},
	{"graph", "graph", HI_DOC_BYTES, .value = graph_of_census, .place = 1,
	 .minor = true, .nullable = true,
	 .meaning = "its bytes in the file; null: there are only sums"},
};
static const struct hi_doc_fields censuses =
	HI_DOC_FIELDS(census_fields, .row_size = sizeof(struct hi_snapshots_row),
		      .is_strong = is_highest_census, .is_left_out = is_other_census);

static struct hi_doc_value census_of_mark(const struct hi_doc_row *row)
{
	const struct hi_snapshots_mark_line *mark = row->row;

	return mark->census ? hi_doc_number(mark->census) : hi_doc_none();
}
static struct hi_doc_value time_of_mark(const struct hi_doc_row *row)
{
	const struct hi_snapshots_mark_line *mark = row->row;

	return time_value(mark->wall_ns, row->page);
}
static const char *link_to_mark(const struct hi_doc_row *row)
{
	const struct hi_snapshots_mark_line *mark = row->row;

	return hi_address_in_census(row->page, "snapshots", mark->census);
}

static const struct hi_doc_field mark_fields[] = {
	{"census", "census", HI_DOC_COUNT, .value = census_of_mark, .least = 1,
	 .nullable = true, .link = link_to_mark,
	 .meaning = "the last one before it; null: there was none yet"},
	{"wall_ns", "after", HI_DOC_TIME, .value = time_of_mark,
	 .meaning = "since the first census"},
	{"cpu_ns", NULL, HI_DOC_TIME, HI_AT(struct hi_snapshots_mark_line, cpu_ns),
	 .meaning = "of the target, since the first census"},
	{"text", "mark", HI_DOC_TEXT, HI_AT(struct hi_snapshots_mark_line, text)},
};
static const struct hi_doc_fields marks =
	HI_DOC_FIELDS(mark_fields, .row_size = sizeof(struct hi_snapshots_mark_line));

static const char *link_to_type_then(const struct hi_doc_row *row)
{
	const struct hi_snapshots_report *r = row->report;
	const struct hi_snapshots_type *type = row->row;

	return r->of->graph
		       ? hi_address_with(
				 row->page, hi_address_of_any_type(row->page, type->name),
				 "census",
				 hi_page_printf(row->page, "%" PRIu64, r->of->number))
		       : "";
}

static const struct hi_doc_field type_fields[] = {
	{"type", "type", HI_DOC_TYPE, HI_AT(struct hi_snapshots_type, name), .place = 3,
	 .nullable = true, .link = link_to_type_then},
	{"module", NULL, HI_DOC_TEXT, HI_AT(struct hi_snapshots_type, module),
	 .nullable = true},
	{"count", "objects", HI_DOC_COUNT, HI_AT(struct hi_snapshots_type, objects),
	 .place = 1},
	{"shallow", "live", HI_DOC_BYTES, HI_AT(struct hi_snapshots_type, bytes),
	 .meaning = "bytes"},
	{"retained", "retained", HI_DOC_BYTES, HI_AT(struct hi_snapshots_type, retained),
	 .place = 2, .at_least = true, .meaning = "a lower bound"},
};
static const struct hi_doc_fields types =
	HI_DOC_FIELDS(type_fields, .row_size = sizeof(struct hi_snapshots_type));

static struct hi_doc_value pid_of_file(const struct hi_doc_row *row)
{
	const struct hi_report_header *header = row->row;

	return header->pid > 0 ? hi_doc_number((uint64_t)header->pid) : hi_doc_none();
}
static const struct hi_doc_field file_target_fields[] = {
	{"pid", NULL, HI_DOC_COUNT, .value = pid_of_file, .least = 1, .nullable = true},
	{"exe", NULL, HI_DOC_TEXT, HI_AT(struct hi_report_header, exe), .nullable = true},
};
static const struct hi_doc_fields file_target = HI_DOC_FIELDS(file_target_fields);

static struct hi_doc_value number_of_census(const struct hi_doc_row *row)
{
	return hi_doc_number(((const struct hi_snapshots_report *)row->row)->of->number);
}
static struct hi_doc_value count_hidden_types(const struct hi_doc_row *row)
{
	const struct hi_snapshots_report *r = row->row;

	return hi_doc_number(r->n_types - r->shown);
}

static struct hi_doc_value trend_of_file(const struct hi_doc_row *row)
{
	const struct hi_snapshots_report *r = row->report;

	return r->trend ? hi_doc_nested(r->trend, 1) : hi_doc_none();
}

static const struct hi_doc_field snapshots_fields[] = {
	{"target", NULL, HI_DOC_OBJECT, HI_AT_POINTER(struct hi_snapshots_report, header),
	 .nested = &file_target},
	{"size", NULL, HI_DOC_BYTES, HI_AT(struct hi_snapshots_report, size),
	 .meaning = "of the file"},
	{"end", NULL, HI_DOC_TEXT, HI_AT(struct hi_snapshots_report, end),
	 .schema = "\"enum\": [\"over\", \"exited\", \"stopped\", \"failed\", \"open\"]",
	 .meaning = "how the series ended; open: still running, or its writer was "
		    "killed"},
	{"damaged", NULL, HI_DOC_BYTES, HI_AT(struct hi_snapshots_report, damaged),
	 .meaning = "bytes between parts that are none"},
	{"lost", NULL, HI_DOC_COUNT, HI_AT(struct hi_snapshots_report, lost),
	 .meaning = "parts that are missing"},
	{"torn", NULL, HI_DOC_BYTES, HI_AT(struct hi_snapshots_report, torn),
	 .meaning = "bytes after the last part"},
	{"census", NULL, HI_DOC_COUNT, .value = number_of_census, .least = 1,
	 .variants = ONE, .may_be_missing = true,
	 .meaning = "with --census: of these types"},
	{"types", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_snapshots_report, types, shown),
	 .nested = &types, .variants = ONE, .may_be_missing = true,
	 .meaning = "with --census: live objects, most bytes first"},
	{"hidden", NULL, HI_DOC_COUNT, .value = count_hidden_types, .variants = ONE,
	 .may_be_missing = true, .meaning = "types; --all"},
	{"rows", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_snapshots_report, rows, n_rows),
	 .nested = &censuses, .meaning = "censuses; with --census that one"},
	{"marks", NULL, HI_DOC_ROWS,
	 HI_AT_ROWS(struct hi_snapshots_report, marks, n_marks), .nested = &marks,
	 .variants = ALL, .may_be_missing = true,
	 .meaning = "of heapinspect mark, while the series ran; not with --census"},
	{"growth", NULL, HI_DOC_OBJECT, .value = trend_of_file,
	 .nested = &hi_trend_fields, .variants = ALL, .optional = true,
	 .may_be_missing = true,
	 .meaning = "from the first census to the last; absent: there is one, or some "
		    "cannot be read"},
};
const struct hi_doc_fields hi_snapshots_document = HI_DOC_FIELDS(
	snapshots_fields,
	.meaning = "The censuses in a snapshot file. Members may be added within v1.");

/* ---- as a page ---- */

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

/* The rate of all that is live, and of the types that grew most. */
static void show_trend(const struct hi_snapshots_report *r, struct hi_page *page)
{
	char text[HI_TREND_TEXT];

	if (!r->trend)
		return;
	hi_page_heading(page, "Growth",
			hi_page_printf(page, "%s",
				       hi_trend_text(text, &r->trend->live.rate,
						     &r->trend->limit)));
	if (*hi_trend_per_hit_text(r->trend, page))
		hi_page_text(page, hi_trend_per_hit_text(r->trend, page));
	hi_trend_show(r->trend, TREND_SHOWN, page);
	if (r->trend->n_rows > TREND_SHOWN)
		hi_page_note(page, hi_page_printf(page, "%zu more types grew",
						  r->trend->n_rows - TREND_SHOWN));
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
		hi_page_heading(page,
				hi_page_printf(page, "Census %" PRIu64, r->of->number),
				"live objects by type");
		hi_doc_show_rows(page, &types, r, ONE, r->types, r->shown);
		if (r->n_types > r->shown)
			hi_page_note(page, hi_page_printf(page, "%zu more with --all",
							  r->n_types - r->shown));
	} else {
		hi_page_blank(page);
		hi_doc_show_rows(page, &censuses, r, ALL, r->rows, r->n_rows);
		if (r->n_marks) {
			hi_page_heading(page, "Marks",
					"each with the last census before it");
			hi_doc_show_rows(page, &marks, r, ALL, r->marks, r->n_marks);
		}
		show_trend(r, page);
	}
	hi_page_blank(page);
	show_commands(r, page);
}

void hi_snapshots_json(const struct hi_snapshots_report *r, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", "heapinspect/snapshots/v1");
	hi_doc_put_report(&hi_snapshots_document, r, r->of ? ONE : ALL, json);
	hi_json_end(json);
}
