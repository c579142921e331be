/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A page as HTML: elements with a meaning, classes for report/web/style.css, and nothing
 * that a content security policy would refuse (no attribute has a style or a script).
 * What is written is well-formed XML, too.
 */
#ifndef HI_REPORT_RENDER_HTML_PAGE_H
#define HI_REPORT_RENDER_HTML_PAGE_H

#include <stdio.h>

#include "report/display.h"

/* Where links lead. */
struct hi_html_links {
	/* What stands in a link for an address (report/address.h), as text of a
	 * URL; NULL: there is no such page, and the text is no link. Valid until the next
	 * call. */
	const char *(*href)(void *arg, const char *address);
	/* The address of the page that a suggested command line shows; NULL: none. Valid
	 * until the next call. The function may be NULL. */
	const char *(*address_of_command)(void *arg, const char *command);
	void *arg;
};

/* Writes the head up to its title, for the elements of others to follow. title: raw. */
void hi_html_head(const char *title, FILE *out);
/* Writes a text as a name: what is too long is cut and has the whole one as a title. */
void hi_html_name(const char *text, FILE *out);
/* Writes what stands in front of the body, with its style. title: raw. */
void hi_html_begin(const char *title, FILE *out);
void hi_html_end(FILE *out);
/* Writes the items of the page as elements of a body. HI_NO_MEMORY: the page ran out of
 * memory while it was filled. Errors of the stream stay in it. */
enum hi_status hi_html_page(const struct hi_page *page, FILE *out, struct hi_error *err);
/* The same with the links. */
enum hi_status hi_html_linked_page(const struct hi_page *page,
				   const struct hi_html_links *links, FILE *out,
				   struct hi_error *err);
/* The same with a name above its title; NULL: its title is its name. */
enum hi_status hi_html_named_page(const struct hi_page *page, const char *name,
				  const struct hi_html_links *links, FILE *out,
				  struct hi_error *err);

#endif
