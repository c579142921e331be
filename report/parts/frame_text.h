/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames of call stacks as text and JSON. */
#ifndef HI_REPORT_PARTS_FRAME_TEXT_H
#define HI_REPORT_PARTS_FRAME_TEXT_H

#include "census/events/contexts.h"
#include "census/events/frames.h"
#include "report/display.h"
#include "report/json_writer.h"
#include "report/parts/frame_items.h"

/* Return "make_node", the short name of a function, or "(no symbol)"; "list.c:12", or
 * "libfoo.so+0x1234" where the line is not known. Safe; never NULL. */
const char *hi_frame_function(const struct hi_frame_row *row, struct hi_page *page);
const char *hi_frame_place(const struct hi_frame_row *row, struct hi_page *page);
/* Returns "shop::load", or "7 frames of libstdc++"; safe, never NULL. */
const char *hi_frame_item_text(const struct hi_frame_item *item, struct hi_page *page);
/* Adds the items of a context (frame_items.h) as a table, the innermost first, at most
 * `most` of them. */
void hi_frames_show(const struct hi_context_view *contexts,
		    const struct hi_frames *frames, uint32_t context, size_t most,
		    struct hi_page *page);

/* Writes an object with function, file, line, module, offset, inlined. */
void hi_frame_json(const struct hi_frame_row *row, const char *key, struct hi_json *json);
/* Writes the array "frames" and the member "truncated". */
void hi_frames_json(const struct hi_context_view *contexts,
		    const struct hi_frames *frames, uint32_t context,
		    struct hi_json *json);

#endif
