/* SPDX-License-Identifier: BSD-2-Clause */
/* Areas below curves, against a sum over each nanosecond and over all bands. */
#include <stdlib.h>
#include <string.h>

#include "census/space/areas.h"
#include "tests/census/snapshots.h"

static struct hi_area area_of(const uint64_t *times, const uint64_t *bytes, size_t n)
{
	struct hi_area ret = {};

	for (size_t i = 0; i < n; i++)
		hi_area_add(&ret, bytes[i], hi_area_weight(times, n, i));
	return ret;
}

static void check_decimal(const char *want, const struct hi_area *area)
{
	char text[HI_AREA_TEXT];

	HI_ASSERT_STREQ(want, hi_area_decimal(text, area));
}

HI_TEST(space_areas, areas_of_drawn_shapes_are_exact)
{
	const uint64_t s = 1000000000, times[] = {0, 2 * s, 4 * s, 10 * s},
		       flat[] = {100, 100, 100, 100}, triangle[] = {0, 100, 0, 0},
		       ends[] = {100, 0, 0, 60};
	struct hi_area area = area_of(times, flat, 4);

	check_decimal("1000", &area);
	HI_ASSERT_EQ(100, hi_area_mean(&area, 10 * s));
	area = area_of(times, triangle, 4);
	check_decimal("200", &area);
	area = area_of(times, ends, 4);
	check_decimal("280", &area);
	/* One sample, and no time. */
	area = area_of(times, flat, 1);
	check_decimal("0", &area);
	HI_ASSERT_EQ(0, hi_area_mean(&area, 0));
}

HI_TEST(space_areas, halves_of_a_byte_for_a_nanosecond_are_not_lost)
{
	const uint64_t times[] = {5, 6}, bytes[] = {1, 0}, huge[] = {UINT64_MAX, 0},
		       all[] = {0, UINT64_MAX};
	struct hi_area area = area_of(times, bytes, 2);

	check_decimal("0.0000000005", &area);
	area = area_of(times, huge, 2);
	check_decimal("9223372036.8547758075", &area);
	area = area_of(all, huge, 2);
	HI_ASSERT(hi_area_mean(&area, UINT64_MAX) == UINT64_MAX / 2 + 1);
	hi_area_sum(&area, &(struct hi_area){~(unsigned __int128)0});
	HI_ASSERT(area.halves == ~(unsigned __int128)0);
}

/* A line from sample to sample: at each nanosecond the mean of its two ends. */
static unsigned __int128 walk_halves(const uint64_t *times, const uint64_t *bytes,
				     size_t n)
{
	unsigned __int128 ret = 0;

	/* Scaled by the length of the step, so that all is whole. */
	for (size_t i = 0; i + 1 < n; i++) {
		uint64_t length = times[i + 1] - times[i];
		unsigned __int128 sum = 0;

		for (uint64_t k = 0; k < length; k++)
			sum += (bytes[i] * (length - k) + bytes[i + 1] * k) +
			       (bytes[i] * (length - k - 1) + bytes[i + 1] * (k + 1));
		ret += length ? sum / length : 0;
	}
	return ret;
}

HI_TEST(space_areas, areas_of_bands_add_up_to_the_area_of_their_sum)
{
	enum { SAMPLES = 20, BANDS = 5 };
	uint64_t state = 5, times[SAMPLES], bytes[BANDS][SAMPLES], all[SAMPLES];

	for (unsigned round = 0; round < 2000; round++) {
		size_t n = 1 + random_below(&state, SAMPLES - 1);
		struct hi_area sum = {}, total, band;

		times[0] = random_below(&state, 1000);
		for (size_t i = 1; i < n; i++)
			times[i] = times[i - 1] + random_below(&state, 40);
		memset(all, 0, sizeof(all));
		for (size_t b = 0; b < BANDS; b++) {
			for (size_t i = 0; i < n; i++)
				all[i] += bytes[b][i] = random_below(&state, 10000);
			band = area_of(times, bytes[b], n);
			HI_ASSERT(band.halves == walk_halves(times, bytes[b], n));
			hi_area_sum(&sum, &band);
		}
		total = area_of(times, all, n);
		HI_ASSERT(total.halves == sum.halves);
		HI_ASSERT_EQ(0, hi_area_compare(&total, &sum));
	}
}
