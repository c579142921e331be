/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Distances for samples: for the BPF programs and for tests.
 *
 * Note [Sampling by bytes]
 *
 * All bytes that are allocated lie on a line, one allocation after the other, and points
 * are drawn on it whose distances have an exponential distribution with mean R. An
 * allocation is sampled if a point is in it: with probability p(s) = 1 - exp(-s/R) for s
 * bytes (at least 1), whatever was sampled before. So each sample stands for 1/p(s)
 * allocations of its size, and sums of these are unbiased.
 *
 * A distance is a quantile at a random place: a table has those at multiples of 1/4096,
 * and between two of them lies a straight line, which changes p(s) by less than 0.02 %
 * of it. The last bin has no upper end. There the distance is ln(4096) R and one more
 * that is drawn: the exponential distribution does not remember.
 *
 * Because it does not, each processor has its own line, and a thread that finds another
 * one between the end of a distance and the begin of the next draws one for itself.
 */
#ifndef HI_PROBES_BPF_SAMPLING_H
#define HI_PROBES_BPF_SAMPLING_H

#include <linux/types.h>

enum {
	HI_SAMPLING_BIN_BITS = 12,
	HI_SAMPLING_BINS = 1 << HI_SAMPLING_BIN_BITS,
	HI_SAMPLING_FRACTION_BITS = 28, /* of a quantile, which is in units of R */
	HI_SAMPLING_DRAWS = 4,		/* for one distance, at most */
	HI_SAMPLING_MEAN_MAX = 1 << 30, /* R in bytes */
};

/* -ln(1 - i / HI_SAMPLING_BINS) for i below HI_SAMPLING_BINS, rounded. */
struct hi_sampling_table {
	__u32 quantiles[HI_SAMPLING_BINS];
};

/* Adds the bin of a random number of 32 bits to a distance. False: the last bin; one more
 * is to be added. */
static inline __attribute__((always_inline)) int
hi_sampling_add(const volatile struct hi_sampling_table *table, __u32 random,
		__u64 *distance)
{
	enum { REST_BITS = 32 - HI_SAMPLING_BIN_BITS };
	__u32 bin = random >> REST_BITS, rest = random & ((1 << REST_BITS) - 1);
	__u64 low = table->quantiles[bin & (HI_SAMPLING_BINS - 1)], high;

	*distance += low;
	if (bin >= HI_SAMPLING_BINS - 1)
		return 0;
	high = table->quantiles[(bin + 1) & (HI_SAMPLING_BINS - 1)];
	*distance += (high - low) * rest >> REST_BITS;
	return 1;
}

/* Up to the byte with the point, which counts: at least 1. */
static inline __attribute__((always_inline)) __u64 hi_sampling_bytes(__u64 distance,
								     __u64 mean)
{
	return (distance * mean >> HI_SAMPLING_FRACTION_BITS) + 1;
}

#endif
