/* SPDX-License-Identifier: BSD-2-Clause */
/* The live view of a recording, of drawn samples. */
#include "report/formats/record_live.h"

#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

enum { SECOND = 1000000000 };

static void destroy_drawn_view(void *live)
{
	hi_record_live_destroy(live);
}

static struct hi_record_live *make_drawn_view(void)
{
	struct hi_record_live *live = hi_record_live_create();

	HI_ASSERT(live != NULL);
	hi_test_defer(destroy_drawn_view, live);
	return live;
}

/* Second `at` of a program in which fill() gains 1 KiB a second by two allocations, and
 * churn(), whose name comes in the third, frees all that it allocates. */
static void add_drawn_second(struct hi_record_live *live, uint64_t at, uint64_t lost)
{
	const struct hi_record_live_row rows[] = {
		{"fill", "cache.c:12", {2 * at, 1024 * at, 2 * at}},
		{"churn", "loop.c:7", {0, 0, 5000 * at}}};
	struct hi_record_live_sample sample = {.exe = "/usr/bin/app",
					       .followed = "malloc of libc.so.6",
					       .pid = 42,
					       .time_ns = at * SECOND,
					       .lost = lost,
					       .all = {2 * at, 1024 * at, 5002 * at},
					       .rows = rows,
					       .n_rows = at < 3 ? 1 : 2,
					       .note = ""};

	HI_ASSERT_EQ(HI_OK, hi_record_live_add(live, &sample, NULL));
}

static char *draw_view(struct hi_record_live *live, unsigned width)
{
	const struct hi_text_options looks = {.width = width};
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	HI_ASSERT(out != NULL);
	HI_ASSERT_EQ(HI_OK, hi_record_live_draw(live, 24, &looks, out, NULL));
	fclose(out);
	hi_test_defer(free, text);
	return text;
}

/* The line that begins so, without what the terminal does at its end. */
static const char *line_of(char *text, const char *start)
{
	char *line = strstr(text, start), *end = line ? strstr(line, "\033") : NULL;

	HI_ASSERT_MSG(line && end, "no %s in %s", start, text);
	*end = '\0';
	return line;
}

HI_TEST(record_live, growth_is_of_the_last_ten_seconds_and_rates_of_the_last)
{
	struct hi_record_live *live = make_drawn_view();

	for (uint64_t at = 1; at <= 15; at++)
		add_drawn_second(live, at, 0);
	HI_ASSERT_STREQ("fill                       15.0 KiB   +10.0 KiB         2  "
			"cache.c:12",
			line_of(draw_view(live, 80), "fill"));
	HI_ASSERT(strstr(line_of(draw_view(live, 80), "churn"), " 5,000  loop.c:7"));
	HI_ASSERT(strstr(line_of(draw_view(live, 80), "all of"), " 5,002"));
}

HI_TEST(record_live, a_name_that_comes_late_makes_no_jump)
{
	struct hi_record_live *live = make_drawn_view();

	for (uint64_t at = 1; at <= 3; at++)
		add_drawn_second(live, at, 0);
	HI_ASSERT(strstr(line_of(draw_view(live, 80), "churn"),
			 "0 B         0 B         0  loop.c:7"));
}

HI_TEST(record_live, sorts_by_bytes_growth_and_allocations)
{
	struct hi_record_live *live = make_drawn_view();
	char *text;

	for (uint64_t at = 1; at <= 5; at++)
		add_drawn_second(live, at, 0);
	hi_record_live_sort(live);
	hi_record_live_sort(live);
	text = draw_view(live, 80);
	HI_ASSERT(strstr(text, "churn") < strstr(text, "fill"));
	hi_record_live_sort(live);
	text = draw_view(live, 80);
	HI_ASSERT(strstr(text, "churn") > strstr(text, "fill"));
}

HI_TEST(record_live, fits_and_says_what_was_lost)
{
	struct hi_record_live *live = make_drawn_view();

	for (uint64_t at = 1; at <= 5; at++)
		add_drawn_second(live, at, 7);
	for (unsigned width = 40; width <= 200; width += 20) {
		char *text = draw_view(live, width), *line;

		HI_ASSERT(strstr(text, "7 ") != NULL);
		for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
			char *end = strstr(line + 1, "\033");
			size_t n = end ? (size_t)(end - line) : strlen(line);

			HI_ASSERT_MSG(n <= width + 3, "%zu of %u: %s", n, width, line);
		}
	}
}
