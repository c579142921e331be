/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A call stack as people read it: a list of items, the innermost first. An item is a
 * function of the program, or a fold: frames next to each other that belong to libraries
 * (census/events/frame_library.h).
 */
#ifndef HI_REPORT_PARTS_FRAME_ITEMS_H
#define HI_REPORT_PARTS_FRAME_ITEMS_H

#include "base/cleanup.h"
#include "base/vector.h"
#include "census/events/contexts.h"
#include "census/events/frame_library.h"

enum {
	HI_FRAME_LIBRARIES_SIZE = 96,
	HI_FRAME_ITEMS = 1024, /* of a stack, at most */
};

struct hi_frame_item {
	const struct hi_frame_row *row; /* the frame; the innermost one of a fold */
	size_t n_folded;		/* frames of a fold, at least; 0: it is none */
	/* The fold of several stacks, which differ in it: frames of the longest. Else 0. */
	size_t n_most;
	char libraries
		[HI_FRAME_LIBRARIES_SIZE]; /* of a fold: "libstdc++, libc"; hostile */
	/* The node of the context whose innermost row the item begins with: equal nodes
	 * have equal items from here on. 0: it begins within one. */
	uint32_t node;
};
struct hi_frame_items {
	struct HI_VECTOR(struct hi_frame_item) of;
	size_t left_out; /* frames: there were too many */
	bool folds;	 /* else each frame is an item */
	bool failed;
};

/* Adds a frame; one that is `kept` is not folded, and neither is a single one. Out of
 * memory sets failed. */
void hi_frame_items_add(struct hi_frame_items *items, const struct hi_frame_row *row,
			uint32_t node, bool kept);
/* Adds all frames of a context; kept: NULL: none. */
void hi_frame_items_add_context(struct hi_frame_items *items,
				const struct hi_context_view *contexts,
				const struct hi_frames *frames, uint32_t context,
				const struct hi_frame_row *kept);
/* Is the item shown as a number of frames? A single frame is shown as what it is. */
static inline bool hi_frame_item_is_fold(const struct hi_frame_item *item)
{
	return item->n_folded > 1 || item->n_most;
}
/* Makes the folds those of both stacks, which have the same items but for what is in folds:
 * other items stay as they are. An item with a fold that differs, from it on outwards, has
 * no node. */
void hi_frame_items_merge(struct hi_frame_items *items,
			  const struct hi_frame_items *more);
void hi_frame_items_free(struct hi_frame_items *items);
HI_DEFINE_GUARD(struct hi_frame_items *, hi_frame_items_free)

#endif
