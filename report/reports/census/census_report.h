/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `census`: live bytes by type, children, module or class. Strings are
 * borrowed from graph and census. */
#ifndef HI_REPORT_REPORTS_CENSUS_CENSUS_REPORT_H
#define HI_REPORT_REPORTS_CENSUS_CENSUS_REPORT_H

#include "census/analysis/census_by.h"
#include "report/document.h"
#include "report/parts/report_header.h"
#include "report/parts/report_node.h"
#include "report/parts/row_selection.h"

struct hi_census_line {
	const char *name;	     /* type ("" untyped), module ("" unknown), class */
	const char *type;	     /* of TYPE, TYPE2 and OWNER: the name of the type */
	const struct hi_by_row *row; /* of the break-down; of TYPE: NULL */
	uint64_t count, shallow, largest, average;
	uint64_t retained;	     /* UINT64_MAX: not computed */
	const uint64_t *by_evidence; /* bytes, per enum hi_evidence; borrowed */
	enum hi_evidence evidence;
};
/* Objects with two type candidates that contradict each other. */
struct hi_census_conflict {
	const char *type, *other; /* the inferred type, the other candidate; hostile */
	uint64_t objects, example;
};
struct hi_census_report {
	const struct hi_report_header *header;
	const struct hi_graph *graph;
	enum hi_by by;
	uint64_t objects, bytes; /* live, unrestricted */
	struct hi_census_line *rows;
	size_t n_rows;
	struct hi_hidden_rows hidden; /* by_type, but of HI_BY_TYPE: rows are types */
	/* By objects; set by the caller for HI_BY_TYPE; borrowed. */
	const struct hi_census_conflict *conflicts;
	size_t n_conflicts, conflicts_shown; /* on the page */
	uint64_t objects_in_conflict;
};

/* The document "heapinspect/census/v1" after its header. Forms: 1 << by. */
extern const struct hi_doc_fields hi_census_document;

/* Makes the report. Borrows its inputs, which outlive it. HI_NO_MEMORY. */
enum hi_status hi_census_report_create(const struct hi_report_header *header,
				       const struct hi_graph *graph,
				       const struct hi_census *census,
				       const struct hi_restrict *only,
				       struct hi_census_report **ret,
				       struct hi_error *err);
/* The same by another key. The census is restricted to only->types already. */
enum hi_status hi_census_by_report_create(const struct hi_report_header *header,
					  const struct hi_graph *graph,
					  const struct hi_by_census *census,
					  const struct hi_restrict *only,
					  struct hi_census_report **ret,
					  struct hi_error *err);
/* Frees the report; NULL is fine. */
void hi_census_report_destroy(struct hi_census_report *report);
/* Adds the report to a page. */
void hi_census_display(const struct hi_census_report *report, struct hi_page *page);
/* Writes the report as the JSON document "heapinspect/census/v1". */
void hi_census_json(const struct hi_census_report *report, struct hi_json *json);

#endif
