/* SPDX-License-Identifier: BSD-2-Clause */
/* References that were counted, but not found, and garbage: `audit`. Strings
 * borrowed. */
#ifndef HI_REPORT_AUDIT_REPORT_H
#define HI_REPORT_AUDIT_REPORT_H

#include "census/audit.h"
#include "census/garbage.h"
#include "report/head.h"

struct hi_audit_report {
	const struct hi_head *head;
	const struct hi_graph *graph;
	const struct hi_audit *audit;
	struct hi_garbage *garbage;
	size_t top; /* rows of a table; SIZE_MAX: all */
};

void hi_audit_display(const struct hi_audit_report *report, struct hi_page *page);
void hi_audit_json(const struct hi_audit_report *report, struct hi_json *json);

#endif
