/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `diff`: two heaps compared, what grew, and what holds the growth. */
#ifndef HI_REPORT_REPORTS_DIFF_DIFF_REPORT_H
#define HI_REPORT_REPORTS_DIFF_DIFF_REPORT_H

#include "census/analysis/compare.h"
#include "report/parts/leak_totals.h"
#include "report/parts/report_header.h"
#include "report/reports/diff/lost_objects.h"
#include "report/reports/diff/new_objects.h"

/* Plain data; borrowed. */
struct hi_diff_report {
	const struct hi_report_header *before, *after;
	const struct hi_comparison *c;
	const char *by; /* "type", "module", "root", "retainers", "site" */
	uint64_t live_before, live_after; /* bytes */
	struct hi_leak_totals leaks_before, leaks_after;
	struct hi_new_objects born;
	struct hi_lost_objects lost;
	size_t top;
	uint64_t min_size; /* rows that changed by less are left out */
};

/* Returns whether no object was born, died or changed its size. */
bool hi_diff_is_none(const struct hi_diff_report *r);
/* Is there a difference that a build should fail for? With --min-size: a row that changed
 * by so many bytes. */
bool hi_diff_has_finding(const struct hi_diff_report *r);
/* Returns a text on how objects were matched, and what that cannot show. knows_births: of
 * objects that match by address, a recording has those that were allocated anew. */
const char *hi_diff_matched_text(bool by_address, bool knows_births);
/* Writes the member `key`: which heap it is, and its bytes. */
void hi_diff_heap_json(const struct hi_report_header *header, const char *key,
		       uint64_t live, const struct hi_leak_totals *leaks,
		       struct hi_json *json);
/* The schema of such a member. */
#define HI_DIFF_HEAP_SCHEMA "\"$ref\": \"#/definitions/heap\""
/* The document "heapinspect/diff/v1" after its header. */
extern const struct hi_doc_fields hi_diff_document;
/* Adds the report to a page. */
void hi_diff_display(const struct hi_diff_report *r, struct hi_page *page);
/* Writes the report as the JSON document "heapinspect/diff/v1". */
void hi_diff_json(const struct hi_diff_report *r, struct hi_json *json);

#endif
