/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which pages of a process are there, without touching any: /proc/PID/pagemap,
 * by the PAGEMAP_SCAN ioctl where the kernel has it (6.7), else by reading it.
 * Documentation/admin-guide/mm/pagemap.rst. Internal to attach/.
 */
#ifndef HI_ATTACH_PAGEMAP_H
#define HI_ATTACH_PAGEMAP_H

#include "attach/image.h"
#include "base/vector.h"

enum hi_run_flags {
	HI_RUN_PRESENT = 1,
	HI_RUN_SWAPPED = 2,
	HI_RUN_FILE = 4, /* a page of a file, or shared anonymous */
	HI_RUN_ZERO = 8, /* the shared page of zeros; only known by PAGEMAP_SCAN */
	HI_RUN_GUARD = 16,
	HI_RUN_MISSING = 32, /* set by copy_child.c: the child does not have it */
};

struct hi_page_run {
	uint64_t start, end;
	uint32_t flags; /* never 0 */
};

struct hi_page_runs HI_VECTOR(struct hi_page_run);

struct hi_pagemap {
	int fd;		     /* borrowed */
	uint64_t categories; /* that PAGEMAP_SCAN knows; 0: there is no such ioctl */
};

/* Finds out by our own pages what the kernel can; never fails. */
void hi_pagemap_init(struct hi_pagemap *pagemap, int fd);
/*
 * Appends the runs of pages that are present or swapped in [start, end), in
 * order. Empty where the address space is gone.
 */
enum hi_status hi_pagemap_collect(const struct hi_pagemap *pagemap, uint64_t start,
				  uint64_t end, struct hi_page_runs *runs,
				  struct hi_error *err);
/* The same over all mappings; one pass where the kernel can. */
enum hi_status hi_pagemap_collect_all(const struct hi_pagemap *pagemap,
				      const struct hi_mapping *mappings, size_t n,
				      struct hi_page_runs *runs, struct hi_error *err);

#endif
