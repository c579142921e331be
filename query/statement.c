/* SPDX-License-Identifier: BSD-2-Clause */
/* One SELECT: compiled, its columns, its rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/text.h"
#include "query/query_internal.h"

static enum hi_status fail_statement(struct hi_query_mistake *mistake, size_t offset,
				     struct hi_error *err, const char *text)
{
	mistake->offset = offset;
	return hi_fail(err, HI_USAGE, 0, "query: %s", text);
}

/* SQLite's own error, and what is not allowed. */
static enum hi_status fail_prepare(struct hi_query *q, const char *sql, const char *from,
				   struct hi_query_mistake *mistake, struct hi_error *err)
{
	int offset = sqlite3_error_offset(q->db), code = sqlite3_errcode(q->db);
	const char *message = sqlite3_errmsg(q->db);

	if (code == SQLITE_NOMEM)
		return hi_fail_memory(err, "query");
	if (offset >= 0)
		mistake->offset = (size_t)(from - sql) + (size_t)offset;
	hi_query_suggest(message, sql, mistake);
	if (code == SQLITE_AUTH && q->refused)
		return hi_fail(err, HI_USAGE, 0, "query: %s (%s)", q->refused, message);
	return hi_fail(err, HI_USAGE, 0, "query: %s", message);
}

/* Behind the first statement there may be blanks, comments and semicolons. */
static enum hi_status check_tail(struct hi_query *q, const char *sql, const char *tail,
				 struct hi_query_mistake *mistake, struct hi_error *err)
{
	while (tail && *tail) {
		sqlite3_stmt *other = NULL;
		const char *from = tail;
		int code = sqlite3_prepare_v2(q->db, from, -1, &other, &tail);
		bool is_more = code != SQLITE_OK || other;

		sqlite3_finalize(other);
		if (is_more)
			return fail_statement(
				mistake, (size_t)(from - sql) + strspn(from, " \t\n"),
				err, "only one statement at a time");
	}
	return HI_OK;
}

/* "BYTES" of "INTEGER BYTES". */
static enum hi_result_unit declared_unit(const char *declared)
{
	const char *word = declared ? strchr(declared, ' ') : NULL;

	if (declared && strcmp(declared, "TEXT") == 0)
		return HI_UNIT_TEXT;
	if (!word)
		return HI_UNIT_NUMBER;
	return strcmp(word + 1, "BYTES") == 0	  ? HI_UNIT_BYTES
	       : strcmp(word + 1, "ADDRESS") == 0 ? HI_UNIT_ADDRESS
	       : strcmp(word + 1, "ID") == 0	  ? HI_UNIT_ID
						  : HI_UNIT_NUMBER;
}

/* Returns the unit of a computed column by its name: sum(shallow), max(o.address),
 * bytes. */
static enum hi_result_unit named_unit(const char *name)
{
	static const char *const sums[] = {"sum(", "total(", "max(", "min("};
	static const char *const bytes[] = {"bytes",	 "shallow",	"retained",
					    "usable",	 "used",	"resident",
					    "requested", "freed_bytes", "most_bytes"};
	const char *from = name, *dot;
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		if (n && name[n - 1] == ')' &&
		    sqlite3_strnicmp(name, sums[i], (int)strlen(sums[i])) == 0) {
			from += strlen(sums[i]);
			n -= strlen(sums[i]) + 1;
			break;
		}
	dot = memchr(from, '.', n);
	if (dot) {
		n -= (size_t)(dot + 1 - from);
		from = dot + 1;
	}
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		if (n == strlen(bytes[i]) &&
		    sqlite3_strnicmp(from, bytes[i], (int)n) == 0)
			return HI_UNIT_BYTES;
	return n == 7 && sqlite3_strnicmp(from, "address", 7) == 0 ? HI_UNIT_ADDRESS
								   : HI_UNIT_NUMBER;
}

static enum hi_status read_result_columns(struct hi_query *q, struct hi_error *err)
{
	int n = sqlite3_column_count(q->statement);

	free(q->columns);
	free(q->cells);
	q->n_columns = (size_t)n;
	q->columns = hi_calloc((size_t)n + 1, sizeof(*q->columns));
	q->cells = hi_calloc((size_t)n + 1, sizeof(*q->cells));
	if (!q->columns || !q->cells)
		return hi_fail_memory(err, "query");
	for (int i = 0; i < n; i++) {
		const char *name = sqlite3_column_name(q->statement, i);
		const char *declared = sqlite3_column_decltype(q->statement, i);

		if (!name)
			return hi_fail_memory(err, "query");
		q->columns[i] = (struct hi_result_column){
			name, declared ? declared_unit(declared) : named_unit(name)};
	}
	return HI_OK;
}

/* Does the statement compare states with 'leak', or read columns that only leaks have? */
static bool asks_for_leaks(const struct hi_query *q, const char *sql)
{
	if (q->reads_leaks)
		return true;
	return q->reads_state && strcasestr(sql, "'leak");
}

