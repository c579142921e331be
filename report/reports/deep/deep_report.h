/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports of a deep profile (census/deep/deep_profile.h): a query (deep_query.h) becomes
 * data, which text, JSON and pages of other formats show. A report is facts and tables; a
 * cell has a number or a text, and a text may have a link, which is a query.
 *
 * Pure: the same profile, contour and query give the same report, byte by byte.
 */
#ifndef HI_REPORT_REPORTS_DEEP_DEEP_REPORT_H
#define HI_REPORT_REPORTS_DEEP_DEEP_REPORT_H

#include "census/deep/merge.h"
#include "report/display.h"
#include "report/json_writer.h"
#include "report/reports/deep/deep_query.h"

/* ---- contours ---- */

/*
 * Functions that are left out of lists of callers: what they do counts for those that
 * call them. A line `all MODULE` leaves out all functions of a module, `internal MODULE`
 * those that are not exported. A module has the name that the profile has, or its last
 * component. Empty lines and those that begin with # are none.
 */
struct hi_deep_contour {
	bool *excludes; /* by function */
	uint32_t n_functions;
	uint32_t n_lines;
	uint32_t n_unknown;	 /* lines with a module that the profile does not have */
	char first_unknown[128]; /* of them, escaped; cut */
};
/* *ret: hi_deep_contour_free(). HI_USAGE: a line is neither, or all modules are unknown.
 * Some unknown ones are a warning, for the caller to show. HI_NO_MEMORY. */
enum hi_status hi_deep_contour_parse(const struct hi_deep_profile *profile,
				     const char *text, size_t size,
				     struct hi_deep_contour *ret, struct hi_error *err);
void hi_deep_contour_free(struct hi_deep_contour *contour);

/* ---- what is computed once ---- */

struct hi_deep_function_sums {
	struct hi_deep_costs own, desc;	  /* of all its nodes */
	uint32_t first_node, n_nodes;	  /* index of node_list */
	uint32_t first_caller, n_callers; /* index of caller_list */
	uint32_t first_site, n_sites;	  /* index of site_list */
	uint32_t module; /* index of modules; HI_DEEP_NONE: of the root */
};
struct hi_deep_module {
	uint32_t name;			      /* text of the profile */
	struct hi_deep_costs own, desc;	      /* sums of its functions */
	uint32_t first_function, n_functions; /* index of function_list */
};
struct hi_deep_index {
	const struct hi_deep_profile *profile;
	const struct hi_deep_contour *contour; /* NULL: none. May be set later */
	struct hi_deep_function_sums *functions;
	struct hi_deep_module *modules; /* by name */
	uint32_t n_modules;
	uint32_t *node_list;	 /* by function, ascending */
	uint32_t *caller_list;	 /* edges by the callee's function, ascending */
	uint32_t *site_list;	 /* by function, ascending */
	bool *is_line_shared;	 /* by site: another one of the function has its line */
	uint32_t *function_list; /* by module, ascending */
};
/* *ret: hi_deep_index_free(); the profile must outlive it. HI_BAD_DATA: the graph has
 * functions or call sites that the profile does not have. HI_NO_MEMORY. */
enum hi_status hi_deep_index_create(const struct hi_deep_profile *profile,
				    struct hi_deep_index *ret, struct hi_error *err);
void hi_deep_index_free(struct hi_deep_index *index);

/* ---- reports ---- */

