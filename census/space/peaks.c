/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/space/peaks.h"

#include <stdlib.h>

enum { FALL_PART = 20 }; /* 5 % */

/* Is `low` below `height` by 5 % or more? */
static bool is_fall(uint64_t height, uint64_t low)
{
	uint64_t least = height / FALL_PART + (height % FALL_PART != 0);

	return low < height && height - low >= least;
}

static void set_candidate(struct hi_peak_walk *walk, size_t point, uint64_t height)
{
	walk->is_rising = true;
	walk->candidate = point;
	walk->height = height;
}

bool hi_peak_walk_add(struct hi_peak_walk *walk, uint64_t height, size_t *peak_ret)
{
	size_t point = walk->n++;

	if (!point || height > walk->top_height) {
		walk->top = point;
		walk->top_height = height;
	}
	if (!point)
		walk->low = height;
	if (walk->is_rising && is_fall(walk->height, height)) {
		*peak_ret = walk->candidate;
		walk->is_rising = false;
		walk->low = height;
		return true;
	}
	if (walk->is_rising ? height > walk->height : is_fall(height, walk->low))
		set_candidate(walk, point, height);
	else if (height < walk->low)
		walk->low = height;
	return false;
}

size_t hi_peak_walk_pending(const struct hi_peak_walk *walk)
{
	return walk->is_rising ? walk->candidate : SIZE_MAX;
}

/* ---- the highest ones ---- */

/* The highest first, the earlier of equal ones. */
static int compare_peaks(const void *a, const void *b, void *heights)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	uint64_t m = ((const uint64_t *)heights)[x], n = ((const uint64_t *)heights)[y];

	return m != n ? (m > n ? -1 : 1) : (x > y) - (x < y);
}

static int compare_points(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

size_t hi_peaks_find(const uint64_t *heights, size_t n, size_t most, size_t *peaks,
		     size_t *scratch)
{
	struct hi_peak_walk walk = {};
	size_t count = 0, ret = 0, peak;

	for (size_t i = 0; i < n; i++)
		if (hi_peak_walk_add(&walk, heights[i], &peak))
			scratch[count++] = peak;
	if (!n)
		return 0;
	qsort_r(scratch, count, sizeof(*scratch), compare_peaks,
		(void *)(uintptr_t)heights);
	peaks[ret++] = walk.top;
	for (size_t i = 0; i < count && ret <= most; i++)
		if (scratch[i] != walk.top)
			peaks[ret++] = scratch[i];
	qsort(peaks, ret, sizeof(*peaks), compare_points);
	return ret;
}
