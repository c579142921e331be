/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A check that the numbers add up: the bytes that the allocator has handed out, and what
 * the graph counts of them:
 *
 *	allocated = exact + conservative + leak + internal
 */
#ifndef HI_REPORT_PARTS_TOTALS_CHECK_H
#define HI_REPORT_PARTS_TOTALS_CHECK_H

#include "census/analysis/analysis.h"
#include "report/document.h"
#include "report/parts/report_header.h"

struct hi_sanity {
	uint64_t allocated;    /* by the allocator's own lists; UINT64_MAX: unknown */
	uint64_t exact;	       /* precise edges lead there from a root */
	uint64_t conservative; /* alive, but only by words that look like pointers */
	uint64_t leak;	       /* UINT64_MAX: unknown, as allocated is then */
	uint64_t internal;     /* the allocator's and libc's own blocks */
};

/* Computes the totals. header NULL: heap_known is not considered. */
struct hi_sanity hi_sanity_of(const struct hi_report_header *header,
			      const struct hi_reach *reach, uint64_t allocated);
/* Adds a fact "384 B = 300 B exact + … ", or a warning if the totals differ. */
void hi_sanity_show(const struct hi_sanity *sanity, struct hi_page *page);
/* The fields of the member "sanity". */
extern const struct hi_doc_fields hi_sanity_fields;

#endif
