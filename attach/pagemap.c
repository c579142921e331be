/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/pagemap.h"
#include "attach/pagemap_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define PAGE HI_PAGEMAP_PAGE
#define USER_END (1ull << 56) /* TASK_SIZE_MAX with five levels; [vsyscall] is above */
/* The kernel holds the target's mmap lock during one call: about 1 ms per GiB found. */
#define PAGES_A_CALL (1u << 20)
#define REGIONS 4096u

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

bool hi_page_runs_add(struct hi_page_runs *runs, uint64_t start, uint64_t end,
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

/* One call: *at moves on to where the kernel stopped. */
static ssize_t scan_pagemap_once(const struct hi_pagemap *pagemap, uint64_t *at,
				 uint64_t end, struct page_region *regions)
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
	 * 6.18 gives back a stale walk_end, of the last time that its own buffer of 512
	 * regions was full, when the walk then came to its end: so what was reported
	 * counts too. The walk must advance in any case.
	 */
	if (n > 0 && regions[n - 1].end > arg.walk_end)
		arg.walk_end = regions[n - 1].end;
	*at = arg.walk_end > *at && arg.walk_end <= end ? arg.walk_end : end;
	return n;
}

static enum hi_status scan_pagemap(const struct hi_pagemap *pagemap, uint64_t start,
				   uint64_t end, struct hi_page_runs *runs,
				   struct page_region *regions, struct hi_error *err)
{
	for (uint64_t at = start; at < end;) {
		ssize_t n = scan_pagemap_once(pagemap, &at, end, regions);

		if (n < 0 && (errno == ESRCH || errno == EFAULT))
			return HI_OK; /* the address space is gone: no pages */
		if (n < 0)
			return hi_fail_errno(err, "PAGEMAP_SCAN");
		for (ssize_t i = 0; i < n; i++)
			if (!hi_page_runs_add(runs, regions[i].start, regions[i].end,
					      flags_of_categories(regions[i].categories)))
				return hi_fail_memory(err, "runs of pages");
	}
	return HI_OK;
}

static enum hi_status scan_pagemap_range(struct hi_pagemap *pagemap, uint64_t start,
					 uint64_t end, struct hi_page_runs *runs,
					 struct hi_error *err)
{
	void *regions HI_GUARD(free) = hi_alloc(REGIONS * sizeof(struct page_region));

	if (!regions)
		return hi_fail_memory(err, "runs of pages");
	return scan_pagemap(pagemap, start, end, runs, regions, err);
}

enum hi_status hi_pagemap_collect(struct hi_pagemap *pagemap, uint64_t start,
				  uint64_t end, struct hi_page_runs *runs,
				  struct hi_error *err)
{
	if (end > USER_END)
		end = USER_END;
	return pagemap->categories ? scan_pagemap_range(pagemap, start, end, runs, err)
				   : hi_pagemap_read(pagemap, start, end, runs, err);
}

enum hi_status hi_pagemap_collect_all(struct hi_pagemap *pagemap,
				      const struct hi_mapping *mappings, size_t n,
				      struct hi_page_runs *runs, struct hi_error *err)
{
	while (n && mappings[n - 1].start >= USER_END)
		n--;
	if (!n)
		return HI_OK;
	return pagemap->categories ? hi_pagemap_collect(pagemap, mappings[0].start,
							mappings[n - 1].end, runs, err)
				   : hi_pagemap_read_all(pagemap, mappings, n, runs, err);
}

/* Two pages, the second one touched: exactly that one must be reported. */
static bool check_pagemap_scan(const struct hi_pagemap *pagemap)
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

/* The page frame of the page of zeros; 0 where entries hide it. */
static uint64_t find_zero_entry(int self)
{
	volatile unsigned char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t entry = 0;

	if (page == MAP_FAILED)
		return 0;
	(void)madvise((void *)(uintptr_t)page, PAGE, MADV_NOHUGEPAGE);
	(void)*page;
	if (pread(self, &entry, sizeof(entry),
		  (off_t)((uintptr_t)page / PAGE * sizeof(entry))) != sizeof(entry))
		entry = 0;
	munmap((void *)(uintptr_t)page, PAGE);
	return entry & HI_PM_PRESENT && !(entry & (HI_PM_FILE | HI_PM_EXCLUSIVE)) &&
			       entry & HI_PM_FRAME
		       ? entry & HI_PM_FRAME
		       : 0;
}

void hi_pagemap_init(struct hi_pagemap *pagemap, int fd, pid_t pid)
{
	static const uint64_t known[] = {SCAN_BASE | PAGE_IS_GUARD, SCAN_BASE};
	HI_GUARD(close) int self = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	struct hi_pagemap own = {.fd = self};

	*pagemap = (struct hi_pagemap){
		.fd = fd, .pid = pid, .search_limit = HI_PAGEMAP_LOOK_ENTRIES};
	for (size_t i = 0; self >= 0 && i < sizeof(known) / sizeof(known[0]); i++) {
		own.categories = known[i];
		if (check_pagemap_scan(&own)) {
			pagemap->categories = known[i];
			break;
		}
	}
	if (self >= 0)
		pagemap->zero_entry = find_zero_entry(self);
}

void hi_pagemap_free(struct hi_pagemap *pagemap)
{
	hi_vector_free(&pagemap->known);
	hi_vector_free(&pagemap->unknown);
	hi_vector_free(&pagemap->sizes);
}

void hi_pagemap_forget_sizes(struct hi_pagemap *pagemap)
{
	pagemap->has_sizes = false;
}

enum hi_status hi_pagemap_learn(struct hi_pagemap *to, const struct hi_pagemap *from,
				struct hi_error *err)
{
	if (!hi_vector_reserve(&to->known, from->known.count))
		return hi_fail_memory(err, "runs of pages");
	if (from->known.count)
		memcpy(to->known.items, from->known.items,
		       from->known.count * sizeof(*from->known.items));
	to->known.count = from->known.count;
	return HI_OK;
}
