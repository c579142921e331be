/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages as a site of HTML that people click through: each page is the display of a
 * command, with links where its cells have addresses (report/address.h). The same
 * pages are documents of a server (serve) or sections of one self-contained file
 * (report). Nothing is loaded from elsewhere; scripts and styles are only those of
 * hi_html_asset(), so that a content security policy can refuse all others. Without
 * scripts every text of a server is there and every link works; of a file, the first page.
 */
#ifndef HI_REPORT_RENDER_HTML_SITE_H
#define HI_REPORT_RENDER_HTML_SITE_H

#include <stdio.h>

#include "report/render/html_assets.h"
#include "report/render/html_page.h"

struct hi_html_link {
	const char *label, *address; /* label: safe */
};

struct hi_html_site {
	const char *title;		/* of the heap: "redis-server, pid 42"; raw */
	const struct hi_html_link *nav; /* on every page */
	size_t n_nav;
	struct hi_html_links links;
};

/* Writes a whole document that loads "style.css" and "app.js" and "icon.svg"
 * by href(). address: of this page, for the navigation; NULL: none. HI_NO_MEMORY. Errors
 * of the stream stay in it. */
enum hi_status hi_html_document(const struct hi_page *page,
				const struct hi_html_site *site, const char *address,
				FILE *out, struct hi_error *err);

/* Writes a self-contained file: begin, a section for each page, end. The first page is
 * shown first; all others may be packed (html_pack.h). id: of the section, letters, digits, "-" and "_". address: of the page, as
 * above. */
void hi_html_file_begin(const struct hi_html_site *site, FILE *out);
enum hi_status hi_html_file_page(const struct hi_page *page,
				 const struct hi_html_site *site, const char *id,
				 const char *address, FILE *out, struct hi_error *err);
void hi_html_file_end(FILE *out);

/* What documents load: "style.css", "app.js" and "icon.svg". */
const struct hi_html_asset *hi_html_asset(const char *name); /* NULL: none */
/* The policy for documents of a server, as the value of a header. */
extern const char hi_html_policy[];

#endif
