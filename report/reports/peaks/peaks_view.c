/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of peaks_report.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/address.h"
#include "report/parts/report_links.h"
#include "report/pictures/curve_text.h"
#include "report/pictures/picture.h"
#include "report/reports/peaks/peaks_report.h"

static const char *after_of_peak(uint64_t wall_ns, char out[24])
{
	return wall_ns ? hi_text_duration(out, wall_ns) : "0 s";
}

static bool names_heap(const struct hi_peak *p)
{
	return !p->is_damaged && p->detail != HI_PEAK_TOTALS;
}

const char *hi_peak_title(const struct hi_peaks_report *r, size_t peak,
			  struct hi_page *page)
{
	const struct hi_peak *p = &r->peaks[peak];
	char time[24];

	return hi_page_printf(page, "Peak %c: census %u, after %s", hi_curve_label(peak),
			      p->point.census, after_of_peak(p->point.wall_ns, time));
}

/* Its heap; without its objects in the file, its totals by type. */
static const char *address_of_peak(const struct hi_peak *p, struct hi_page *page)
{
	return hi_address_in_census(page, names_heap(p) ? "summary" : "snapshots",
				    p->point.census);
}

/* ---- fields of a row ---- */

enum { BY_FUNCTION = 1 << HI_PEAK_OBJECTS };

static struct hi_doc_value function_of_peak_row(const struct hi_doc_row *row)
{
	const struct hi_peak_row *of = row->row;
	struct hi_doc_value value =
		of->function ? hi_doc_text(of->function) : hi_doc_none();

	if (!of->function || !*of->function)
		value.shown = of->function ? "(no stack)" : "(older than the recording)";
	return value;
}

static const char *address_in_peak(const struct hi_doc_row *row, const char *address)
{
	const struct hi_peak *p = row->report;

	return names_heap(p)
		       ? hi_address_with(row->page, address, "census",
					 hi_page_printf(row->page, "%u", p->point.census))
		       : "";
}

static const char *link_to_peak_site(const struct hi_doc_row *row)
{
	const struct hi_peak_row *of = row->row;

	return of->function ? address_in_peak(row, hi_address_of_site(row->page, "census",
								      of->function))
			    : "";
}

static struct hi_doc_value type_of_peak_row(const struct hi_doc_row *row)
{
	struct hi_doc_value value =
		hi_doc_text(((const struct hi_peak_row *)row->row)->type);

	if (row->page)
		value.shown =
			*value.text ? hi_page_type(row->page, value.text) : "(unknown)";
	return value;
}

static const char *link_to_peak_type(const struct hi_doc_row *row)
{
	return address_in_peak(
		row, hi_address_of_type(row->page,
					((const struct hi_peak_row *)row->row)->type));
}

static struct hi_doc_value age_of_peak_row(const struct hi_doc_row *row)
{
	const struct hi_peak_row *of = row->row;
	struct hi_doc_value value = hi_doc_number(of->age ? of->age : UINT64_MAX);

	if (row->page)
		value.shown = of->age ? hi_page_printf(row->page, "%u", of->age) : "?";
	return value;
}

static struct hi_doc_value text_or_none(const char *text)
{
	return text ? hi_doc_text(text) : hi_doc_none();
}

static struct hi_doc_value file_of_peak_row(const struct hi_doc_row *row)
{
	return text_or_none(((const struct hi_peak_row *)row->row)->file);
}

static struct hi_doc_value module_of_peak_row(const struct hi_doc_row *row)
{
	return text_or_none(((const struct hi_peak_row *)row->row)->module);
}

static struct hi_doc_value share_of_peak_row(const struct hi_doc_row *row)
{
	const struct hi_peak *p = row->report;

	return hi_doc_part(((const struct hi_peak_row *)row->row)->bytes, p->bytes);
}

