/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of live mappings: ranges that do not overlap, in the order of their
 * addresses. A mapping loses what is unmapped of it, so that a part of it, or two, are
 * left.
 */
#ifndef HI_CENSUS_EVENTS_MAPPED_INTERNAL_H
#define HI_CENSUS_EVENTS_MAPPED_INTERNAL_H

#include "base/vector.h"
#include "census/events/live.h"

struct hi_mapped_table HI_VECTOR(struct hi_live_allocation);

/* Called with the part that a removal took from a mapping, and the number of parts of
 * that mapping that are left: 0 to 2. */
typedef void hi_mapped_fn(void *arg, const struct hi_live_allocation *taken,
			  unsigned n_left);
/* Removes [start, end) of all mappings; part: called with the removed part of each.
 * False: no memory, and the mappings after that part are still there. */
bool hi_mapped_remove(struct hi_mapped_table *table, uint64_t start, uint64_t end,
		      hi_mapped_fn *part, void *arg);
/* Adds one that overlaps no other. False: no memory. */
bool hi_mapped_add(struct hi_mapped_table *table, const struct hi_live_allocation *live);
/* Adds a part of one that was removed; it joins the parts of it that it touches:
 * *n_joined_ret of them, 0 to 2, are gone. */
bool hi_mapped_restore(struct hi_mapped_table *table,
		       const struct hi_live_allocation *part, unsigned *n_joined_ret);
/* Is it in order, without overlaps? */
bool hi_mapped_is_valid(const struct hi_mapped_table *table);

#endif
