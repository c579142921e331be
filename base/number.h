/* SPDX-License-Identifier: BSD-2-Clause */
/* Small arithmetic on unsigned numbers. */
#ifndef HI_BASE_NUMBER_H
#define HI_BASE_NUMBER_H

#include <stdint.h>

/* Returns the smaller one. */
static inline uint64_t hi_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}
/* Returns the larger one. */
static inline uint64_t hi_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}
/* Returns the lowest multiple of `to` (a power of two) that is not below n. */
static inline uint64_t hi_round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}
/* Ascending order of uint32_t, for qsort. */
static inline int hi_compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

#endif
