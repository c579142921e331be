/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages that were made, kept for the next request: the files do not change. */
#ifndef HI_CLI_PAGES_PAGES_KEPT_H
#define HI_CLI_PAGES_PAGES_KEPT_H

#include "report/display.h"

enum { HI_PAGES_KEPT = 128, HI_PAGES_KEPT_BYTES = 32 << 20 };

/* Zero-initialised is empty. */
struct hi_pages_kept {
	struct hi_pages_kept_page {
		char *address;
		struct hi_page *page; /* NULL: an empty place */
		size_t bytes;
		uint64_t used;
	} items[HI_PAGES_KEPT];
	size_t bytes;
	uint64_t clock;
};

/* The page of this address; NULL: it is not kept. It stays until the next add. */
struct hi_page *hi_pages_kept_find(struct hi_pages_kept *kept, const char *address);
/* Takes the page, and gives up what was looked at longest ago. False: it is too large, or
 * memory ran out, and it is still the caller's. */
bool hi_pages_kept_add(struct hi_pages_kept *kept, const char *address,
		       struct hi_page *page);
void hi_pages_kept_free(struct hi_pages_kept *kept);

#endif