#define OR_NULL .schema = "\"type\": [\"string\", \"null\"]"
static const struct hi_doc_field row_fields[] = {
	{"function", "function", HI_DOC_TEXT, .value = function_of_peak_row,
	 .variants = BY_FUNCTION, .link = link_to_peak_site, OR_NULL,
	 .meaning = "the innermost that is no allocator; empty: no stack; null: older "
		    "than the recording"},
	{"file", NULL, HI_DOC_TEXT, .value = file_of_peak_row, .variants = BY_FUNCTION,
	 OR_NULL, .meaning = "of the source"},
	{"module", NULL, HI_DOC_TEXT, .value = module_of_peak_row,
	 .variants = BY_FUNCTION, OR_NULL, .meaning = "the file with its code"},
	{"type", "type", HI_DOC_TEXT, .value = type_of_peak_row,
	 .link = link_to_peak_type, .meaning = "empty: unknown"},
	{"age", "age", HI_DOC_FIGURE, .value = age_of_peak_row, .variants = BY_FUNCTION,
	 .nullable = true, .least = 1,
	 .meaning = "censuses of the file that found it, this one included; null: "
		    "unknown"},
	{"objects", "objects", HI_DOC_COUNT, HI_AT(struct hi_peak_row, objects)},
	{"bytes", "bytes", HI_DOC_BYTES, HI_AT(struct hi_peak_row, bytes)},
	{NULL, "share", HI_DOC_SHARE, .value = share_of_peak_row},
};
const struct hi_doc_fields hi_peak_row_fields =
	HI_DOC_FIELDS(row_fields, .row_size = sizeof(struct hi_peak_row));

/* ---- one peak ---- */

static void note_detail(const struct hi_peak *p, struct hi_page *page)
{
	char bytes[24], n[32];

	if (p->is_damaged)
		hi_page_warning(page, "by type: its objects in the file are damaged");
	else if (p->detail == HI_PEAK_TOTALS)
		hi_page_note(page,
			     hi_page_printf(page,
					    "by type: the file has no objects of census "
					    "%u (--full peaks:K keeps them)",
					    p->point.census));
	else if (p->detail == HI_PEAK_TYPES)
		hi_page_note(page, "by type: nothing is known of functions and ages, as "
				   "no recording is in the file (record --every)");
	else
		hi_page_note(
			page,
			hi_page_printf(page,
				       "%s%s in %s objects were not freed. Age N: N "
				       "censuses of the file found it, this one included",
				       p->sample_bytes ? "about " : "",
				       hi_bytes(bytes, p->bytes),
				       hi_count(n, p->in_objects)));
	if (p->detail == HI_PEAK_OBJECTS && p->sample_bytes)
		hi_page_note(page,
			     hi_page_printf(page,
					    "sampled every %s on average: figures are "
					    "estimates",
					    hi_bytes(bytes, p->sample_bytes)));
}

void hi_peak_display(const struct hi_peak *p, struct hi_page *page)
{
	struct hi_hidden hidden = {};
	char bytes[24], n[32];

	hi_doc_show_rows(page, &hi_peak_row_fields, p, 1u << p->detail, p->rows,
			 p->n_shown);
	for (size_t i = p->n_shown; i < p->n_rows; i++)
		hi_hidden_add(&hidden, p->rows[i].bytes);
	if (hidden.rows)
		hi_page_note(page, hi_page_printf(page, "%s more (%s; --all)",
						  hi_count(n, hidden.rows),
						  hi_bytes(bytes, hidden.bytes)));
	note_detail(p, page);
}

/* ---- all of them ---- */

static const struct hi_peak *top_of(const struct hi_peaks_report *r)
{
	size_t i = 0;

	while (i + 1 < r->n_peaks && !r->peaks[i].is_top)
		i++;
	return &r->peaks[i];
}

void hi_peaks_display_facts(const struct hi_peaks_report *r, struct hi_page *page)
{
	const struct hi_peak *top = top_of(r);
	char bytes[24], time[24];

	hi_page_fact(page, "maximum",
		     hi_page_printf(page, "%s live in census %u, after %s",
				    hi_bytes(bytes, top->point.bytes), top->point.census,
				    after_of_peak(top->point.wall_ns, time)));
	hi_page_link(page, address_of_peak(top, page));
	hi_page_fact(page, "peaks",
		     r->n_peaks == 1
			     ? "no other: nowhere else live bytes fall by 5 % on both "
			       "sides"
			     : hi_page_printf(page,
					      "%zu more, from which live bytes fall by "
					      "5 %% on both sides%s",
					      r->n_peaks - 1,
					      r->n_peaks - 1 == r->asked
						      ? "; there may be others (--peaks)"
						      : ""));
	if (r->n_points == 1)
		hi_page_note(page, "the file has one census: there is no curve");
	if (r->damaged || r->lost)
		hi_page_warning(page,
				hi_page_printf(page,
					       "the file is damaged: %s between its "
					       "censuses, %" PRIu64 " parts are missing",
					       hi_bytes(bytes, r->damaged), r->lost));
}

