/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranges of code that lie in each other, and the innermost one at an address. A
 * zero-initialised struct is empty.
 */
#ifndef HI_DECODE_MODULES_CODE_RANGES_H
#define HI_DECODE_MODULES_CODE_RANGES_H

#include <stdint.h>

#include "base/vector.h"

#define HI_CODE_NOTHING UINT64_MAX /* no range's id */

struct hi_code_range {
	uint64_t start, end; /* [start, end) */
	uint64_t id;
};

/* From start up to the start of the next one. */
struct hi_code_segment {
	uint64_t start, id;
};

struct hi_code_ranges {
	struct HI_VECTOR(struct hi_code_range) all;	   /* until it is sealed */
	struct HI_VECTOR(struct hi_code_segment) segments; /* afterwards */
};

/* Adds a range; an empty one is left out. False: out of memory. */
bool hi_code_ranges_add(struct hi_code_ranges *ranges, uint64_t start, uint64_t end,
			uint64_t id);
/*
 * Ends adding. If ranges overlap, the one that begins last counts; if they begin together
 * the shortest, then the one with the highest id. False: out of memory.
 */
bool hi_code_ranges_seal(struct hi_code_ranges *ranges);
/* The id of the innermost range at addr, or HI_CODE_NOTHING. */
uint64_t hi_code_ranges_find(const struct hi_code_ranges *ranges, uint64_t addr);
/* Frees it; it is empty again. */
void hi_code_ranges_free(struct hi_code_ranges *ranges);

#endif
