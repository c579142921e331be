/* SPDX-License-Identifier: BSD-2-Clause */
/* How far censuses are apart, by what is idle and what they cost. */
#include "session/series/pace.h"

#include "base/clock.h"
#include "tests/harness.h"

#define MS 1000000ull

HI_TEST(pace, a_census_beside_an_idle_processor_may_follow_at_once)
{
	HI_ASSERT_EQ(0, hi_pace_rest_ns(1, 0.06, HI_NS_PER_S));
	HI_ASSERT_EQ(0, hi_pace_rest_ns(0.5, 0.5, HI_NS_PER_S));
}

HI_TEST(pace, without_an_idle_processor_it_takes_its_share)
{
	/* 60 ms of 2 s are 3 %, and half of 120 ms. */
	uint64_t sparing = hi_pace_rest_ns(0, 0.03, 60 * MS),
		 plain = hi_pace_rest_ns(0.4, 0.5, 60 * MS);

	HI_ASSERT(sparing > 1999 * MS && sparing < 2001 * MS);
	HI_ASSERT(plain > 119 * MS && plain < 121 * MS);
	HI_ASSERT_EQ(0, hi_pace_rest_ns(0, 0.06, 0));
}

HI_TEST(pace, pause_between_censuses_is_bounded)
{
	HI_ASSERT_EQ(600 * HI_NS_PER_S, hi_pace_rest_ns(0, 0.03, UINT64_MAX / 2));
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

static struct hi_pace pace_of_busy_machine(bool spares_target)
{
	struct hi_pace p;

	hi_pace_start(&p, spares_target);
	p.is_known = true;
	p.idle = 0;
	p.measured_ns = hi_clock_ns() + 3600 * HI_NS_PER_S; /* not long ago */
	p.own_ns = 0; /* all that this process has used yet was its census */
	return p;
}

HI_TEST(pace, a_series_beside_a_recording_rests_longer)
{
	struct hi_pace plain = pace_of_busy_machine(false),
		       sparing = pace_of_busy_machine(true);
	uint64_t now = hi_clock_ns(), until;

	HI_ASSERT_EQ(0.5, plain.share);
	HI_ASSERT(sparing.share > 0.029 * sparing.processors &&
		  sparing.share < 0.031 * sparing.processors);
	until = hi_pace_end_census(&plain, now);
	HI_ASSERT(plain.spent_ns > 0);
	HI_ASSERT(until == plain.ended_ns || until == now + 2 * plain.spent_ns);
	HI_ASSERT(until >= plain.ended_ns && until >= now + 2 * plain.spent_ns);
	until = hi_pace_end_census(&sparing, now);
	HI_ASSERT(until >= sparing.ended_ns + 60 * MS);
}

/* Else cheap censuses that follow each other at once would never be slowed down. */
HI_TEST(pace, time_to_measure_is_made_once_a_second)
{
	struct hi_pace p = pace_of_busy_machine(false);
	uint64_t now = hi_clock_ns(), until;

	p.idle = 2;
	until = hi_pace_end_census(&p, now);
	HI_ASSERT_EQ(p.ended_ns, until);
	p.measured_ns = now - HI_NS_PER_S;
	until = hi_pace_end_census(&p, now);
	HI_ASSERT_EQ(p.ended_ns + 60 * MS, until);
}
