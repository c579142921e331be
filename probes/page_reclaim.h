/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Others that clear the accessed bits of pages: the kernel when it looks for memory to
 * give back, and DAMON.
 */
#ifndef HI_PROBES_PAGE_RECLAIM_H
#define HI_PROBES_PAGE_RECLAIM_H

#include <stddef.h>

#include "base/error.h"

#define HI_PAGE_RECLAIM_UNKNOWN UINT64_MAX

/*
 * A number that grows whenever the kernel looks at pages in order to reclaim memory: the
 * sum of such counters in the text of /proc/vmstat. HI_PAGE_RECLAIM_UNKNOWN if it has
 * none of them.
 */
uint64_t hi_page_reclaim_parse(const char *text);
/* The same of the file; fd: /proc/vmstat. Allocates nothing. */
uint64_t hi_page_reclaim_read(int fd);
/*
 * A number that grows with each generation that the multi-generational LRU makes, by the
 * text of its file in debugfs.
 */
uint64_t hi_page_generations_parse(const char *text);
struct hi_page_clearers {
	uint64_t generations; /* 0: that LRU is off */
	bool uses_young;      /* accessed bits may have become PG_young */
};

/*
 * Reads the present state under sys ("/sys"). HI_UNSUPPORTED: something is on that clears
 * bits and leaves no trace; err names it and the remedy.
 */
enum hi_status hi_page_clearers_look(const char *sys, struct hi_page_clearers *ret,
				     struct hi_error *err);

#endif
