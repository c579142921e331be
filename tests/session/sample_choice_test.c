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
	const struct hi_allocation_rate rate = {allocations, bytes, HI_NS_PER_S, 0, 0, 0};

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
	const struct hi_allocation_rate rate = {31000, 3100000, HI_NS_PER_S / 10,
						0,     0,	0};

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
	const struct hi_allocation_rate starved = {15000,
						   1500000,
						   HI_NS_PER_S,
						   0,
						   HI_NS_PER_S / 20,
						   HI_NS_PER_S / 20 * 19},
					idle = {15000, 1500000,		 HI_NS_PER_S,
						0,     HI_NS_PER_S / 20, 0};
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
	const struct hi_allocation_rate plain = {40000, 4000000, HI_NS_PER_S, 0, 0, 0},
					places = {40000, 4000000, HI_NS_PER_S,
						  40000, 0,	  0};

	HI_ASSERT(hi_sample_choose(&plain).probes_are_too_much);
	HI_ASSERT(!hi_sample_choose(&places).probes_are_too_much);
	HI_ASSERT(fabs(hi_sample_choose(&places).probes - 0.044) < 1e-9);
}