/* Kinds are those of pages (display.h). */
struct hi_deep_column {
	const char *key, *title; /* key: of JSON */
	enum hi_column_kind kind;
};
enum hi_deep_cell_kind {
	HI_DEEP_CELL_NONE,
	HI_DEEP_CELL_TEXT,
	HI_DEEP_CELL_NUMBER,
	HI_DEEP_CELL_SIGNED, /* a difference */
	HI_DEEP_CELL_RATIO   /* number / whole; of a column of per cent: a share */
};
struct hi_deep_cell {
	enum hi_deep_cell_kind kind;
	unsigned indent;   /* of text */
	uint64_t number;   /* of SIGNED: int64_t */
	uint64_t whole;	   /* of RATIO; 0: unknown */
	const char *text;  /* as the profile has it: hostile */
	const char *shown; /* on pages without full names; NULL: as text; hostile */
	const char *link;  /* a query; NULL: none */
};
struct hi_deep_table {
	const char *key, *title;
	const char *aside; /* behind the title; or NULL */
	const char *note;  /* below it: what is left out; or NULL */
	struct HI_VECTOR(struct hi_deep_column) columns;
	struct HI_VECTOR(struct hi_deep_cell) cells; /* row by row */
};
struct hi_deep_fact {
	struct hi_deep_column column;
	struct hi_deep_cell cell;
};
/* A frame of a flame graph. Its number is its index; parents come before children. */
struct hi_deep_frame_box {
	int32_t parent; /* -1: of the first one */
	uint32_t depth;
	uint64_t value;		  /* with those in it */
	const char *name, *shown; /* as text and shown of a cell; hostile */
	const char *link;	  /* a query */
	const char *module;	  /* of its functions; "": of several, or none; hostile */
};
struct hi_deep_report {
	const char *query;	   /* its text */
	const char *title, *aside; /* hostile, as all texts; aside: or NULL */
	struct HI_VECTOR(struct hi_deep_fact) facts;
	struct HI_VECTOR(struct hi_deep_table *) tables;
	struct HI_VECTOR(const char *) notes;
	struct HI_VECTOR(struct hi_deep_frame_box) flame; /* empty: there is none */
	enum hi_column_kind flame_kind;			  /* of its values */
	struct hi_arena arena;				  /* of texts and tables */
	bool failed;	   /* out of memory while it was made */
	uint64_t n_failed; /* of a check: errors that it has found */
};

/*
 * *ret: hi_deep_report_destroy(). HI_NOT_FOUND: there is no such node, function, module,
 * page …; HI_USAGE: an order by a cost that the profile does not have; HI_UNSUPPORTED: a
 * query for a server. The text says it for people. HI_NO_MEMORY.
 */
enum hi_status hi_deep_report_create(const struct hi_deep_index *index,
				     const struct hi_deep_query *query,
				     struct hi_deep_report **ret, struct hi_error *err);
void hi_deep_report_destroy(struct hi_deep_report *report); /* NULL is fine */

/*
 * What one profile has more than another: of own costs by function and by call of the
 * allocator in context (the path of call sites from the root), largest difference first
 * whatever its sign. Of the query, the preferences count: the cost of the order, and how
 * functions are named. rows: of each table, at most. Errors as above.
 */
enum hi_status hi_deep_diff_report(const struct hi_deep_diff *diff,
				   const struct hi_deep_query *query, uint32_t rows,
				   struct hi_deep_report **ret, struct hi_error *err);

/*
 * Places that allocate and what could be done about them, most bytes first: leaks, what
 * is not used any more, blocks that grow by steps, objects that are freed at once, small
 * ones that a pool would be better for. Only from costs that the profile has; notes name
 * what it cannot say. Of the query, preferences count that name functions. rows: of each
 * kind, at most. HI_NO_MEMORY.
 */
enum hi_status hi_deep_advice_report(const struct hi_deep_index *index,
				     const struct hi_deep_query *query, uint32_t rows,
				     struct hi_deep_report **ret, struct hi_error *err);

/* Makes the reports of all queries, each kind with the first `most` numbers, as text and
 * as JSON, reads their links, and lists what went wrong (n_failed). Of the query,
 * preferences count. HI_NO_MEMORY. */
enum hi_status hi_deep_check_report(const struct hi_deep_index *index,
				    const struct hi_deep_query *query, uint32_t most,
				    struct hi_deep_report **ret, struct hi_error *err);

/* Adds the report to a page. A table with links has a last column with the query of the
 * first one of a row, without preferences. */
void hi_deep_display(const struct hi_deep_report *report, struct hi_page *page);
/* Writes the document "heapinspect/deep/v1" (docs/schema/deep.v1.json). */
void hi_deep_json(const struct hi_deep_report *report, struct hi_json *json);

#endif
