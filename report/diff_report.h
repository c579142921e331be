/* SPDX-License-Identifier: BSD-2-Clause */
/* Two heaps beside each other: what grew, and what holds the growth. */
#ifndef HI_REPORT_DIFF_REPORT_H
#define HI_REPORT_DIFF_REPORT_H

#include "census/compare.h"
#include "report/head.h"
#include "report/hidden.h"
#include "report/restrict.h"

struct hi_diff_holder {
	const char *name; /* the way to the holder, in words; escaped already */
	const char *type; /* of the holder; hostile */
	uint64_t address; /* 0: a variable's */
	uint64_t objects, bytes;
};

/* Plain data; borrowed. */
struct hi_diff_report {
	const struct hi_head *before, *after;
	const struct hi_comparison *c;
	const char *by; /* "type", "module", "root" */
	uint64_t live_before, live_after, leak_before, leak_after; /* bytes */
	const struct hi_diff_holder *holders;
	size_t n_holders;
	struct hi_heap_sum leaked; /* of the born: that nothing holds */
	size_t top;
	uint64_t min_size; /* rows that changed by less are left out */
};

/* Nothing was born, died or changed its size. */
bool hi_diff_is_none(const struct hi_diff_report *r);
void hi_diff_display(const struct hi_diff_report *r, struct hi_page *page);
void hi_diff_json(const struct hi_diff_report *r, struct hi_json *json);

#endif
