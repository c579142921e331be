/* SPDX-License-Identifier: BSD-2-Clause */
/* The live view of a recording, of drawn samples. */
#include "report/reports/record/record_live.h"

#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/golden.h"

enum { SECOND = 1000000000 };

static struct hi_record_live *make_drawn_view(void)
{
	struct hi_record_live *live = hi_record_live_create();

	HI_ASSERT(live != NULL);
	hi_test_defer(hi_record_live_destroy, live);
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

/* At second 15, fill() has 15 KiB live, of which the last 10 s brought 10, by 2
 * allocations a second; churn() has nothing live and allocates 5,000 times a second. */
HI_TEST(record_live, growth_is_of_the_last_ten_seconds_and_rates_of_the_last)
{
	struct hi_record_live *live = make_drawn_view();

	for (uint64_t at = 1; at <= 15; at++)
		add_drawn_second(live, at, 0);
	HI_EXPECT_GOLDEN("record-live-80", draw_view(live, 80));
	HI_EXPECT_GOLDEN("record-live-120", draw_view(live, 120));
}

/* churn() allocated 15,000 times before it had a name. */
HI_TEST(record_live, a_name_that_comes_late_makes_no_jump)
{
	struct hi_record_live *live = make_drawn_view();

	for (uint64_t at = 1; at <= 3; at++)
		add_drawn_second(live, at, 0);
	HI_EXPECT_GOLDEN("record-live-late-name", draw_view(live, 80));
}

/* Only churn() allocates more than fill(). */
HI_TEST(record_live, sorts_by_bytes_growth_and_allocations)
{
	static const char *const orders[] = {"by bytes", "by growth", "by allocations",
					     "by bytes again"};
	struct hi_record_live *live = make_drawn_view();
	struct hi_golden_pages *pages = hi_golden_pages();

	for (uint64_t at = 1; at <= 5; at++)
		add_drawn_second(live, at, 0);
	for (size_t i = 0; i < 4; i++) {
		hi_golden_add(pages, orders[i], draw_view(live, 80));
		hi_record_live_sort(live);
	}
	HI_EXPECT_GOLDEN_PAGES("record-live-orders", pages);
}

HI_TEST(record_live, fits_and_says_what_was_lost)
{
	struct hi_record_live *live = make_drawn_view();

	for (uint64_t at = 1; at <= 5; at++)
		add_drawn_second(live, at, 7);
	HI_EXPECT_GOLDEN("record-live-lost", draw_view(live, 80));
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
