/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `retained`: the top of the dominator tree, and retained sizes by type. */
#ifndef HI_REPORT_REPORTS_RETAINED_RETAINED_REPORT_H
#define HI_REPORT_REPORTS_RETAINED_RETAINED_REPORT_H

#include "base/cleanup.h"
#include "census/analysis/retained_tree.h"
#include "census/analysis/subgraph.h"
#include "report/document.h"
#include "report/parts/report_header.h"
#include "report/parts/report_node.h"
#include "report/parts/row_selection.h"
#include "report/reports/threads/threads_report.h"

/* A variable, an object, or several of one type that the same field leads to. */
struct hi_retained_row {
	/* Of several: the one that retains most, but the sizes of all together, and no
	 * address. The name is how the parent refers to them: "->sessions". */
	struct hi_node_info info;
	uint64_t count;		      /* objects; 1 of a variable */
	bool is_list;		      /* linked one behind the other by one field */
	unsigned depth;		      /* below a top-level one; 0 in flat lists */
	uint64_t children_more;	      /* direct children not listed */
	uint64_t children_more_bytes; /* what those retain */
};
struct hi_retained_type {
	const char *type;
	uint64_t count, shallow, retained; /* retained: a lower bound */
};
struct hi_retained_report {
	const struct hi_report_header *header;
	uint64_t live_bytes;
	bool tree;			/* else a flat list of the objects of one type */
	struct hi_retained_tree *nodes; /* owns names of rows; NULL: none */
	struct hi_retained_row *rows;
	size_t n_rows;
	/* Top-level rows by retained bytes; in a list, objects by their own. */
	struct hi_hidden_rows hidden;	/* by_type: none */
	struct hi_retained_type *types; /* by retained; tree only */
	bool types_are_sites;		/* `type` is the function that allocated */
	size_t n_types, n_types_total;
	/* Only with --type: all live objects of it. */
	const char *type_pattern;
	uint64_t type_count, type_shallow;
	uint64_t
		type_exact; /* bytes that would go with all of them; UINT64_MAX unknown */
	struct hi_reachable type_reachable; /* from them; UINT64_MAX unknown */
	/* The page is about these; borrowed. NULL: it is not. */
	const struct hi_threads_report *threads;
};

/*
 * Makes the report. fields: names of edges, NULL: none. type_exact comes from
 * hi_census_retained_by_type(); UINT64_MAX without --type or where several types match.
 * HI_NO_MEMORY.
 */
enum hi_status
hi_retained_report_create(const struct hi_report_header *header,
			  const struct hi_graph *graph, const struct hi_reach *reach,
			  const struct hi_dominators *dominators,
			  const struct hi_census *census, const struct hi_restrict *only,
			  const struct hi_field_reader *fields, uint64_t type_exact,
			  struct hi_retained_report **ret, struct hi_error *err);
/* The same from rows of a tree that were computed before (taken, also on failure; from
 * hi_calloc): the first `top` of the top level. */
enum hi_status hi_retained_report_restore(
	const struct hi_report_header *header, const struct hi_graph *graph,
	uint64_t live_bytes, const struct hi_census *census, size_t top,
	struct hi_retained_row *rows, size_t n_rows, struct hi_hidden beyond,
	struct hi_retained_report **ret, struct hi_error *err);
/* Puts rows by the function that allocated in the place of those by type: the first
 * `top` of sites, whose names are by number; borrowed. Only of a tree. HI_NO_MEMORY. */
enum hi_status hi_retained_report_set_sites(struct hi_retained_report *report,
					    const struct hi_census *sites,
					    const char *const *names, size_t top,
					    struct hi_error *err);
/* Frees the report; NULL is fine. */
void hi_retained_report_destroy(struct hi_retained_report *report);
HI_DEFINE_GUARD(struct hi_retained_report *, hi_retained_report_destroy)
/* Adds the report to a page. */
void hi_retained_display(const struct hi_retained_report *report, struct hi_page *page);
/* The document "heapinspect/retained/v1" after its header. */
extern const struct hi_doc_fields hi_retained_document;
/* Writes the report as the JSON document "heapinspect/retained/v1". */
void hi_retained_json(const struct hi_retained_report *report, struct hi_json *json);

#endif
