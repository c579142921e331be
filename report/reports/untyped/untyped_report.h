/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report `census --untyped`: the fields that lead to memory without a type, and for
 * each the hint (docs/HINTS.md) that would give it one. The caller finds the types whose
 * size fits. Strings are borrowed and hostile.
 */
#ifndef HI_REPORT_REPORTS_UNTYPED_UNTYPED_REPORT_H
#define HI_REPORT_REPORTS_UNTYPED_UNTYPED_REPORT_H

#include "base/cleanup.h"
#include "census/analysis/untyped.h"
#include "report/parts/report_header.h"
#include "report/parts/row_selection.h"

enum { HI_CANDIDATES = 5 };

struct hi_candidates {
	const char *names[HI_CANDIDATES];
	size_t n, total; /* total: also those without a name here */
};
struct hi_untyped_line {
	const struct hi_untyped_row *row;
	struct hi_candidates fit; /* the caller's */
	/* The record or variable that the hint is about. Both "": the language of
	 * hints cannot name it. */
	const char *record, *variable;
};
/* What a hint would say of a record: a line of text each. */
struct hi_suggested_record {
	const char *record; /* "struct value" */
	const char *const *lines;
	size_t n_lines;
};
struct hi_untyped_report {
	const struct hi_report_header *header;
	uint64_t live_bytes;
	uint64_t objects, bytes; /* named by field */
	uint64_t unnamed_objects, unnamed_bytes;
	struct hi_untyped *untyped; /* of the rows; owned */
	struct hi_untyped_line *rows;
	size_t n_rows;
	struct hi_hidden below, beyond; /* min-size, top */
	uint32_t modules_skipped;	/* not searched for candidates: too large */
	const struct hi_suggested_record *unions; /* the caller's: tagged unions */
	size_t n_unions;
};

/* Makes the report. Borrows its inputs, which outlive it. HI_NO_MEMORY. */
enum hi_status
hi_untyped_report_create(const struct hi_report_header *header,
			 const struct hi_graph *graph, const struct hi_reach *reach,
			 const struct hi_untyped *untyped, const struct hi_restrict *only,
			 struct hi_untyped_report **ret, struct hi_error *err);
/* Frees the report; NULL is fine. */
void hi_untyped_report_destroy(struct hi_untyped_report *report);
HI_DEFINE_GUARD(struct hi_untyped_report *, hi_untyped_report_destroy)
/* Returns the statement, raw; "" if there is none; NULL: out of memory. */
const char *hi_untyped_hint(const struct hi_untyped_line *line, struct hi_arena *arena);
/* Adds the report to a page. */
void hi_untyped_display(const struct hi_untyped_report *report, struct hi_page *page);
/* Writes the report as the JSON document "heapinspect/census/v1". */
enum hi_status hi_untyped_json(const struct hi_untyped_report *report,
			       struct hi_json *json, struct hi_error *err);

#endif
