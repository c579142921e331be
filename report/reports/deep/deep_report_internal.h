/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the makers of reports share. Memory that is missing sets report->failed; all of
 * these go on then, with texts that are "".
 */
#ifndef HI_REPORT_REPORTS_DEEP_DEEP_REPORT_INTERNAL_H
#define HI_REPORT_REPORTS_DEEP_DEEP_REPORT_INTERNAL_H

#include "base/cleanup.h"
#include "report/reports/deep/deep_report.h"

#define HI_DEEP_ALLOCATOR HI_DEEP_NONE /* as a callee */
enum { HI_DEEP_LEAST_TICKS = 10 };     /* of a run whose times say something */

struct hi_deep_maker {
	struct hi_deep_report *report;
	const struct hi_deep_index *index;
	const struct hi_deep_query *query;
	const struct hi_deep_profile *profile;
	const struct hi_deep_graph *graph;
	int fields[HI_DEEP_ORDERS]; /* columns of costs */
	int n_fields;
	/* What rows are arranged by, and have a share of. */
	enum hi_deep_arrange arrange;
	int cost;
	bool self, per_call;
	struct hi_deep_table none; /* for what comes when memory is missing */
	uint32_t module; /* text: of the page; functions of others are qualified */
};

/* A row before it is sorted. */
struct hi_deep_row {
	struct hi_deep_costs own, desc;
	const char *name; /* breaks ties */
	uint32_t a, b;	  /* ids, as the maker of a table likes; break ties too */
	uint32_t first, n;
};
struct hi_deep_rows HI_VECTOR(struct hi_deep_row);

/* ---- texts ---- */

