/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which pages of a process are present, without touching any: /proc/PID/pagemap, by the
 * PAGEMAP_SCAN ioctl where the kernel has it (6.7), else by reading it.
 * Documentation/admin-guide/mm/pagemap.rst. Internal to attach/.
 */
#ifndef HI_ATTACH_PAGEMAP_H
#define HI_ATTACH_PAGEMAP_H

#include "attach/page_runs.h"
#include "attach/smaps.h"

/*
 * Entries (of a page each) that are read in search of pages, see Note [Reservations
 * without PAGEMAP_SCAN] in pagemap_search.c: 32 TiB in half a minute while the target
 * runs, 64 GiB in 70 ms in the stop.
 */
#define HI_PAGEMAP_LOOK_ENTRIES (1ull << 33)
#define HI_PAGEMAP_STOP_ENTRIES (1ull << 24)

struct hi_pagemap {
	int fd;		     /* borrowed */
	pid_t pid;	     /* its directory of /proc */
	uint64_t categories; /* that PAGEMAP_SCAN supports; 0: there is no such ioctl */
	/* Without it: */
	uint64_t zero_entry;	     /* page frame of the page of zeros; 0: unknown */
	uint64_t search_limit;	     /* entries; HI_PAGEMAP_LOOK_ENTRIES at first */
	uint64_t searched;	     /* of the last hi_pagemap_collect_all */
	uint64_t entries_read;	     /* so far, for tests */
	struct hi_page_runs known;   /* where large mappings had pages */
	struct hi_page_runs unknown; /* was left out, though there are pages in it */
	uint64_t pages_unknown;	     /* how many */
	struct hi_smaps_sizes sizes;
	bool has_sizes;
};

/* Tests on own pages what the kernel supports; never fails. */
void hi_pagemap_init(struct hi_pagemap *pagemap, int fd, pid_t pid);
/* Frees what the pagemap has learned; its descriptor stays the caller's. */
void hi_pagemap_free(struct hi_pagemap *pagemap);
/* Copies to `to` where `from` has found pages. HI_NO_MEMORY. */
enum hi_status hi_pagemap_learn(struct hi_pagemap *to, const struct hi_pagemap *from,
				struct hi_error *err);
/* Forgets the sizes of mappings, which change when the process runs. */
void hi_pagemap_forget_sizes(struct hi_pagemap *pagemap);
/*
 * Appends the runs of pages that are present or swapped in [start, end), in
 * order. Empty where the address space is gone.
 */
enum hi_status hi_pagemap_collect(struct hi_pagemap *pagemap, uint64_t start,
				  uint64_t end, struct hi_page_runs *runs,
				  struct hi_error *err);
/* The same over all mappings; one pass where the kernel can. Large mappings without
 * any page may be left out where only pages of zeros are in them. */
enum hi_status hi_pagemap_collect_all(struct hi_pagemap *pagemap,
				      const struct hi_mapping *mappings, size_t n,
				      struct hi_page_runs *runs, struct hi_error *err);

#endif
