/* SPDX-License-Identifier: BSD-2-Clause */
/* The bands of a series as a picture, against sums over its samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/pictures/picture.h"
#include "report/reports/spacetime/spacetime_report.h"
#include "tests/harness.h"

HI_DEFINE_GUARD(struct hi_spacetime_report *, hi_spacetime_report_free)

enum { BANDS = 30, MOST_SAMPLES = 5000 };

static uint64_t totals[MOST_SAMPLES], values[BANDS][MOST_SAMPLES];
static uint32_t censuses[MOST_SAMPLES];

/* A band that a sample does not have is 0 there. */
static struct hi_hp_series *draw_series(size_t n_samples, uint32_t n_bands)
{
	struct hi_hp_series *s = NULL;
	struct hi_error err;
	char name[16];

	HI_ASSERT_OK(hi_hp_series_create("drawn", "", &s, &err), &err);
	for (size_t i = 0; i < n_samples; i++) {
		totals[i] = 0;
		censuses[i] = (uint32_t)i + 100;
		HI_ASSERT_OK(hi_hp_series_sample(s, (double)i / 4, &err), &err);
		for (uint32_t k = 0; k < n_bands; k++) {
			uint64_t bytes = (uint64_t)rand() % (1000 * (k + 1));

			values[k][i] = rand() % 3 ? bytes : 0;
			if (!values[k][i])
				continue;
			snprintf(name, sizeof(name), "band %u", k);
			HI_ASSERT_OK(hi_hp_series_band(s, name, bytes, &err), &err);
			totals[i] += bytes;
		}
	}
	HI_ASSERT_OK(hi_hp_series_finish(s, &err), &err);
	return s;
}

static const struct hi_page_picture *picture_of_page(const struct hi_page *page)
{
	for (size_t i = 0; i < page->items.count; i++)
		if (page->items.items[i].kind == HI_ITEM_PICTURE)
			return page->items.items[i].picture;
	return NULL;
}

/* Each band by its name; what has none of its own is in the last one. */
static void check_values(const struct hi_page_picture *p, bool others)
{
	for (size_t k = 0; k + others < p->n_bands; k++) {
		unsigned number;

		HI_ASSERT_EQ(1, sscanf(p->bands[k].label, "band %u", &number));
		for (size_t i = 0; i < p->n_times; i++)
			HI_ASSERT_EQ(values[number][(size_t)(p->times[i] * 4 + .5)],
				     (uint64_t)p->bands[k].values[i]);
	}
}

/* The samples that are drawn have all that was live. */
static void check_sums(const struct hi_page_picture *p)
{
	for (size_t i = 0; i < p->n_times; i++) {
		size_t sample = (size_t)(p->times[i] * 4 + .5);
		double sum = 0;

		for (size_t k = 0; k < p->n_bands; k++)
			sum += p->bands[k].values[i];
		HI_ASSERT_EQ(totals[sample], (uint64_t)sum);
		HI_ASSERT(!i || p->times[i] > p->times[i - 1]);
	}
}

static void check_drawn_series(size_t n_samples, uint32_t n_bands)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	HI_GUARD(hi_hp_series_destroy)
	struct hi_hp_series *s = draw_series(n_samples, n_bands);
	struct hi_spacetime_report r = {};
	HI_GUARD(hi_spacetime_report_free) struct hi_spacetime_report *guard = &r;
	const struct hi_page_picture *p;
	size_t top = 0, tops = 0, drawn_tops = 0;
	struct hi_error err;

	HI_ASSERT_OK(hi_spacetime_report_make(s, 20, guard, &err), &err);
	r.by = "type";
	r.is_type = true;
	r.censuses = censuses;
	hi_spacetime_display(&r, 80, page);
	p = picture_of_page(page);
	HI_ASSERT(p != NULL);
	HI_ASSERT_EQ(s->n_bands <= 16 ? s->n_bands : 16, p->n_bands);
	HI_ASSERT(p->n_times <= HI_PAGE_TIMES_MAX);
	HI_ASSERT(n_samples > HI_PAGE_TIMES_MAX || p->n_times == n_samples);
	HI_ASSERT(p->times[0] == 0);
	HI_ASSERT(p->times[p->n_times - 1] * 4 + .5 >= (double)(n_samples - 1));
	check_sums(p);
	check_values(p, s->n_bands > 16);
	for (size_t i = 1; i < n_samples; i++)
		top = totals[i] > totals[top] ? i : top;
	for (size_t i = 0; i < p->n_times; i++)
		drawn_tops += (size_t)(p->times[i] * 4 + .5) == top;
	HI_ASSERT_EQ(1, drawn_tops);
	for (size_t i = 0; i < p->n_marks; i++) {
		size_t sample = (size_t)(p->marks[i].time * 4 + .5);
		char link[64];

		snprintf(link, sizeof(link), "census?census=%zu", sample + 100);
		HI_ASSERT_STREQ(link, p->marks[i].link);
		HI_ASSERT_EQ(totals[sample], (uint64_t)p->marks[i].value);
		tops += sample == top;
	}
	HI_ASSERT_EQ(1, tops);
}

HI_TEST(spacetime_picture, bands_add_up_to_what_is_live)
{
	srand(9);
	for (unsigned round = 0; round < 60; round++)
		check_drawn_series(2 + (size_t)rand() % 60, 1 + (uint32_t)rand() % BANDS);
}

HI_TEST(spacetime_picture, many_samples_are_thinned_out_and_keep_the_highest)
{
	srand(10);
	check_drawn_series(MOST_SAMPLES, 5);
	check_drawn_series(HI_PAGE_TIMES_MAX + 1, 2);
}

HI_TEST(spacetime_picture, there_is_none_where_no_time_passes)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	HI_GUARD(hi_hp_series_destroy) struct hi_hp_series *s = draw_series(1, 3);
	struct hi_spacetime_report r = {};
	HI_GUARD(hi_spacetime_report_free) struct hi_spacetime_report *guard = &r;
	struct hi_error err;

	HI_ASSERT_OK(hi_spacetime_report_make(s, 20, guard, &err), &err);
	hi_spacetime_display(&r, 80, page);
	HI_ASSERT(!picture_of_page(page));
}
