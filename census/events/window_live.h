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
 * between two windows is not seen, and its address is given out again. Then sums are too
 * large, by as many blocks as were freed, and never too small. It does not come to light
 * by the block itself, but in three ways:
 *
 *   - other blocks of the site are missing, or a later window saw their addresses being
 *     given out: that is so only where addresses find no new owner soon;
 *   - windows saw frees of blocks whose allocation none has seen, at addresses where the
 *     walk finds blocks of this size: of what was freed in the recording they see as large
 *     a share as they have of its time;
 *   - windows saw frees of blocks of the site that they also saw being allocated: the
 *     square of that share.
 *
 * So a site is trusted only if all of its blocks are there (but for one in fifty) and if
 * that holds for all sites of which there are blocks of this size; for its leaks also if
 * all of its blocks are leaked, and if that would be a chance of less than 1 % were they
 * any blocks of this size. And the lower end of its range is lower by as many blocks as
 * may have been freed, given how many such frees were seen: with none, by 3.7 times the
 * reciprocal of the share. Together with the range by chance: by the root of the sum of
 * both squares.
 *
 * Blocks are put into columns of one size (and one type; window_columns.h), of which the
 * walk has the true sum, and in each column the sites share it (they are raked to it):
 * none has more than the column, those that are trusted have what they have, one that is
 * not has at most what these leave, and its range begins at 0, or, if windows saw no other
 * site with blocks of this size, at what was seen, less what a site may have that they
 * missed. If those that are trusted have more than the column by their lower ends alone,
 * they are not.
 *
 * A site of which no block was found has a value of 0 and a range up to what windows miss
 * by chance.
 */
#ifndef HI_CENSUS_EVENTS_WINDOW_LIVE_H
#define HI_CENSUS_EVENTS_WINDOW_LIVE_H

#include "census/events/window_site.h"

/* Fills in a site for each group; free *ret. HI_NO_MEMORY. */
enum hi_status hi_window_sites_make(const struct hi_window_blocks *blocks,
				    struct hi_window_site **ret, struct hi_error *err);

#endif
