/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/biography/sample_bands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { DRAWS = 1000, TAIL = DRAWS / 40 }; /* 2.5 % at each end */

/* splitmix64, https://prng.di.unimi.it/splitmix64.c */
static uint64_t next_draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}
/* In (0, 1]. */
static double draw_uniform(uint64_t *state)
{
	return (double)((next_draw(state) >> 11) + 1) * 0x1p-53;
}
/* The weight of an object: exponential, of mean 1. */
static double draw_weight(uint64_t *state)
{
	return -log(draw_uniform(state));
}
/* The weight of half an object: half the square of a normal number. */
static double draw_half_weight(uint64_t *state)
{
	double length = -log(draw_uniform(state));
	double turn = cos(2 * M_PI * draw_uniform(state));

	return length * turn * turn;
}

/* Sums of the sample for one kind of amount. */
struct sums {
	double live;	 /* of the population */
	double seen;	 /* in the sample itself */
	double weighted; /* what the sample stands for */
	double half;	 /* what one of the two added objects stands for */
	double seen_in[HI_BIO_BANDS][2], weighted_in[HI_BIO_BANDS][2];
};
/* Shares of the bands in a draw, proved and possible. */
struct shares {
	double of[HI_BIO_BANDS][2][DRAWS];
};

static double value_of(const struct hi_bio_sampled *s, bool is_bytes)
{
	return is_bytes ? (double)s->size : 1;
}

/* Bit 0: the band is proved; bit 1: it is possible. */
static bool is_in_band(const struct hi_bio_sampled *s, unsigned band, unsigned end)
{
	return end ? s->bands & HI_BIO_BIT(band) : s->bands == HI_BIO_BIT(band);
}

static void sum_sampled_bands(const struct hi_bio_sampled *sampled, uint32_t n,
			      bool is_bytes, struct sums *ret)
{
	double squares = 0;

	for (uint32_t i = 0; i < n; i++) {
		const double value = value_of(&sampled[i], is_bytes);
		const double weighted = value / sampled[i].probability;

		ret->seen += value;
		ret->weighted += weighted;
		squares += weighted * weighted;
		for (unsigned k = 0; k < 2 * HI_BIO_BANDS; k++) {
			bool is_in = is_in_band(&sampled[i], k / 2, k % 2);

			ret->seen_in[k / 2][k % 2] += is_in ? value : 0;
			ret->weighted_in[k / 2][k % 2] += is_in ? weighted : 0;
		}
	}
	/* The mean over bytes, not over objects: a band that was missed may well have
	 * the larger ones. */
	ret->half = ret->weighted > 0 ? squares / ret->weighted : 0;
}

static void draw_shares(const struct hi_bio_sampled *sampled, uint32_t n, bool is_bytes,
			const struct sums *sums, uint64_t *random, struct shares *ret,
			unsigned draw)
{
	double all = 0, in[HI_BIO_BANDS][2] = {};

	for (uint32_t i = 0; i < n; i++) {
		const double value = value_of(&sampled[i], is_bytes) /
				     sampled[i].probability * draw_weight(random);

		all += value;
		for (unsigned k = 0; k < 2 * HI_BIO_BANDS; k++)
			if (is_in_band(&sampled[i], k / 2, k % 2))
				in[k / 2][k % 2] += value;
	}
	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		const double one = sums->half * draw_half_weight(random);
		const double other = sums->half * draw_half_weight(random);
		const double total = all + one + other;

		for (unsigned end = 0; end < 2; end++)
			ret->of[band][end][draw] =
				total > 0 ? (in[band][end] + one) / total : 0;
	}
}

static int compare_shares(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Returns how much longer an interval has to be than that of the draws, because the
 * spread is that of few objects: Hesterberg's expanded percentile interval (What Teachers
 * Should Know About the Bootstrap, 2015). For objects of many sizes the number is that of
 * as many bytes in objects of one size. The quantile of Student's distribution by the
 * expansion of Abramowitz and Stegun 26.7.5.
 */
static double expand_interval(const struct sums *s)
{
	const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z;
	const double n = fmax(s->weighted / s->half, 2), v = n - 1;
	const double t =
		z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v);

	return t / z * sqrt(n / v);
}

/* The end of an interval: what was seen, and of the rest a share that was drawn. */
static double end_of_interval(const struct sums *s, unsigned band, unsigned end,
			      double share)
{
	const double rest = s->live - s->seen;
	const double mean =
		(s->weighted_in[band][end] + s->half / 2) / (s->weighted + s->half);

	/* The rest is itself one of many that the sample could have left. */
	share = mean + (share - mean) * sqrt(s->live / rest) * expand_interval(s);
	return s->seen_in[band][end] + rest * fmin(fmax(share, 0), 1);
}

static void estimate_band(const struct sums *s, unsigned band, struct shares *shares,
			  struct hi_bio_estimate *ret)
{
	double *proved = shares->of[band][0], *possible = shares->of[band][1];
	double low = s->seen_in[band][0], high = s->live;

