/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Weights of sampled allocations. With a mean distance of R bytes, an allocation of s
 * bytes (at least 1) was sampled with probability p = 1 - exp(-s/R), whatever else was
 * (probes/bpf/sampling.h). So each one represents 1/p allocations of its size (Horvitz
 * and Thompson), and a sum over all is estimated by the sum of v/p over the samples,
 * whose variance is estimated by the sum of v^2 (1-p)/p^2. R = 0: all are recorded, p is
 * 1.
 */
#ifndef HI_CENSUS_EVENTS_SAMPLING_H
#define HI_CENSUS_EVENTS_SAMPLING_H

#include <stdint.h>

/* In (0, 1]. */
double hi_sample_probability(uint64_t sample_bytes, uint64_t size);

/* ---- whole numbers, without a bias by rounding ---- */

/* 1/p and s/p, in whole numbers and units of 2^-32. */
struct hi_sample_weight {
	uint64_t allocs, bytes;
	uint32_t allocs_part, bytes_part;
};
struct hi_sample_weight hi_sample_weight(uint64_t sample_bytes, uint64_t size);

/* Adds to a sum whose remainder is in *carry, and takes from it again: what was added
 * and taken is gone to the last digit. */
static inline void hi_carry_add(uint64_t *sum, uint32_t *carry, uint64_t whole,
				uint32_t part)
{
	uint64_t both = (uint64_t)*carry + part;

	*sum += whole + (both >> 32);
	*carry = (uint32_t)both;
}
static inline void hi_carry_take(uint64_t *sum, uint32_t *carry, uint64_t whole,
				 uint32_t part)
{
	*sum -= whole + (*carry < part);
	*carry -= part;
}

/* ---- estimates with their variance ---- */

struct hi_estimate {
	double sum, variance;
};
static inline void hi_estimate_add(struct hi_estimate *estimate, double value, double p)
{
	estimate->sum += value / p;
	estimate->variance += value * value * (1 - p) / (p * p);
}
/* Rounded; 0 where it is negative. */
uint64_t hi_estimate_round(double sum);

struct hi_interval {
	uint64_t low, high;
};
/* Has the true sum in 95 of 100 recordings, also if there are few samples; it is wider
 * above the estimate than below. least: what is certain, the samples themselves. */
struct hi_interval hi_estimate_interval(const struct hi_estimate *estimate,
					uint64_t least);

#endif
