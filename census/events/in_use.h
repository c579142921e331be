/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory in use, as profiles of allocations count it: allocations and the bytes that were
 * requested, so that the numbers can be compared with the totals of a context.
 */
#ifndef HI_CENSUS_EVENTS_IN_USE_H
#define HI_CENSUS_EVENTS_IN_USE_H

#include "census/events/births.h"

struct hi_in_use {
	uint64_t allocations, bytes;
	uint32_t carry[2]; /* of both, in units of 2^-32 */
};
struct hi_in_use_sums {
	/* Allocated before the recording, or not recorded (births.h): objects, and the
	 * bytes that they cost. */
	struct hi_in_use before, other;
	struct hi_in_use *by_context; /* n_contexts; the caller's */
	uint32_t n_contexts;
};

/* Adds up the allocations of whose pieces at least one has its bit set in mask. Samples
 * count as what they stand for, by which there is less from before the recording. */
void hi_in_use_sum(const struct hi_births *births, const struct hi_objects *objects,
		   const uint64_t *mask, struct hi_in_use_sums *sums);

#endif
