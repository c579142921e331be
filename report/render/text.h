/* SPDX-License-Identifier: BSD-2-Clause */
/* Renders a page as text for terminals, files and pipes. */
#ifndef HI_REPORT_RENDER_TEXT_H
#define HI_REPORT_RENDER_TEXT_H

#include <stdio.h>

#include "report/display.h"

struct hi_text_options {
	unsigned width; /* columns; 0: 80. Clamped to [40, 1000] */
	bool color;
	bool full_names; /* of types; read by what writes text without a page */
	bool utf8;	 /* else plain ASCII: "...", ">=" and \xNN */
};

/* Writes the page. HI_NO_MEMORY: also if the page ran out of memory while it was
 * filled. Errors of the stream are left to ferror(out). */
enum hi_status hi_text_render(const struct hi_page *page,
			      const struct hi_text_options *options, FILE *out,
			      struct hi_error *err);

#endif
