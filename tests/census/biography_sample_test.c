/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimates of bands by a sample, beside drawn populations whose lives are known. */
#include "census/biography/sample_bands.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "tests/census/lives.h"

/* 40 objects of 64 bytes, 30 in DRAG and 10 in USE; 4 are watched, of which 3 are in
 * DRAG. */
HI_TEST(biography_sample, l5_has_the_estimates_of_the_specification)
{
	struct hi_bio_sampled sampled[4];
	struct hi_bio_estimates e;
	struct hi_error err;

	for (unsigned i = 0; i < 4; i++)
		sampled[i] = (struct hi_bio_sampled){
			64, 0.1, HI_BIO_BIT(i < 3 ? HI_BIO_DRAG : HI_BIO_USE), 0};
	HI_ASSERT_OK(hi_bio_sample_estimate(sampled, 4, (struct hi_bio_amount){2560, 40},
					    1, &e, &err),
		     &err);
	HI_ASSERT_EQ(4, e.sampled);
	HI_ASSERT_EQ(1920, hi_estimate_round(e.bytes[HI_BIO_DRAG].proved));
	HI_ASSERT_EQ(1920, hi_estimate_round(e.bytes[HI_BIO_DRAG].possible));
	HI_ASSERT_EQ(640, hi_estimate_round(e.bytes[HI_BIO_USE].proved));
	HI_ASSERT_EQ(30, hi_estimate_round(e.objects[HI_BIO_DRAG].proved));
	HI_ASSERT_EQ(10, hi_estimate_round(e.objects[HI_BIO_USE].possible));
	HI_ASSERT(e.bytes[HI_BIO_DRAG].interval.low < 1920 &&
		  e.bytes[HI_BIO_DRAG].interval.high > 1920);
	HI_ASSERT_EQ(0, e.bytes[HI_BIO_VOID].interval.low);
	HI_ASSERT(e.bytes[HI_BIO_VOID].interval.high < 2560);
}

/* Words that were not watched may have been used: the bounds are wide, the estimate is
 * that of the specification. */
HI_TEST(biography_sample, l5_is_estimated_by_words_that_were_watched)
{
	const uint32_t open = HI_BIO_BIT(HI_BIO_USE) | HI_BIO_BIT(HI_BIO_DRAG);
	struct hi_bio_sampled sampled[5];
	struct hi_bio_estimates e;
	struct hi_error err;

	for (unsigned i = 0; i < 4; i++)
		sampled[i] = (struct hi_bio_sampled){
			64, 0.1, i < 3 ? open : HI_BIO_BIT(HI_BIO_USE),
			HI_BIO_BIT(i < 3 ? HI_BIO_DRAG : HI_BIO_USE)};
	/* It was not watched yet. */
	sampled[4] = (struct hi_bio_sampled){64, 0.1, open, 0};
	HI_ASSERT_OK(hi_bio_sample_estimate(sampled, 5, (struct hi_bio_amount){2560, 40},
					    1, &e, &err),
		     &err);
	HI_ASSERT_EQ(4, e.watched);
	HI_ASSERT_EQ(1920, hi_estimate_round(e.bytes[HI_BIO_DRAG].estimate));
	HI_ASSERT_EQ(640, hi_estimate_round(e.bytes[HI_BIO_USE].estimate));
	HI_ASSERT_EQ(30, hi_estimate_round(e.objects[HI_BIO_DRAG].estimate));
	HI_ASSERT(e.bytes[HI_BIO_DRAG].range.low < 1920 &&
		  e.bytes[HI_BIO_DRAG].range.high > 1920);
	HI_ASSERT(e.bytes[HI_BIO_USE].range.low < 640 &&
		  e.bytes[HI_BIO_USE].range.high > 640);
	HI_ASSERT_EQ(0, e.bytes[HI_BIO_DRAG].interval.low);
	HI_ASSERT_EQ(2560, e.bytes[HI_BIO_USE].interval.high);
}

