/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples of a series as plain data: rows in order, and what the last ones had. */
#include <stdio.h>

#include "report/reports/series/series_past.h"
#include "report/reports/series/series_sample.h"
#include "tests/harness.h"

HI_TEST(series_rows, one_name_is_one_row_and_the_largest_comes_first)
{
	struct hi_series_row rows[] = {
		{.name = "b", .bytes = 10, .objects = 1},
		{.name = "a", .bytes = 10, .objects = 2},
		{.name = "", .bytes = 1, .objects = 1},
		{.name = "b", .bytes = 5, .objects = 3},
	};
	struct hi_series_sample s = {.rows = rows, .n_rows = 4};

	hi_series_sort_rows(&s, 0, SIZE_MAX);
	HI_ASSERT_EQ(3, s.n_rows);
	HI_ASSERT_STREQ("b", rows[0].name);
	HI_ASSERT_EQ(15, rows[0].bytes);
	HI_ASSERT_EQ(4, rows[0].objects);
	HI_ASSERT_STREQ("a", rows[1].name);
	HI_ASSERT_STREQ("", rows[2].name);
	HI_ASSERT_EQ(0, s.hidden.rows);
}

HI_TEST(series_rows, hidden_rows_are_counted)
{
	struct hi_series_row rows[] = {{.name = "a", .bytes = 8},
				       {.name = "b", .bytes = 4},
				       {.name = "c", .bytes = 2},
				       {.name = "d", .bytes = 1}};
	struct hi_series_sample s = {.rows = rows, .n_rows = 4, .hidden = {1, 100}};

	hi_series_sort_rows(&s, 2, 2);
	HI_ASSERT_EQ(2, s.n_rows);
	HI_ASSERT_EQ(3, s.hidden.rows);
	HI_ASSERT_EQ(103, s.hidden.bytes);
	s = (struct hi_series_sample){};
	hi_series_sort_rows(&s, 0, 1);
	HI_ASSERT_EQ(0, s.n_rows);
}

HI_TEST(series_rows, sets_of_one_name_stay_apart)
{
	struct hi_series_row rows[] = {{.name = "{x}", .bytes = 1, .set = 3},
				       {.name = "{x}", .bytes = 1, .set = 2}};
	struct hi_series_sample s = {.rows = rows, .n_rows = 2};

	hi_series_sort_rows(&s, 0, SIZE_MAX);
	HI_ASSERT_EQ(2, s.n_rows);
	HI_ASSERT_EQ(2, rows[0].set);
}

/* Against an array of all that was ever added. */
HI_TEST(series_past, the_last_samples_are_kept_for_each_name)
{
	enum { NAMES = 3, SAMPLES = 300 };
	static const char *const names[NAMES] = {"", "often", "seldom"};
	static uint64_t all[NAMES][SAMPLES + 1];
	struct hi_series_past *past = hi_series_past_create();
	uint64_t state = 88172645463325252u;

	HI_ASSERT(past != NULL);
	for (uint64_t i = 1; i <= SAMPLES; i++) {
		for (unsigned n = 0; n < NAMES; n++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			/* The last one is away for longer than is kept. */
			if (n == 2 && i % 97 != 1)
				continue;
			if (n == 1 && state % 3 == 0)
				continue;
			all[n][i] = state % 1000;
			HI_ASSERT(hi_series_past_add(past, names[n], i, all[n][i]));
		}
		for (unsigned n = 0; n < NAMES; n++)
			for (uint64_t k = 1; k <= i; k++)
				if (k + HI_SERIES_HISTORY > i)
					HI_ASSERT_EQ(
						all[n][k],
						hi_series_past_at(past, names[n], k));
	}
	for (unsigned n = 0; n < NAMES; n++)
		HI_ASSERT_EQ(all[n][1], hi_series_past_first(past, names[n]));
	HI_ASSERT_EQ(0, hi_series_past_at(past, "never", 1));
	hi_series_past_destroy(past);
}

HI_TEST(series_past, more_names_than_are_kept_are_no_error)
{
	struct hi_series_past *past = hi_series_past_create();
	char name[32];

	HI_ASSERT(past != NULL);
	for (unsigned i = 0; i < 2 * HI_SERIES_MAX_BANDS; i++) {
		snprintf(name, sizeof(name), "type %u", i);
		HI_ASSERT(hi_series_past_add(past, name, 1, i + 1));
		HI_ASSERT_EQ(i < HI_SERIES_MAX_BANDS ? i + 1 : 0,
			     hi_series_past_at(past, name, 1));
	}
	hi_series_past_destroy(past);
}
