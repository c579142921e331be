/* SPDX-License-Identifier: BSD-2-Clause */
/* Described fields write what the writers before them wrote, byte for byte, for drawn
 * peaks and areas. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/parts/report_links.h"
#include "report/pictures/curve_text.h"
#include "report/reports/peaks/peaks_report.h"
#include "report/reports/spacetime/spacetime_report.h"
#include "tests/report/sample.h"
#include "tests/support/golden.h"

enum { DRAWN_ROWS = 14, TURNS = 300 };

static uint64_t set_state = 1;

static uint64_t set_draw(uint64_t below)
{
	set_state = set_state * 6364136223846793005ull + 1442695040888963407ull;
	return (set_state >> 33) % below;
}
/* Small, large or unknown. */
static uint64_t set_draw_size(bool may_be_unknown)
{
	switch (set_draw(may_be_unknown ? 4 : 3)) {
	case 0:
		return set_draw(3);
	case 1:
		return set_draw(100000);
	case 2:
		return set_draw(1u << 31) << set_draw(20);
	default:
		return UINT64_MAX;
	}
}

typedef void (*set_json_writer)(const void *report, struct hi_json *json);
typedef void (*set_page_writer)(const void *report, struct hi_page *page);

static char *set_written_json(set_json_writer write, const void *report)
{
	struct hi_json json;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	hi_json_init(&json, out);
	write(report, &json);
	HI_ASSERT(hi_json_finish(&json));
	fclose(out);
	return text;
}

/* All cells with their links, and the text of all items. */
static char *set_written_page(set_page_writer write, const void *report)
{
	struct hi_page *page = hi_page_create();
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	write(report, page);
	HI_ASSERT(!page->failed);
	for (size_t i = 0; i < page->items.count; i++) {
		const struct hi_item *item = &page->items.items[i];
		const struct hi_report_table *t = item->table;

		fprintf(out, "%d %s %s %s\n", (int)item->kind, item->text, item->aside,
			item->link);
		for (size_t c = 0; t && c < t->n_columns; c++)
			fprintf(out, "%s (%d) ", t->columns[c].title,
				(int)t->columns[c].kind);
		for (size_t c = 0; t && c < t->cells.count; c++) {
			const struct hi_cell *cell = &t->cells.items[c];
			enum hi_column_kind kind = t->columns[c % t->n_columns].kind;
			bool is_text = kind == HI_COLUMN_TEXT || kind == HI_COLUMN_WORD ||
				       kind == HI_COLUMN_FIGURE ||
				       kind == HI_COLUMN_MINOR_FIGURE;

			fprintf(out, "%s[%d %d %d %d %lu %s %lu %s]",
				c % t->n_columns ? "" : "\n", (int)cell->state,
				cell->at_least, cell->negative, cell->indent,
				cell->number, cell->link,
				kind == HI_COLUMN_PERCENT ? cell->whole : 0,
				is_text && cell->state == HI_CELL_VALUE ? cell->text
									: "");
		}
		for (size_t c = 0; t && c < t->strong.count; c++)
			fprintf(out, " strong %zu", t->strong.items[c]);
	}
	fclose(out);
	hi_page_destroy(page);
	return text;
}

static void set_expect_equal(const char *a, const char *b)
{
	char *difference = hi_golden_difference(a, b);

	HI_ASSERT_STREQ("", difference);
	free(difference);
}

static const char *detail_word(enum hi_peak_detail detail)
{
	static const char *const words[] = {[HI_PEAK_TOTALS] = "totals",
					    [HI_PEAK_TYPES] = "types",
					    [HI_PEAK_OBJECTS] = "functions"};

	return words[detail];
}

static void put_peak_row(struct hi_json *json, const struct hi_peak_row *row,
			 enum hi_peak_detail detail)
{
	hi_json_object(json, NULL);
	if (detail == HI_PEAK_OBJECTS) {
		hi_json_text(json, "function", row->function);
		hi_json_text(json, "file", row->file);
		hi_json_text(json, "module", row->module);
	}
	hi_json_text(json, "type", row->type);
	if (detail == HI_PEAK_OBJECTS)
		hi_json_number(json, "age", row->age ? row->age : UINT64_MAX);
	hi_json_number(json, "objects", row->objects);
	hi_json_number(json, "bytes", row->bytes);
	hi_json_end(json);
}

static void put_hidden_of_peak(struct hi_json *json, const struct hi_peak *peak)
{
	struct hi_hidden hidden = {};

	for (size_t i = peak->n_shown; i < peak->n_rows; i++)
		hi_hidden_add(&hidden, peak->rows[i].bytes);
	hi_json_object(json, "hidden");
	hi_json_number(json, "rows", hidden.rows);
	hi_json_number(json, "bytes", hidden.bytes);
	hi_json_end(json);
}

