/* SPDX-License-Identifier: BSD-2-Clause */
/* The style, the script and the icon of pages, as cmake/EmbedWeb.cmake makes them of
 * report/web. */
#ifndef HI_REPORT_RENDER_HTML_ASSETS_H
#define HI_REPORT_RENDER_HTML_ASSETS_H

#include <stddef.h>

/* What documents load. */
struct hi_html_asset {
	const char *name, *type; /* "app.js", "text/javascript; charset=utf-8" */
	const unsigned char *bytes;
	size_t size;
};
extern const struct hi_html_asset hi_html_assets[]; /* the last one has no name */

/* What a self-contained file has: the text of its style and script elements, in CDATA
 * sections that are comments of CSS and JavaScript, and the policy with the hashes of
 * exactly these texts. */
struct hi_html_inline {
	const char *style, *noscript, *script, *policy; /* noscript: a style, too */
};
extern const struct hi_html_inline hi_html_inline;

#endif
