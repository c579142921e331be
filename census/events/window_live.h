/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording of windows beside a walk of the heap: how much of the blocks that are there
 * each site has allocated, live and leaked.
 *
 * Note [Blocks of windows]
 *
 * A block that a window saw being allocated, and that the walk finds at its address, stands
 * for all that were allocated as often: for the length of the recording over that of its
 * window and the number of windows. But it may be another block by now: what is freed
 * between two windows is not seen, and its address is given out again. That does not come
 * to light by one block, but by others of the same site, of which the walk finds nothing,
 * or whose address a later window saw being given out. If addresses find a new owner
 * soon, even that is rare. So a site is trusted, and its sums are estimates without a
 * bias, only if all of its blocks are there (but for one in fifty) and if that holds for
 * all sites of which there are blocks of this size. A site is also trusted for its leaks
 * if all of its blocks are leaked, and if that would be a chance of less than 1 % were
 * they any blocks of this size. All that is certain of the others is that
 *
 *   - the block at the address was allocated later than the window saw, in the recording,
 *     by a site that allocates this size;
 *   - sums are too large, never too small.
 *
 * So blocks are put into columns of one size (and one type), of which the walk has the
 * true sum, and in each column the sites share it (they are raked to it): none has more
 * than the column, those that are trusted have what they have, one that is not has at most
 * what these leave, and at least what was seen, if it is alone. If several that are not
 * trusted share a column, their intervals begin at 0.
 */
#ifndef HI_CENSUS_EVENTS_WINDOW_LIVE_H
#define HI_CENSUS_EVENTS_WINDOW_LIVE_H

#include "census/events/birth_groups.h"
#include "census/events/windows.h"

/* One site in a column. */
struct hi_window_share {
	uint32_t group;
	bool is_trusted;
	bool is_alone;		 /* no other site has blocks of this size */
	double seen;		 /* what was seen, each counted once */
	struct hi_bounded found; /* the estimate by windows alone; after hi_window_rake()
				    that by both */
};
/* Shares of a column whose true sum is known. */
void hi_window_rake(double truth, struct hi_window_share *shares, size_t n);

/* A group of births (birth_groups.h), by windows. */
struct hi_window_site {
	struct hi_window_rate rate;
	uint64_t seen_live, seen_lost; /* blocks that the walk has found */
	uint64_t unseen_frees;	       /* blocks that it has not, or another in place */
	bool keeps_all;		       /* there are hardly any of these */
	/* Sums of the recording. lost: leaked blocks. */
	struct hi_bounded live_bytes, lost, lost_bytes;
};

struct hi_window_blocks {
	const struct hi_windows *windows;
	const struct hi_objects *objects;
	const struct hi_births *births;	       /* of these */
	const struct hi_birth_groups *groups;  /* by site or context */
	const uint64_t *live_bits, *lost_bits; /* of the objects */
	struct hi_bounded speed;     /* of the program in windows (hi_window_speed()) */
	const uint64_t *outstanding; /* by context: blocks that no window saw freed */
};
/* Fills in a site for each group; free *ret. HI_NO_MEMORY. */
enum hi_status hi_window_sites_make(const struct hi_window_blocks *blocks,
				    struct hi_window_site **ret, struct hi_error *err);

#endif
