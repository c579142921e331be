/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chains of calls: a function, the one that has called it, the one that has called that,
 * and so on, as a tree. A node is a chain, and its children are the chains with one more
 * caller. Node 0 is no chain; functions are numbers of the caller.
 */
#ifndef HI_CENSUS_SPACE_CHAINS_H
#define HI_CENSUS_SPACE_CHAINS_H

#include "base/table.h"
#include "base/vector.h"
#include "census/space/time.h"

struct hi_chain {
	uint32_t parent; /* a lower number; 0: it is a function without callers */
	uint32_t function;
	uint32_t level; /* callers in it */
	/* Scans with this chain at the top of the stack, anywhere on it, and how often.
	 */
	uint64_t top, scans, found;
	size_t scanned; /* the last stack that had it; counted from 1 */
};
struct hi_chains {
	struct HI_VECTOR(struct hi_chain) items; /* [0] is no chain; empty at first */
	struct hi_table children;		 /* parent and function -> number */
};
void hi_chains_free(struct hi_chains *chains);

/*
 * Numbers the chain of functions[0] with its callers, at most so many; a new one is made,
 * and so are its beginnings. If the stack ends before, its last caller is function 0,
 * which means unknown. HI_NO_MEMORY.
 */
enum hi_status hi_chains_number(struct hi_chains *chains, const uint32_t *functions,
				uint32_t n, uint32_t n_callers, uint32_t *ret,
				struct hi_error *err);
/*
 * Chooses the functions of a chain where callers of libraries are passed: functions[0], and
 * all others but those of a library that something of the program has called, directly or
 * not. Fills in their indexes, at most n, and returns how many there are. is_library: by
 * function, NULL: none is one; function 0 is neither a library's nor the program's.
 */
uint32_t hi_chains_keep(const uint32_t *functions, uint32_t n, const bool *is_library,
			uint32_t *kept);
/* Counts a stack, as hi_space_times() does, for the chains of all of its frames. number:
 * of the stack, from 1. is_wanted: by function, whether its chains are; is_library: as for
 * hi_chains_keep(). HI_NO_MEMORY. */
enum hi_status hi_chains_scan(struct hi_chains *chains,
			      const struct hi_space_stack *stack, size_t number,
			      uint32_t n_callers, const bool *is_wanted,
			      const bool *is_library, struct hi_error *err);

#endif
