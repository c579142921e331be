/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A page as Markdown, for issue trackers: the text of the target has no effect there. It
 * is no link, no picture, no HTML, names no user and no issue, and ends no table.
 */
#ifndef HI_REPORT_RENDER_MARKDOWN_H
#define HI_REPORT_RENDER_MARKDOWN_H

#include <stdio.h>

#include "report/display.h"

/* Writes the page: the title as heading 1, headings as heading 2, facts as items of a
 * list, commands and code as code. Pictures and forms are left out. HI_NO_MEMORY: the page
 * ran out of memory while it was filled. Errors of the stream are left to ferror(out). */
enum hi_status hi_markdown_render(const struct hi_page *page, FILE *out,
				  struct hi_error *err);

/* Writes safe text as code, where nothing else has a meaning. in_table: a bar has one. */
void hi_markdown_code(FILE *out, const char *text, bool in_table);

#endif
