/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `retainers`: retainer sets with their costs. */
#ifndef HI_REPORT_REPORTS_RETAINERS_RETAINERS_REPORT_H
#define HI_REPORT_REPORTS_RETAINERS_RETAINERS_REPORT_H

#include "base/cleanup.h"
#include "census/retainers/retainers.h"
#include "report/document.h"
#include "report/parts/report_header.h"
#include "report/parts/report_links.h"
#include "report/parts/row_selection.h"
#include "report/parts/totals_check.h"

/* Filled in by the caller. Names are borrowed and hostile. */
struct hi_retainers_view {
	const char *identity; /* "type", …; text of this program */
	uint32_t max_set, system;
	uint64_t heap_retainers;       /* objects that are retainers, alive */
	hi_set_name_fn *name;	       /* of an identity */
	void *arg;		       /* of name */
	bool by_count, pure, has_pure; /* pure: shown; has_pure: known */
	/* Types that --retainer auto took; NULL: it was not given. */
	const bool *auto_types;
	bool auto_by_hints;
	hi_pure_fn *pure_of; /* with arg pure_arg, where has_pure */
	void *pure_arg;
	const struct hi_reach *shown; /* only what is live there; NULL: everything */
	uint64_t allocated;
	uint64_t min_size;		/* smaller rows are hidden, MANY is not */
	struct hi_link_options options; /* that made the sets, for links */
};
struct hi_retainers_row {
	struct hi_set_row sum;
	const uint32_t *members; /* identities, sum.size of them */
	hi_set_name_fn *name;	 /* of one, with arg; hostile */
	void *arg;
};
struct hi_retainers_report {
	const struct hi_report_header *header;
	const struct hi_graph *graph;
	struct hi_retainers_view view;
	struct hi_retainers_row *rows; /* by bytes, or by objects */
	size_t n_rows, n_sets;	       /* n_sets: hidden ones too */
	uint64_t objects, bytes, pure; /* of all sets */
	struct hi_set_row many;	       /* also in rows; objects 0: none */
	uint64_t system_bytes;	       /* of sets with SYSTEM */
	uint64_t weak_objects, weak_bytes;
	uint64_t revisited; /* objects that were looked at twice */
	uint64_t waiting;   /* the most on its work list */
	struct hi_hidden_rows hidden;
	struct hi_sanity sanity;
	struct hi_arena arena;
};

/* The document "heapinspect/retainers/v1" after its header. Forms: 1 << view.pure. */
extern const struct hi_doc_fields hi_retainers_document;

/* Makes the report. Borrows its inputs, which outlive it. HI_NO_MEMORY. */
enum hi_status hi_retainers_report_create(
	const struct hi_report_header *header, const struct hi_graph *graph,
	const struct hi_reach *reach, const struct hi_retainers *retainers,
	const struct hi_set_pool *pool, const struct hi_retainers_view *view, size_t top,
	struct hi_retainers_report **ret, struct hi_error *err);
/* Frees the report; NULL is fine. */
void hi_retainers_report_destroy(struct hi_retainers_report *report);
HI_DEFINE_GUARD(struct hi_retainers_report *, hi_retainers_report_destroy)
/* Adds the report to a page. */
void hi_retainers_display(const struct hi_retainers_report *report, struct hi_page *page);
/* Writes the report as the JSON document "heapinspect/retainers/v1". */
void hi_retainers_json(const struct hi_retainers_report *report, struct hi_json *json);

/* The value of a column of struct hi_retainers_row: "struct session, cache", the first
 * members of a set and how many more there are; "MANY". Also used by `up`. */
struct hi_doc_value hi_retainers_label(const struct hi_doc_row *row);
/* Its members "set", "many" and "members". */
extern const struct hi_doc_fields hi_retainers_set_fields;

#endif
