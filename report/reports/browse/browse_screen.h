/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What browsing a heap shows (report/reports/browse/browse.h), as lines of a terminal: no
 * escape sequences, each exactly as wide as the screen.
 */
#ifndef HI_REPORT_REPORTS_BROWSE_BROWSE_SCREEN_H
#define HI_REPORT_REPORTS_BROWSE_BROWSE_SCREEN_H

#include "report/render/text.h"
#include "report/reports/browse/browse.h"

enum { HI_BROWSE_COLUMNS_MIN = 40, HI_BROWSE_LINES_MIN = 10 };

enum hi_browse_look {
	HI_LOOK_PLAIN,
	HI_LOOK_BAR /* first and last line */,
	HI_LOOK_SELECTED,
	HI_LOOK_DIM
};

struct hi_browse_line {
	enum hi_browse_look look;
	const char *text; /* safe, UTF-8 */
};
struct hi_browse_screen {
	struct hi_browse_line *lines;
	size_t n_lines;
	struct hi_arena arena; /* owns both */
};

/*
 * Draws the screen of now_ns (since 1970) in lines × columns. In less than
 * HI_BROWSE_LINES_MIN × HI_BROWSE_COLUMNS_MIN it says that it needs more. options: utf8
 * counts. *ret: hi_browse_screen_free(), also before the next one. HI_NO_MEMORY.
 */
enum hi_status hi_browse_draw(struct hi_browse *browse, unsigned columns, unsigned lines,
			      const struct hi_text_options *options, uint64_t now_ns,
			      struct hi_browse_screen *ret, struct hi_error *err);
void hi_browse_screen_free(struct hi_browse_screen *screen);

#endif
