/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of a self-contained file that are not in its document until somebody opens them.
 * Some pages together are deflated (RFC 1951) and written in base64 as the text of a
 * template, which is inert:
 *
 *	<template class="packed" data-ids="p2 p3 p4">7V1bc9s4sv4r…</template>
 *
 * The text within is that of the pages' sections, one behind the other, in the order of
 * their ids. The script of pages (report/web/src/packed.js) puts one into the document
 * when its address is opened.
 */
#ifndef HI_REPORT_RENDER_HTML_PACK_H
#define HI_REPORT_RENDER_HTML_PACK_H

#include <stdio.h>

#include "base/cleanup.h"
#include "report/render/html_site.h"

struct hi_html_pack;

/* Pages will be written to `out`, which stays the caller's; errors of it stay in it.
 * *ret: hi_html_pack_destroy(). HI_NO_MEMORY. */
enum hi_status hi_html_pack_create(FILE *out, struct hi_html_pack **ret,
				   struct hi_error *err);
void hi_html_pack_destroy(struct hi_html_pack *pack); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_html_pack *, hi_html_pack_destroy)

/* Adds a page, as hi_html_file_page() writes it. HI_NO_MEMORY. */
enum hi_status hi_html_pack_page(struct hi_html_pack *pack, const struct hi_page *page,
				 const struct hi_html_site *site, const char *id,
				 const char *address, struct hi_error *err);
/* Writes the pages that are not written yet. HI_NO_MEMORY. */
enum hi_status hi_html_pack_finish(struct hi_html_pack *pack, struct hi_error *err);

/* Returns about as many bytes as a text of this size has in the file if it is packed alone;
 * less together with others. Out of memory, `size`. */
uint64_t hi_html_packed_size(const void *text, size_t size);

#endif
