/* SPDX-License-Identifier: BSD-2-Clause */
/* The peaks of a curve, against the definition taken at its word. */
#include <stdlib.h>
#include <string.h>

#include "census/space/peaks.h"
#include "tests/census/snapshots.h"

enum { MOST = 48 };

static size_t find_all(const uint64_t *heights, size_t n, size_t *peaks)
{
	size_t scratch[256];

	HI_ASSERT(n <= 256);
	return hi_peaks_find(heights, n, n, peaks, scratch);
}

/* ---- the definition ---- */

/* Does the curve fall from the point on in this direction before it is higher, or, to the
 * left, as high? */
static bool falls(const uint64_t *heights, size_t n, size_t point, int step)
{
	uint64_t height = heights[point];

	for (size_t i = point + (size_t)step; i < n; i += (size_t)step) {
		if (heights[i] > height || (step < 0 && heights[i] == height))
			return false;
		if (heights[i] < height &&
		    (height - heights[i]) * (uint64_t)100 >= height * (uint64_t)5)
			return true;
	}
	return false;
}

static bool is_peak_by_definition(const uint64_t *heights, size_t n, size_t point)
{
	size_t top = 0;

	for (size_t i = 1; i < n; i++)
		if (heights[i] > heights[top])
			top = i;
	return point == top ||
	       (falls(heights, n, point, -1) && falls(heights, n, point, 1));
}

/* How many other peaks are higher; the global maximum does not count. */
static size_t rank_of_peak(const uint64_t *heights, size_t n, size_t point, size_t top)
{
	size_t rank = 0;

	for (size_t i = 0; i < n; i++)
		if (i != point && i != top && is_peak_by_definition(heights, n, i) &&
		    (heights[i] > heights[point] ||
		     (heights[i] == heights[point] && i < point)))
			rank++;
	return rank;
}

static size_t draw_heights(uint64_t *state, uint64_t *heights)
{
	size_t n = 1 + random_below(state, MOST - 1);
	uint64_t kind = random_below(state, 3);

	for (size_t i = 0; i < n; i++)
		heights[i] = kind == 0	 ? random_below(state, 4)
			     : kind == 1 ? 90 + random_below(state, 21)
					 : random_below(state, 1000);
	return n;
}

HI_TEST(space_peaks, peaks_of_random_curves_are_those_of_the_definition)
{
	uint64_t state = 4711, heights[MOST];
	size_t peaks[MOST + 1], scratch[MOST];

	for (unsigned round = 0; round < 20000; round++) {
		size_t n = draw_heights(&state, heights);
		size_t most = random_below(&state, 6), top = 0;
		size_t count = hi_peaks_find(heights, n, most, peaks, scratch), k = 0;

		for (size_t i = 1; i < n; i++)
			if (heights[i] > heights[top])
				top = i;
		for (size_t i = 0; i < n; i++) {
			bool want = i == top || (is_peak_by_definition(heights, n, i) &&
						 rank_of_peak(heights, n, i, top) < most);

			HI_ASSERT_MSG((k < count && peaks[k] == i) == want,
				      "round %u: point %zu of %zu", round, i, n);
			k += want;
		}
		HI_ASSERT_EQ(count, k);
	}
}

/* ---- drawn curves ---- */

HI_TEST(space_peaks, a_triangle_has_one_at_its_apex)
{
	uint64_t heights[101];
	size_t peaks[102];

	for (size_t i = 0; i < 101; i++)
		heights[i] = 1000 * (i <= 60 ? i : 120 - i);
	HI_ASSERT_EQ(1, find_all(heights, 101, peaks));
	HI_ASSERT_EQ(60, peaks[0]);
}

HI_TEST(space_peaks, a_saw_has_one_for_each_tooth)
{
	enum { TEETH = 7, LENGTH = 10 };
	uint64_t heights[TEETH * LENGTH];
	size_t peaks[TEETH * LENGTH + 1], scratch[TEETH * LENGTH];

	for (size_t i = 0; i < TEETH * LENGTH; i++)
		heights[i] = 100 + 10 * (i % LENGTH) + i / LENGTH;
	/* The last tooth does not fall, but it is the highest. */
	HI_ASSERT_EQ(TEETH, find_all(heights, TEETH * LENGTH, peaks));
	for (size_t i = 0; i < TEETH; i++)
		HI_ASSERT_EQ(i * LENGTH + LENGTH - 1, peaks[i]);
	/* The two highest of the others. */
	HI_ASSERT_EQ(3, hi_peaks_find(heights, TEETH * LENGTH, 2, peaks, scratch));
	HI_ASSERT_EQ(4 * LENGTH + LENGTH - 1, peaks[0]);
	HI_ASSERT_EQ(5 * LENGTH + LENGTH - 1, peaks[1]);
	HI_ASSERT_EQ(6 * LENGTH + LENGTH - 1, peaks[2]);
}

HI_TEST(space_peaks, noise_of_4_percent_has_one)
{
	uint64_t state = 3, heights[200];
	size_t peaks[201], top = 0;

	for (size_t i = 0; i < 200; i++)
		heights[i] = 9600 + random_below(&state, 401);
	for (size_t i = 0; i < 200; i++)
		if (heights[i] > heights[top])
			top = i;
	HI_ASSERT_EQ(1, find_all(heights, 200, peaks));
	HI_ASSERT_EQ(top, peaks[0]);
}

HI_TEST(space_peaks, a_fall_of_5_percent_is_one_and_less_is_none)
{
	const uint64_t just[] = {1, 1000, 950, 1000, 1}, less[] = {1, 1000, 951, 1000, 1};
	size_t peaks[6];

	HI_ASSERT_EQ(2, find_all(just, 5, peaks));
	HI_ASSERT_EQ(1, find_all(less, 5, peaks));
	HI_ASSERT_EQ(1, peaks[0]);
}

HI_TEST(space_peaks, peak_of_a_plateau_is_its_first_point)
{
	const uint64_t heights[] = {10, 80, 80, 80, 10, 50, 50, 49, 50, 10, 10};
	size_t peaks[12];

	HI_ASSERT_EQ(2, find_all(heights, 11, peaks));
	HI_ASSERT_EQ(1, peaks[0]);
	HI_ASSERT_EQ(5, peaks[1]);
}

HI_TEST(space_peaks, an_end_is_one_only_as_the_global_maximum)
{
	const uint64_t falls_first[] = {90, 10, 100, 10, 90},
		       falls[] = {100, 10, 90, 10, 50};
	size_t peaks[6];

	HI_ASSERT_EQ(1, find_all(falls_first, 5, peaks));
	HI_ASSERT_EQ(2, peaks[0]);
	HI_ASSERT_EQ(2, find_all(falls, 5, peaks));
	HI_ASSERT_EQ(0, peaks[0]);
	HI_ASSERT_EQ(2, peaks[1]);
}

HI_TEST(space_peaks, heights_of_any_size_and_no_points)
{
	const uint64_t huge[] = {0, UINT64_MAX, 0, UINT64_MAX, 0}, none[] = {0, 0, 0};
	size_t peaks[6];

	HI_ASSERT_EQ(2, find_all(huge, 5, peaks));
	HI_ASSERT_EQ(1, find_all(none, 3, peaks));
	HI_ASSERT_EQ(0, find_all(none, 0, peaks));
}
