/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of census/analysis/leak_sums.h, as reports write them. */
#ifndef HI_REPORT_VIEWS_LEAK_SUMS_H
#define HI_REPORT_VIEWS_LEAK_SUMS_H

#include "census/analysis/leak_sums.h"
#include "report/views/head.h"

/* s, or all unknown where some of the heap is not known. */
struct hi_leak_sums hi_leak_sums_if_known(const struct hi_head *head,
					  struct hi_leak_sums s);
/* "53.8 KiB leaked, 1 KiB likely leaked, 2 KiB garbage"; "leaks are unknown"; "" where
 * there is nothing of them. */
char *hi_leak_sums_text(char *out, size_t size, const struct hi_leak_sums *s);
/* The members `certain` (as it is called there), likely, garbage, uncollectable and lost:
 * bytes; null: unknown. */
void hi_leak_sums_json(struct hi_json *json, const char *certain,
		       const struct hi_leak_sums *s);

#endif
