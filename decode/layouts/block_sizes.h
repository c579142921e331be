/* SPDX-License-Identifier: BSD-2-Clause */
/* How the allocators of a process round what is requested up. */
#ifndef HI_DECODE_LAYOUTS_BLOCK_SIZES_H
#define HI_DECODE_LAYOUTS_BLOCK_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hi_allocator;

/* All zero: as glibc does. */
struct hi_size_rule {
	const uint64_t *sizes; /* usable ones, ascending; borrowed */
	size_t n;
	uint64_t step; /* beyond the last of them, to multiples of this */
};
enum { HI_SIZE_RULES = 16 };
struct hi_block_sizes {
	/* The first is that of the allocator with most of what is live. */
	struct hi_size_rule rules[HI_SIZE_RULES];
	size_t n; /* 0: glibc's alone */
};

/* allocator is NULL, or was walked and outlives *ret. */
void hi_block_sizes_of(const struct hi_allocator *allocator, struct hi_block_sizes *ret);
/* By one rule. */
uint64_t hi_size_rule_fit(const struct hi_size_rule *rule, uint64_t request);

/* malloc.c of glibc: request2size. */
static inline uint64_t hi_fit_glibc(uint64_t request)
{
	uint64_t chunk = (request + 8 + 15) & ~(uint64_t)15;

	return chunk < 32 ? 24 : chunk - 8;
}
/* Usable bytes that the (main) allocator gives for a request; what is left over in a
 * block of this size is padding. */
static inline uint64_t hi_fit_usable(const struct hi_block_sizes *sizes, uint64_t request)
{
	return sizes->n ? hi_size_rule_fit(&sizes->rules[0], request)
			: hi_fit_glibc(request);
}
/* Would one of the allocators give just so many usable bytes for the request? */
static inline bool hi_fit_is(const struct hi_block_sizes *sizes, uint64_t request,
			     uint64_t usable)
{
	if (!sizes->n)
		return hi_fit_glibc(request) == usable;
	for (size_t i = 0; i < sizes->n; i++)
		if (hi_size_rule_fit(&sizes->rules[i], request) == usable)
			return true;
	return false;
}

#endif
