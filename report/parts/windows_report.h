/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report of a recording by windows, and of `alloc` of its file: how often functions
 * allocate, and what of it is live and leaked, each figure with its interval (census/events/window_live.h).
 */
#ifndef HI_REPORT_PARTS_WINDOWS_REPORT_H
#define HI_REPORT_PARTS_WINDOWS_REPORT_H

#include "census/events/window_result.h"
#include "report/parts/recorded_children.h"
#include "report/parts/report_header.h"
#include "report/parts/row_selection.h"

struct hi_windows_report {
	const struct hi_report_header *header;
	const struct hi_window_result *result;
	size_t top; /* rows of a table */
	struct hi_recorded_children children;
};

/* Adds the report to a page. */
void hi_windows_display(const struct hi_windows_report *report, struct hi_page *page);
/* Writes the report as the JSON document "heapinspect/windows/v1". */
void hi_windows_json(const struct hi_windows_report *report, struct hi_json *json);

#endif
