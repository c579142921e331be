/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report `snapshots`: the censuses in a file, and the totals by type of one of them.
 * The caller fills it in. Strings are borrowed and hostile.
 */
#ifndef HI_REPORT_REPORTS_SNAPSHOTS_SNAPSHOTS_REPORT_H
#define HI_REPORT_REPORTS_SNAPSHOTS_SNAPSHOTS_REPORT_H

#include "report/document.h"
#include "report/parts/leak_totals.h"
#include "report/parts/trend.h"

struct hi_snapshots_row {
	uint64_t number, time_ns, wall_ns, cpu_ns, pause_ns; /* UINT64_MAX unknown */
	uint64_t objects, bytes;
	struct hi_leak_totals leaks; /* bytes alone */
	uint64_t graph;		     /* bytes in the file; 0: totals only */
};

struct hi_snapshots_mark_line {
	uint64_t census; /* the last one before it; 0: none yet */
	uint64_t wall_ns, cpu_ns;
	const char *text;
};

struct hi_snapshots_type {
	const char *name, *module; /* "" unknown */
	uint64_t objects, bytes, retained;
};

struct hi_snapshots_report {
	const struct hi_report_header *header; /* of the target, and the file */
	uint64_t size;
	const char *end; /* "over", "exited", "stopped", "failed", "open"; text of this
			  * program */
	uint64_t damaged, lost, torn; /* bytes, parts, bytes */
	const struct hi_snapshots_row *rows;
	size_t n_rows;
	const struct hi_snapshots_mark_line *marks; /* as time passed */
	size_t n_marks;
	const struct hi_trend *trend; /* NULL: one census, or some cannot be read */
	/* Of the selected census; NULL: none. */
	const struct hi_snapshots_row *of;
	const struct hi_snapshots_type *types; /* most bytes first */
	size_t n_types, shown;
};

/* Adds the report to a page. */
void hi_snapshots_display(const struct hi_snapshots_report *report, struct hi_page *page);
/* The document "heapinspect/snapshots/v1". */
extern const struct hi_doc_fields hi_snapshots_document;
/* Writes the report as the JSON document "heapinspect/snapshots/v1". */
void hi_snapshots_json(const struct hi_snapshots_report *report, struct hi_json *json);

#endif
