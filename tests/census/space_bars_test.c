/* SPDX-License-Identifier: BSD-2-Clause */
/* Bars of time and space: M3 of the specification. */
#include "census/space/bars.h"
#include "tests/harness.h"

static void check_height(double expected, double height)
{
	HI_ASSERT_MSG(height > expected - 1e-9 && height < expected + 1e-9, "%g, not %g",
		      height, expected);
}

HI_TEST(space_bars, m3_heights_by_weight)
{
	static const struct {
		double weight, f, g;
	} expected[] = {{0, 30, 5}, {.25, 22.75, 26.25}, {.5, 15.5, 47.5},
			{1, 1, 90}, {-3, 30, 5},	 {7, 1, 90}};
	const struct hi_space_cost f = {30, 10}, g = {5, 900}, all = {100, 1000};

	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		check_height(expected[i].f,
			     hi_space_bar_height(expected[i].weight, f, all));
		check_height(expected[i].g,
			     hi_space_bar_height(expected[i].weight, g, all));
	}
}

HI_TEST(space_bars, highest_bar_is_first_and_empty_ones_are_left_out)
{
	const struct hi_space_cost of[] = {{30, 10}, {0, 0}, {5, 900}, {0, 1}},
				   all = {100, 1000};
	struct hi_space_bar bars[4];

	HI_ASSERT_EQ(3, hi_space_bars(0, of, 4, all, bars));
	HI_ASSERT_EQ(0, bars[0].index);
	HI_ASSERT_EQ(2, bars[1].index);
	HI_ASSERT_EQ(3, bars[2].index);
	check_height(0, bars[2].height);
	HI_ASSERT_EQ(3, hi_space_bars(.25, of, 4, all, bars));
	HI_ASSERT_EQ(2, bars[0].index);
}

/* Either is enough. */
HI_TEST(space_bars, function_with_time_alone_has_a_bar)
{
	const struct hi_space_cost of[] = {{7, 0}, {0, 0}, {0, 7}}, all = {10, 10};
	struct hi_space_bar bars[3];

	HI_ASSERT_EQ(2, hi_space_bars(.25, of, 3, all, bars));
	HI_ASSERT_EQ(0, bars[0].index);
	check_height(52.5, bars[0].height);
	check_height(17.5, bars[1].height);
}

HI_TEST(space_bars, without_samples_there_is_no_part_of_time)
{
	check_height(45, hi_space_bar_height(.5, (struct hi_space_cost){0, 900},
					     (struct hi_space_cost){0, 1000}));
	check_height(0, hi_space_bar_height(.5, (struct hi_space_cost){},
					    (struct hi_space_cost){}));
}
