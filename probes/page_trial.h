/* SPDX-License-Identifier: BSD-2-Clause */
/* A trial of pages.h on a small process of our own. Internal to pages.c. */
#ifndef HI_PROBES_PAGE_TRIAL_H
#define HI_PROBES_PAGE_TRIAL_H

#include "probes/page_tables.h"

/* Faults that a test makes. */
struct hi_page_faults {
	bool without_flush;	 /* the 4 is not written */
	bool without_use;	 /* no page is used after the clearing */
	uint64_t map_shifted_by; /* the direct map is taken for so many bytes above */
};

/*
 * Finds the direct map and, with_young, struct page for tables, then has a forked process
 * clear its accessed bits and use some of its pages at once: the bits must be exactly
 * those pages'. HI_UNSUPPORTED: they are not, and err->text has what was seen. faults:
 * NULL for none.
 */
enum hi_status hi_page_trial_run(struct hi_page_tables *tables,
				 const struct hi_page_faults *faults, bool with_young,
				 struct hi_error *err);
/*
 * Clears the accessed bits of the process of fd (/proc/PID/clear_refs), so that the next
 * use of a page sets it. False with errno. See Note [Stale entries].
 */
bool hi_page_clear(int fd, bool without_flush);

#endif
