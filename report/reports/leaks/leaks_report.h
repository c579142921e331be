/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `leaks`: by type and shape of the leak roots, and the largest roots. */
#ifndef HI_REPORT_REPORTS_LEAKS_LEAKS_REPORT_H
#define HI_REPORT_REPORTS_LEAKS_LEAKS_REPORT_H

#include "base/cleanup.h"
#include "census/analysis/alloc_sites.h"
#include "report/document.h"
#include "report/parts/births_report.h"
#include "report/parts/leak_cycle.h"
#include "report/parts/leak_name.h"
#include "report/parts/report_header.h"
#include "report/parts/report_node.h"
#include "report/parts/row_selection.h"
#include "report/parts/unread_memory.h"

struct hi_leaks_row {
	struct hi_leak_name kind;
	enum hi_leak_shape shape;
	enum hi_unreachable_class unreachable_class;
	bool is_likely; /* its leak roots; else certain */
	uint64_t count, objects, bytes;
	uint64_t address; /* a row: of the example; a root: its own */
	uint64_t named;	  /* address of the object that kind is of */
	/* Name of the function, class or coroutine in its runtime; "" or NULL: none;
	 * borrowed, hostile. */
	const char *name;
	struct hi_birth_info birth; /* of a root */
	/* Lines of the program that can have made its example, by the code alone; set by
	 * the caller, which owns the sites. */
	struct hi_alloc_fits made_by;
};
struct hi_leaks_report {
	const struct hi_report_header *header;
	uint64_t live_bytes, objects, bytes,
		n_leak_roots; /* unrestricted; both verdicts */
	uint64_t likely_objects, likely_bytes, n_likely_roots;
	struct hi_unread unread;
	uint64_t integer_objects, integer_bytes; /* live, by integers alone */
	const uint64_t *by_class; /* bytes[HI_UNREACHABLE_CLASSES], of the leaks; NULL: no
				     collector */
	struct hi_leaks_row *rows; /* by type, layout and shape */
	size_t n_rows;
	struct hi_leaks_row *roots; /* single leak roots, count 1 */
	size_t n_roots;
	/* Those of pages: of roots that are alike in all but their address the first, and
	 * how many there are. */
	struct hi_leaks_row *distinct;
	size_t n_distinct;
	struct hi_hidden distinct_beyond;
	struct hi_hidden_rows hidden; /* of rows */
	struct hi_hidden roots_beyond;
	struct hi_leak_cycles cycles; /* set by the caller, which owns the rows */
	/* Set by the caller, which owns it: where the leaks were allocated; NULL: there
	 * is no recording. */
	struct hi_births_sites *sites;
};

/* Makes the report. Borrows its inputs, which outlive it. HI_NO_MEMORY. */
enum hi_status hi_leaks_report_create(const struct hi_report_header *header,
				      const struct hi_graph *graph,
				      const struct hi_reach *reach,
				      const struct hi_leaks *leaks,
				      const struct hi_restrict *only,
				      struct hi_leaks_report **ret, struct hi_error *err);
/* Frees the report; NULL is fine. */
void hi_leaks_report_destroy(struct hi_leaks_report *report);
HI_DEFINE_GUARD(struct hi_leaks_report *, hi_leaks_report_destroy)
/* Adds the report to a page. */
void hi_leaks_display(const struct hi_leaks_report *report, struct hi_page *page);
/* The document "heapinspect/leaks/v1" after its header. */
extern const struct hi_doc_fields hi_leaks_document;
/* Writes the report as the JSON document "heapinspect/leaks/v1". */
void hi_leaks_json(const struct hi_leaks_report *report, struct hi_json *json);

#endif
