/* SPDX-License-Identifier: BSD-2-Clause */
/* Which gates hold: for people, as JSON, as JUnit XML, and as GitHub annotations. */
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

/* It is true, or some of its values are unknown. */
bool hi_check_fails(const struct hi_check_row *row);
void hi_check_display(const struct hi_check_report *r, struct hi_page *page);
void hi_check_json(const struct hi_check_report *r, struct hi_json *json);
/* One test suite, one test case a gate. */
void hi_check_junit(const struct hi_check_report *r, FILE *out);
/* A line "::error …" for each gate that failed. */
void hi_check_github(const struct hi_check_report *r, FILE *out);

#endif
