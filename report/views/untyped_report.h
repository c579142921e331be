/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `census --untyped`: the fields that lead to what has no type, and for each
 * the hint (docs/HINTS.md) that would name it. The caller finds the types whose
 * size fits. Strings borrowed and hostile.
 */
#ifndef HI_REPORT_VIEWS_UNTYPED_REPORT_H
#define HI_REPORT_VIEWS_UNTYPED_REPORT_H

#include "census/analysis/untyped.h"
#include "report/views/report_header.h"
#include "report/views/restrict.h"

enum { HI_CANDIDATES = 5 };

struct hi_candidates {
	const char *names[HI_CANDIDATES];
	size_t n, total; /* total: also those without a name here */
};
struct hi_untyped_line {
	const struct hi_untyped_row *row;
	struct hi_candidates fit; /* the caller's */
	/* What the hint is about: the owner, or the type of the variable that it is.
	 * Both "": nothing that the language could say. */
	const char *record, *variable;
};
struct hi_untyped_report {
	const struct hi_report_header *header;
	uint64_t live_bytes;
	uint64_t objects, bytes; /* named by field */
	uint64_t unnamed_objects, unnamed_bytes;
	struct hi_untyped_line *rows;
	size_t n_rows;
	struct hi_hidden below, beyond; /* min-size, top */
	uint32_t modules_skipped;	/* not searched for candidates: too large */
};

enum hi_status
hi_untyped_report_create(const struct hi_report_header *header,
			 const struct hi_graph *graph, const struct hi_reach *reach,
			 const struct hi_untyped *untyped, const struct hi_restrict *only,
			 struct hi_untyped_report **ret, struct hi_error *err);
void hi_untyped_report_destroy(struct hi_untyped_report *report);
/* The statement, raw; "" if there is none; NULL out of memory. */
const char *hi_untyped_hint(const struct hi_untyped_line *line, struct hi_arena *arena);
void hi_untyped_display(const struct hi_untyped_report *report, struct hi_page *page);
enum hi_status hi_untyped_json(const struct hi_untyped_report *report,
			       struct hi_json *json, struct hi_error *err);

#endif
