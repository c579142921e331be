/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One table as CSV (RFC 4180, but lines end with LF), as lines of JSON or as Parquet:
 * the same columns in all.
 *
 *	hi_export_table_open(&t, "csv", false, out, err);
 *	row(&t, ...);			// the heading: its values mean nothing
 *	t.is_heading = false;
 *	while (... && hi_export_table_is_fine(&t))
 *		row(&t, ...);
 *	hi_export_table_finish(&t, properties, n, err);
 *	hi_export_table_free(&t);	// on every way out
 *
 * where row calls hi_export_row, the cells in the same order each time, and
 * hi_export_row_end.
 */
#ifndef HI_REPORT_EXPORTS_EXPORT_TABLE_H
#define HI_REPORT_EXPORTS_EXPORT_TABLE_H

#include <stdio.h>

#include "report/exports/parquet_writer.h"
#include "report/json_writer.h"

struct hi_export_table;
struct hi_export_form {
	const char *name;
	/* Optional, each. */
	void (*row)(struct hi_export_table *t);
	void (*row_end)(struct hi_export_table *t);
	/* Required; as below. */
	void (*number)(struct hi_export_table *t, const char *name, uint64_t value);
	void (*text)(struct hi_export_table *t, const char *name, const char *value);
	void (*address)(struct hi_export_table *t, const char *name, uint64_t value);
};

struct hi_export_table {
	const struct hi_export_form *form;
	FILE *out;
	bool is_heading;
	bool has_cells;	     /* CSV: in this row */
	struct hi_json json; /* of a line */
	struct hi_parquet *parquet;
	struct hi_error failure; /* the first one; cells after it are lost */
};

/* Begins a table. out is borrowed. format: csv, ndjson or parquet, of which parquet may be
 * uncompressed. Errors as hi_parquet_create(). */
enum hi_status hi_export_table_open(struct hi_export_table *t, const char *format,
				    bool uncompressed, FILE *out, struct hi_error *err);
/* Returns whether no cell has failed so far. */
bool hi_export_table_is_fine(const struct hi_export_table *t);
/* Ends the table. The properties are written if the format can store them
 * (Parquet). */
enum hi_status hi_export_table_finish(struct hi_export_table *t,
				      const struct hi_parquet_property *properties,
				      size_t n, struct hi_error *err);
/* Frees the table, finished or not. */
void hi_export_table_free(struct hi_export_table *t);

/* Begins a row. */
void hi_export_row(struct hi_export_table *t);
/* Ends a row. Its error, if any, is in t->failure. */
void hi_export_row_end(struct hi_export_table *t);
/* Adds a cell; UINT64_MAX is unknown. */
void hi_export_number(struct hi_export_table *t, const char *name, uint64_t value);
/* Adds a cell; "" and NULL are unknown. Hostile. */
void hi_export_text(struct hi_export_table *t, const char *name, const char *value);
/* Adds a cell; 0 is no address. */
void hi_export_address(struct hi_export_table *t, const char *name, uint64_t value);

#endif