enum hi_status hi_query_prepare(struct hi_query *q, const char *sql,
				struct hi_query_mistake *mistake, struct hi_error *err)
{
	const char *tail = NULL;
	enum hi_status status;

	*mistake = (struct hi_query_mistake){.offset = SIZE_MAX};
	sqlite3_finalize(q->statement);
	q->statement = NULL;
	/* Semicolons and comments may stand before it. */
	for (const char *from = sql; !q->statement && *from; from = tail) {
		q->refused = NULL;
		q->reads_state = q->reads_leaks = false;
		q->failure = (struct hi_error){};
		if (sqlite3_prepare_v2(q->db, from, -1, &q->statement, &tail) !=
		    SQLITE_OK)
			return fail_prepare(q, sql, from, mistake, err);
	}
	if (!q->statement)
		return fail_statement(mistake, SIZE_MAX, err, "there is no statement");
	status = check_tail(q, sql, tail, mistake, err);
	if (status != HI_OK)
		return status;
	if (!sqlite3_stmt_readonly(q->statement) || !sqlite3_column_count(q->statement))
		return fail_statement(mistake, SIZE_MAX, err, "not a SELECT");
	if (q->source.leaks_unknown && asks_for_leaks(q, sql))
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "query: leaks are unknown because part of the heap is not "
			       "decoded; reachable = 0 finds those of the decoded part");
	return read_result_columns(q, err);
}

const struct hi_result_column *hi_query_columns(const struct hi_query *q, size_t *n_ret)
{
	*n_ret = q->n_columns;
	return q->columns;
}

/* ---- rows ---- */

/* x'00ff' as the text "00ff", for all renderers. */
static enum hi_status read_blob_cell(struct hi_query *q, int column,
				     struct hi_result_cell *cell, struct hi_error *err)
{
	const uint8_t *bytes = sqlite3_column_blob(q->statement, column);
	size_t n = (size_t)sqlite3_column_bytes(q->statement, column);
	char *text = hi_arena_alloc(&q->blobs, 2 * n + 1);

	if (!text)
		return hi_fail_memory(err, "query");
	for (size_t i = 0; bytes && i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	*cell = hi_cell_string_n(text, 2 * n);
	return HI_OK;
}

static enum hi_status read_text_cell(struct hi_query *q, int column,
				     struct hi_result_cell *cell, struct hi_error *err)
{
	const char *text = (const char *)sqlite3_column_text(q->statement, column);

	if (!text)
		return hi_fail_memory(err, "query");
	*cell = hi_cell_string_n(text,
				 (size_t)sqlite3_column_bytes(q->statement, column));
	return HI_OK;
}

static enum hi_status read_result_cell(struct hi_query *q, int column,
				       struct hi_error *err)
{
	struct hi_result_cell *cell = &q->cells[column];

	switch (sqlite3_column_type(q->statement, column)) {
	case SQLITE_INTEGER:
		cell->kind = HI_RESULT_INTEGER;
		cell->integer = sqlite3_column_int64(q->statement, column);
		return HI_OK;
	case SQLITE_FLOAT:
		cell->kind = HI_RESULT_REAL;
		cell->real = sqlite3_column_double(q->statement, column);
		return HI_OK;
	case SQLITE_TEXT:
		return read_text_cell(q, column, cell, err);
	case SQLITE_BLOB:
		return read_blob_cell(q, column, cell, err);
	default:
		*cell = hi_cell_null();
		return HI_OK;
	}
}

static enum hi_status step_failed(struct hi_query *q, int code, struct hi_error *err)
{
	char time[24];

	if (q->failure.status != HI_OK) {
		*err = q->failure;
		return err->status;
	}
	if (code == SQLITE_NOMEM)
		return hi_fail_memory(err, "query");
	if (code == SQLITE_INTERRUPT && q->ends_ns && hi_clock_ns() > q->ends_ns)
		return hi_fail(err, HI_LIMIT, 0,
			       "query: not ready after %s, which is the limit for pages",
			       hi_text_duration(time, q->most_ns));
	if (code == SQLITE_INTERRUPT)
		return hi_fail(err, HI_TIMEOUT, 0, "query: interrupted");
	return hi_fail(err, HI_USAGE, 0, "query: %s", sqlite3_errmsg(q->db));
}

enum hi_status hi_query_step(struct hi_query *q, const struct hi_result_cell **cells_ret,
			     struct hi_error *err)
{
	int code = sqlite3_step(q->statement);
	enum hi_status status = HI_OK;

	*cells_ret = NULL;
	if (code == SQLITE_DONE)
		return HI_OK;
	if (code != SQLITE_ROW)
		return step_failed(q, code, err);
	hi_arena_free(&q->blobs);
	for (size_t i = 0; i < q->n_columns && status == HI_OK; i++)
		status = read_result_cell(q, (int)i, err);
	if (status == HI_OK)
		*cells_ret = q->cells;
	return status;
}
