/* SPDX-License-Identifier: BSD-2-Clause */
/* What a block costs of which only the requested size is known. */
#ifndef HI_CENSUS_EVENTS_GLIBC_COST_H
#define HI_CENSUS_EVENTS_GLIBC_COST_H

#include <stdint.h>

/* What glibc's malloc takes for so many bytes: a word in front, multiples of 16, at least
 * 32. Of a block that it maps, and where what is left of a free block is too small to be
 * one, it is more. */
static inline uint64_t hi_glibc_cost(uint64_t requested)
{
	uint64_t cost = (requested + 8 + 15) & ~15ull;

	return cost < 32 ? 32 : cost;
}

#endif
