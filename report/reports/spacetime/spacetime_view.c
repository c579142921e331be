/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of spacetime_report.h. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/report_links.h"
#include "report/pictures/curve_text.h"
#include "report/reports/spacetime/spacetime_report.h"

enum { LETTERS = 12 }; /* bands that the graph tells apart */

/* "1.5 GiB s": bytes for a second. */
static const char *area_text(struct hi_page *page, const struct hi_area *area)
{
	double bytes = hi_area_byte_seconds(area);
	char text[24];

	if (bytes < 1e18)
		return hi_page_printf(page, "%s s",
				      hi_bytes(text, (uint64_t)(bytes + .5)));
	return hi_page_printf(page, "%.3g B s", bytes);
}

/* Per mille of the whole, since areas may not fit into 64 bits. */
static void add_share(struct hi_report_table *t, const struct hi_area *part,
		      const struct hi_area *whole)
{
	double all = hi_area_byte_seconds(whole);

	hi_cell_percent(
		t, (uint64_t)(all > 0 ? hi_area_byte_seconds(part) / all * 1e12 + .5 : 0),
		all > 0 ? 1000000000000 : 0);
}

static const char *band_text(const struct hi_spacetime_report *r,
			     const struct hi_spacetime_band *b, struct hi_page *page)
{
	if (!*b->name)
		return "(unknown)";
	return r->is_type ? hi_page_type(page, b->name) : hi_page_safe(page, b->name);
}

/* What is gone by the last census has no page, nor has "(leaked)". */
static const char *address_of_band(const struct hi_spacetime_report *r,
				   const struct hi_spacetime_band *b,
				   struct hi_page *page)
{
	if (!b->last || *b->name == '(')
		return "";
	if (strcmp(r->by, "function") == 0)
		return hi_address_of_site(page, "census", b->name);
	return strcmp(r->by, "type") == 0 ? hi_address_of_type(page, b->name) : "";
}

static const char *letter_text(struct hi_page *page, size_t band)
{
	return band < LETTERS ? hi_page_printf(page, "%c", hi_stack_letter(band)) : "";
}

static void show_spacetime_bands(const struct hi_spacetime_report *r,
				 struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"", HI_COLUMN_WORD},		{"band", HI_COLUMN_TEXT},
		{"area", HI_COLUMN_FIGURE},	{"share", HI_COLUMN_PERCENT},
		{"mean", HI_COLUMN_BYTES},	{"most", HI_COLUMN_BYTES},
		{"last", HI_COLUMN_MINOR_BYTES}};
	struct hi_report_table *t = hi_page_table(page, columns, 7);

	for (size_t i = 0; i < r->n_shown; i++) {
		const struct hi_spacetime_band *b = &r->bands[i];

		hi_cell_text(t, letter_text(page, i), 0);
		hi_cell_text(t, band_text(r, b, page), 0);
		hi_cell_link(t, address_of_band(r, b, page));
		hi_cell_text(t, area_text(page, &b->area), 0);
		add_share(t, &b->area, &r->total);
		hi_cell_number(t, b->mean);
		hi_cell_number(t, b->most);
		hi_cell_number(t, b->last);
	}
}

static void note_hidden_bands(const struct hi_spacetime_report *r, struct hi_page *page)
{
	struct hi_area area = {};
	char n[32];

	for (size_t i = r->n_shown; i < r->n_bands; i++)
		hi_area_sum(&area, &r->bands[i].area);
	if (r->n_shown < r->n_bands)
		hi_page_note(page, hi_page_printf(page, "%s more (%s; --all)",
						  hi_count(n, r->n_bands - r->n_shown),
						  area_text(page, &area)));
}

static void show_spacetime_graph(const struct hi_spacetime_report *r, unsigned width,
				 struct hi_page *page)
{
	const struct hi_hp_series *s = r->series;
	size_t *letters =
		hi_arena_alloc(&page->arena, (r->n_bands + 1) * sizeof(*letters));

	if (!letters) {
		page->failed = true;
		return;
	}
	for (size_t i = 0; i < r->n_bands; i++)
		letters[r->bands[i].id] = i < LETTERS ? i : (size_t)LETTERS;
	hi_page_blank(page);
	hi_stack_display(&(struct hi_stack){.times_ns = r->times_ns,
					    .totals = r->totals,
					    .n_samples = s->n_samples,
					    .starts = s->starts,
					    .points = s->points,
					    .letters = letters,
					    .n_letters = LETTERS},
			 width, page);
	hi_page_blank(page);
}

void hi_spacetime_display(const struct hi_spacetime_report *r, unsigned width,
			  struct hi_page *page)
{
	size_t n = r->series->n_samples, graph;
	char time[24], bytes[24], count[32];

	hi_page_title(
		page, hi_page_safe(page, r->series->job),
		hi_page_printf(
			page, "%s census%s in %s", hi_count(count, n), n == 1 ? "" : "es",
			r->duration_ns ? hi_text_duration(time, r->duration_ns) : "0 s"));
	hi_page_fact(page, "area",
		     hi_page_printf(page, "%s in %s band%s: bytes x time",
				    area_text(page, &r->total),
				    hi_count(count, r->n_bands),
				    r->n_bands == 1 ? "" : "s"));
	hi_page_fact(page, "mean", hi_page_printf(page, "%s", hi_bytes(bytes, r->mean)));
	hi_page_fact(page, "most", hi_page_printf(page, "%s", hi_bytes(bytes, r->most)));
	if (r->left_out)
		hi_page_fact(page, "left out",
			     hi_page_printf(page,
					    "%s censuses, of which the file does not "
					    "have what the bands need",
					    hi_count(count, r->left_out)));
	if (r->damaged || r->lost)
		hi_page_warning(page,
				hi_page_printf(page,
					       "the file is damaged: %s between its "
					       "censuses, %s parts are missing",
					       hi_bytes(bytes, r->damaged),
					       hi_count(count, r->lost)));
	graph = page->items.count;
	if (!r->duration_ns) {
		hi_page_note(page, "no time passes: there is no area");
	} else {
		show_spacetime_graph(r, width, page);
		hi_page_only_text(page, graph);
	}
	hi_spacetime_picture(r, page);
	show_spacetime_bands(r, page);
	note_hidden_bands(r, page);
}
