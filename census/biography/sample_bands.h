/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Estimates the bands of all objects from a sample (SPEC section 2, "Sampling", and L5).
 * Objects are chosen at birth with a known probability, whatever becomes of them; their
 * uses are then watched. Each stands for 1/probability objects of its size (Horvitz and
 * Thompson); as the bytes and objects that are live at the census are known, the sums are
 * scaled to them.
 *
 * A watch that covers one word of an object misses uses of the others: the bands that are
 * still possible for it say so, and the estimates are bounds where it has several.
 *
 * Note [Intervals of samples]
 *
 * A bootstrap draws the sample again from itself. Here each object has a random weight
 * (Rubin's Bayesian bootstrap), so that no draw is empty. A band that no object of the
 * sample is in would have the interval [0, 0], which is too short; so each draw has two
 * more half objects, of which one is in the band and one is not. With objects of one size
 * that is Jeffreys' interval of a proportion. The sampled part is known: only the rest is
 * estimated, and the interval is closer the more of all is in the sample. The draws
 * depend on the seed alone.
 */
#ifndef HI_CENSUS_BIOGRAPHY_SAMPLE_BANDS_H
#define HI_CENSUS_BIOGRAPHY_SAMPLE_BANDS_H

#include "census/biography/bands.h"
#include "census/events/sampling.h"

/* An object of the sample that is live at the census. */
struct hi_bio_sampled {
	uint64_t size;
	double probability; /* of being chosen, in (0, 1] */
	uint32_t bands; /* hi_bio_life_bands(): those that are possible, at least one */
	/* A mask of the one of these in which it is if the words that were not watched
	 * are used as the watched one; 0: not known. */
	uint32_t likely;
};
struct hi_bio_estimate {
	/* The objects whose band is proved, and those that may be in the band. */
	double proved, possible;
	/* Has the truth with 95 %: the lower end is of what is proved, the upper one of
	 * what is possible. */
	struct hi_interval interval;
	/* The estimate by `likely` (Horvitz and Thompson), and an interval that has it in
	 * 95 % of the samples. */
	double estimate;
	struct hi_interval range;
};
struct hi_bio_estimates {
	struct hi_bio_estimate bytes[HI_BIO_BANDS], objects[HI_BIO_BANDS];
	uint32_t sampled; /* objects of the sample */
	uint32_t watched; /* of them, those whose band is estimated; 0: no estimate */
};
/*
 * live: what the census has of the population that the sample was taken from. Without an
 * object in the sample nothing is known: the intervals are [0, live]. Takes time for some
 * 1,000 draws of the sample. HI_NO_MEMORY; HI_USAGE: a probability or a mask out of
 * range, or more in the sample than is live.
 */
enum hi_status hi_bio_sample_estimate(const struct hi_bio_sampled *sampled, uint32_t n,
				      struct hi_bio_amount live, uint64_t seed,
				      struct hi_bio_estimates *ret, struct hi_error *err);

#endif
