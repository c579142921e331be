/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peaks of a curve: heights in the order of time, of live bytes for instance.
 *
 * A point is a peak if the curve falls by 5 % of its height or more on both sides of it
 * before it is higher again. The first of equal heights without such a fall in between
 * counts. Nothing lies beyond the ends of a curve, so that there is no fall. The global
 * maximum, the first of equal ones, is a peak in any case, also at an end.
 *
 * Pure, and linear in the number of points.
 */
#ifndef HI_CENSUS_SPACE_PEAKS_H
#define HI_CENSUS_SPACE_PEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* State of a walk along a curve. Zero-initialised is a curve without points. */
struct hi_peak_walk {
	size_t n;	     /* points */
	size_t top;	     /* the global maximum */
	uint64_t top_height; /* its height */
	bool is_rising;	     /* there is a candidate */
	size_t candidate;    /* the highest point since the last fall */
	uint64_t height;     /* its height */
	uint64_t low;	     /* without a candidate: the lowest one since the last peak */
};
/* Adds the next point. Returns whether it proves a peak, *peak_ret: an earlier point,
 * which lies on both sides above a fall. Peaks are proved in their order. */
bool hi_peak_walk_add(struct hi_peak_walk *walk, uint64_t height, size_t *peak_ret);
/* The point that becomes a peak if the curve falls now; SIZE_MAX: none. There is never
 * more than one. */
size_t hi_peak_walk_pending(const struct hi_peak_walk *walk);

/* Finds the global maximum and the `most` highest other peaks, the earlier of equal
 * ones. peaks: room for most + 1, and not more than n; ascending by point. Returns their
 * number; 0: n is 0. scratch: room for n. */
size_t hi_peaks_find(const uint64_t *heights, size_t n, size_t most, size_t *peaks,
		     size_t *scratch);

#endif
