/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQL over a heap: SQLite's virtual tables on the graph and on what is computed from
 * it. Nothing is imported: a row is made when SQLite asks for it, and what is costly
 * (dominators, retainer sets, the edges by what they lead to) when the first column
 * of it is. docs/QUERY.md has the tables.
 *
 * A statement is one SELECT. Nothing can be written, attached or loaded; sizes and
 * depths are limited. The statement is the user's, names in the tables are hostile.
 */
#ifndef HI_QUERY_QUERY_H
#define HI_QUERY_QUERY_H

#include "base/cleanup.h"
#include "census/analysis/analysis.h"
#include "census/analysis/audit.h"
#include "census/analysis/ledger.h"
#include "census/retainers/set_table.h"
#include "census/snapshot/snapshot_births.h"
#include "census/snapshot/snapshot_series.h"
#include "report/reports/query/query_result.h"

/* A set for each object (retainers or bins). Borrowed as long as the query lives. */
struct hi_query_sets {
	const struct hi_set_table *table;
	const struct hi_set_pool *pool;
	hi_set_name_fn *name; /* of a member */
	void *arg;
	const char *join; /* between names */
	bool has_pure;
	/* Objects that no named root reaches; NULL except for bins. */
	const struct hi_set_row *noroot, *leak;
	bool leak_is_unknown; /* some heap is not decoded: NULL */
};

/* Live objects of one type in one census of a file. Names: "" unknown; hostile. */
struct hi_query_census_row {
	const char *type, *module;
	uint64_t count, shallow, retained;
	const struct hi_census_row *whole; /* NULL: only totals were kept */
};
struct hi_query_census {
	uint64_t number, time_ns; /* from 1; UINT64_MAX unknown */
	bool has_ids; /* whole->type is one of the graph's: the one that is looked at */
	const struct hi_query_census_row *rows;
	size_t n_rows;
};

/* All is borrowed. A callback that is NULL: unknown. */
struct hi_query_source {
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	const struct hi_ledger *ledger; /* NULL: unknown */
	/* Some heap is not decoded: statements that need leaks are refused, since an
	 * empty result would be read as "no leaks". */
	bool leaks_unknown;
	/* Results of these must stay valid and unchanged as long as the query lives. */
	enum hi_status (*dominators)(void *arg, const struct hi_dominators **ret,
				     struct hi_error *err);
	enum hi_status (*census)(void *arg, const struct hi_census **ret,
				 struct hi_error *err);
	/* Returns the censuses of the whole file; in the order of time. */
	enum hi_status (*censuses)(void *arg, const struct hi_query_census **ret,
				   size_t *n_ret, struct hi_error *err);
	enum hi_status (*marks)(void *arg, const struct hi_snapshots_marks **ret,
				struct hi_error *err);
	enum hi_status (*retainers)(void *arg, struct hi_query_sets *ret,
				    struct hi_error *err);
	enum hi_status (*bins)(void *arg, struct hi_query_sets *ret,
			       struct hi_error *err);
	/* HI_UNSUPPORTED: no runtime counts references, or it is a file. */
	enum hi_status (*audit)(void *arg, const struct hi_audit **ret,
				struct hi_error *err);
	/* HI_NOT_FOUND: it has no recording. */
	enum hi_status (*recorded)(void *arg, const struct hi_recorded **ret,
				   struct hi_error *err);
	/* After `recorded`, where that has events. */
	enum hi_status (*events)(void *arg, const struct hi_stored_events **ret,
				 struct hi_error *err);
	/* Edge `index` of a node's row as text, "" unknown; valid until the next call. */
	enum hi_status (*label)(void *arg, hi_node node, uint32_t index, const char **ret,
				struct hi_error *err);
	/* The first live object with the same contents; HI_NODE_NONE: no other. */
	enum hi_status (*equal)(void *arg, hi_node object, hi_node *ret,
				struct hi_error *err);
	/* Bytes that the object's type uses. */
	enum hi_status (*used)(void *arg, hi_node object, uint64_t *ret,
			       struct hi_error *err);
	void *arg;
};

struct hi_query;
/*
 * Opens SQLite with the tables over source, which is copied and whose pointers are
 * borrowed. *ret: closed by hi_query_close(). HI_NO_MEMORY; HI_UNSUPPORTED: SQLite
 * refuses.
 */
enum hi_status hi_query_open(const struct hi_query_source *source, struct hi_query **ret,
			     struct hi_error *err);
/* Frees the query with what it has computed. NULL is fine. */
void hi_query_close(struct hi_query *q);
HI_DEFINE_GUARD(struct hi_query *, hi_query_close)

/* The fault of a statement, beside the error's text. */
struct hi_query_mistake {
	size_t offset;	/* of the statement's byte; SIZE_MAX: unknown */
	char hint[200]; /* "near it: retained, reachable"; "" none */
};
/*
 * Compiles one statement. sql is only read during the call; *mistake is set in any case.
 * HI_USAGE: no statement, more than one, one that is no SELECT, or SQLite's own error.
 * HI_UNSUPPORTED: it needs leaks, which are unknown. HI_NO_MEMORY.
 */
enum hi_status hi_query_prepare(struct hi_query *q, const char *sql,
				struct hi_query_mistake *mistake, struct hi_error *err);
/* The columns of the prepared statement, *n_ret of them; valid until the next
 * hi_query_prepare. */
const struct hi_result_column *hi_query_columns(const struct hi_query *q, size_t *n_ret);
/*
 * Computes the next row. *cells_ret: its cells, valid until the next step; NULL: there
 * are no more rows. HI_TIMEOUT: interrupted. HI_USAGE: an error of SQLite; HI_NO_MEMORY;
 * or the error of what was computed.
 */
enum hi_status hi_query_step(struct hi_query *q, const struct hi_result_cell **cells_ret,
			     struct hi_error *err);
/* From now on steps take this time together at most: then HI_LIMIT. 0: any. */
void hi_query_limit_time(struct hi_query *q, uint64_t ns);
/* Ends the running step soon, with HI_TIMEOUT. May be called from a signal handler. */
void hi_query_interrupt(void);

/* ---- what there is ---- */

struct hi_query_column {
	const char *name;
	enum hi_result_unit unit;
	bool is_hidden; /* not in SELECT * */
	const char *about;
};
struct hi_query_table {
	const char *name, *about;
	const struct hi_query_column *columns;
	size_t n_columns;
};
/* The number of tables. */
size_t hi_query_tables(void);
/* Table index, from 0 to hi_query_tables() - 1. All pointers are static. */
struct hi_query_table hi_query_table(size_t index);

#endif
