/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/sampling.h"

#include <math.h>

double hi_sample_probability(uint64_t sample_bytes, uint64_t size)
{
	double p = sample_bytes
			   ? -expm1(-(double)(size ? size : 1) / (double)sample_bytes)
			   : 1;

	/* A file may say anything. */
	return p > 0x1p-40 ? p : 0x1p-40;
}

static uint64_t whole_and_part(double number, uint32_t *part)
{
	double whole;

	number = number < 0x1p62 ? number : 0x1p62; /* a file may say anything */
	whole = floor(number);
	*part = (uint32_t)((number - whole) * 0x1p32);
	return (uint64_t)whole;
}

struct hi_sample_weight hi_sample_weight(uint64_t sample_bytes, uint64_t size)
{
	struct hi_sample_weight weight = {.allocs = 1, .bytes = size};
	double p = hi_sample_probability(sample_bytes, size);

	if (p >= 1 || size >= 1ull << 52)
		return weight;
	weight.allocs = whole_and_part(1 / p, &weight.allocs_part);
	weight.bytes = whole_and_part((double)size / p, &weight.bytes_part);
	return weight;
}

uint64_t hi_estimate_round(double sum)
{
	return sum > 0 && sum < 0x1p63 ? (uint64_t)llround(sum) : 0;
}

/*
 * The ends are those sums of which the estimate would be z standard deviations away, if
 * the variance grows with the sum as it does in a Poisson distribution of steps of this
 * size (the interval of Wilson's score). The interval that is z standard deviations to
 * each side would be too short with few samples: where one happens to have few, one also
 * believes that the variance is small.
 */
struct hi_interval hi_estimate_interval(const struct hi_estimate *e, uint64_t least)
{
	const double z = 1.959964;
	double step = e->sum > 0 ? e->variance / e->sum : 0, off = z * z * step / 2;
	double half = sqrt(z * z * e->variance + off * off);
	struct hi_interval interval = {hi_estimate_round(e->sum + off - half),
				       hi_estimate_round(e->sum + off + half)};

	if (interval.low < least)
		interval.low = least;
	if (interval.high < interval.low)
		interval.high = interval.low;
	return interval;
}
