/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of a heap is known. Leaks and free memory can be told only where an
 * allocator was walked; elsewhere objects are found by pointers alone. A number that
 * is not known is never 0: it is HI_UNKNOWN, null in JSON and SQL, absent in metrics.
 */
#ifndef HI_REPORT_VIEWS_HEAP_KNOWN_H
#define HI_REPORT_VIEWS_HEAP_KNOWN_H

#include "report/views/report_header.h"

enum hi_heap_known {
	HI_HEAP_KNOWN,
	/* An allocator was walked, but there are other heaps beside its own: leaks and
	 * what is live are lower bounds. */
	HI_HEAP_KNOWN_IN_PART,
	/* None was: leaks are unknown, what is live is a lower bound. */
	HI_HEAP_UNKNOWN,
};

enum hi_heap_known hi_heap_known(const struct hi_report_header *header);
/* n, or UINT64_MAX where some of the heap is not known. */
uint64_t hi_heap_if_known(const struct hi_report_header *header, uint64_t n);
/* "musl: its heap is not decoded"; "" where all is known. Safe. */
const char *hi_heap_unknown_text(const struct hi_report_header *header,
				 struct hi_page *page);
/* "≥ " or "": before what is live. */
const char *hi_heap_at_least(const struct hi_report_header *header);
/* "21 MiB live in 35,012 objects", "≥ 21 MiB live in …" where there are other heaps; of a
 * heap that is unknown "≥ 21 MiB in ≥ 35,012 objects that typed pointers lead to (a lower
 * bound: the heap itself is unknown)". */
const char *hi_heap_live_text(const struct hi_report_header *header, uint64_t bytes,
			      uint64_t objects, struct hi_page *page);
/* The member "heap" of a document. */
void hi_heap_known_json(const struct hi_report_header *header, struct hi_json *json);
/* The member "at_least": the leaks of what is known; nothing where that is all. */
void hi_heap_leaks_json(const struct hi_report_header *header, uint64_t bytes,
			uint64_t objects, struct hi_json *json);

#endif
