/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `audit`: references that are counted but were not found, and garbage.
 * Strings are borrowed. */
#ifndef HI_REPORT_REPORTS_AUDIT_AUDIT_REPORT_H
#define HI_REPORT_REPORTS_AUDIT_AUDIT_REPORT_H

#include "census/analysis/audit.h"
#include "census/analysis/garbage.h"
#include "report/document.h"
#include "report/parts/report_header.h"

/* Objects that keep the collector from freeing the cycle that they are on. */
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
	const struct hi_audit_cause
		*causes; /* of uncollectable objects, by number of objects */
	size_t n_causes;
	/* Name or value of the example of each row; "" none. */
	const char *const *names, *const *short_names;
	size_t top; /* rows of a table; SIZE_MAX: all */
};

/* Adds the report to a page. */
void hi_audit_display(const struct hi_audit_report *report, struct hi_page *page);
/* The document "heapinspect/audit/v1" after its header. */
extern const struct hi_doc_fields hi_audit_document;
/* Writes the report as the JSON document "heapinspect/audit/v1". */
void hi_audit_json(const struct hi_audit_report *report, struct hi_json *json);

#endif
