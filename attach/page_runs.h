/* SPDX-License-Identifier: BSD-2-Clause */
/* Stretches of pages of one kind, in order of addresses. Internal to attach/. */
#ifndef HI_ATTACH_PAGE_RUNS_H
#define HI_ATTACH_PAGE_RUNS_H

#include "attach/image.h"
#include "base/vector.h"

enum hi_run_flags {
	HI_RUN_PRESENT = 1,
	HI_RUN_SWAPPED = 2,
	HI_RUN_FILE = 4, /* a page of a file, or shared anonymous */
	HI_RUN_ZERO = 8, /* the shared page of zeros, where it can be recognized */
	HI_RUN_GUARD = 16,
	HI_RUN_MISSING = 32, /* set by copy_child.c: the child does not have it */
};

struct hi_page_run {
	uint64_t start, end;
	uint32_t flags; /* never 0 */
};

struct hi_page_runs HI_VECTOR(struct hi_page_run);

/* Appends to the last run where it goes on; false when out of memory. */
bool hi_page_runs_add(struct hi_page_runs *runs, uint64_t start, uint64_t end,
		      uint32_t flags);

#endif
