/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A page as HTML: without scripts, and nothing is loaded from elsewhere. What is written
 * is well-formed XML, too.
 */
#ifndef HI_REPORT_FORMATS_HTML_PAGE_H
#define HI_REPORT_FORMATS_HTML_PAGE_H

#include <stdio.h>

#include "report/views/display.h"

/* Writes what stands in front of the body, with its style. title: raw. */
void hi_html_begin(const char *title, FILE *out);
void hi_html_end(FILE *out);
/* Writes the items of the page as elements of a body. HI_NO_MEMORY: the page ran out of
 * memory while it was filled. Errors of the stream stay in it. */
enum hi_status hi_html_page(const struct hi_page *page, FILE *out, struct hi_error *err);

#endif
