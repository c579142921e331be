/* SPDX-License-Identifier: BSD-2-Clause */
/* What the live views (series_live.c, record_live.c) share: texts that fit into columns,
 * lines that replace older ones, blocks of the past. */
#ifndef HI_REPORT_RENDER_LIVE_SCREEN_H
#define HI_REPORT_RENDER_LIVE_SCREEN_H

#include "base/arena.h"
#include "report/render/text_internal.h"

/* One drawing of a view. */
struct hi_live_screen {
	struct hi_text_style style;
	struct hi_arena arena; /* of this drawing; the function that draws frees it */
	bool plain;	       /* lines that stay, not a screen */
	bool failed;	       /* out of memory */
};

struct hi_live_screen hi_live_screen_make(const struct hi_text_options *looks, FILE *out);
/* The rest of the old line goes. */
void hi_live_end_line(const struct hi_live_screen *screen);
/* As much of the text (hostile) as fits; fill: and blanks up to the width. */
void hi_live_put_text(struct hi_live_screen *screen, const char *text, unsigned columns,
		      bool fill);
/* A text in the whole width, in a color of hi_text_color(); 0: none. */
void hi_live_put_line_text(struct hi_live_screen *screen, const char *text, char color);
/* The same, and the line ends. */
void hi_live_put_line(struct hi_live_screen *screen, const char *text, char color);
/* A block of one to eight eighths, of the largest value; a blank for 0. */
void hi_live_put_block(const struct hi_live_screen *screen, uint64_t value,
		       uint64_t largest);

#endif
