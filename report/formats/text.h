/* SPDX-License-Identifier: BSD-2-Clause */
/* A display as text for terminals, files and pipes. */
#ifndef HI_REPORT_FORMATS_TEXT_H
#define HI_REPORT_FORMATS_TEXT_H

#include <stdio.h>

#include "report/views/display.h"

struct hi_text_options {
	unsigned width; /* columns; 0: 80. Clamped to [40, 1000] */
	bool color;
	bool utf8; /* else plain ASCII: "...", ">=" and \xNN */
};

/* HI_NO_MEMORY if the page failed while it was filled; errors of the stream
 * are left to ferror(out). */
enum hi_status hi_text_render(const struct hi_page *page,
			      const struct hi_text_options *options, FILE *out,
			      struct hi_error *err);

#endif
