/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `roots`: what named roots hold, each alone and together (sharing bins). */
#ifndef HI_REPORT_REPORTS_ROOTS_BINS_REPORT_H
#define HI_REPORT_REPORTS_ROOTS_BINS_REPORT_H

#include "base/cleanup.h"
#include "census/retainers/bins.h"
#include "report/document.h"
#include "report/parts/report_header.h"
#include "report/parts/report_links.h"
#include "report/parts/row_selection.h"
#include "report/parts/totals_check.h"

/* All strings are borrowed; those of the target (types) are hostile. */
struct hi_bins_root {
	const char *name, *expression, *type;
	uint64_t address; /* 0 unknown */
	const hi_node *starts;
	size_t n_starts;
	const char *warning; /* why it has no starts; NULL */
	uint64_t reached;    /* bytes of all bins that it is in */
	uint64_t alone;	     /* bytes of the bin that no other root is in */
	const char *inside;  /* a root that reaches all its starts; NULL: none */
	bool each_other;     /* `inside` is inside of this one too */
};
struct hi_bins_row {
	const char *label;	 /* "a-b"; "NOROOT", "LEAK" */
	const uint32_t *members; /* numbers of roots, from 1; NULL: NOROOT, LEAK */
	struct hi_set_row sum;	 /* UINT64_MAX: LEAK, where some heap is not decoded */
};
struct hi_bins_report {
	const struct hi_report_header *header;
	struct hi_bins_root *roots; /* owned by the caller */
	size_t n_roots;
	struct hi_bins_row *rows; /* by bytes; then NOROOT, LEAK */
	size_t n_rows;
	uint64_t objects, bytes, pure_bytes; /* of all rows, hidden ones too */
	struct hi_hidden_rows hidden;
	bool pure;
	struct hi_sanity sanity;
	struct hi_link_options options; /* of the view, as the next */
	const char *join;		/* NULL: "-" */
	struct hi_arena arena;
};

struct hi_bins_view {
	const char *join;
	bool all;  /* empty bins too */
	bool pure; /* was computed */
	/* By root: only bins with one of these, so neither NOROOT nor LEAK; NULL: all */
	const bool *shown;
	uint64_t allocated;
	struct hi_link_options options; /* that made the bins, for links */
};

enum { HI_BINS_ALL_ROOTS = 10 }; /* more: no empty bins but those of one root */

/* The document "heapinspect/roots/v1" after its header. Forms: 1 << pure. */
extern const struct hi_doc_fields hi_bins_document;

/* Makes the report. Identity i + 1 is roots[i], which are borrowed and get reached,
 * alone and inside. HI_NO_MEMORY. */
enum hi_status
hi_bins_report_create(const struct hi_report_header *header, const struct hi_reach *reach,
		      const struct hi_bins *bins, const struct hi_set_pool *pool,
		      struct hi_bins_root *roots, size_t n_roots,
		      const struct hi_bins_view *view, const struct hi_restrict *only,
		      struct hi_bins_report **ret, struct hi_error *err);
/* Frees the report; NULL is fine. */
void hi_bins_report_destroy(struct hi_bins_report *report);
HI_DEFINE_GUARD(struct hi_bins_report *, hi_bins_report_destroy)
/* Adds the report to a page. */
void hi_bins_display(const struct hi_bins_report *report, struct hi_page *page);
/* Writes the report as the JSON document "heapinspect/roots/v1". */
void hi_bins_json(const struct hi_bins_report *report, struct hi_json *json);

#endif
