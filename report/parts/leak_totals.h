/* SPDX-License-Identifier: BSD-2-Clause */
/* Totals of leaks (census/analysis/leak_totals.h) as reports show them. */
#ifndef HI_REPORT_PARTS_LEAK_TOTALS_H
#define HI_REPORT_PARTS_LEAK_TOTALS_H

#include "census/analysis/leak_totals.h"
#include "report/parts/report_header.h"

/* Returns s, or unknown totals where part of the heap is not known. */
struct hi_leak_totals hi_leak_totals_if_known(const struct hi_report_header *header,
					      struct hi_leak_totals s);
/* Formats "53.8 KiB leaked, 1 KiB likely leaked, 2 KiB garbage"; "leaks are unknown";
 * "" where there are none. Returns out. */
char *hi_leak_totals_text(char *out, size_t size, const struct hi_leak_totals *s);
/* Writes the member that `certain` names and the members likely, garbage,
 * uncollectable and lost: bytes; null: unknown. */
void hi_leak_totals_json(struct hi_json *json, const char *certain,
			 const struct hi_leak_totals *s);

#endif
