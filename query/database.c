/* SPDX-License-Identifier: BSD-2-Clause */
#include "query/database.h"

#include <sqlite3.h>
#include <string.h>

#include "base/vector.h"
#include "report/escape.h"

enum { SQL_SIZE = 8192, BLOCK = 1 << 20 };

struct database {
	struct hi_query *q;
	sqlite3 *db;
	sqlite3_stmt *insert;
	bool leaks_unknown;
	struct HI_VECTOR(char) text; /* of a cell, escaped */
};

static enum hi_status fail_database(const struct database *d, const char *what,
				    struct hi_error *err)
{
	int code = sqlite3_errcode(d->db) & 0xff;

	if (code == SQLITE_NOMEM || code == SQLITE_FULL)
		return hi_fail(err, HI_NO_MEMORY, 0,
			       "export -f sqlite: out of memory for the database, which "
			       "is made in memory; -f parquet needs less");
	return hi_fail(err, HI_UNSUPPORTED, 0, "export -f sqlite: %s: %s", what,
		       sqlite3_errmsg(d->db));
}

static enum hi_status run_database_sql(const struct database *d, const char *sql,
				       struct hi_error *err)
{
	return sqlite3_exec(d->db, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? HI_OK
		       : fail_database(d, "statement", err);
}

/* Memory that grows, and is handed out without another copy. */
static enum hi_status open_database(struct database *d, struct hi_error *err)
{
	sqlite3_int64 most = INT64_MAX / 2;

	if (sqlite3_open_v2(":memory:", &d->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
				    SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return hi_fail_memory(err, "SQLite");
	if (sqlite3_deserialize(d->db, "main", NULL, 0, 0,
				SQLITE_DESERIALIZE_FREEONCLOSE |
					SQLITE_DESERIALIZE_RESIZEABLE) != SQLITE_OK ||
	    sqlite3_file_control(d->db, "main", SQLITE_FCNTL_SIZE_LIMIT, &most) !=
		    SQLITE_OK)
		return fail_database(d, "memory", err);
	return run_database_sql(
		d, "PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY", err);
}

/* ---- statements ---- */

/* Columns that only an option, or the bytes of the heap, would fill. */
static bool is_left_null(const struct database *d, const char *column)
{
	static const char *const words[] = {"bin", "used", "duplicate_group"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(column, words[i]) == 0)
			return true;
	return d->leaks_unknown &&
	       (strcmp(column, "verdict") == 0 || strcmp(column, "fate") == 0);
}

static void append_sql(char sql[SQL_SIZE], const char *text)
{
	size_t n = strlen(sql);

	snprintf(sql + n, SQL_SIZE - n, "%s", text);
}

static bool is_primary_key(const char *table, const char *column)
{
	return (strcmp(column, "id") == 0 &&
		(strcmp(table, "objects") == 0 || strcmp(table, "types") == 0 ||
		 strcmp(table, "contexts") == 0)) ||
	       (strcmp(column, "object") == 0 && strcmp(table, "allocations") == 0) ||
	       (strcmp(column, "serial") == 0 && strcmp(table, "events") == 0) ||
	       (strcmp(column, "node") == 0 &&
		(strcmp(table, "roots") == 0 || strcmp(table, "dominators") == 0));
}

/* Names of tables and columns are this program's. */
static void write_table_sql(const struct database *d, const struct hi_query_table *t,
			    char create[SQL_SIZE], char select[SQL_SIZE],
			    char insert[SQL_SIZE])
{
	snprintf(create, SQL_SIZE, "CREATE TABLE \"%s\" (", t->name);
	snprintf(select, SQL_SIZE, "SELECT ");
	snprintf(insert, SQL_SIZE, "INSERT INTO \"%s\" VALUES (", t->name);
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct hi_query_column *c = &t->columns[i];
		char column[200];

		snprintf(column, sizeof(column), "%s\"%s\" %s", i ? ", " : "", c->name,
			 is_primary_key(t->name, c->name) ? "INTEGER PRIMARY KEY"
			 : c->unit == HI_UNIT_TEXT	  ? "TEXT"
							  : "INTEGER");
		append_sql(create, column);
		snprintf(column, sizeof(column), "%s%s%s%s", i ? ", " : "",
			 is_left_null(d, c->name) ? "NULL" : "\"",
			 is_left_null(d, c->name) ? "" : c->name,
			 is_left_null(d, c->name) ? "" : "\"");
		append_sql(select, column);
		append_sql(insert, i ? ", ?" : "?");
	}
	append_sql(create, ")");
	append_sql(select, " FROM \"");
	append_sql(select, t->name);
	append_sql(select, "\"");
	append_sql(insert, ")");
}

/* ---- rows ---- */

static int bind_cell(struct database *d, int at, const struct hi_result_cell *cell)
{
	size_t n;

	switch (cell->kind) {
	case HI_RESULT_INTEGER:
		return sqlite3_bind_int64(d->insert, at, cell->integer);
	case HI_RESULT_REAL:
		return sqlite3_bind_double(d->insert, at, cell->real);
	case HI_RESULT_TEXT:
		if (!hi_vector_reserve(&d->text, 4 * cell->length + 8))
			return SQLITE_NOMEM;
		n = hi_escape_again(d->text.items, 4 * cell->length + 8, cell->text,
				    cell->length);
		return sqlite3_bind_text64(d->insert, at, d->text.items, n,
					   SQLITE_TRANSIENT, SQLITE_UTF8);
	case HI_RESULT_NULL:
	default:
		return sqlite3_bind_null(d->insert, at);
	}
}

static enum hi_status insert_rows(struct database *d, size_t n_columns,
				  struct hi_error *err)
{
	const struct hi_result_cell *cells;
	enum hi_status status = hi_query_step(d->q, &cells, err);

