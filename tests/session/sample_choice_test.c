/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording takes, by how much was counted. */
#include "session/live/sample_choice.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "base/clock.h"
#include "probes/bpf/sampling.h"
#include "session/live/cpu_times.h"
#include "tests/harness.h"

static struct hi_sample_choice choose_of(uint64_t allocations, uint64_t bytes)
{
	const struct hi_allocation_rate rate = {
		.allocations = allocations, .bytes = bytes, .time_ns = HI_NS_PER_S};

	return hi_sample_choose(&rate);
}

HI_TEST(sample_choice, a_program_that_allocates_little_is_recorded_whole)
{
	HI_ASSERT_EQ(0, choose_of(0, 0).sample_bytes);
	HI_ASSERT_EQ(0, choose_of(19000, 19000ull << 20).sample_bytes);
	HI_ASSERT(!choose_of(19000, 19000ull << 20).probes_are_too_much);
}

/* The same rate, counted in a tenth of the time. */
HI_TEST(sample_choice, distance_depends_on_the_rate)
{
	const struct hi_allocation_rate rate = {
		.allocations = 31000, .bytes = 3100000, .time_ns = HI_NS_PER_S / 10};

	HI_ASSERT_EQ(choose_of(310000, 31000000).sample_bytes,
		     hi_sample_choose(&rate).sample_bytes);
	HI_ASSERT_EQ(0, hi_sample_choose(&(struct hi_allocation_rate){}).sample_bytes);
}

HI_TEST(sample_choice, more_bytes_have_longer_distances)
{
	uint64_t last = 0;

	for (uint64_t bytes = 1 << 20; bytes < 1ull << 40; bytes *= 2) {
		struct hi_sample_choice c = choose_of(310000, bytes);

		HI_ASSERT(c.probes_are_too_much && c.probes > 0.05);
		HI_ASSERT(c.sample_bytes >= last);
		HI_ASSERT(c.sample_bytes >= 4096);
		HI_ASSERT(c.sample_bytes <= HI_SAMPLING_MEAN_MAX);
		/* A few thousand samples a second, whatever happens. */
		HI_ASSERT(c.sample_bytes == HI_SAMPLING_MEAN_MAX ||
			  bytes / c.sample_bytes < 4000);
		last = c.sample_bytes;
	}
	HI_ASSERT_EQ(HI_SAMPLING_MEAN_MAX, choose_of(310000, 1ull << 45).sample_bytes);
}

/* With a twentieth of a processor a program does a twentieth of what it would: it is
 * sampled as it were alone. One that sleeps for as long is not. */
HI_TEST(sample_choice, a_starved_program_is_sampled_as_if_it_were_alone)
{
	const struct hi_allocation_rate starved = {.allocations = 15000,
						   .bytes = 1500000,
						   .time_ns = HI_NS_PER_S,
						   .ran_ns = HI_NS_PER_S / 20,
						   .waited_ns = HI_NS_PER_S / 20 * 19},
					idle = {.allocations = 15000,
						.bytes = 1500000,
						.time_ns = HI_NS_PER_S,
						.ran_ns = HI_NS_PER_S / 20};
	struct hi_sample_choice c = hi_sample_choose(&starved),
				alone = choose_of(300000, 30000000);

	HI_ASSERT_EQ(0, hi_sample_choose(&idle).sample_bytes);
	HI_ASSERT_EQ(alone.sample_bytes, c.sample_bytes);
	HI_ASSERT(alone.sample_bytes > 0 && c.probes_are_too_much);
	HI_ASSERT(fabs(hi_allocation_rate_unstarved(&starved) - 300000) < 1e-3);
	HI_ASSERT(fabs(hi_allocation_rate_calls(&starved) - 15000) < 1e-3);
}

static void *burn_until_told(void *arg)
{
	while (!__atomic_load_n((const int *)arg, __ATOMIC_SEQ_CST))
		;
	return NULL;
}

/* Two threads on one processor. */
HI_TEST(sample_choice, the_kernel_tells_how_long_threads_waited)
{
	const uint64_t limit = hi_clock_ns() + 60 * HI_NS_PER_S;
	struct hi_run_times before, after = {};
	cpu_set_t all, one;
	pthread_t thread;
	int ended = 0;

	HI_ASSERT_EQ(0, sched_getaffinity(0, sizeof(all), &all));
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	HI_ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	if (!hi_run_times_read(getpid(), &before))
		HI_SKIP("the kernel has no scheduler statistics");
	HI_ASSERT_EQ(0, pthread_create(&thread, NULL, burn_until_told, &ended));
	while (after.waited_ns < before.waited_ns + 20000000 && hi_clock_ns() < limit)
		HI_ASSERT(hi_run_times_read(getpid(), &after));
	__atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
	(void)sched_setaffinity(0, sizeof(all), &all);
	HI_ASSERT(after.waited_ns >= before.waited_ns + 20000000);
	HI_ASSERT(after.ran_ns > before.ran_ns);
}