	qsort(proved, DRAWS, sizeof(*proved), compare_shares);
	qsort(possible, DRAWS, sizeof(*possible), compare_shares);
	ret->proved = s->live * s->weighted_in[band][0] / s->weighted;
	ret->possible = s->live * s->weighted_in[band][1] / s->weighted;
	/* A sample without a member of the band, or with members of it alone, does not
	 * exclude that all are so. */
	if (s->seen >= s->live) {
		high = s->seen_in[band][1];
	} else {
		if (s->seen_in[band][0] > 0)
			low = end_of_interval(s, band, 0, proved[TAIL]);
		if (s->seen_in[band][1] < s->seen)
			high = end_of_interval(s, band, 1, possible[DRAWS - 1 - TAIL]);
	}
	ret->interval = (struct hi_interval){(uint64_t)floor(low), (uint64_t)ceil(high)};
}

static void estimate_bands(const struct hi_bio_sampled *sampled, uint32_t n,
			   uint64_t live, bool is_bytes, uint64_t *random,
			   struct shares *shares, struct hi_bio_estimate *ret)
{
	struct sums sums = {.live = (double)live};

	sum_sampled_bands(sampled, n, is_bytes, &sums);
	for (unsigned band = 0; band < HI_BIO_BANDS; band++)
		ret[band] = (struct hi_bio_estimate){.possible = sums.live,
						     .interval = {0, live}};
	if (!(sums.weighted > 0))
		return;
	for (unsigned draw = 0; draw < DRAWS; draw++)
		draw_shares(sampled, n, is_bytes, &sums, random, shares, draw);
	for (unsigned band = 0; band < HI_BIO_BANDS; band++)
		estimate_band(&sums, band, shares, &ret[band]);
}

static enum hi_status check_sample(const struct hi_bio_sampled *sampled, uint32_t n,
				   struct hi_bio_amount live, struct hi_error *err)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct hi_bio_sampled *s = &sampled[i];

		if (!(s->probability > 0 && s->probability <= 1) || !s->bands ||
		    s->bands > HI_BIO_EVERY_BAND)
			return hi_fail(err, HI_USAGE, 0,
				       "sample of biographies: object %u has the "
				       "probability %g and the bands 0x%x",
				       i, s->probability, s->bands);
		bytes += s->size;
	}
	if (n > live.objects || bytes > live.bytes)
		return hi_fail(err, HI_USAGE, 0,
			       "sample of biographies: it has more than is live");
	return HI_OK;
}

/* Counts objects whose likely band is known as if it were certain. */
static uint32_t list_likely(const struct hi_bio_sampled *sampled, uint32_t n,
			    struct hi_bio_sampled *ret)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!sampled[i].likely)
			continue;
		ret[kept] = sampled[i];
		ret[kept++].bands = sampled[i].likely;
	}
	return kept;
}

static void keep_likely(const struct hi_bio_estimate *likely, struct hi_bio_estimate *ret)
{
	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		ret[band].estimate = likely[band].proved;
		ret[band].range = likely[band].interval;
	}
}

static enum hi_status estimate_likely(const struct hi_bio_sampled *sampled, uint32_t n,
				      struct hi_bio_amount live, uint64_t *random,
				      struct shares *shares, struct hi_bio_estimates *ret,
				      struct hi_error *err)
{
	struct hi_bio_sampled *likely = hi_calloc((size_t)n + 1, sizeof(*likely));
	struct hi_bio_estimate of[HI_BIO_BANDS];

	if (!likely)
		return hi_fail_memory(err, "sample of biographies");
	ret->watched = list_likely(sampled, n, likely);
	if (ret->watched) {
		estimate_bands(likely, ret->watched, live.bytes, true, random, shares,
			       of);
		keep_likely(of, ret->bytes);
		estimate_bands(likely, ret->watched, live.objects, false, random, shares,
			       of);
		keep_likely(of, ret->objects);
	}
	free(likely);
	return HI_OK;
}

enum hi_status hi_bio_sample_estimate(const struct hi_bio_sampled *sampled, uint32_t n,
				      struct hi_bio_amount live, uint64_t seed,
				      struct hi_bio_estimates *ret, struct hi_error *err)
{
	enum hi_status s = check_sample(sampled, n, live, err);
	struct shares *shares;

	if (s != HI_OK)
		return s;
	shares = hi_alloc(sizeof(*shares));
	if (!shares)
		return hi_fail_memory(err, "draws of a sample");
	ret->sampled = n;
	estimate_bands(sampled, n, live.bytes, true, &seed, shares, ret->bytes);
	estimate_bands(sampled, n, live.objects, false, &seed, shares, ret->objects);
	s = estimate_likely(sampled, n, live, &seed, shares, ret, err);
	free(shares);
	return s;
}
