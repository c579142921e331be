/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The slope of a quantity over time, which single outliers do not move: the median of the
 * slopes between all pairs of points (Theil and Sen), and an interval of 95 % from the
 * order of these slopes (Kendall's distribution). The interval holds where deviations
 * from the line are independent of each other; it is too narrow for steps and waves that
 * are longer than the distance of points.
 */
#ifndef HI_CENSUS_ANALYSIS_SLOPE_H
#define HI_CENSUS_ANALYSIS_SLOPE_H

#include <stddef.h>

#include "base/error.h"

enum {
	HI_SLOPE_LEAST = 4,  /* points that a slope needs */
	HI_SLOPE_MOST = 512, /* points of which it is computed; of more, such a choice */
};

struct hi_slope {
	double rate, low, high; /* of y for each unit of x; low <= rate <= high */
	size_t n; /* points; below HI_SLOPE_LEAST the others are 0: too few */
};

/* Fits n points; pairs of equal x are left out. HI_NO_MEMORY. */
enum hi_status hi_slope_fit(const double *x, const double *y, size_t n,
			    struct hi_slope *ret, struct hi_error *err);

/* Returns which of n points is number i of the chosen ones, whose count is the smaller of
 * n and HI_SLOPE_MOST: evenly spread, with the first and the last. */
size_t hi_slope_point(size_t i, size_t n);

#endif
