/* SPDX-License-Identifier: BSD-2-Clause */
/* The pagemap of a kernel without PAGEMAP_SCAN: 8 bytes a page. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "attach/pagemap.h"
#include "attach/pagemap_internal.h"
#include "attach/procfs.h"
#include "base/alloc.h"
#include "base/cleanup.h"

enum {
	PAGE = HI_PAGEMAP_PAGE,
	ENTRIES = 8192,
	SMALL = 1 << 10,    /* pages of a mapping that are read in any case */
	LARGE = 1 << 20,    /* pages that cost about as much as to read all of smaps */
	A_MAPPING = 1 << 12 /* entries that could be read instead of its smaps: 16 µs */
};

static uint32_t flags_of_entry(const struct hi_pagemap *pagemap, uint64_t entry)
{
	if (!(entry & (HI_PM_PRESENT | HI_PM_SWAP)))
		return 0;
	if (entry & HI_PM_PRESENT && pagemap->zero_entry &&
	    (entry & HI_PM_FRAME) == pagemap->zero_entry)
		return HI_RUN_PRESENT | HI_RUN_ZERO;
	return (entry & HI_PM_PRESENT ? HI_RUN_PRESENT : 0) |
	       (entry & HI_PM_SWAP ? HI_RUN_SWAPPED : 0) |
	       (entry & HI_PM_FILE ? HI_RUN_FILE : 0) |
	       (entry & HI_PM_GUARD ? HI_RUN_GUARD : 0);
}

/* A page that is neither exclusive nor a file's may be the page of zeros, which smaps
 * does not count, unless the entries show page frames. */
static void count_pagemap_entry(const struct hi_pagemap *pagemap, uint64_t entry,
				uint32_t flags, struct hi_pagemap_count *count)
{
	if (flags & HI_RUN_SWAPPED)
		count->swapped++;
	else if (!(flags & HI_RUN_ZERO) &&
		 (entry & (HI_PM_EXCLUSIVE | HI_PM_FILE) || pagemap->zero_entry))
		count->resident++;
}

static bool add_entries(const struct hi_pagemap *pagemap, uint64_t at,
			const uint64_t *entries, size_t n, struct hi_page_runs *runs,
			struct hi_pagemap_count *count)
{
	for (size_t i = 0; i < n; i++, at += PAGE) {
		uint32_t flags = flags_of_entry(pagemap, entries[i]);

		if (!flags)
			continue;
		if (count)
			count_pagemap_entry(pagemap, entries[i], flags, count);
		if (!hi_page_runs_add(runs, at, at + PAGE, flags))
			return false;
	}
	return true;
}

enum hi_status hi_pagemap_read_plainly(struct hi_pagemap *pagemap, uint64_t start,
				       uint64_t end, struct hi_page_runs *runs,
				       struct hi_pagemap_count *count,
				       struct hi_error *err)
{
	uint64_t *entries HI_GUARD(free) = hi_alloc(ENTRIES * sizeof(*entries));

	if (!entries)
		return hi_fail_memory(err, "runs of pages");
	for (uint64_t at = start; at < end;) {
		uint64_t want = (end - at) / PAGE < ENTRIES ? (end - at) / PAGE : ENTRIES;
		ssize_t n = pread(pagemap->fd, entries, want * sizeof(*entries),
				  (off_t)(at / PAGE * sizeof(*entries)));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return hi_fail_errno(err, "reading the pagemap");
		n /= (ssize_t)sizeof(*entries);
		if (n == 0)
			return HI_OK;
		pagemap->entries_read += (uint64_t)n;
		if (!add_entries(pagemap, at, entries, (size_t)n, runs, count))
			return hi_fail_memory(err, "runs of pages");
		at += (uint64_t)n * PAGE;
	}
	return HI_OK;
}

static enum hi_status read_mapping_sizes(struct hi_pagemap *pagemap, struct hi_error *err)
{
	if (pagemap->has_sizes)
		return HI_OK;
	pagemap->has_sizes = true;
	return hi_smaps_read_sizes(pagemap->pid, &pagemap->sizes, err);
}

enum hi_status hi_pagemap_read(struct hi_pagemap *pagemap, uint64_t start, uint64_t end,
			       struct hi_page_runs *runs, struct hi_error *err)
{
	enum hi_status status;

	if (end <= start || (end - start) / PAGE <= LARGE)
		return hi_pagemap_read_plainly(pagemap, start, end, runs, NULL, err);
	status = read_mapping_sizes(pagemap, err);
	return status == HI_OK
		       ? hi_pagemap_search(pagemap, start, end, NULL, 0, runs, err)
		       : status;
}

static uint64_t resident_pages(pid_t pid)
{
	unsigned long long pages;
	char text[256];

	return hi_proc_read_small(pid, "statm", text, sizeof(text), NULL) &&
			       sscanf(text, "%*u %llu", &pages) == 1
		       ? pages
		       : 0;
}

/* Is so much memory only reserved that reading smaps is faster? The kernel walks all
 * present pages for it, which takes about as long as ten entries each. */
static bool is_sparse(const struct hi_pagemap *pagemap, const struct hi_mapping *mappings,
		      size_t n)
{
	uint64_t pages = 0;

	for (size_t i = 0; i < n; i++)
		if (mappings[i].kind != HI_MAPPING_OTHER)
			pages += (mappings[i].end - mappings[i].start) / PAGE;
	return pages > 4ull * LARGE &&
	       pages > n * A_MAPPING + 10 * resident_pages(pagemap->pid);
}

enum hi_status hi_pagemap_read_all(struct hi_pagemap *pagemap,
				   const struct hi_mapping *mappings, size_t n,
				   struct hi_page_runs *runs, struct hi_error *err)
{
	bool sparse = is_sparse(pagemap, mappings, n);
	enum hi_status status = HI_OK;

	pagemap->unknown.count = 0;
	pagemap->searched = pagemap->pages_unknown = 0;
	hi_pagemap_forget_sizes(pagemap);
	if (sparse)
		status = read_mapping_sizes(pagemap, err);
	for (size_t i = 0; status == HI_OK && i < n; i++) {
		const struct hi_mapping *m = &mappings[i];

		if (m->kind == HI_MAPPING_OTHER)
			continue;
		status = sparse && (m->end - m->start) / PAGE > SMALL
				 ? hi_pagemap_search(pagemap, m->start, m->end, mappings,
						     n, runs, err)
				 : hi_pagemap_read_plainly(pagemap, m->start, m->end,
							   runs, NULL, err);
	}
	return status;
}
