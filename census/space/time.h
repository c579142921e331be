/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions by samples of time: the columns of the profiler of MLWorks, in which a sample
 * is a scan of a stack. Functions are numbers of the caller; an inlined function is a
 * frame of its own.
 */
#ifndef HI_CENSUS_SPACE_TIME_H
#define HI_CENSUS_SPACE_TIME_H

#include <stddef.h>

#include "base/error.h"

/* Times of one function. */
struct hi_space_time {
	uint64_t top;	/* scans in which it was the innermost */
	uint64_t scans; /* in which it was on the stack, once or more often */
	uint64_t found; /* frames of it in all scans */
	uint32_t depth; /* the most frames of it on one stack */
	uint32_t self;	/* the most calls by itself in a row on one stack */
};

/* A stack that so many scans have found; functions innermost first, borrowed. */
struct hi_space_stack {
	const uint32_t *functions;
	uint32_t n;
	uint64_t ticks;
};

/* Fills ret, of n_functions, from n stacks; functions of higher numbers are left out.
 * Stacks without ticks say nothing. HI_NO_MEMORY. */
enum hi_status hi_space_times(const struct hi_space_stack *stacks, size_t n,
			      struct hi_space_time *ret, uint32_t n_functions,
			      struct hi_error *err);

/* Scans in which one of these functions was on the stack: is_wanted by function. So a
 * sample is inside the allocator from its outermost function on. */
uint64_t hi_space_ticks_inside(const struct hi_space_stack *stacks, size_t n,
			       const bool *is_wanted, uint32_t n_functions);

#endif
