/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A picture of a page as SVG within HTML: a <figure class="picture treemap"> (flame,
 * bands) without scripts and styles, which a stylesheet may give colours by the classes
 * k0 to k8 of the nodes. Each node that leads somewhere is a link. Every node has its
 * depth and its bytes as data-d and data-b. At most HI_HTML_PICTURE_SIZE bytes: what is
 * deepest in the tree is left out first, and counted below the picture.
 */
#ifndef HI_REPORT_RENDER_HTML_PICTURE_H
#define HI_REPORT_RENDER_HTML_PICTURE_H

#include <stdio.h>

#include "report/pictures/picture.h"

enum { HI_HTML_PICTURE_SIZE = 300 * 1024 };

/* href: as that of hi_html_links (html_page.h); NULL: there are no links. Errors of the
 * stream stay in it. HI_NO_MEMORY. */
enum hi_status hi_html_picture(const struct hi_page_picture *picture,
			       const char *(*href)(void *arg, const char *address),
			       void *arg, FILE *out, struct hi_error *err);

#endif
