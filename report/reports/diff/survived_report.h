/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `diff --three`: objects that were born between the first and the second
 * heap and are still alive in the third. */
#ifndef HI_REPORT_REPORTS_DIFF_SURVIVED_REPORT_H
#define HI_REPORT_REPORTS_DIFF_SURVIVED_REPORT_H

#include "report/parts/leak_totals.h"
#include "report/parts/report_header.h"
#include "report/reports/diff/new_objects.h"

/* Plain data; borrowed. */
struct hi_survived_report {
	const struct hi_report_header *warm, *load, *after;
	uint64_t live[3]; /* bytes, in the same order */
	struct hi_leak_totals leaks[3];
	struct hi_heap_total born; /* of the load: that the warm-up had not */
	bool load_by_address, after_by_address; /* matched with the one before it */
	bool knows_births;		/* a recording has those of both comparisons */
	struct hi_new_objects survived; /* of born */
};

/* The document "heapinspect/survived/v1" after its header. */
extern const struct hi_doc_fields hi_survived_document;

/* Adds the report to a page. */
void hi_survived_display(const struct hi_survived_report *r, struct hi_page *page);
/* Writes the report as the JSON document "heapinspect/survived/v1". */
void hi_survived_json(const struct hi_survived_report *r, struct hi_json *json);

#endif
