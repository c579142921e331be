/* SPDX-License-Identifier: BSD-2-Clause */
/* The bands of spacetime_report.h as a picture of a page, with peaks that lead to what
 * was live there. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "census/space/peaks.h"
#include "report/address.h"
#include "report/pictures/curve_text.h"
#include "report/pictures/picture.h"
#include "report/reports/spacetime/spacetime_report.h"

enum { BANDS = 15, PEAKS = 8 };

struct band_picture {
	const struct hi_spacetime_report *r;
	struct hi_page *page;
	struct hi_page_picture *picture;
	size_t *samples; /* that are drawn */
	size_t n;
	size_t n_bands; /* without the one of the others */
	double *values; /* by band, by drawn sample */
};

/* All samples, or of each few the highest; the first and the last one. */
static void choose_drawn_samples(struct band_picture *b)
{
	size_t all = b->r->series->n_samples;
	size_t few = (all + HI_PAGE_TIMES_MAX - 3) / (HI_PAGE_TIMES_MAX - 2);

	for (size_t i = 0; i < all; i += few) {
		size_t best = i;

		for (size_t k = i + 1; k < i + few && k < all; k++)
			if (b->r->totals[k] > b->r->totals[best])
				best = k;
		b->samples[b->n++] = i ? best : 0;
	}
	if (b->samples[b->n - 1] != all - 1)
		b->samples[b->n++] = all - 1;
}

/* Bands behind the first ones are added up in the last row. */
static bool fill_band_values(struct band_picture *b)
{
	const struct hi_hp_series *s = b->r->series;
	HI_GUARD(free) size_t *row = hi_calloc(s->n_bands + 1, sizeof(*row));

	b->values = hi_calloc((b->n_bands + 1) * b->n, sizeof(*b->values));
	if (!row || !b->values)
		return false;
	for (size_t i = 0; i < b->r->n_bands; i++)
		row[b->r->bands[i].id] = i < b->n_bands ? i : b->n_bands;
	for (size_t i = 0; i < b->n; i++)
		for (size_t k = s->starts[b->samples[i]];
		     k < s->starts[b->samples[i] + 1]; k++)
			b->values[row[s->points[k].band] * b->n + i] +=
				(double)s->points[k].value;
	return true;
}

static void add_picture_times(struct band_picture *b)
{
	double *times = hi_arena_alloc(&b->page->arena, b->n * sizeof(*times));

	if (!times) {
		b->page->failed = true;
		return;
	}
	for (size_t i = 0; i < b->n; i++)
		times[i] = (double)b->r->times_ns[b->samples[i]] / 1e9;
	hi_page_picture_times(b->picture, times, b->n, "seconds");
}

static void add_one_band(struct band_picture *b, size_t i)
{
	const struct hi_spacetime_band *band = &b->r->bands[i];
	struct hi_page *page = b->page;
	const char *name = !*band->name	   ? "(unknown)"
			   : b->r->is_type ? hi_page_type(page, band->name)
					   : hi_page_safe(page, band->name);
	char mean[24], most[24], last[24];

	hi_page_band(
		b->picture,
		&(struct hi_page_band){
			.label = name,
			.title = hi_page_printf(page, "%s\nmean %s, most %s, last %s",
						name, hi_bytes(mean, band->mean),
						hi_bytes(most, band->most),
						hi_bytes(last, band->last)),
			.link = b->r->is_type && *band->name
					? hi_address_of_type(page, band->name)
					: "",
			.values = &b->values[i * b->n]});
}

static void add_bands_of_picture(struct band_picture *b)
{
	char n[32];
	const char *others;

	for (size_t i = 0; i < b->n_bands; i++)
		add_one_band(b, i);
	if (b->r->n_bands == b->n_bands)
		return;
	others = hi_page_printf(b->page, "(%s others)",
				hi_count(n, b->r->n_bands - b->n_bands));
	hi_page_band(b->picture,
		     &(struct hi_page_band){.label = others,
					    .title = others,
					    .values = &b->values[b->n_bands * b->n]});
}

static void add_peak_mark(struct band_picture *b, size_t number, size_t sample)
{
	const struct hi_spacetime_report *r = b->r;
	struct hi_page *page = b->page;
	uint32_t census = r->censuses ? r->censuses[sample] : 0;
	char bytes[24], time[24];
	const char *link = "";

	hi_bytes(bytes, r->totals[sample]);
	if (r->times_ns[sample])
		hi_text_duration(time, r->times_ns[sample]);
	else
		strcpy(time, "0 s");
	if (census)
		link = hi_address_with(page, hi_address(page, "census", NULL), "census",
				       hi_page_printf(page, "%u", census));
	hi_page_picture_mark(
		b->picture,
		&(struct hi_page_mark){
			.time = (double)r->times_ns[sample] / 1e9,
			.value = (double)r->totals[sample],
			.label = hi_page_printf(page, "%c", hi_curve_label(number)),
			.title = census ? hi_page_printf(
						  page, "Peak %c: %s after %s, census %u",
						  hi_curve_label(number), bytes, time,
						  census)
					: hi_page_printf(page, "Peak %c: %s after %s",
							 hi_curve_label(number), bytes,
							 time),
			.link = link});
}

static bool add_peak_marks(struct band_picture *b)
{
	size_t all = b->r->series->n_samples, peaks[PEAKS + 1];
	HI_GUARD(free) size_t *scratch = hi_calloc(all + 1, sizeof(*scratch));
	size_t n;

	if (!scratch)
		return false;
	n = hi_peaks_find(b->r->totals, all, PEAKS < all ? PEAKS : all - 1, peaks,
			  scratch);
	for (size_t i = 0; i < n; i++)
		add_peak_mark(b, i, peaks[i]);
	return true;
}

void hi_spacetime_picture(const struct hi_spacetime_report *r, struct hi_page *page)
{
	size_t all = r->series->n_samples;
	HI_GUARD(free) size_t *samples = hi_calloc(all + 2, sizeof(*samples));
	struct band_picture b = {.r = r, .page = page, .samples = samples};

	if (!r->duration_ns || !r->n_bands)
		return;
	if (!samples) {
		page->failed = true;
		return;
	}
	b.n_bands = r->n_bands <= BANDS + 1 ? r->n_bands : BANDS;
	choose_drawn_samples(&b);
	b.picture = hi_page_picture(
		page, HI_PAGE_BANDS,
		hi_page_printf(page, "Live bytes over time by %s", r->by),
		"Bands lie one on top of the other, so that the upper edge is all that "
		"is "
		"live; a numbered point is a peak, and leads to what was live there. The "
		"table has the figures.");
	add_picture_times(&b);
	if (fill_band_values(&b) && add_peak_marks(&b))
		add_bands_of_picture(&b);
	else
		page->failed = true;
	free(b.values);
}
