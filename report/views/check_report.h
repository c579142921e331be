/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `check`: the result of each gate as text, JSON, JUnit XML and GitHub
 * annotations. */
#ifndef HI_REPORT_VIEWS_CHECK_REPORT_H
#define HI_REPORT_VIEWS_CHECK_REPORT_H

#include <stdio.h>

#include "report/views/gate.h"
#include "report/views/report_header.h"

struct hi_check_row {
	const struct hi_gate *gate;
	struct hi_gate_result result;
};
struct hi_check_report {
	const struct hi_report_header *header, *baseline; /* NULL: none */
	const struct hi_check_row *rows;
	size_t n_rows, n_failed;
};

/* Returns whether the gate fails: it is true, or one of its values is unknown. */
bool hi_check_fails(const struct hi_check_row *row);
/* Adds the report to a page. */
void hi_check_display(const struct hi_check_report *r, struct hi_page *page);
/* Writes the report as the JSON document "heapinspect/check/v1". */
void hi_check_json(const struct hi_check_report *r, struct hi_json *json);
/* Writes one test suite with a test case per gate. */
void hi_check_junit(const struct hi_check_report *r, FILE *out);
/* Writes a line "::error …" for each gate that failed. */
void hi_check_github(const struct hi_check_report *r, FILE *out);

#endif