HI_TEST(biography_sample, all_is_exact_and_none_is_unknown)
{
	const struct hi_bio_amount live = {300, 3};
	struct hi_bio_sampled all[3] = {
		{50, 1, HI_BIO_BIT(HI_BIO_LAG), 0},
		{100, 1, HI_BIO_BIT(HI_BIO_LAG), 0},
		{150, 1, HI_BIO_BIT(HI_BIO_USE) | HI_BIO_BIT(HI_BIO_LAG), 0}};
	struct hi_bio_estimates e;
	struct hi_error err;

	HI_ASSERT_OK(hi_bio_sample_estimate(all, 3, live, 1, &e, &err), &err);
	HI_ASSERT_EQ(150, e.bytes[HI_BIO_LAG].interval.low);
	HI_ASSERT_EQ(300, e.bytes[HI_BIO_LAG].interval.high);
	HI_ASSERT_EQ(0, e.bytes[HI_BIO_USE].interval.low);
	HI_ASSERT_EQ(150, e.bytes[HI_BIO_USE].interval.high);
	HI_ASSERT_EQ(0, e.bytes[HI_BIO_DRAG].interval.high);
	HI_ASSERT_OK(hi_bio_sample_estimate(NULL, 0, live, 1, &e, &err), &err);
	HI_ASSERT_EQ(0, e.bytes[HI_BIO_LAG].interval.low);
	HI_ASSERT_EQ(300, e.bytes[HI_BIO_LAG].interval.high);
	HI_ASSERT_EQ(3, e.objects[HI_BIO_DRAG].interval.high);
	HI_ASSERT_STATUS(HI_USAGE,
			 hi_bio_sample_estimate(all, 3, (struct hi_bio_amount){299, 3}, 1,
						&e, &err));
	all[1].probability = 0;
	HI_ASSERT_STATUS(HI_USAGE, hi_bio_sample_estimate(all, 3, live, 1, &e, &err));
	all[1] = (struct hi_bio_sampled){1, 1, 0, 0};
	HI_ASSERT_STATUS(HI_USAGE, hi_bio_sample_estimate(all, 3, live, 1, &e, &err));
}

/* ---- coverage ---- */

enum { MAX_POPULATION = 2000, CENSUSES = 6, RUNS = 200, AT = 3 };

/* A life of one of four shapes; objects that are dragged are larger. */
static struct life draw_shape(uint64_t *random)
{
	static const uint64_t sizes[] = {16, 24, 32, 48, 64, 96, 128, 512};
	const unsigned shape = random_below(random, 100);
	struct life life = {.size = sizes[random_below(random, 8)],
			    .from = 1 + random_below(random, 2)};

	if (shape < 45) /* dragged at census 3 */
		life.truth = PERIOD(life.from);
	else if (shape < 80) /* used */
		life.truth = PERIOD(life.from) | PERIOD(AT + random_below(random, 3));
	else if (shape < 92) /* lagging */
		life.truth = PERIOD(AT + 1 + random_below(random, 2));
	if (shape < 45)
		life.size *= 1 + random_below(random, 3);
	return life;
}

static uint64_t sample_address(uint32_t i)
{
	return 0x10000 + 0x1000ull * i;
}

/* The uses of what is watched are seen, each with its probability; of the others nothing
 * is known. */
static void play_watched(struct hi_bio *bio, const struct life *lives,
			 uint32_t population, const uint64_t *watched)
{
	struct hi_error err;

	for (unsigned p = 1; p <= CENSUSES; p++) {
		for (uint32_t i = 0; i < population; i++) {
			const struct hi_bio_object object = {.address = sample_address(i),
							     .size = lives[i].size};

			if (lives[i].from == p)
				HI_ASSERT_OK(hi_bio_born(bio, &object, NULL, &err), &err);
			if (!hi_bit(watched, i) || lives[i].from > p)
				continue;
			if (lives[i].truth & PERIOD(p))
				hi_bio_used(bio, hi_bio_find(bio, object.address),
					    HI_BIO_WATCH);
			else
				hi_bio_unused(bio, hi_bio_find(bio, object.address),
					      HI_BIO_PAGE);
		}
		HI_ASSERT_OK(hi_bio_end_period(bio, false, &err), &err);
	}
}

static uint32_t list_sampled(const struct hi_bio *bio, uint32_t population,
			     const uint64_t *watched, double probability,
			     struct hi_bio_sampled *ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < population; i++) {
		struct hi_bio_life life;

		if (!hi_bit(watched, i))
			continue;
		HI_ASSERT(hi_bio_life(bio, hi_bio_find(bio, sample_address(i)), &life));
		ret[n++] = (struct hi_bio_sampled){
			life.object.size, probability,
			hi_bio_life_bands(&life, hi_bio_period(bio), AT), 0};
	}
	return n;
}

struct coverage {
	unsigned bytes[HI_BIO_BANDS], objects[HI_BIO_BANDS];
	double width; /* of DRAG, as a part of what is live; the sum of all runs */
};

static void count_coverage(const struct life *lives, uint32_t population,
			   const struct hi_bio_estimates *e, uint64_t live,
			   struct coverage *ret)
{
	struct hi_bio_amount truth[HI_BIO_BANDS] = {};

	for (uint32_t i = 0; i < population; i++) {
		unsigned band = band_by_definition(&lives[i], lives[i].truth, AT);

		truth[band].bytes += lives[i].size;
		truth[band].objects++;
	}
	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		const struct hi_interval *bytes = &e->bytes[band].interval;
		const struct hi_interval *objects = &e->objects[band].interval;

		ret->bytes[band] += bytes->low <= truth[band].bytes &&
				    truth[band].bytes <= bytes->high;
		ret->objects[band] += objects->low <= truth[band].objects &&
				      truth[band].objects <= objects->high;
	}
	ret->width += (double)(e->bytes[HI_BIO_DRAG].interval.high -
			       e->bytes[HI_BIO_DRAG].interval.low) /
		      (double)live;
}

