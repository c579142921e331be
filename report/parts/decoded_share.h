/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of a heap is known. Leaks and free memory are known only where an allocator
 * was walked; elsewhere objects are found by pointers alone. A number that is not known
 * is never 0: it is HI_UNKNOWN, null in JSON and SQL, absent in metrics.
 */
#ifndef HI_REPORT_PARTS_DECODED_SHARE_H
#define HI_REPORT_PARTS_DECODED_SHARE_H

#include "report/parts/report_header.h"

/* "no known allocator (glibc, …)": those that decode/allocators/ can walk. */
extern const char hi_heap_no_allocator_text[];

enum hi_heap_known {
	HI_HEAP_KNOWN,
	/* An allocator was walked, but there are other heaps too: leaks and live
	 * memory are lower bounds. */
	HI_HEAP_KNOWN_IN_PART,
	/* No allocator was walked: leaks are unknown, live memory is a lower bound. */
	HI_HEAP_UNKNOWN,
};

/* Returns how much of the heap the report knows, by the header's allocator. */
enum hi_heap_known hi_heap_known(const struct hi_report_header *header);
/* Returns n, or UINT64_MAX where part of the heap is not known. */
uint64_t hi_heap_if_known(const struct hi_report_header *header, uint64_t n);
/* Returns "musl: its heap is not decoded", "" where the whole heap is known. Safe. */
const char *hi_heap_unknown_text(const struct hi_report_header *header,
				 struct hi_page *page);
/* Returns "≥ " or "", to be put before live memory. */
const char *hi_heap_at_least(const struct hi_report_header *header);
/* Returns "21 MiB live in 35,012 objects"; "≥ 21 MiB live in …" where there are other
 * heaps; for an unknown heap "≥ 21 MiB in ≥ 35,012 objects that typed pointers lead to
 * (a lower bound: the heap itself is unknown)". */
const char *hi_heap_live_text(const struct hi_report_header *header, uint64_t bytes,
			      uint64_t objects, struct hi_page *page);
/* Writes the member "heap" of a document. */
void hi_heap_known_json(const struct hi_report_header *header, struct hi_json *json);
/* Writes the member "at_least": the leaks that are known; nothing where the whole heap
 * is known. */
void hi_heap_leaks_json(const struct hi_report_header *header, uint64_t bytes,
			uint64_t objects, struct hi_json *json);

#endif
