/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording takes, by how much was counted. */
#include "session/live/sample_choice.h"

#include <math.h>

#include "base/clock.h"
#include "probes/bpf/sampling.h"
#include "tests/harness.h"

static struct hi_sample_choice choose_of(uint64_t allocations, uint64_t bytes)
{
	const struct hi_allocation_rate rate = {allocations, bytes, HI_NS_PER_S, 0};

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
	const struct hi_allocation_rate rate = {31000, 3100000, HI_NS_PER_S / 10, 0};

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

/* Two traps instead of four. */
HI_TEST(sample_choice, places_in_copies_cost_half)
{
	const struct hi_allocation_rate plain = {40000, 4000000, HI_NS_PER_S, 0},
					places = {40000, 4000000, HI_NS_PER_S, 40000};

	HI_ASSERT(hi_sample_choose(&plain).probes_are_too_much);
	HI_ASSERT(!hi_sample_choose(&places).probes_are_too_much);
	HI_ASSERT(fabs(hi_sample_choose(&places).probes - 0.044) < 1e-9);
}
