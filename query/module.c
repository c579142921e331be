/* SPDX-License-Identifier: BSD-2-Clause */
/* The interface that SQLite calls: each table as an eponymous virtual table. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "query/query_internal.h"

struct cursor {
	sqlite3_vtab_cursor base; /* first */
	struct hi_query_walk walk;
	bool at_end;
};

static struct hi_virtual_table *table_of_cursor(sqlite3_vtab_cursor *cursor)
{
	return (struct hi_virtual_table *)(void *)cursor->pVtab;
}

/* SQLite reports it as its own error; hi_query_step takes it from q->failure. */
static int fail_table(sqlite3_vtab *table, const struct hi_error *err)
{
	struct hi_query *q = ((struct hi_virtual_table *)(void *)table)->q;

	q->failure = *err;
	sqlite3_free(table->zErrMsg);
	table->zErrMsg = sqlite3_mprintf("%s", err->text);
	return err->status == HI_NO_MEMORY ? SQLITE_NOMEM : SQLITE_ERROR;
}

/* TEXT or INTEGER decide how SQLite compares. The second word is the unit, for
 * sqlite3_column_decltype. */
static const char *declared_type_of_unit(enum hi_result_unit unit)
{
	static const char *const words[] = {[HI_UNIT_NUMBER] = "INTEGER",
					    [HI_UNIT_ID] = "INTEGER ID",
					    [HI_UNIT_BYTES] = "INTEGER BYTES",
					    [HI_UNIT_ADDRESS] = "INTEGER ADDRESS",
					    [HI_UNIT_TEXT] = "TEXT"};

	return words[unit];
}

static int declare_table(sqlite3 *db, const struct hi_query_ops *ops)
{
	sqlite3_str *text = sqlite3_str_new(db);
	char *sql;
	int code;

	sqlite3_str_appendf(text, "CREATE TABLE x(");
	for (size_t i = 0; i < ops->n_columns; i++)
		sqlite3_str_appendf(text, "%s\"%w\" %s%s", i ? ", " : "",
				    ops->columns[i].name,
				    declared_type_of_unit(ops->columns[i].unit),
				    ops->columns[i].is_hidden ? " HIDDEN" : "");
	sqlite3_str_appendall(text, ")");
	sql = sqlite3_str_finish(text);
	code = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return code;
}

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
			 sqlite3_vtab **ret, char **error)
{
	const struct hi_connected *connected = aux;
	struct hi_virtual_table *table = hi_calloc(1, sizeof(*table));
	int code = table ? declare_table(db, connected->ops) : SQLITE_NOMEM;

	(void)argc;
	(void)argv;
	if (code != SQLITE_OK) {
		*error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
		free(table);
		return code;
	}
	table->q = connected->q;
	table->ops = connected->ops;
	*ret = &table->base;
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *table)
{
	free(table);
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
	struct cursor *cursor = hi_calloc(1, sizeof(*cursor));

	(void)table;
	if (!cursor)
		return SQLITE_NOMEM;
	*ret = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

static int advance_cursor(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)(void *)base;
	struct hi_virtual_table *table = table_of_cursor(base);
	const struct hi_query_ops *ops = table->ops;

	cursor->at_end =
		!(ops->next ? ops->next : hi_query_next_key)(table->q, &cursor->walk);
	return SQLITE_OK;
}

static int start_cursor(sqlite3_vtab_cursor *base, int number, const char *text,
			int n_values, sqlite3_value **values)
{
	struct cursor *cursor = (struct cursor *)(void *)base;
	struct hi_virtual_table *table = table_of_cursor(base);
	struct hi_error err = {};
	enum hi_status status;
	bool any = false;

	(void)n_values;
	cursor->walk = (struct hi_query_walk){};
	status = hi_query_ask(table->q, table->ops, number, text, values, &cursor->walk,
			      &any, &err);
	if (status != HI_OK)
		return fail_table(&table->base, &err);
	cursor->at_end = !any;
	if (cursor->at_end)
		return SQLITE_OK;
	if (table->ops->start)
		status = table->ops->start(table->q, &cursor->walk, &err);
	else
		hi_query_walk_keys(&cursor->walk);
	return status == HI_OK ? advance_cursor(base) : fail_table(&table->base, &err);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)(void *)base)->at_end;
}

static void set_cell_result(sqlite3_context *to, const struct hi_result_cell *cell)
{
	switch (cell->kind) {
	case HI_RESULT_INTEGER:
		sqlite3_result_int64(to, cell->integer);
		break;
	case HI_RESULT_TEXT:
		sqlite3_result_text64(to, cell->text, cell->length,
				      cell->is_passing ? SQLITE_TRANSIENT : SQLITE_STATIC,
				      SQLITE_UTF8);
		break;
	case HI_RESULT_REAL:
		sqlite3_result_double(to, cell->real);
		break;
	case HI_RESULT_NULL:
	default:
		sqlite3_result_null(to);
	}
}

static int fill_column(sqlite3_vtab_cursor *base, sqlite3_context *to, int index)
{
	struct hi_virtual_table *table = table_of_cursor(base);
	struct hi_result_cell cell;
	struct hi_error err = {};

	if (table->ops->cell(table->q, ((struct cursor *)(void *)base)->walk.row, index,
			     &cell, &err) != HI_OK)
		return fail_table(&table->base, &err);
	set_cell_result(to, &cell);
	return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = (sqlite3_int64)((struct cursor *)(void *)base)->walk.row;
	return SQLITE_OK;
}

/* Without xCreate it is eponymous, and no other one can be created. */
const sqlite3_module hi_query_module = {
	.iVersion = 1,
	.xConnect = connect_table,
	.xBestIndex = hi_query_plan,
	.xDisconnect = disconnect_table,
	.xDestroy = disconnect_table,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = start_cursor,
	.xNext = advance_cursor,
	.xEof = is_at_end,
	.xColumn = fill_column,
	.xRowid = row_id,
};