static void run_sample(uint64_t seed, uint32_t population, double probability,
		       struct coverage *ret)
{
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = NULL;
	static struct life lives[MAX_POPULATION];
	static struct hi_bio_sampled sampled[MAX_POPULATION];
	uint64_t watched[(MAX_POPULATION + 63) / 64] = {}, random = seed;
	struct hi_bio_estimates e;
	struct hi_error err;
	struct hi_bio_amount live;
	uint32_t n;

	for (uint32_t i = 0; i < population; i++) {
		lives[i] = draw_shape(&random);
		if (random_below(&random, 1000000) < 1000000 * probability)
			hi_bit_set(watched, i);
	}
	HI_ASSERT_OK(hi_bio_create(NULL, &bio, &err), &err);
	play_watched(bio, lives, population, watched);
	n = list_sampled(bio, population, watched, probability, sampled);
	live = hi_bio_census(bio, AT)->live;
	HI_ASSERT_OK(hi_bio_sample_estimate(sampled, n, live, seed, &e, &err), &err);
	count_coverage(lives, population, &e, live.bytes, ret);
}

static void check_coverage(uint32_t population, double probability, double width)
{
	static const enum hi_bio_band bands[] = {HI_BIO_VOID, HI_BIO_LAG, HI_BIO_USE,
						 HI_BIO_DRAG};
	struct coverage c = {};
	unsigned all = 0;

	for (uint64_t seed = 1; seed <= RUNS; seed++)
		run_sample(seed, population, probability, &c);
	for (unsigned i = 0; i < 4; i++) {
		hi_test_note(
			"sampled %g, %s: %u and %u of %u intervals have the bytes and "
			"objects",
			probability, hi_bio_band_name(bands[i]), c.bytes[bands[i]],
			c.objects[bands[i]], RUNS);
		all += c.bytes[bands[i]] + c.objects[bands[i]];
	}
	hi_test_note("sampled %g: DRAG is known within %.3f of what is live", probability,
		     c.width / RUNS);
	for (unsigned i = 0; i < 4; i++) {
		HI_ASSERT(c.bytes[bands[i]] >= RUNS * 93 / 100);
		HI_ASSERT(c.objects[bands[i]] >= RUNS * 93 / 100);
	}
	HI_ASSERT(all >= 8 * RUNS * 94 / 100);
	HI_ASSERT(c.width / RUNS < width);
}

HI_TEST(biography_sample, intervals_have_the_truth_in_19_of_20_runs)
{
	check_coverage(2000, 0.02, 0.55);
}

HI_TEST_SLOW(biography_sample, intervals_of_larger_samples_have_the_truth_as_often)
{
	check_coverage(1000, 0.1, 0.35);
	check_coverage(200, 0.5, 0.25);
}

/* Objects of one word: 4 of them are watched at a time, 24 in all, of 400 of which three
 * in ten are used. Returns whether the interval has the truth. */
static bool estimate_words(uint64_t seed)
{
	enum { WORDS = 400, WATCHED = 24, BYTES = 32 };
	const uint32_t open = HI_BIO_BIT(HI_BIO_USE) | HI_BIO_BIT(HI_BIO_DRAG);
	struct hi_bio_sampled sampled[WATCHED];
	bool is_used[WORDS], is_taken[WORDS] = {};
	struct hi_bio_estimates e;
	uint64_t random = seed, truth = 0;
	struct hi_error err;

	for (unsigned i = 0; i < WORDS; i++) {
		is_used[i] = random_below(&random, 10) < 3;
		truth += is_used[i] ? BYTES : 0;
	}
	for (unsigned n = 0; n < WATCHED;) {
		uint32_t i = random_below(&random, WORDS);

		if (is_taken[i])
			continue;
		is_taken[i] = true;
		sampled[n++] = (struct hi_bio_sampled){
			BYTES, (double)WATCHED / WORDS,
			is_used[i] ? HI_BIO_BIT(HI_BIO_USE) : open,
			HI_BIO_BIT(is_used[i] ? HI_BIO_USE : HI_BIO_DRAG)};
	}
	HI_ASSERT_OK(hi_bio_sample_estimate(sampled, WATCHED,
					    (struct hi_bio_amount){WORDS * BYTES, WORDS},
					    seed, &e, &err),
		     &err);
	return e.bytes[HI_BIO_USE].range.low <= truth &&
	       truth <= e.bytes[HI_BIO_USE].range.high;
}

HI_TEST(biography_sample, estimates_by_words_have_the_truth_in_19_of_20_runs)
{
	enum { WORD_RUNS = 400 };
	unsigned held = 0;

	for (uint64_t seed = 1; seed <= WORD_RUNS; seed++)
		held += estimate_words(seed);
	hi_test_note("%u of %u intervals have the truth", held, WORD_RUNS);
	HI_ASSERT(held >= WORD_RUNS * 93 / 100);
}
