/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which variables hold the live heap: its bytes by the set of root variables that
 * reach them. Every live byte is in exactly one row, so the rows add up to the live
 * bytes, where the retained sizes of single variables leave out what two of them share.
 */
#ifndef HI_CENSUS_ANALYSIS_OWNERS_H
#define HI_CENSUS_ANALYSIS_OWNERS_H

#include "base/cleanup.h"
#include "census/analysis/analysis.h"

enum { HI_OWNERS_MAX = 16 }; /* most variables that a set lists */

struct hi_owner_row {
	const hi_node *variables; /* increasing; of several with one name (words of a
				   * stack) the first. Empty: blocks of the allocator */
	uint32_t n;		  /* <= HI_OWNERS_MAX */
	bool is_many;	/* more than HI_OWNERS_MAX variables, which are not listed: n is 0
			 */
	bool is_named;	/* no words that may be left over, no data of the C library: those
			 * count only where no  variable reaches */
	uint64_t bytes; /* cost of what exactly these reach */
	hi_node largest; /* the variable or object of them that retains most */
	uint64_t largest_bytes;
};
struct hi_owners {
	struct hi_owner_row *rows; /* by bytes, the largest first; then by variables */
	size_t n_rows;
	hi_node *members; /* of all rows */
	/* Objects directly below the super-root or a kind that more than HI_OWNERS_MAX
	 * variables reach; increasing positions in the dominators' order. */
	hi_node *shared_by_many;
	size_t n_shared_by_many;
};
/*
 * By the edges that dominators go by. dominators->retained may be of a part of the heap.
 * Linear in edges; a node is looked at again at most HI_OWNERS_MAX + 2 times, where
 * variables share what others share. 4 bytes a node while it runs.
 */
enum hi_status hi_owners_compute(const struct hi_graph *g, const struct hi_reach *reach,
				 const struct hi_dominators *dominators,
				 struct hi_owners **ret, struct hi_error *err);
void hi_owners_destroy(struct hi_owners *owners);
HI_DEFINE_GUARD(struct hi_owners *, hi_owners_destroy)

#endif