/* Two traps instead of four. */
HI_TEST(sample_choice, places_in_copies_cost_half)
{
	const struct hi_allocation_rate plain = {.allocations = 40000,
						 .bytes = 4000000,
						 .time_ns = HI_NS_PER_S},
					places = {.allocations = 40000,
						  .bytes = 4000000,
						  .time_ns = HI_NS_PER_S,
						  .at_places = 40000};

	HI_ASSERT(hi_sample_choose(&plain).probes_are_too_much);
	HI_ASSERT(!hi_sample_choose(&places).probes_are_too_much);
	HI_ASSERT(fabs(hi_sample_choose(&places).probes - 0.044) < 1e-9);
}

/* ---- the cost of all ---- */

/* In half a second, of which it ran for this part. */
static struct hi_allocation_rate rate_of(uint64_t allocations, double ran, double waited)
{
	const uint64_t time_ns = HI_NS_PER_S / 2;

	return (struct hi_allocation_rate){.allocations = allocations,
					   .bytes = 100 * allocations,
					   .time_ns = time_ns,
					   .ran_ns = (uint64_t)(ran * (double)time_ns),
					   .waited_ns =
						   (uint64_t)(waited * (double)time_ns),
					   .cpu_ns = (uint64_t)(ran * (double)time_ns)};
}

static struct hi_whole_cost cost_of(uint64_t allocations, double ran, double waited)
{
	struct hi_allocation_rate rate = rate_of(allocations, ran, waited);

	return hi_whole_cost(&rate, false);
}

HI_TEST(sample_choice, all_are_dear_from_2_percent_of_the_cpu_time_on)
{
	/* 3.6 us each: 5,600 in a second are 2 %. */
	HI_ASSERT(!cost_of(2600, 1, 0).is_dear);
	HI_ASSERT(cost_of(3000, 1, 0).is_dear);
	HI_ASSERT(!cost_of(3000, 1, 0).is_at_least_twice);
	HI_ASSERT(cost_of(6000, 1, 0).is_at_least_twice);
	/* Four processors. */
	HI_ASSERT(!cost_of(4 * 2600, 4, 0).is_dear);
	HI_ASSERT(cost_of(4 * 3000, 4, 0).is_dear);
	HI_ASSERT(fabs(cost_of(3000, 1, 0).share - cost_of(12000, 4, 0).share) < 1e-9);
}

/* Others have 19 parts of 20: it does as much less, and is as dear. */
HI_TEST(sample_choice, a_starved_program_is_as_dear_as_it_were_alone)
{
	HI_ASSERT(cost_of(150, 0.05, 0.95).is_dear);
	HI_ASSERT(!cost_of(130, 0.05, 0.95).is_dear);
	HI_ASSERT(fabs(cost_of(150, 0.05, 0.95).share - cost_of(3000, 1, 0).share) <
		  1e-9);
}

/* It does nothing else with its little time, and loses next to nothing. */
HI_TEST(sample_choice, a_program_that_mostly_sleeps_is_recorded_whole)
{
	HI_ASSERT(cost_of(600, 0.002, 0).share > 0.5);
	HI_ASSERT(!cost_of(600, 0.002, 0).is_dear);
	HI_ASSERT(cost_of(1000, 0.002, 0).is_dear);
	/* On a busy machine each of its wake-ups waits. */
	HI_ASSERT(!cost_of(300, 0.001, 0.5).is_dear);
	HI_ASSERT(!cost_of(0, 0, 0).is_dear);
	HI_ASSERT(!cost_of(40, 0, 1).is_dear);
	HI_ASSERT(!hi_whole_cost(&(struct hi_allocation_rate){}, true).is_dear);
}

/* Shares have both costs in them, and are a part of the whole. */
HI_TEST(sample_choice, a_share_is_at_most_all)
{
	struct hi_allocation_rate rate = rate_of(100000, 0.5, 0);

	HI_ASSERT(hi_whole_cost(&rate, true).share <= 1);
	HI_ASSERT(hi_whole_cost(&rate, false).share <= 1);
	HI_ASSERT(hi_whole_cost(&rate, false).share < hi_whole_cost(&rate, true).share);
	HI_ASSERT(hi_has_counted_enough(&rate));
	rate = rate_of(2000, 1, 0);
	HI_ASSERT(!hi_has_counted_enough(&rate));
}
