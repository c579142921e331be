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

/* ---- one peak ---- */

static const char *peak_function_text(const struct hi_peak_row *row, struct hi_page *page)
{
	return !row->function	? "(older than the recording)"
	       : *row->function ? hi_page_safe(page, row->function)
				: "(no stack)";
}

static const char *address_of_peak_type(const struct hi_peak *p,
					const struct hi_peak_row *row,
					struct hi_page *page)
{
	if (!names_heap(p))
		return "";
	return hi_address_with(page, hi_address_of_type(page, row->type), "census",
			       hi_page_printf(page, "%u", p->point.census));
}

static const char *address_of_peak_site(const struct hi_peak *p,
					const struct hi_peak_row *row,
					struct hi_page *page)
{
	if (!names_heap(p))
		return "";
	return hi_address_with(page, hi_address_of_site(page, "census", row->function),
			       "census", hi_page_printf(page, "%u", p->point.census));
}

static const char *peak_type_text(const struct hi_peak_row *row, struct hi_page *page)
{
	return *row->type ? hi_page_type(page, row->type) : "(unknown)";
}

static void show_peak_by_type(const struct hi_peak *p, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"type", HI_COLUMN_TEXT},
						   {"objects", HI_COLUMN_COUNT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"share", HI_COLUMN_PERCENT}};
	struct hi_report_table *t = hi_page_table(page, columns, 4);

	for (size_t i = 0; i < p->n_shown; i++) {
		hi_cell_text(t, peak_type_text(&p->rows[i], page), 0);
		hi_cell_link(t, address_of_peak_type(p, &p->rows[i], page));
		hi_cell_number(t, p->rows[i].objects);
		hi_cell_number(t, p->rows[i].bytes);
		hi_cell_percent(t, p->rows[i].bytes, p->bytes);
	}
}

static void show_peak_by_function(const struct hi_peak *p, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"function", HI_COLUMN_TEXT}, {"type", HI_COLUMN_TEXT},
		{"age", HI_COLUMN_FIGURE},    {"objects", HI_COLUMN_COUNT},
		{"bytes", HI_COLUMN_BYTES},   {"share", HI_COLUMN_PERCENT}};
	struct hi_report_table *t = hi_page_table(page, columns, 6);

	for (size_t i = 0; i < p->n_shown; i++) {
		const struct hi_peak_row *row = &p->rows[i];

		hi_cell_text(t, peak_function_text(row, page), 0);
		if (row->function)
			hi_cell_link(t, address_of_peak_site(p, row, page));
		hi_cell_text(t, peak_type_text(row, page), 0);
		hi_cell_link(t, address_of_peak_type(p, row, page));
		hi_cell_text(t, row->age ? hi_page_printf(page, "%u", row->age) : "?", 0);
		hi_cell_number(t, row->objects);
		hi_cell_number(t, row->bytes);
		hi_cell_percent(t, row->bytes, p->bytes);
	}
}

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

	if (p->detail == HI_PEAK_OBJECTS)
		show_peak_by_function(p, page);
	else
		show_peak_by_type(p, page);
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