	while (status == HI_OK && cells) {
		int code = SQLITE_OK;

		for (size_t i = 0; i < n_columns && code == SQLITE_OK; i++)
			code = bind_cell(d, (int)i + 1, &cells[i]);
		if (code == SQLITE_OK)
			code = sqlite3_step(d->insert);
		sqlite3_reset(d->insert);
		if (code != SQLITE_DONE)
			return code == SQLITE_NOMEM ? hi_fail_memory(err, "database")
						    : fail_database(d, "row", err);
		status = hi_query_step(d->q, &cells, err);
	}
	return status;
}

/* No runtime counts references here, or there are no bytes to count in; allocations were
 * not recorded. */
static bool is_table_absent(enum hi_status status, const char *table)
{
	if (status == HI_UNSUPPORTED && strcmp(table, "audit") == 0)
		return true;
	return status == HI_NOT_FOUND &&
	       (strcmp(table, "allocations") == 0 || strcmp(table, "contexts") == 0 ||
		strcmp(table, "context_frames") == 0 || strcmp(table, "pieces") == 0 ||
		strcmp(table, "events") == 0);
}

static enum hi_status fill_table(struct database *d, const struct hi_query_table *t,
				 struct hi_error *err)
{
	char create[SQL_SIZE], select[SQL_SIZE], insert[SQL_SIZE];
	struct hi_query_mistake mistake;
	enum hi_status status;

	write_table_sql(d, t, create, select, insert);
	status = run_database_sql(d, create, err);
	if (status != HI_OK || strcmp(t->name, "bins") == 0)
		return status;
	if (sqlite3_prepare_v2(d->db, insert, -1, &d->insert, NULL) != SQLITE_OK)
		return fail_database(d, t->name, err);
	status = hi_query_prepare(d->q, select, &mistake, err);
	if (status == HI_OK)
		status = insert_rows(d, t->n_columns, err);
	if (is_table_absent(status, t->name))
		status = HI_OK;
	sqlite3_finalize(d->insert);
	d->insert = NULL;
	return status;
}

static enum hi_status make_indexes(const struct database *d, struct hi_error *err)
{
	return run_database_sql(d,
				"CREATE INDEX objects_address ON objects(address);"
				"CREATE INDEX objects_type_id ON objects(type_id);"
				"CREATE INDEX objects_idom ON objects(idom);"
				"CREATE INDEX edges_source ON edges(source);"
				"CREATE INDEX edges_target ON edges(target);"
				"CREATE INDEX dominators_idom ON dominators(idom);"
				"CREATE INDEX retainer_sets_id ON retainer_sets(id);"
				"CREATE INDEX censuses_census ON censuses(census);"
				"CREATE INDEX allocations_context ON "
				"allocations(context);"
				"CREATE INDEX context_frames_context ON "
				"context_frames(context);"
				"CREATE INDEX events_address ON events(address)",
				err);
}

static enum hi_status fill_database(struct database *d, struct hi_error *err)
{
	enum hi_status status = run_database_sql(d, "BEGIN", err);

	for (size_t i = 0; i < hi_query_tables() && status == HI_OK; i++) {
		struct hi_query_table t = hi_query_table(i);

		status = fill_table(d, &t, err);
	}
	if (status == HI_OK)
		status = make_indexes(d, err);
	return status == HI_OK ? run_database_sql(d, "COMMIT", err) : status;
}

enum hi_status hi_query_write_database(struct hi_query *q, bool leaks_unknown, FILE *out,
				       struct hi_error *err)
{
	struct database d = {.q = q, .leaks_unknown = leaks_unknown};
	enum hi_status status = open_database(&d, err);
	const unsigned char *bytes;
	sqlite3_int64 size = 0;

	if (status == HI_OK)
		status = fill_database(&d, err);
	if (status == HI_OK) {
		bytes = sqlite3_serialize(d.db, "main", &size, SQLITE_SERIALIZE_NOCOPY);
		if (!bytes)
			status = fail_database(&d, "bytes", err);
		for (sqlite3_int64 at = 0; bytes && at < size && !ferror(out);
		     at += BLOCK)
			fwrite(bytes + at, 1,
			       (size_t)(size - at < BLOCK ? size - at : BLOCK), out);
	}
	sqlite3_finalize(d.insert);
	sqlite3_close(d.db);
	hi_vector_free(&d.text);
	return status;
}