static void put_peak(struct hi_json *json, const struct hi_peak *peak)
{
	hi_json_object(json, NULL);
	hi_json_number(json, "census", peak->point.census);
	hi_json_number(json, "at_ns", peak->point.wall_ns);
	hi_json_number(json, "time_ns", peak->time_ns);
	hi_json_number(json, "bytes", peak->point.bytes);
	hi_json_number(json, "objects", peak->objects);
	hi_json_bool(json, "global_maximum", peak->is_top);
	hi_json_text(json, "detail", detail_word(peak->detail));
	hi_json_bool(json, "damaged", peak->is_damaged);
	hi_json_number(json, "sample_bytes", peak->sample_bytes);
	hi_json_object(json, "total");
	hi_json_number(json, "objects", peak->in_objects);
	hi_json_number(json, "bytes", peak->bytes);
	hi_json_end(json);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < peak->n_shown; i++)
		put_peak_row(json, &peak->rows[i], peak->detail);
	hi_json_end(json);
	put_hidden_of_peak(json, peak);
	hi_json_end(json);
}

static void old_peaks_json(const struct hi_peaks_report *r, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", "heapinspect/peaks/v1");
	hi_json_object(json, "target");
	hi_json_number(json, "pid", (uint64_t)r->pid);
	hi_json_text(json, "exe", r->exe);
	hi_json_end(json);
	hi_json_text(json, "file", r->file);
	hi_json_number(json, "damaged", r->damaged);
	hi_json_number(json, "lost", r->lost);
	hi_json_array(json, "censuses");
	for (size_t i = 0; i < r->n_points; i++) {
		hi_json_object(json, NULL);
		hi_json_number(json, "census", r->points[i].census);
		hi_json_number(json, "at_ns", r->points[i].wall_ns);
		hi_json_number(json, "bytes", r->points[i].bytes);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_array(json, "peaks");
	for (size_t i = 0; i < r->n_peaks; i++)
		put_peak(json, &r->peaks[i]);
	hi_json_end(json);
	hi_json_end(json);
}

/* Without rounding: as text, since readers of JSON take numbers for doubles. */
static void put_area(struct hi_json *json, const struct hi_area *area)
{
	char text[HI_AREA_TEXT];

	hi_json_text(json, "byte_seconds", hi_area_decimal(text, area));
}

static void put_spacetime_band(struct hi_json *json, const struct hi_spacetime_band *b)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "name", b->name);
	put_area(json, &b->area);
	hi_json_number(json, "mean", b->mean);
	hi_json_number(json, "most", b->most);
	hi_json_number(json, "last", b->last);
	hi_json_number(json, "censuses", b->samples);
	hi_json_end(json);
}

static void put_hidden_bands(struct hi_json *json, const struct hi_spacetime_report *r)
{
	struct hi_area area = {};

	for (size_t i = r->n_shown; i < r->n_bands; i++)
		hi_area_sum(&area, &r->bands[i].area);
	hi_json_object(json, "hidden");
	hi_json_number(json, "bands", r->n_bands - r->n_shown);
	put_area(json, &area);
	hi_json_end(json);
}

