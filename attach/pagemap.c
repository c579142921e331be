/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/pagemap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define PAGE 4096u
#define USER_END (1ull << 56) /* TASK_SIZE_MAX with five levels; [vsyscall] is above */
/* The kernel holds the target's mmap lock for one call: about 1 ms per GiB found. */
#define PAGES_A_CALL (1u << 20)
#define REGIONS 4096u
#define ENTRIES 8192u

/* linux/fs.h since 6.7; Debian 12's headers are older. */
struct page_region {
	uint64_t start, end, categories;
};

struct pm_scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define PAGEMAP_SCAN_IOCTL _IOWR('f', 16, struct pm_scan_arg)
#define PAGE_IS_FILE (1u << 2)
#define PAGE_IS_PRESENT (1u << 3)
#define PAGE_IS_SWAPPED (1u << 4)
#define PAGE_IS_PFNZERO (1u << 5)
#define PAGE_IS_GUARD (1u << 8) /* 6.15 */

#define SCAN_BASE (PAGE_IS_FILE | PAGE_IS_PRESENT | PAGE_IS_SWAPPED | PAGE_IS_PFNZERO)

/* Bits of an entry that is read. */
#define PM_GUARD (1ull << 58)
#define PM_FILE (1ull << 61)
#define PM_SWAP (1ull << 62)
#define PM_PRESENT (1ull << 63)

static bool add_run(struct hi_page_runs *runs, uint64_t start, uint64_t end,
		    uint32_t flags)
{
	struct hi_page_run *last = runs->items + runs->count;

	if (!flags || start >= end)
		return true;
	if (runs->count && last[-1].end == start && last[-1].flags == flags) {
		last[-1].end = end;
		return true;
	}
	return hi_vector_push(runs, (struct hi_page_run){start, end, flags});
}

static uint32_t flags_of_categories(uint64_t categories)
{
	return (categories & PAGE_IS_PRESENT ? HI_RUN_PRESENT : 0) |
	       (categories & PAGE_IS_SWAPPED ? HI_RUN_SWAPPED : 0) |
	       (categories & PAGE_IS_FILE ? HI_RUN_FILE : 0) |
	       (categories & PAGE_IS_PFNZERO ? HI_RUN_ZERO : 0) |
	       (categories & PAGE_IS_GUARD ? HI_RUN_GUARD : 0);
}

static uint32_t flags_of_entry(uint64_t entry)
{
	if (!(entry & (PM_PRESENT | PM_SWAP)))
		return 0;
	return (entry & PM_PRESENT ? HI_RUN_PRESENT : 0) |
	       (entry & PM_SWAP ? HI_RUN_SWAPPED : 0) |
	       (entry & PM_FILE ? HI_RUN_FILE : 0) |
	       (entry & PM_GUARD ? HI_RUN_GUARD : 0);
}

/* One call: *at moves on to where the kernel stopped. */
static ssize_t scan_once(const struct hi_pagemap *pagemap, uint64_t *at, uint64_t end,
			 struct page_region *regions)
{
	struct pm_scan_arg arg = {
		.size = sizeof(arg),
		.start = *at,
		.end = end,
		.vec = (uintptr_t)regions,
		.vec_len = REGIONS,
		.max_pages = PAGES_A_CALL,
		.category_anyof_mask = PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
		.return_mask = pagemap->categories,
	};
	int n;

	do
		n = ioctl(pagemap->fd, PAGEMAP_SCAN_IOCTL, &arg);
	while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n < 0)
		return n;
	/*
	 * 6.18 gives back a stale walk_end, of the last time that its own buffer of
	 * 512 regions was full, when the walk then came to its end: so what was
	 * reported counts too. And never stand still, whatever it says.
	 */
	if (n > 0 && regions[n - 1].end > arg.walk_end)
		arg.walk_end = regions[n - 1].end;
	*at = arg.walk_end > *at && arg.walk_end <= end ? arg.walk_end : end;
	return n;
}

