/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of pages have, and so which pages there are to begin with. */
#ifndef HI_CLI_PAGES_PAGES_SITE_H
#define HI_CLI_PAGES_PAGES_SITE_H

#include "cli/pages/pages_request.h"
#include "report/render/html_site.h"

enum { HI_PAGES_NAV = 24 };

struct hi_pages_site {
	char *title; /* "redis-server, pid 42"; raw; owned */
	struct hi_html_link nav[HI_PAGES_NAV];
	size_t n_nav;
	/* What can be read of the file without its graph. */
	bool is_series; /* of many censuses */
	bool has_recording, has_lives, has_space, has_waste;
	/* The censuses that have a graph, where it is a series; owned. */
	uint32_t *graphs;
	size_t n_graphs;  /* of another file: 1, and no list */
	uint64_t time_ns; /* UINT64_MAX: unknown */
};

/* Looks at the files, and sets files->other_is_later. What cannot be read has no pages
 * but the first. HI_NO_MEMORY. ret: hi_pages_site_free(). */
enum hi_status hi_pages_site_read(struct hi_pages_files *files, bool has_roots,
				  struct hi_pages_site *ret, struct hi_error *err);
/* Is this the number of a census without a graph? */
bool hi_pages_site_lacks_graph(const struct hi_pages_site *site, const char *census);
/* Is it one of the pages to begin with? */
bool hi_pages_site_has_nav(const struct hi_pages_site *site, const char *address);
void hi_pages_site_free(struct hi_pages_site *site);

#endif