static void old_spacetime_json(const struct hi_spacetime_report *r, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", "heapinspect/spacetime/v1");
	hi_json_text(json, "file", r->file);
	hi_json_text(json, "by", r->by);
	hi_json_number(json, "lasted_ns", r->duration_ns);
	hi_json_number(json, "left_out_censuses", r->left_out);
	hi_json_number(json, "damaged", r->damaged);
	hi_json_number(json, "lost", r->lost);
	hi_json_array(json, "censuses");
	for (size_t i = 0; i < r->series->n_samples; i++) {
		hi_json_object(json, NULL);
		hi_json_number(json, "at_ns", r->times_ns[i]);
		hi_json_number(json, "bytes", r->totals[i]);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_object(json, "total");
	put_area(json, &r->total);
	hi_json_number(json, "mean", r->mean);
	hi_json_number(json, "most", r->most);
	hi_json_end(json);
	hi_json_array(json, "bands");
	for (size_t i = 0; i < r->n_shown; i++)
		put_spacetime_band(json, &r->bands[i]);
	hi_json_end(json);
	put_hidden_bands(json, r);
	hi_json_end(json);
}
static bool names_heap(const struct hi_peak *p)
{
	return !p->is_damaged && p->detail != HI_PEAK_TOTALS;
}
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
static void old_peaks_j(const void *r, struct hi_json *json)
{
	old_peaks_json(r, json);
}

static void new_peaks_j(const void *r, struct hi_json *json)
{
	hi_peaks_json(r, json);
}
static void old_spacetime_j(const void *r, struct hi_json *json)
{
	old_spacetime_json(r, json);
}
static void new_spacetime_j(const void *r, struct hi_json *json)
{
	hi_spacetime_json(r, json);
}
static void old_peak_p(const void *r, struct hi_page *page)
{
	const struct hi_peak *p = r;

	if (p->detail == HI_PEAK_OBJECTS)
		show_peak_by_function(p, page);
	else
		show_peak_by_type(p, page);
}
static void new_peak_p(const void *r, struct hi_page *page)
{
	const struct hi_peak *p = r;

	hi_doc_show_rows(page, &hi_peak_row_fields, p, 1u << p->detail, p->rows,
			 p->n_shown);
}

static const char *draw_name(void)
{
	static const char *const names[] = {"", "main", SAMPLE_HOSTILE, NULL};

	return names[set_draw(4)];
}

static void draw_peak(struct hi_peak *p, struct hi_peak_row rows[DRAWN_ROWS])
{
	*p = (struct hi_peak){.point = {1 + (uint32_t)set_draw(9), set_draw_size(false),
					set_draw_size(false)},
			      .time_ns = set_draw_size(false),
			      .objects = set_draw_size(true),
			      .is_top = set_draw(2),
			      .is_damaged = set_draw(2),
			      .detail = (enum hi_peak_detail)set_draw(3),
			      .sample_bytes = set_draw(3),
			      .rows = rows,
			      .n_rows = set_draw(DRAWN_ROWS + 1),
			      .bytes = set_draw_size(false),
			      .in_objects = set_draw_size(false)};
	p->n_shown = p->n_rows;
	for (unsigned i = 0; i < DRAWN_ROWS; i++)
		rows[i] = (struct hi_peak_row){
			draw_name(),
			draw_name(),
			draw_name(),
			sample_type((uint32_t)set_draw(SAMPLE_TYPES)),
			(uint32_t)set_draw(3),
			set_draw_size(false),
			set_draw_size(false)};
}

static void expect_equal_texts(char *a, char *b)
{
	set_expect_equal(a, b);
	free(a);
	free(b);
}

HI_TEST(time_same, peaks)
{
	static struct hi_peak_row rows[3][DRAWN_ROWS];
	struct hi_peaks_point points[] = {{1, 0, 10}, {2, 7, 20}, {3, 9, 5}};

	for (unsigned turn = 0; turn < TURNS; turn++) {
		struct hi_peak peaks[3];
		struct hi_peaks_report r = {.pid = 7,
					    .exe = SAMPLE_HOSTILE,
					    .file = "f",
					    .damaged = set_draw_size(false),
					    .lost = set_draw(3),
					    .points = points,
					    .n_points = 1 + set_draw(3),
					    .peaks = peaks,
					    .n_peaks = 1 + set_draw(3)};

		for (unsigned i = 0; i < 3; i++) {
			draw_peak(&peaks[i], rows[i]);
			expect_equal_texts(set_written_page(old_peak_p, &peaks[i]),
					   set_written_page(new_peak_p, &peaks[i]));
			peaks[i].n_shown = set_draw(peaks[i].n_rows + 1);
		}
		expect_equal_texts(set_written_json(old_peaks_j, &r),
				   set_written_json(new_peaks_j, &r));
	}
}

static unsigned __int128 draw_size_of_area(void)
{
	return ((unsigned __int128)set_draw(3) << 70) + set_draw_size(false);
}

HI_TEST(time_same, spacetime)
{
	static const char *const by[] = {"type", "function", "retainer"};

	for (unsigned turn = 0; turn < TURNS; turn++) {
		struct hi_spacetime_band bands[DRAWN_ROWS];
		uint64_t times[] = {0, 1000, 5000}, totals[] = {1, 1u << 30, 7};
		double seconds[] = {0, 1e-6, 5e-6};
		size_t starts[] = {0, 0, 0, 0};
		struct hi_hp_series series = {.job = (char *)(uintptr_t) "job",
					      .times = seconds,
					      .n_samples = 1 + set_draw(3),
					      .starts = starts};
		struct hi_spacetime_report r = {.file = "f",
						.by = by[set_draw(3)],
						.series = &series,
						.times_ns = times,
						.totals = totals,
						.left_out = set_draw(3),
						.damaged = set_draw_size(false),
						.lost = set_draw(4),
						.total = {draw_size_of_area()},
						.mean = set_draw_size(false),
						.most = set_draw_size(false),
						.bands = bands,
						.n_bands = set_draw(DRAWN_ROWS + 1),
						.is_type = set_draw(2)};

		for (unsigned i = 0; i < DRAWN_ROWS; i++)
			bands[i] = (struct hi_spacetime_band){
				.name = sample_type((uint32_t)set_draw(SAMPLE_TYPES)),
				.id = i,
				.area = {draw_size_of_area()},
				.mean = set_draw_size(false),
				.most = set_draw_size(false),
				.last = set_draw_size(false),
				.samples = set_draw(4)};
		r.n_shown = set_draw(r.n_bands + 1);
		r.hidden.bands = r.n_bands - r.n_shown;
		for (size_t i = r.n_shown; i < r.n_bands; i++)
			hi_area_sum(&r.hidden.area, &r.bands[i].area);
		expect_equal_texts(set_written_json(old_spacetime_j, &r),
				   set_written_json(new_spacetime_j, &r));
	}
}
