/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report `safepoints`: where --at can stop a process, what a probe there costs, and
 * how often the process reaches it. The caller fills it in. Strings are borrowed and
 * hostile unless marked otherwise.
 */
#ifndef HI_REPORT_REPORTS_SAFEPOINTS_SAFEPOINTS_REPORT_H
#define HI_REPORT_REPORTS_SAFEPOINTS_SAFEPOINTS_REPORT_H

#include "report/document.h"
#include "report/parts/report_header.h"

struct hi_safepoint_row {
	const char *at;	     /* what --at takes */
	const char *runtime; /* "" no known runtime */
	const char *purpose; /* "" unknown */
	bool is_gc;	     /* what --at gc takes */
	const struct hi_probed *places;
	size_t n_places;
	const uint64_t *place_hits; /* of each; NULL: not counted */
	uint64_t hits;		    /* of all; UINT64_MAX: not counted */
};

struct hi_safepoints_report {
	const struct hi_report_header *header; /* of the target only */
	struct hi_safepoint_row *rows;	       /* hi_safepoints_sort */
	size_t n_rows, shown;
	uint64_t counted_ns;	 /* 0: not at all */
	bool cut_short;		 /* counting ended early: enough hits */
	const char *not_counted; /* why; "" */
	bool may_not_probe;	 /* --at needs more privileges here */
	size_t rows_not_counted; /* beyond the limit of probes */
};

/* Sorts: the end of a collection first, then runtimes, then by hits and name. */
void hi_safepoints_sort(struct hi_safepoints_report *report);
/* Adds the report to a page. */
void hi_safepoints_display(const struct hi_safepoints_report *report,
			   struct hi_page *page);
/* The document "heapinspect/safepoints/v1". */
extern const struct hi_doc_fields hi_safepoints_document;
/* Writes the report as the JSON document "heapinspect/safepoints/v1". */
void hi_safepoints_json(const struct hi_safepoints_report *report, struct hi_json *json);

#endif
