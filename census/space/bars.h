/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bars that weigh time against space, as the tool of MLWorks draws them: the height is
 * 100 * ((1 - w) * top / scans + w * alloc / total), w from 0 (time) to 1 (space).
 */
#ifndef HI_CENSUS_SPACE_BARS_H
#define HI_CENSUS_SPACE_BARS_H

#include <stddef.h>
#include <stdint.h>

/* Costs of a function: samples of time that found it on top of the stack, allocated
 * bytes. */
struct hi_space_cost {
	uint64_t top, alloc;
};
struct hi_space_bar {
	size_t index;  /* of the function */
	double height; /* per cent */
};

/* all: the sums that parts are of; of what is 0 there is no part. A weight outside of 0
 * to 1 counts as the nearer end. */
double hi_space_bar_height(double weight, struct hi_space_cost of,
			   struct hi_space_cost all);
/* Fills ret, which has room for n, highest first; functions with neither time nor space
 * are left out. Returns how many there are. */
size_t hi_space_bars(double weight, const struct hi_space_cost *of, size_t n,
		     struct hi_space_cost all, struct hi_space_bar *ret);

#endif