/* Formats text of the report; never NULL. */
const char *hi_deep_text(struct hi_deep_maker *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The query of another report, with the same preferences. N counts from 1 there, not
 * here. */
const char *hi_deep_link(struct hi_deep_maker *m, enum hi_deep_command command,
			 uint32_t n);
const char *hi_deep_module_link(struct hi_deep_maker *m, uint32_t module);
/* The query, with preferences of the one that is answered. */
const char *hi_deep_link_of(struct hi_deep_maker *m, struct hi_deep_query *query);
/* A query of the default kind with the preferences of the one that is answered. */
void hi_deep_link_init(const struct hi_deep_maker *m, struct hi_deep_query *query);
/* The name of a function, with its module as preferences want it. */
const char *hi_deep_function_text(struct hi_deep_maker *m, uint32_t function);
const char *hi_deep_function_name(const struct hi_deep_maker *m, uint32_t function);
/* The same two with the short name of the function (report/function_name.h), for pages. */
const char *hi_deep_function_shown(struct hi_deep_maker *m, uint32_t function);
const char *hi_deep_function_short(struct hi_deep_maker *m, uint32_t function);
/* "(unknown)" for "". */
const char *hi_deep_module_text(const struct hi_deep_maker *m, uint32_t module);
/* "load.c:12"; "load.c:12 +0x1c" where the function has several calls on the line. */
const char *hi_deep_site_text(struct hi_deep_maker *m, uint32_t site);
const char *hi_deep_site_kind_text(uint32_t kind);

/* ---- facts, tables, cells ---- */

void hi_deep_fact_text(struct hi_deep_maker *m, const char *key, const char *title,
		       const char *text, const char *link);
void hi_deep_fact_number(struct hi_deep_maker *m, const char *key, const char *title,
			 enum hi_column_kind kind, uint64_t number);
/* Facts of the costs that are columns. */
void hi_deep_fact_costs(struct hi_deep_maker *m, const struct hi_deep_costs *own,
			const struct hi_deep_costs *desc);
void hi_deep_note(struct hi_deep_maker *m, const char *text);

/* Never NULL; cells may be added whatever failed. */
struct hi_deep_table *hi_deep_table(struct hi_deep_maker *m, const char *key,
				    const char *title);
void hi_deep_column(struct hi_deep_maker *m, struct hi_deep_table *t, const char *key,
		    const char *title, enum hi_column_kind kind);
/* link: or NULL. */
void hi_deep_cell_text(struct hi_deep_maker *m, struct hi_deep_table *t, const char *text,
		       unsigned indent, const char *link);
/* The cell has another text on pages, unless they have full names. */
void hi_deep_cell_shown(struct hi_deep_maker *m, struct hi_deep_table *t,
			const char *text, const char *shown, unsigned indent,
			const char *link);
/* A cell with a function as hi_deep_function_text() has it, short on pages. */
void hi_deep_cell_function(struct hi_deep_maker *m, struct hi_deep_table *t,
			   uint32_t function, unsigned indent, const char *link);
/* A cell with a link to a dump, of which the text is the query; n: HI_DEEP_NONE: empty.
 */
void hi_deep_cell_dump(struct hi_deep_maker *m, struct hi_deep_table *t,
		       enum hi_deep_command command, uint32_t n);
void hi_deep_cell_number(struct hi_deep_maker *m, struct hi_deep_table *t,
			 uint64_t number);
void hi_deep_cell_signed(struct hi_deep_maker *m, struct hi_deep_table *t,
			 int64_t number);
void hi_deep_cell_ratio(struct hi_deep_maker *m, struct hi_deep_table *t, uint64_t part,
			uint64_t whole);
/* A cell with the kind of a call, of a column of HI_COLUMN_MINOR_FIGURE; empty where that
 * is direct or not known. */
void hi_deep_kind_cell(struct hi_deep_maker *m, struct hi_deep_table *t, uint32_t site);
/* Columns of costs, and their cells in the same order. */
void hi_deep_cost_columns(struct hi_deep_maker *m, struct hi_deep_table *t);
void hi_deep_cost_cells(struct hi_deep_maker *m, struct hi_deep_table *t,
			const struct hi_deep_costs *own,
			const struct hi_deep_costs *desc);

/* ---- costs ---- */

/* The cost, own or with desc. cost: also HI_DEEP_WORDS, whose value is in bytes. */
uint64_t hi_deep_value(const struct hi_deep_costs *own, const struct hi_deep_costs *desc,
		       int cost, bool self);
bool hi_deep_is_active(const struct hi_deep_costs *own, const struct hi_deep_costs *desc);
/* HI_USAGE: the profile does not have it, or too few ticks. */
enum hi_status hi_deep_need_cost(const struct hi_deep_maker *m, int cost,
				 struct hi_error *err);
/* Sets m->fields by the preferences, with `cost` among them. */
void hi_deep_choose_fields(struct hi_deep_maker *m, int cost);

/* ---- rows ---- */

void hi_deep_add_row(struct hi_deep_maker *m, struct hi_deep_rows *rows,
		     struct hi_deep_row row);
/* Arranges by m->arrange. */
void hi_deep_sort_rows(struct hi_deep_maker *m, struct hi_deep_rows *rows);
/* Rows with the same a and b become one, in that order. */
void hi_deep_merge_rows(struct hi_deep_rows *rows);

/* ---- reports: fill m->report ---- */

enum hi_status hi_deep_make_menu(struct hi_deep_maker *m, struct hi_error *err);
enum hi_status hi_deep_make_root(struct hi_deep_maker *m, struct hi_error *err);
enum hi_status hi_deep_make_clique(struct hi_deep_maker *m, struct hi_error *err);
enum hi_status hi_deep_make_clique_rc(struct hi_deep_maker *m, struct hi_error *err);
enum hi_status hi_deep_make_recursion(struct hi_deep_maker *m, struct hi_error *err);
enum hi_status hi_deep_make_proc(struct hi_deep_maker *m, struct hi_error *err);
enum hi_status hi_deep_make_callers(struct hi_deep_maker *m, struct hi_error *err);
enum hi_status hi_deep_make_modules(struct hi_deep_maker *m, struct hi_error *err);
enum hi_status hi_deep_make_module(struct hi_deep_maker *m, struct hi_error *err);
enum hi_status hi_deep_make_top(struct hi_deep_maker *m, struct hi_error *err);
enum hi_status hi_deep_make_flame(struct hi_deep_maker *m, struct hi_error *err);
enum hi_status hi_deep_make_dump(struct hi_deep_maker *m, struct hi_error *err);
enum hi_status hi_deep_make_whole_dump(struct hi_deep_maker *m, struct hi_error *err);

/* HI_NOT_FOUND; n counts from 1, `count` there are. */
enum hi_status hi_deep_fail_id(const char *what, uint32_t n, uint64_t count,
			       struct hi_error *err);

#endif
