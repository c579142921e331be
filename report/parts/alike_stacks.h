/* SPDX-License-Identifier: BSD-2-Clause */
/* Call stacks that differ in frames of libraries alone: a table has one row of them. */
#ifndef HI_REPORT_PARTS_ALIKE_STACKS_H
#define HI_REPORT_PARTS_ALIKE_STACKS_H

#include "census/events/birth_groups.h"
#include "report/parts/frame_items.h"

/*
 * Makes one group of groups by context whose stacks are shown alike: with the same site,
 * the same functions of the program at the same places, and folds between the same ones of
 * them (frame_items.h), whatever is in the folds. A stack whose outer frames are not known
 * is like others of this kind alone. The key of a group is the first of its contexts.
 * Groups by anything else stay as they are. HI_NO_MEMORY.
 */
enum hi_status hi_alike_stacks_merge(struct hi_birth_groups *groups,
				     const struct hi_context_view *contexts,
				     const struct hi_frames *frames,
				     struct hi_error *err);
/* Adds the items of the group's first context; their folds state what the folds of all of
 * its contexts have. The site is no part of a fold. */
void hi_alike_stacks_items(const struct hi_birth_groups *groups, uint32_t group,
			   const struct hi_context_view *contexts,
			   const struct hi_frames *frames, struct hi_frame_items *ret);

#endif
