/* SPDX-License-Identifier: BSD-2-Clause */
/* The live view of a recording by windows, of a drawn sample. */
#include "report/reports/record/record_rates_live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

static const struct hi_record_rates_row drawn_rows[] = {
	{"rare", "a.c:1", {{0.4, 0.1, 1.6}, {100, 50, 200}, 2}},
	{"often", "b.c:22", {{1234, 1200, 1300}, {40000, 39000, 41000}, 900}},
	{"huge", "c.c:333", {{900, 700, INFINITY}, {9e7, 8e7, INFINITY}, 600}},
	{"never", "d.c:4", {}},
};

static char *draw_rates_view(unsigned width, struct hi_record_rates_looks how)
{
	const struct hi_text_options looks = {.width = width};
	const struct hi_record_rates_sample sample = {
		.exe = "/usr/bin/app",
		.followed = "malloc of libc.so.6",
		.pid = 42,
		.time_ns = 12000000000,
		.totals = {.n = 12, .covered_ns = 240000000},
		.all = {{2134.4, 1900, INFINITY}, {9e7, 8e7, INFINITY}, 1502},
		.rows = drawn_rows,
		.n_rows = 4,
		.note = ""};
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	HI_ASSERT(out != NULL);
	HI_ASSERT_EQ(HI_OK, hi_record_rates_draw(&sample, &how, &looks, out, NULL));
	fclose(out);
	hi_test_defer(free, text);
	return text;
}

/* The rows by how often they allocate, one that never does is left out. */
HI_TEST(record_rates_live, rows_have_rates_and_ranges)
{
	char *text = draw_rates_view(100, (struct hi_record_rates_looks){.lines = 24});
	const char *often = strstr(text, "often"), *huge = strstr(text, "huge"),
		   *rare = strstr(text, "rare");

	HI_ASSERT(often && huge && rare && often < huge && huge < rare);
	HI_ASSERT(!strstr(text, "never"));
	HI_ASSERT(strstr(text, "1,200 to 1,300"));
	HI_ASSERT(strstr(text, "at least 700"));
	HI_ASSERT(strstr(text, "0.1 to 1.6"));
	HI_ASSERT(strstr(text, "12 windows of 240.00 ms in all"));
	text = draw_rates_view(100, (struct hi_record_rates_looks){
					    .lines = 24, .order = HI_RATES_BY_BYTES});
	HI_ASSERT(strstr(text, "huge") < strstr(text, "often"));
}

/* No line is longer than the screen, at any width. */
HI_TEST(record_rates_live, lines_fit_the_screen)
{
	for (unsigned width = 40; width <= 130; width++) {
		const char *at = draw_rates_view(
			width, (struct hi_record_rates_looks){
				       .lines = 24, .keys = true, .is_last = true});

		HI_ASSERT(strstr(at, "often"));
		HI_ASSERT((strstr(at, "b.c:22") != NULL) == (width >= 74));
		while (*at) {
			size_t n = strcspn(at, "\n");

			HI_ASSERT_MSG(n <= width, "%zu at %u: %.*s", n, width, (int)n,
				      at);
			at += n + (at[n] == '\n');
		}
	}
}

HI_TEST(record_rates_live, large_rates_are_short)
{
	char text[80];

	HI_ASSERT_STREQ("1.2 million", hi_record_rate_text(text, 1234567));
	HI_ASSERT_STREQ("999,999", hi_record_rate_text(text, 999999.4));
	HI_ASSERT_STREQ(
		"1.2 to 9.3 million",
		hi_record_rate_range(text, &(struct hi_bounded){2e6, 1.2e6, 9.3e6}));
	HI_ASSERT_STREQ("0 to 12",
			hi_record_rate_range(text, &(struct hi_bounded){3, 0, 12}));
	HI_ASSERT_STREQ(
		"at least 0.5",
		hi_record_rate_range(text, &(struct hi_bounded){3, 0.5, INFINITY}));
}
