/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A statement may read the tables of this room, and compute. Everything else is refused
 * when it is compiled, and its resources are limited.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "query/query_internal.h"

enum { STEPS_BETWEEN_LOOKS = 20000 }; /* of SQLite's machine: about a millisecond */

static volatile sig_atomic_t interrupted;

void hi_query_interrupt(void)
{
	interrupted = 1;
}

void hi_query_limit_time(struct hi_query *q, uint64_t ns)
{
	q->most_ns = ns;
	q->ends_ns = ns ? hi_clock_ns() + ns : 0;
}

static int check_interrupt(void *arg)
{
	const struct hi_query *q = arg;

	return interrupted || (q->ends_ns && hi_clock_ns() > q->ends_ns);
}

/* Tables of SQLite that split arrays of JSON. */
static const char *const others[] = {"json_each", "json_tree"};
enum { OTHERS = sizeof(others) / sizeof(others[0]) };

/* Refuses SQLite's own tables. Also called for names of a WITH, which may be any. */
static bool is_readable_table(const char *table)
{
	static const char *const refused[] = {"dbstat", "bytecode", "tables_used"};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (sqlite3_stricmp(table, refused[i]) == 0)
			return false;
	return sqlite3_strnicmp(table, "sqlite_", 7) != 0 &&
	       sqlite3_strnicmp(table, "pragma_", 7) != 0;
}

static int connect_one(sqlite3 *db, const char *name)
{
	sqlite3_stmt *statement = NULL;
	char *sql = sqlite3_mprintf("SELECT 1 FROM %s", name);
	int code = sql ? sqlite3_prepare_v2(db, sql, -1, &statement, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	sqlite3_finalize(statement);
	return code;
}

/* A virtual table is declared when it is first named, which SQLite calls a change of
 * its schema: before changes are refused. */
static int connect_all(sqlite3 *db)
{
	int code = SQLITE_OK;

	for (size_t i = 0; hi_query_all[i] && code == SQLITE_OK; i++)
		code = connect_one(db, hi_query_all[i]->name);
	for (size_t i = 0; i < OTHERS && code == SQLITE_OK; i++)
		code = connect_one(db, others[i]);
	return code;
}

static bool is_callable(const char *function)
{
	static const char *const refused[] = {"load_extension", "fts3_tokenizer"};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (sqlite3_stricmp(function, refused[i]) == 0)
			return false;
	return true;
}

static void note_column(struct hi_query *q, const char *table, const char *column)
{
	if (sqlite3_stricmp(table, hi_query_table_objects.name) != 0)
		return;
	q->reads_state |= sqlite3_stricmp(column, "state") == 0;
	q->reads_leaks |= sqlite3_stricmp(column, "verdict") == 0 ||
			  sqlite3_stricmp(column, "fate") == 0;
}

static int authorize_action(void *arg, int action, const char *first, const char *second,
			    const char *schema, const char *inner)
{
	struct hi_query *q = arg;
	bool is_fine = false;

	(void)schema;
	(void)inner;
	(void)schema;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_READ:
		is_fine = is_readable_table(first);
		note_column(q, first, second);
		q->refused = is_fine ? q->refused : "this table cannot be read here";
		break;
	case SQLITE_FUNCTION:
		is_fine = is_callable(second);
		q->refused = is_fine ? q->refused : "this function cannot be called here";
		break;
	default:
		q->refused = "only SELECT statements are allowed";
	}
	return is_fine ? SQLITE_OK : SQLITE_DENY;
}

static void limit_statements(sqlite3 *db)
{
	static const struct {
		int id, value;
	} limits[] = {
		{SQLITE_LIMIT_LENGTH, 16 << 20},
		{SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
		{SQLITE_LIMIT_COLUMN, 64},
		{SQLITE_LIMIT_EXPR_DEPTH, 200},
		{SQLITE_LIMIT_COMPOUND_SELECT, 50},
		{SQLITE_LIMIT_VDBE_OP, 100000},
		{SQLITE_LIMIT_FUNCTION_ARG, 32},
		{SQLITE_LIMIT_ATTACHED, 0},
		{SQLITE_LIMIT_TRIGGER_DEPTH, 0},
		{SQLITE_LIMIT_WORKER_THREADS, 0},
		{SQLITE_LIMIT_VARIABLE_NUMBER, 0},
		{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(db, limits[i].id, limits[i].value);
}

/* Sorting stays in memory, in at most half of the machine's: names of the target must
 * not be written to temporary files. */
static int keep_in_memory(sqlite3 *db)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	if (pages > 0 && size > 0)
		sqlite3_hard_heap_limit64((sqlite3_int64)pages / 2 * size);
	return sqlite3_exec(db, "PRAGMA temp_store = MEMORY; PRAGMA query_only = 1", NULL,
			    NULL, NULL);
}

static int configure_database(sqlite3 *db)
{
	static const struct {
		int what, value;
	} words[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
		     {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
		     {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
		     {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
		     /* "name" is a column, never a string. */
		     {SQLITE_DBCONFIG_DQS_DML, 0},
		     {SQLITE_DBCONFIG_DQS_DDL, 0}};
	int code = SQLITE_OK;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && code == SQLITE_OK; i++)
		code = sqlite3_db_config(db, words[i].what, words[i].value, NULL);
	return code;
}

enum hi_status hi_query_guard(struct hi_query *q, struct hi_error *err)
{
	int code = keep_in_memory(q->db);

	interrupted = 0;
	if (code == SQLITE_OK)
		code = connect_all(q->db);
	if (code == SQLITE_OK)
		code = configure_database(q->db);
	if (code == SQLITE_OK)
		code = sqlite3_set_authorizer(q->db, authorize_action, q);
	if (code != SQLITE_OK)
		return hi_fail(err, code == SQLITE_NOMEM ? HI_NO_MEMORY : HI_UNSUPPORTED,
			       0, "query: SQLite cannot be restricted: %s",
			       sqlite3_errmsg(q->db));
	limit_statements(q->db);
	sqlite3_progress_handler(q->db, STEPS_BETWEEN_LOOKS, check_interrupt, q);
	return HI_OK;
}
