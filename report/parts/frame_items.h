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
	size_t n_folded;		/* frames of a fold; 0: it is none */
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
void hi_frame_items_free(struct hi_frame_items *items);
HI_DEFINE_GUARD(struct hi_frame_items *, hi_frame_items_free)

#endif
