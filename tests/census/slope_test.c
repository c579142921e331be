/* SPDX-License-Identifier: BSD-2-Clause */
/* Slopes of drawn points, whose slope is known. */
#include "census/analysis/slope.h"

#include <math.h>
#include <stdint.h>

#include "tests/harness.h"

enum { POINTS_MOST = 2000 };

static struct hi_slope fit(const double *x, const double *y, size_t n)
{
	struct hi_slope slope;
	struct hi_error err;

	HI_ASSERT_OK(hi_slope_fit(x, y, n, &slope, &err), &err);
	return slope;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* About normal: of mean 0 and deviation 1. */
static double next_noise(uint64_t *state)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += (double)(next_random(state) >> 11) / 9007199254740992.0;
	return sum - 6;
}

HI_TEST(slope, a_line_has_its_slope_and_no_interval)
{
	const double x[] = {0, 1, 3, 7, 8}, y[] = {5, 7, 11, 19, 21};
	struct hi_slope slope = fit(x, y, 5);

	HI_ASSERT_EQ(5, slope.n);
	HI_ASSERT(fabs(slope.rate - 2) < 1e-12);
	HI_ASSERT(fabs(slope.low - 2) < 1e-12 && fabs(slope.high - 2) < 1e-12);
}

HI_TEST(slope, an_outlier_does_not_move_it)
{
	double x[30], y[30];
	struct hi_slope slope;

	for (size_t i = 0; i < 30; i++) {
		x[i] = (double)i;
		y[i] = 3 * (double)i;
	}
	y[7] = 1e9;
	y[20] = -1e9;
	slope = fit(x, y, 30);
	HI_ASSERT(fabs(slope.rate - 3) < 1e-9);
	HI_ASSERT(fabs(slope.low - 3) < 1e-9 && fabs(slope.high - 3) < 1e-9);
}

HI_TEST(slope, few_points_have_none)
{
	const double x[] = {0, 1, 2, 3}, y[] = {0, 1, 2, 3}, same[] = {7, 7, 7, 7};

	HI_ASSERT_EQ(0, fit(x, y, 0).n);
	HI_ASSERT_EQ(3, fit(x, y, 3).n);
	HI_ASSERT(fabs(fit(x, y, 3).rate) < 1e-12);
	HI_ASSERT(fabs(fit(x, y, 4).rate - 1) < 1e-12);
	/* At one moment nothing grows. */
	HI_ASSERT(fit(same, y, 4).n < HI_SLOPE_LEAST);
}

HI_TEST(slope, the_choice_of_points_has_both_ends)
{
	size_t before = 0;

	HI_ASSERT_EQ(7, hi_slope_point(7, 100));
	HI_ASSERT_EQ(0, hi_slope_point(0, 100000));
	HI_ASSERT_EQ(99999, hi_slope_point(HI_SLOPE_MOST - 1, 100000));
	for (size_t i = 1; i < HI_SLOPE_MOST; i++) {
		size_t at = hi_slope_point(i, HI_SLOPE_MOST + 1);

		HI_ASSERT(at > before);
		before = at;
	}
	HI_ASSERT_EQ(HI_SLOPE_MOST, before);
}

/* How many of 200 trials have the slope, 5, in their interval. The moments are uneven. */
static int count_of_hits(size_t n, uint64_t seed)
{
	static double x[POINTS_MOST], y[POINTS_MOST];
	uint64_t state = seed;
	int hits = 0;

	for (int trial = 0; trial < 200; trial++) {
		struct hi_slope slope;

		for (size_t i = 0; i < n; i++) {
			x[i] = (double)i + 0.01 * (double)(next_random(&state) % 50);
			y[i] = 100 + 5 * x[i] + 20 * next_noise(&state);
		}
		slope = fit(x, y, n);
		HI_ASSERT(slope.low <= slope.rate && slope.rate <= slope.high);
		hits += slope.low <= 5 && 5 <= slope.high;
	}
	return hits;
}

HI_TEST(slope, the_interval_holds_in_nineteen_of_twenty_trials)
{
	static const size_t counts[] = {5, 6, 8, 12, 20, 40};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		int hits = count_of_hits(counts[i], 88172645463325252ull + i);

		/* 181: what 190 expected ones fall below once in 300 times. */
		HI_ASSERT_MSG(hits >= 181, "%zu points: %d of 200", counts[i], hits);
	}
}
