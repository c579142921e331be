/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/slope.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/number.h"

size_t hi_slope_point(size_t i, size_t n)
{
	if (n <= HI_SLOPE_MOST)
		return i;
	return (size_t)((uint64_t)i * (n - 1) / (HI_SLOPE_MOST - 1));
}

static int compare_slopes(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Returns how many pairs have a slope. */
static size_t fill_pair_slopes(const double *x, const double *y, size_t all, size_t n,
			       double *slopes)
{
	size_t pairs = 0;

	for (size_t i = 1; i < n; i++) {
		size_t b = hi_slope_point(i, all);

		for (size_t j = 0; j < i; j++) {
			size_t a = hi_slope_point(j, all);

			if (x[b] > x[a] || x[b] < x[a])
				slopes[pairs++] = (y[b] - y[a]) / (x[b] - x[a]);
		}
	}
	return pairs;
}

/* The distance of the interval's ends from the ends of the sorted slopes: half of the
 * pairs that Kendall's S leaves out with a probability of 95 %, rounded outwards. */
static size_t slopes_left_out(size_t n, size_t pairs)
{
	double d = (double)n;
	double spread = 1.96 * sqrt(d * (d - 1) * (2 * d + 5) / 18);
	double left = ((double)pairs - spread) / 2;

	return left > 1 ? (size_t)left - 1 : 0;
}

static double median_of_slopes(const double *slopes, size_t n)
{
	return n % 2 ? slopes[n / 2] : (slopes[n / 2 - 1] + slopes[n / 2]) / 2;
}

enum hi_status hi_slope_fit(const double *x, const double *y, size_t n,
			    struct hi_slope *ret, struct hi_error *err)
{
	size_t used = hi_min(n, (size_t)HI_SLOPE_MOST), pairs, left;
	HI_GUARD(free) double *slopes = NULL;

	*ret = (struct hi_slope){.n = n};
	if (n < HI_SLOPE_LEAST)
		return HI_OK;
	slopes = hi_calloc(used * (used - 1) / 2, sizeof(*slopes));
	if (!slopes)
		return hi_fail_memory(err, "slope");
	pairs = fill_pair_slopes(x, y, n, used, slopes);
	if (pairs == 0) {
		ret->n = 1;
		return HI_OK;
	}
	qsort(slopes, pairs, sizeof(*slopes), compare_slopes);
	left = slopes_left_out(used, pairs);
	ret->rate = median_of_slopes(slopes, pairs);
	ret->low = slopes[left];
	ret->high = slopes[pairs - 1 - left];
	return HI_OK;
}
