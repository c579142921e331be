/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of any columns, as a query gives them, in three forms: a table of a page, CSV
 * (RFC 4180, but lines end with LF) and rows of a JSON document. CSV and JSON are
 * streams; the page keeps its rows.
 */
#ifndef HI_REPORT_REPORTS_QUERY_QUERY_RESULT_H
#define HI_REPORT_REPORTS_QUERY_QUERY_RESULT_H

#include "report/display.h"
#include "report/json_writer.h"

enum hi_result_kind {
	HI_RESULT_NULL, /* unknown */
	HI_RESULT_INTEGER,
	HI_RESULT_REAL,
	HI_RESULT_TEXT,
};
struct hi_result_cell {
	enum hi_result_kind kind;
	bool is_passing; /* text that is gone with the next cell */
	union {
		int64_t integer;
		double real;
		struct {
			const char *text; /* hostile; length bytes */
			size_t length;
		};
	};
};

/* How the numbers of a column are shown. Bytes and counts are so in tables alone. */
enum hi_result_unit {
	HI_UNIT_NUMBER,
	HI_UNIT_ID, /* digits alone */
	HI_UNIT_BYTES,
	HI_UNIT_ADDRESS, /* 0x… everywhere; as a string in JSON */
	HI_UNIT_TEXT,
};
struct hi_result_column {
	const char *name; /* hostile */
	enum hi_result_unit unit;
};

enum { HI_RESULT_COLUMNS = 64 };

/* One of them is set. */
struct hi_result_target {
	FILE *csv;
	struct hi_json *json; /* an object that the caller opened */
	struct hi_page *page;
};
struct hi_result {
	struct hi_result_target to;
	const struct hi_result_column *columns;
	size_t n_columns;
	size_t most;	 /* rows of the page */
	uint64_t n_rows; /* that came, shown or not */
	char **names;	 /* of JSON's members: no two are the same */
	struct hi_result_rows HI_VECTOR(struct hi_result_cell) kept; /* page */
	struct hi_arena arena;
};

/* The columns are borrowed until hi_result_end; at most HI_RESULT_COLUMNS. */
enum hi_status hi_result_begin(struct hi_result *result, struct hi_result_target to,
			       const struct hi_result_column *columns, size_t n_columns,
			       size_t most, struct hi_error *err);
/* Adds a row: one cell for each column. */
enum hi_status hi_result_row(struct hi_result *result, const struct hi_result_cell *cells,
			     struct hi_error *err);
/* Closes the array of rows, or makes the table. */
enum hi_status hi_result_end(struct hi_result *result, struct hi_error *err);
void hi_result_free(struct hi_result *result); /* also of one that did not begin */

#endif
