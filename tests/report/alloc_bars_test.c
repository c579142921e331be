/* SPDX-License-Identifier: BSD-2-Clause */
/* Which bars there are, in which order, and how they are drawn. */
#include "report/reports/alloc/alloc_bars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/reports/alloc/alloc_order.h"
#include "report/reports/alloc/alloc_sort.h"
#include "tests/harness.h"

enum { FUNCTIONS = 25 };

/* Function i is named "f" and a letter, from 'y' down, and has allocated 100 * (i + 1)
 * bytes, of which 10 * (25 - i) are live; the last two nothing. */
struct drawn_bars {
	struct hi_space_step steps[FUNCTIONS + 1];
	char names[FUNCTIONS][16];
	struct hi_alloc_function functions[FUNCTIONS];
	struct hi_alloc_report report;
};

static void draw_bars_report(struct drawn_bars *d)
{
	uint64_t all = 0;

	memset(d, 0, sizeof(*d));
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		uint64_t bytes = i < FUNCTIONS - 2 ? 100 * (i + 1) : 0,
			 live = bytes ? 10 * (FUNCTIONS - i) : 0;

		all += bytes;
		snprintf(d->names[i], sizeof(d->names[i]), "f%c", 'y' - i);
		d->steps[i] = (struct hi_space_step){
			1, {bytes != 0, bytes, 0}, {live != 0, live, 0}};
		d->functions[i] = (struct hi_alloc_function){
			.name = d->names[i],
			.file = "",
			.module = "/bin/app",
			.all = {.n_steps = 1, .steps = &d->steps[i]}};
	}
	d->steps[FUNCTIONS] = (struct hi_space_step){1, {FUNCTIONS, all, 0}, {}};
	d->report = (struct hi_alloc_report){
		.exe = "/bin/app",
		.functions = d->functions,
		.n_functions = FUNCTIONS,
		.total = {.n_steps = 1, .steps = &d->steps[FUNCTIONS]},
		.weight = 1,
		.most_bars = 20,
		.width = 80};
}

static struct hi_alloc_bars choose_bars(const struct hi_alloc_report *r,
					struct hi_arena *arena)
{
	struct hi_alloc_bars bars;

	HI_ASSERT(hi_alloc_bars_choose(r, arena, &bars));
	return bars;
}

/* 23 have a bar, 20 are drawn: those of the least three are left out, whatever the order.
 */
HI_TEST(alloc_bars, bars_after_the_twentieth_are_dropped_by_weight)
{
	static const enum hi_alloc_order orders[] = {HI_ALLOC_BY_WEIGHT,
						     HI_ALLOC_BY_ALLOC, HI_ALLOC_BY_LIVE,
						     HI_ALLOC_BY_NAME};
	struct drawn_bars d;
	struct hi_arena arena = {};

	draw_bars_report(&d);
	for (unsigned k = 0; k < 4; k++) {
		struct hi_alloc_bars bars;

		d.report.order = orders[k];
		bars = choose_bars(&d.report, &arena);
		HI_ASSERT_EQ(20, bars.n);
		HI_ASSERT_EQ(3, bars.n_left_out);
		for (size_t i = 0; i < bars.n; i++)
			HI_ASSERT_STREQ(d.names[k < 2	 ? 22 - i
						: k == 2 ? 3 + i
							 : 22 - i],
					bars.items[i].function->name);
	}
	hi_arena_free(&arena);
}

HI_TEST(alloc_bars, heights_are_shares_of_what_all_have)
{
	struct drawn_bars d;
	struct hi_arena arena = {};
	struct hi_alloc_bars bars;

	draw_bars_report(&d);
	d.report.weight = .5;
	bars = choose_bars(&d.report, &arena);
	/* 2,300 of 27,600. */
	HI_ASSERT(bars.items[0].space > 50. / 12 - 1e-9 &&
		  bars.items[0].space < 50. / 12 + 1e-9);
	HI_ASSERT(bars.items[0].time == 0);
	HI_ASSERT(bars.highest == hi_alloc_bar_height(&bars.items[0]));
	HI_ASSERT(*hi_alloc_bars_note(&d.report));
	hi_arena_free(&arena);
}

static char *draw_svg(const struct hi_alloc_report *r)
{
	struct hi_error err;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	HI_ASSERT(f);
	HI_ASSERT_OK(hi_alloc_bars_svg(r, f, &err), &err);
	HI_ASSERT_EQ(0, fclose(f));
	hi_test_defer(free, text);
	return text;
}

/* The n-th number of an attribute of rectangles of a colour. */
static double width_of_bar(const char *svg, unsigned n)
{
	const char *at = svg;

	for (unsigned i = 0; i <= n; i++) {
		at = strstr(at, "fill=\"#4e79a7\"");
		HI_ASSERT(at != NULL);
		at++;
	}
	while (strncmp(at, "width=\"", 7) != 0)
		at--;
	return strtod(at + 7, NULL);
}

HI_TEST(alloc_bars, the_picture_has_lengths_in_proportion)
{
	struct drawn_bars d;
	const char *svg;
	size_t n = 0;

	draw_bars_report(&d);
	svg = draw_svg(&d.report);
	for (const char *at = svg; (at = strstr(at, "<g class=\"bar\">")); at++)
		n++;
	HI_ASSERT_EQ(20, n);
	HI_ASSERT(width_of_bar(svg, 0) == 480);
	/* 1,200 of 2,300. */
	HI_ASSERT(width_of_bar(svg, 11) > 480 * 12 / 23. - .01 &&
		  width_of_bar(svg, 11) < 480 * 12 / 23. + .01);
	HI_ASSERT(strstr(svg, "3 more functions, with less height"));
}

HI_TEST(alloc_bars, names_in_the_picture_are_only_text)
{
	static const char hostile[] = "f<script>alert(1)</script>&\"'\033[2J";
	struct drawn_bars d;
	const char *svg;

	draw_bars_report(&d);
	d.functions[22].name = d.functions[22].file = hostile;
	d.report.exe = hostile;
	svg = draw_svg(&d.report);
	HI_ASSERT(!strstr(svg, "<script") && !strchr(svg, 033));
	HI_ASSERT(strstr(svg, "f&lt;script&gt;alert(1)") != NULL);
}

HI_TEST(alloc_bars, nothing_at_all_is_a_picture_without_bars)
{
	struct drawn_bars d;

	draw_bars_report(&d);
	d.report.n_functions = 0;
	d.report.total = (struct hi_space_row){};
	HI_ASSERT(!strstr(draw_svg(&d.report), "class=\"bar\""));
}
