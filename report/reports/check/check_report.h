/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `check`: the result of each gate, and what is behind those that failed. */
#ifndef HI_REPORT_REPORTS_CHECK_CHECK_REPORT_H
#define HI_REPORT_REPORTS_CHECK_CHECK_REPORT_H

#include <stdio.h>

#include "report/parts/leak_name.h"
#include "report/parts/report_header.h"
#include "report/reports/check/gate.h"

enum hi_culprit_kind {
	HI_CULPRIT_TYPE,   /* objects of a type, with a path to one of them */
	HI_CULPRIT_HOLDER, /* what holds most of the objects that the gate counts */
	HI_CULPRIT_LEAK,   /* leak roots of a type and shape */
};
struct hi_check_culprit {
	enum hi_culprit_kind kind;
	bool is_new;	  /* only what the baseline has not */
	const char *type; /* "" untyped; of a holder: what it holds, NULL: several types;
			   * hostile */
	uint64_t count;	  /* of that type; leak roots */
	uint64_t objects; /* leaks: with all that they hold */
	uint64_t bytes;
	uint64_t of;	  /* holders: bytes of all objects that the gate counts */
	const char *path; /* to one of them; of a holder: to it; escaped; "" none */
	uint64_t example; /* address of one; 0 none */
	/* Of leaks: what the roots are called, and whether they are likely only. */
	struct hi_leak_name name;
	enum hi_leak_shape shape;
	bool is_likely;
};

/* A least-squares line through a metric of n censuses: it grows by slope per census,
 * give or take margin (95 %). */
struct hi_check_slope {
	const struct hi_gate_metric *metric;
	double slope, margin, first, last;
	size_t n;
};

enum { HI_CHECK_SLOPE_LEAST = 3 }; /* censuses */
/* Fits a line through n values, one census apart; n is at least HI_CHECK_SLOPE_LEAST.
 * Fills in all but the metric. margin: half the 95 % confidence interval of the slope, by
 * Student's t; a slope within it is noise. */
void hi_check_slope_fit(const double *values, size_t n, struct hi_check_slope *ret);

struct hi_check_row {
	const struct hi_gate *gate;
	struct hi_gate_result result;
	const char *why_unknown; /* "8.0 KiB of live memory could not be read"; NULL: some
				  * heap is not decoded */
	const char *unmatched;	 /* selectors that match nothing; hostile; NULL: none */
	bool is_small;		 /* it is true, but of less than --min-size */
	bool is_skipped;	 /* it needs the baseline, which is not there yet */
	struct hi_check_culprit *culprits;
	size_t n_culprits;
	struct hi_check_slope *slopes;
	size_t n_slopes;
	const char *next; /* a command that shows more; safe; "" none */
};
struct hi_check_report {
	const struct hi_report_header *header, *baseline; /* baseline NULL: none */
	const struct hi_report_header *load;		  /* of three; NULL: none */
	const struct hi_check_row *rows;
	size_t n_rows, n_failed;
	bool is_strict;	     /* a selector that matches nothing fails */
	uint64_t min_size;   /* 0: not given */
	const char *updated; /* the baseline file that is written; NULL: none */
};

/* Returns whether the gate fails: it is true, or one of its values is unknown, or, if
 * strict, a selector matches nothing. */
bool hi_check_fails(const struct hi_check_report *r, const struct hi_check_row *row);

/* ---- texts, safe; they live as long as the page ---- */

/* Returns its name in the budget file, else the expression. */
const char *hi_check_gate_name(const struct hi_gate *gate, struct hi_page *page);
/* "64.0 KiB", "1,500 objects per census", "12.5 %" */
const char *hi_check_value_text(double value, const struct hi_gate *gate,
				struct hi_page *page);
/* Returns the left side, "145.3 KiB", or why it is not known. */
const char *hi_check_here_text(const struct hi_check_row *row, struct hi_page *page);
/* Returns the right side, "0 B". */
const char *hi_check_limit_text(const struct hi_check_row *row, struct hi_page *page);
/* "leak.bytes is 145.3 KiB, and fails when > 0 B"; "" if the gate holds. */
const char *hi_check_summary_text(const struct hi_check_report *r,
				  const struct hi_check_row *row, struct hi_page *page);
/* "2 of 3 gates failed" */
const char *hi_check_headline(const struct hi_check_report *r, struct hi_page *page);
/* Returns line i of what is known beside: values, slopes, culprits; NULL: no more. */
const char *hi_check_detail(const struct hi_check_report *r,
			    const struct hi_check_row *row, size_t i,
			    struct hi_page *page);

/* ---- formats ---- */

/* Adds the report to a page. */
void hi_check_display(const struct hi_check_report *r, struct hi_page *page);
/* Writes the report as the JSON document "heapinspect/check/v1". */
void hi_check_json(const struct hi_check_report *r, struct hi_json *json);
/* Writes one test suite with a test case per gate. scratch: for texts. */
void hi_check_junit(const struct hi_check_report *r, struct hi_page *scratch, FILE *out);
/* Writes a line "::error …" for each gate that failed, and "::warning …" for each with
 * a selector that matches nothing. */
void hi_check_github(const struct hi_check_report *r, struct hi_page *scratch, FILE *out);
/* Writes a table and a list for each gate that failed, for summaries of jobs. */
void hi_check_markdown(const struct hi_check_report *r, struct hi_page *scratch,
		       FILE *out);

#endif
