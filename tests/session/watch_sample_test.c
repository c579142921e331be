/* SPDX-License-Identifier: BSD-2-Clause */
/* Which objects are sampled, and what the sample says of all. */
#include <stdlib.h>
#include <string.h>

#include "census/biography/sample_bands.h"
#include "session/biography/watch_sample.h"
#include "tests/harness.h"

enum { OBJECTS = 40, SIZE = 64, SLOTS = 4, HOLD = 4 };

static struct hi_watch_object object_of(unsigned i)
{
	return (struct hi_watch_object){.address = 0x10000 + (uint64_t)i * 80,
					.serial = 1 + i % 7,
					.usable = 72,
					.size = SIZE,
					.number = i};
}

static struct hi_watch_sample *create_sample(uint64_t seed)
{
	struct hi_watch_sample *sample = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_watch_sample_create(SLOTS, seed, &sample, &err), &err);
	return sample;
}

/* Objects [from, to). */
static void take_census(struct hi_watch_sample *sample, unsigned from, unsigned to)
{
	hi_watch_sample_begin(sample, NULL);
	for (unsigned i = from; i < to; i++) {
		struct hi_watch_object object = object_of(i);

		HI_ASSERT(hi_watch_sample_offer(sample, &object));
	}
	hi_watch_sample_end(sample, NULL);
}

/* SPEC L5: objects 0 to 29 are DRAG, the others USE. Returns the DRAG of the sample. */
static unsigned sample_l5(uint64_t seed, struct hi_bio_estimates *ret)
{
	struct hi_watch_sample *sample = create_sample(seed);
	struct hi_bio_sampled sampled[SLOTS];
	struct hi_bio_amount population;
	const struct hi_watch_member *members;
	struct hi_error err;
	unsigned drag = 0;
	size_t n;

	take_census(sample, 0, OBJECTS);
	members = hi_watch_sample_members(sample, &n, &population);
	HI_ASSERT_EQ(SLOTS, n);
	HI_ASSERT_EQ(OBJECTS, population.objects);
	HI_ASSERT_EQ(OBJECTS * SIZE, population.bytes);
	for (size_t i = 0; i < n; i++) {
		bool is_drag = members[i].object.number < 30;

		drag += is_drag;
		sampled[i] = (struct hi_bio_sampled){
			members[i].object.size, (double)n / (double)population.objects,
			HI_BIO_BIT(is_drag ? HI_BIO_DRAG : HI_BIO_USE), 0};
	}
	HI_ASSERT_OK(hi_bio_sample_estimate(sampled, SLOTS, population, 1, ret, &err),
		     &err);
	hi_watch_sample_destroy(sample);
	return drag;
}

HI_TEST(watch_sample, of_four_of_forty_estimates_drag_and_use)
{
	struct hi_bio_estimates e;
	unsigned seed = 0, drag, covered = 0;

	while (sample_l5(seed, &e) != 3)
		seed++;
	HI_ASSERT_EQ(1920, (uint64_t)(e.bytes[HI_BIO_DRAG].proved + 0.5));
	HI_ASSERT_EQ(640, (uint64_t)(e.bytes[HI_BIO_USE].proved + 0.5));
	/* The truth is in the interval of nearly all samples. */
	for (seed = 0; seed < 200; seed++) {
		drag = sample_l5(seed, &e);
		HI_ASSERT(drag <= SLOTS);
		covered += e.bytes[HI_BIO_DRAG].interval.low <= 1920 &&
			   1920 <= e.bytes[HI_BIO_DRAG].interval.high;
	}
	HI_ASSERT_MSG(covered >= 186, "%u of 200", covered);
}

/* Objects that were there first, that came later, and that outlived others are in it
 * equally often. The bound is five standard deviations of a binomial count. */
HI_TEST(watch_sample, is_uniform_over_what_lives)
{
	enum { SAMPLES = 20000, FROM = 10 };
	static unsigned chosen[OBJECTS];
	const unsigned expected = SAMPLES * SLOTS / (OBJECTS - FROM);

	memset(chosen, 0, sizeof(chosen));
	for (unsigned seed = 0; seed < SAMPLES; seed++) {
		struct hi_watch_sample *sample = create_sample(seed);
		struct hi_bio_amount population;
		const struct hi_watch_member *members;
		size_t n;

		take_census(sample, 0, 25);
		take_census(sample, FROM, OBJECTS);
		members = hi_watch_sample_members(sample, &n, &population);
		HI_ASSERT_EQ(SLOTS, n);
		HI_ASSERT_EQ(OBJECTS - FROM, population.objects);
		for (size_t i = 0; i < n; i++)
			chosen[members[i].object.number]++;
		hi_watch_sample_destroy(sample);
	}
	for (unsigned i = 0; i < OBJECTS; i++)
		HI_ASSERT_MSG(i < FROM ? chosen[i] == 0
				       : chosen[i] > expected - 240 &&
						 chosen[i] < expected + 240,
			      "object %u: %u times, not about %u", i, chosen[i],
			      expected);
}

/* Four more after each four periods, of which those that were not watched come first. */
HI_TEST(watch_sample, grows_with_the_periods)
{
	struct hi_watch_sample *sample = create_sample(7);
	struct hi_bio_amount population;
	const struct hi_watch_member *members;
	size_t n;

	for (unsigned t = 0; t < 10 * HOLD; t++) {
		take_census(sample, 0, OBJECTS);
		members = hi_watch_sample_members(sample, &n, &population);
		HI_ASSERT_EQ((t / HOLD + 1) * SLOTS, n);
		for (size_t i = 1; i < n; i++)
			HI_ASSERT(members[i - 1].random < members[i].random);
	}
	for (size_t i = 0; i < n; i++)
		HI_ASSERT_EQ(HOLD, members[i].periods);
	HI_ASSERT_EQ(OBJECTS, hi_watch_sample_totals(sample).objects);
	hi_watch_sample_destroy(sample);
}
