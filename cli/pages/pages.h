/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pages of a heap as HTML, for a server and for a file: the page at an address is the
 * display of the command that the address stands for (cli/pages/pages_request.h).
 */
#ifndef HI_CLI_PAGES_PAGES_H
#define HI_CLI_PAGES_PAGES_H

#include <stdio.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "report/render/html_site.h"
#include "session/options.h"

struct hi_pages;

/* Opens the heaps that the options name, lazily. *ret: hi_pages_close(). */
enum hi_status hi_pages_open(const struct hi_options *options, struct hi_pages **ret,
			     struct hi_error *err);
void hi_pages_close(struct hi_pages *pages); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_pages *, hi_pages_close)

struct hi_pages_answer {
	unsigned code;	  /* 200, 400, 404, 500 */
	const char *type; /* content type; static */
};
/* Writes the answer for an address ("explain/0x55d0?top=10", "" for the first page,
 * "style.css", "app.js", "json/census?…" the JSON of the same command) to out. base: what
 * stands before addresses in links, "/TOKEN/". What is wrong becomes a page too, with the
 * message that the command line would print and a way back; only out of memory is an
 * error. */
enum hi_status hi_pages_write(struct hi_pages *pages, const char *address,
			      const char *base, FILE *out, struct hi_pages_answer *ret,
			      struct hi_error *err);
/* Loads what the next pages need, while no one waits: one step; false: nothing is left to
 * do. */
bool hi_pages_warm_up(struct hi_pages *pages);

/* ---- for a file of pages ---- */

/* Title and navigation; links are for the caller to set. Borrowed. */
struct hi_html_site hi_pages_site_of(const struct hi_pages *pages);
/* Makes the page of an address. code: as above; a page about what is wrong, too. *ret:
 * hi_page_destroy(). HI_NO_MEMORY. */
enum hi_status hi_pages_make(struct hi_pages *pages, const char *address,
			     struct hi_page **ret, unsigned *code_ret,
			     struct hi_error *err);
/* Why the code of the last one was not 200. */
const struct hi_error *hi_pages_why(const struct hi_pages *pages);
/* What a link on the page of the address `from` leads to: the same census. Of one without
 * a graph: pages to begin with lead to the last graph, others are none (NULL). The text
 * lives until the next page is made. */
const char *hi_pages_address_from(struct hi_pages *pages, const char *from,
				  const char *address);
/* As hi_html_links.address_of_command; the text lives as above. */
const char *hi_pages_address_of_command(struct hi_pages *pages, const char *command);

#endif
