/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a pagemap: pagemap.c (PAGEMAP_SCAN), pagemap_read.c (entries),
 * pagemap_search.c (large mappings, entry by entry). */
#ifndef HI_ATTACH_PAGEMAP_INTERNAL_H
#define HI_ATTACH_PAGEMAP_INTERNAL_H

#include "attach/page_runs.h"

#define HI_PAGEMAP_PAGE 4096u

/* An entry, Documentation/admin-guide/mm/pagemap.rst. */
#define HI_PM_FRAME ((1ull << 55) - 1)
#define HI_PM_EXCLUSIVE (1ull << 56) /* mapped once: never the page of zeros */
#define HI_PM_GUARD (1ull << 58)
#define HI_PM_FILE (1ull << 61)
#define HI_PM_SWAP (1ull << 62)
#define HI_PM_PRESENT (1ull << 63)

struct hi_pagemap;

/* Counts of the pages that were read, beside the runs. */
struct hi_pagemap_count {
	uint64_t resident; /* pages that smaps counts, without doubt */
	uint64_t swapped;
};

/* hi_pagemap_collect and hi_pagemap_collect_all without the ioctl. */
enum hi_status hi_pagemap_read(struct hi_pagemap *pagemap, uint64_t start, uint64_t end,
			       struct hi_page_runs *runs, struct hi_error *err);
/* The same for all mappings: hi_pagemap_collect_all without the ioctl. */
enum hi_status hi_pagemap_read_all(struct hi_pagemap *pagemap,
				   const struct hi_mapping *mappings, size_t n,
				   struct hi_page_runs *runs, struct hi_error *err);
/* Every entry of [start, end); count may be NULL. */
enum hi_status hi_pagemap_read_plainly(struct hi_pagemap *pagemap, uint64_t start,
				       uint64_t end, struct hi_page_runs *runs,
				       struct hi_pagemap_count *count,
				       struct hi_error *err);
/* Reads as few of the entries of [start, end), a whole mapping, as find all pages. all:
 * the other mappings. */
enum hi_status hi_pagemap_search(struct hi_pagemap *pagemap, uint64_t start, uint64_t end,
				 const struct hi_mapping *all, size_t n,
				 struct hi_page_runs *runs, struct hi_error *err);

#endif
