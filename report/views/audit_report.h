/* SPDX-License-Identifier: BSD-2-Clause */
/* References that were counted, but not found, and garbage: `audit`. Strings
 * borrowed. */
#ifndef HI_REPORT_VIEWS_AUDIT_REPORT_H
#define HI_REPORT_VIEWS_AUDIT_REPORT_H

#include "census/analysis/audit.h"
#include "census/analysis/garbage.h"
#include "report/views/report_header.h"

/* Objects that keep the collector from what they are on a cycle with. */
struct hi_audit_cause {
	uint32_t type; /* of the graph */
	uint64_t objects;
	hi_node example;
};

struct hi_audit_report {
	const struct hi_report_header *header;
	const struct hi_graph *graph;
	const struct hi_audit *audit;
	struct hi_garbage *garbage;
	const struct hi_audit_cause *causes; /* of what is uncollectable, by objects */
	size_t n_causes;
	/* What the example of each row is called, or its value; "" nothing. */
	const char *const *names, *const *short_names;
	size_t top; /* rows of a table; SIZE_MAX: all */
};

void hi_audit_display(const struct hi_audit_report *report, struct hi_page *page);
void hi_audit_json(const struct hi_audit_report *report, struct hi_json *json);

#endif
