/* SPDX-License-Identifier: BSD-2-Clause */
/* How far censuses are apart, by what is idle and what they cost. */
#include "session/series/pace.h"

#include "base/clock.h"
#include "tests/harness.h"

#define MS 1000000ull

HI_TEST(pace, a_census_beside_an_idle_processor_may_follow_at_once)
{
	HI_ASSERT_EQ(0, hi_pace_rest_ns(1, 2, HI_NS_PER_S));
	HI_ASSERT_EQ(0, hi_pace_rest_ns(0.5, 64, HI_NS_PER_S));
}

HI_TEST(pace, without_an_idle_processor_it_takes_three_percent)
{
	/* 60 ms of 2 s on one processor; of 1 s on two. */
	uint64_t one = hi_pace_rest_ns(0, 1, 60 * MS),
		 two = hi_pace_rest_ns(0.4, 2, 60 * MS);

	HI_ASSERT(one > 1999 * MS && one < 2001 * MS);
	HI_ASSERT(two > 999 * MS && two < 1001 * MS);
	HI_ASSERT_EQ(0, hi_pace_rest_ns(0, 2, 0));
}

HI_TEST(pace, pause_between_censuses_is_bounded)
{
	HI_ASSERT_EQ(600 * HI_NS_PER_S, hi_pace_rest_ns(0, 1, UINT64_MAX / 2));
}

HI_TEST(pace, a_census_has_as_many_threads_as_processors_were_idle)
{
	struct hi_pace p = {.processors = 8, .is_known = true, .idle = 2.7};

	HI_ASSERT_EQ(3, hi_pace_threads(&p, 0));
	HI_ASSERT_EQ(2, hi_pace_threads(&p, 2));
	p.idle = 0;
	HI_ASSERT_EQ(1, hi_pace_threads(&p, 0));
	p.idle = 8;
	HI_ASSERT_EQ(8, hi_pace_threads(&p, 0));
	/* As asked for, before anything was measured. */
	p.is_known = false;
	HI_ASSERT_EQ(0, hi_pace_threads(&p, 0));
	HI_ASSERT_EQ(5, hi_pace_threads(&p, 5));
}
