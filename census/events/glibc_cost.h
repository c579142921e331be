/* SPDX-License-Identifier: BSD-2-Clause */
/* The cost of a block of which only the requested size is known. */
#ifndef HI_CENSUS_EVENTS_GLIBC_COST_H
#define HI_CENSUS_EVENTS_GLIBC_COST_H

#include <stdint.h>

/* Returns the bytes that glibc's malloc takes for so many: a word before them, in
 * multiples of 16, 32 at least. A block that it maps costs more, and so does one that
 * includes the rest of a free block which was too small for a block of its own. */
static inline uint64_t hi_glibc_cost(uint64_t requested)
{
	uint64_t cost = (requested + 8 + 15) & ~15ull;

	return cost < 32 ? 32 : cost;
}

#endif
