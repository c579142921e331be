/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table as a Parquet file, written as a stream: rows are gathered into groups, a group
 * goes out column by column, one page each, and where they are stands at the end of the
 * file. Plain values, compressed by zstd or not; no dictionaries, no statistics. Memory is what
 * one group needs.
 *
 * Source: apache/parquet-format, README.md, Encodings.md, parquet.thrift.
 */
#ifndef HI_REPORT_EXPORTS_PARQUET_WRITER_H
#define HI_REPORT_EXPORTS_PARQUET_WRITER_H

#include <stdio.h>

#include "base/error.h"

enum hi_parquet_kind {
	HI_PARQUET_NUMBER, /* 64 bits, without a sign */
	HI_PARQUET_TEXT,   /* UTF-8: the caller sees to it */
};

/* What a group holds at most; 0: what readers like. A test has less of them. */
struct hi_parquet_options {
	uint32_t group_rows;
	uint64_t group_bytes; /* and what one row has above that */
	uint64_t end_bytes;   /* that say where the groups are; the format's limit */
	bool uncompressed;    /* for readers that have no zstd */
};

struct hi_parquet;

/* `out` stays the caller's; its errors are sticky in it. options may be NULL. */
enum hi_status hi_parquet_create(FILE *out, const struct hi_parquet_options *options,
				 struct hi_parquet **ret, struct hi_error *err);
void hi_parquet_destroy(struct hi_parquet *p); /* NULL is fine */

/* Before the first row. Names are borrowed. */
enum hi_status hi_parquet_column(struct hi_parquet *p, const char *name,
				 enum hi_parquet_kind kind, struct hi_error *err);

/* Adds the cells of a row in the order of the columns, then its end, which reports an
 * earlier lack of memory. */
void hi_parquet_number(struct hi_parquet *p, uint64_t value);
/* Adds a cell with a text, which is copied. */
void hi_parquet_text(struct hi_parquet *p, const char *text);
/* Adds a cell without a value. */
void hi_parquet_null(struct hi_parquet *p);
/* Ends the row. HI_NO_MEMORY: a cell or the row did not fit; HI_OS: not written. */
enum hi_status hi_parquet_end_row(struct hi_parquet *p, struct hi_error *err);

/* Keys and values for the end of the file. */
struct hi_parquet_property {
	const char *key, *value;
};
enum hi_status hi_parquet_finish(struct hi_parquet *p,
				 const struct hi_parquet_property *properties, size_t n,
				 struct hi_error *err);

#endif
