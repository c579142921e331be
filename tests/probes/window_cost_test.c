/* SPDX-License-Identifier: BSD-2-Clause */
/* Budgets of windows, computed by hand. */
#include "probes/events/window_cost.h"
#include "tests/harness.h"

HI_TEST(window_cost, a_trap_is_the_mean_of_both_kinds)
{
	HI_ASSERT(hi_window_trap_ns(0, 0, 500, 500) <= 0);
	HI_ASSERT(hi_window_trap_ns(10, 11, 500, 500) <= 0);
	HI_ASSERT_EQ(500, (uint64_t)hi_window_trap_ns(10, 0, 500, 9000));
	/* (3 * 400 + 1 * 800) / 4 */
	HI_ASSERT_EQ(500, (uint64_t)hi_window_trap_ns(4, 1, 400, 800));
}

HI_TEST(window_cost, what_is_allowed_is_divided_by_the_cost_of_a_hit)
{
	struct hi_window_costs costs = {};
	const struct hi_event_window window = {
		.hits = 1000, .late_hits = 100, .program_ns = 400000};

	/* Nothing is known yet: 2.5 us. */
	HI_ASSERT_EQ(4000, hi_window_budget(&costs, 0, 10000000));
	hi_window_costs_add(&costs, &window);
	/* 600 + 400 ns a hit, and 100 late ones of 600. */
	HI_ASSERT_EQ(9940, hi_window_budget(&costs, 600, 10000000));
	HI_ASSERT_EQ(1, hi_window_budget(&costs, 600, 0));
}

/* Late hits alone would take more than there is: a quarter is left for windows. */
HI_TEST(window_cost, late_hits_leave_a_part)
{
	struct hi_window_costs costs = {};
	const struct hi_event_window window = {.hits = 1, .late_hits = 1000000};

	hi_window_costs_add(&costs, &window);
	HI_ASSERT_EQ(2500, hi_window_budget(&costs, 1000, 10000000));
}

HI_TEST(window_cost, newer_windows_weigh_more)
{
	struct hi_window_costs costs = {};
	const struct hi_event_window cheap = {.hits = 1000},
				     dear = {.hits = 1000, .program_ns = 9000000};

	for (int i = 0; i < 1000; i++)
		hi_window_costs_add(&costs, &cheap);
	HI_ASSERT_EQ(10000, hi_window_budget(&costs, 1000, 10000000));
	for (int i = 0; i < 40; i++)
		hi_window_costs_add(&costs, &dear);
	/* 1,000 + 9,000 ns, but for what is left of 1,000 windows. */
	HI_ASSERT(hi_window_budget(&costs, 1000, 10000000) < 1100);
	HI_ASSERT(hi_window_budget(&costs, 1000, 10000000) >= 1000);
}