static enum hi_status scan(const struct hi_pagemap *pagemap, uint64_t start, uint64_t end,
			   struct hi_page_runs *runs, struct page_region *regions,
			   struct hi_error *err)
{
	for (uint64_t at = start; at < end;) {
		ssize_t n = scan_once(pagemap, &at, end, regions);

		if (n < 0 && (errno == ESRCH || errno == EFAULT))
			return HI_OK; /* the address space is gone: no pages */
		if (n < 0)
			return hi_fail_errno(err, "PAGEMAP_SCAN");
		for (ssize_t i = 0; i < n; i++)
			if (!add_run(runs, regions[i].start, regions[i].end,
				     flags_of_categories(regions[i].categories)))
				return hi_fail_memory(err, "runs of pages");
	}
	return HI_OK;
}

static enum hi_status read_entries(const struct hi_pagemap *pagemap, uint64_t start,
				   uint64_t end, struct hi_page_runs *runs,
				   uint64_t *entries, struct hi_error *err)
{
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
		for (ssize_t i = 0; i < n; i++, at += PAGE)
			if (!add_run(runs, at, at + PAGE, flags_of_entry(entries[i])))
				return hi_fail_memory(err, "runs of pages");
	}
	return HI_OK;
}

enum hi_status hi_pagemap_collect(const struct hi_pagemap *pagemap, uint64_t start,
				  uint64_t end, struct hi_page_runs *runs,
				  struct hi_error *err)
{
	void *buffer HI_GUARD(free) = hi_alloc(REGIONS * sizeof(struct page_region));

	_Static_assert(ENTRIES * sizeof(uint64_t) <= REGIONS * sizeof(struct page_region),
		       "one buffer serves both");
	if (!buffer)
		return hi_fail_memory(err, "runs of pages");
	if (end > USER_END)
		end = USER_END;
	if (pagemap->categories)
		return scan(pagemap, start, end, runs, buffer, err);
	return read_entries(pagemap, start, end, runs, buffer, err);
}

enum hi_status hi_pagemap_collect_all(const struct hi_pagemap *pagemap,
				      const struct hi_mapping *mappings, size_t n,
				      struct hi_page_runs *runs, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	while (n && mappings[n - 1].start >= USER_END)
		n--;
	if (n && pagemap->categories)
		return hi_pagemap_collect(pagemap, mappings[0].start, mappings[n - 1].end,
					  runs, err);
	for (size_t i = 0; status == HI_OK && i < n; i++)
		if (mappings[i].kind != HI_MAPPING_OTHER)
			status = hi_pagemap_collect(pagemap, mappings[i].start,
						    mappings[i].end, runs, err);
	return status;
}

/* Two pages, the second one touched: exactly that one must be reported. */
static bool proves_itself(const struct hi_pagemap *pagemap)
{
	unsigned char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct page_region regions[REGIONS < 8 ? REGIONS : 8] = {
	};
	uint64_t at = (uintptr_t)pages, end = at + 2 * PAGE;
	struct pm_scan_arg arg = {
		.size = sizeof(arg),
		.start = at,
		.end = end,
		.vec = (uintptr_t)regions,
		.vec_len = 8,
		.category_anyof_mask = PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
		.return_mask = pagemap->categories,
	};
	int n;

	if (pages == MAP_FAILED)
		return false;
	(void)madvise(pages, 2 * PAGE, MADV_NOHUGEPAGE);
	pages[PAGE] = 1;
	n = ioctl(pagemap->fd, PAGEMAP_SCAN_IOCTL, &arg);
	munmap(pages, 2 * PAGE);
	return n == 1 && regions[0].start == at + PAGE && regions[0].end == end &&
	       (regions[0].categories & (PAGE_IS_PRESENT | PAGE_IS_SWAPPED));
}

void hi_pagemap_init(struct hi_pagemap *pagemap, int fd)
{
	static const uint64_t known[] = {SCAN_BASE | PAGE_IS_GUARD, SCAN_BASE};
	HI_GUARD(close) int self = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	struct hi_pagemap own = {.fd = self};

	*pagemap = (struct hi_pagemap){.fd = fd};
	for (size_t i = 0; self >= 0 && i < sizeof(known) / sizeof(known[0]); i++) {
		own.categories = known[i];
		if (proves_itself(&own)) {
			pagemap->categories = known[i];
			return;
		}
	}
}
