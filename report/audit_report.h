/* SPDX-License-Identifier: BSD-2-Clause */
/* References that were counted, but not found: `audit`. Strings borrowed. */
#ifndef HI_REPORT_AUDIT_REPORT_H
#define HI_REPORT_AUDIT_REPORT_H

#include "census/audit.h"
#include "report/head.h"

struct hi_audit_report {
	const struct hi_head *head;
	const struct hi_graph *graph;
	const struct hi_audit *audit;
	/* Objects that nothing leads to: garbage that the collector has not taken. */
	uint64_t garbage_objects, garbage_bytes;
	size_t top; /* rows shown; SIZE_MAX: all */
};

void hi_audit_display(const struct hi_audit_report *report, struct hi_page *page);
void hi_audit_json(const struct hi_audit_report *report, struct hi_json *json);

#endif