static void show_peaks_curve(const struct hi_peaks_report *r, unsigned width,
			     struct hi_page *page)
{
	struct hi_curve_point *points =
		hi_arena_alloc(&page->arena, (r->n_points + 1) * sizeof(*points));
	size_t *marks = hi_arena_alloc(&page->arena, (r->n_peaks + 1) * sizeof(*marks));

	if (!points || !marks) {
		page->failed = true;
		return;
	}
	for (size_t i = 0, k = 0; i < r->n_points; i++) {
		points[i] =
			(struct hi_curve_point){r->points[i].wall_ns, r->points[i].bytes};
		if (k < r->n_peaks && r->peaks[k].point.census == r->points[i].census)
			marks[k++] = i;
	}
	hi_page_blank(page);
	hi_curve_display(points, r->n_points, marks, r->n_peaks, width, page);
}

/* The curve as one band; each peak leads to its census. */
static void add_peaks_picture(const struct hi_peaks_report *r, struct hi_page *page)
{
	double *times = hi_arena_alloc(&page->arena, r->n_points * sizeof(*times));
	double *bytes = hi_arena_alloc(&page->arena, r->n_points * sizeof(*bytes));
	struct hi_page_picture *picture =
		hi_page_picture(page, HI_PAGE_BANDS, "Live bytes over time",
				"A numbered point is a peak, and leads to what was live "
				"there; below is what is known of it.");

	if (!times || !bytes) {
		page->failed = true;
		return;
	}
	for (size_t i = 0; i < r->n_points; i++) {
		times[i] = (double)r->points[i].wall_ns / 1e9;
		bytes[i] = (double)r->points[i].bytes;
	}
	hi_page_picture_times(picture, times, r->n_points, "seconds");
	hi_page_band(picture, &(struct hi_page_band){.label = "live",
						     .title = "live bytes",
						     .values = bytes});
	for (size_t i = 0; i < r->n_peaks; i++)
		hi_page_picture_mark(
			picture,
			&(struct hi_page_mark){
				.time = (double)r->peaks[i].point.wall_ns / 1e9,
				.value = (double)r->peaks[i].point.bytes,
				.label = hi_page_printf(page, "%c", hi_curve_label(i)),
				.title = hi_peak_title(r, i, page),
				.link = hi_address_with(
					page, hi_address(page, "census", NULL), "census",
					hi_page_printf(page, "%u",
						       r->peaks[i].point.census))});
}

void hi_peaks_display(const struct hi_peaks_report *r, unsigned width,
		      struct hi_page *page)
{
	const char *slash = strrchr(r->exe, '/');
	size_t curve;
	char time[24], bytes[24];

	hi_page_title(
		page,
		hi_page_printf(page, "%s, pid %d",
			       hi_page_safe(page, slash ? slash + 1 : r->exe), r->pid),
		hi_page_printf(page, "%zu census%s in %s", r->n_points,
			       r->n_points == 1 ? "" : "es",
			       after_of_peak(r->points[r->n_points - 1].wall_ns, time)));
	hi_peaks_display_facts(r, page);
	curve = page->items.count;
	if (r->n_points > 1) {
		show_peaks_curve(r, width, page);
		hi_page_only_text(page, curve);
		add_peaks_picture(r, page);
	}
	for (size_t i = 0; i < r->n_peaks; i++) {
		const struct hi_peak *p = &r->peaks[i];

		hi_page_heading(page, hi_peak_title(r, i, page),
				hi_page_printf(page, "%s live%s",
					       hi_bytes(bytes, p->point.bytes),
					       p->is_top ? ", the maximum" : ""));
		hi_page_link(page, address_of_peak(p, page));
		hi_peak_display(p, page);
	}
}
