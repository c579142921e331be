/* SPDX-License-Identifier: BSD-2-Clause */
/* Statements that are no SELECT, that are wrong, that want too much; and no memory. */
#include <unistd.h>

#include "base/alloc.h"
#include "tests/query/world.h"

static enum hi_status refused(struct query_world *w, const char *sql,
			      struct hi_query_mistake *mistake, struct hi_error *err)
{
	const struct hi_result_cell *cells;
	enum hi_status status = hi_query_prepare(w->q, sql, mistake, err);

	/* Some sizes are known only when it runs. */
	while (status == HI_OK) {
		status = hi_query_step(w->q, &cells, err);
		if (status == HI_OK && !cells)
			return HI_OK;
	}
	return status;
}

HI_TEST(query_guard, lets_nothing_but_select_through)
{
	static const char *const statements[] = {
		"INSERT INTO objects(id) VALUES (1)",
		"UPDATE objects SET id = 1",
		"DELETE FROM edges",
		"REPLACE INTO types(id) VALUES (1)",
		"CREATE TABLE x(a)",
		"CREATE TEMP TABLE x(a)",
		"CREATE VIEW x AS SELECT 1",
		"CREATE VIRTUAL TABLE x USING objects",
		"CREATE VIRTUAL TABLE x USING fts5(a)",
		"CREATE TEMP TRIGGER x AFTER INSERT ON objects BEGIN SELECT 1; END",
		"DROP TABLE objects",
		"ALTER TABLE objects RENAME TO x",
		"ATTACH '/tmp/heapinspect-must-not-be' AS x",
		"ATTACH ':memory:' AS x",
		"DETACH main",
		"VACUUM",
		"VACUUM INTO '/tmp/heapinspect-must-not-be'",
		"PRAGMA writable_schema = 1",
		"PRAGMA temp_store_directory = '/tmp'",
		"PRAGMA database_list",
		"BEGIN",
		"COMMIT",
		"SAVEPOINT x",
		"REINDEX",
		"ANALYZE",
		"SELECT load_extension('/tmp/x.so')",
		"SELECT fts3_tokenizer('simple')",
		"SELECT * FROM sqlite_master",
		"SELECT * FROM sqlite_temp_schema",
		"SELECT * FROM pragma_database_list",
		"SELECT * FROM pragma_table_info('objects')",
		"SELECT * FROM dbstat",
		"SELECT * FROM sqlite_stmt",
		"SELECT * FROM sqlite_dbpage",
		"WITH x AS (SELECT 1) DELETE FROM objects",
		"EXPLAIN DELETE FROM objects",
		"SELECT 1; SELECT 2",
		"SELECT 1; DELETE FROM objects",
		"",
		" ;; -- nothing\n",
		"/* nothing",
		"SELECT",
		"SELECT * FROM",
		"SELECT ?1",
		"SELECT :a",
		"SELECT \"a string\"",
		"SELECT zeroblob(1 << 30)",
		"SELECT sum(9223372036854775807) FROM objects",
		"SELECT randomblob(99999999)",
	};
	struct query_world *w = world_of(1, 60);
	int64_t bytes = world_number(w, "SELECT sum(shallow) FROM objects");

	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
		struct hi_query_mistake mistake;
		struct hi_error err = {};
		enum hi_status status = refused(w, statements[i], &mistake, &err);

		HI_ASSERT_MSG(status == HI_USAGE && err.status == HI_USAGE, "%s: %d, %s",
			      statements[i], status, err.text);
		HI_ASSERT_MSG(strncmp(err.text, "query: ", 7) == 0 && err.text[8], "%s",
			      err.text);
		HI_ASSERT(mistake.offset == SIZE_MAX ||
			  mistake.offset <= strlen(statements[i]));
		/* And the next one works. */
		HI_ASSERT_EQ(bytes, world_number(w, "SELECT sum(shallow) FROM objects"));
	}
	HI_ASSERT(access("/tmp/heapinspect-must-not-be", F_OK) != 0);
}

/* Deep, wide and long ones end with an error, or an answer. */
HI_TEST(query_guard, limits_what_a_statement_may_be)
{
	static const struct {
		const char *first, *again, *last;
		int times;
	} made[] = {{"SELECT ", "(", "1", 5000},
		    {"SELECT 1", "+1", "", 5000},
		    {"SELECT 1", " UNION SELECT 1", "", 500},
		    {"SELECT 1", ", 1", "", 100},
		    {"SELECT 'a'", "||'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'", "", 5000},
		    {"SELECT 1 FROM objects", " NATURAL JOIN objects", "", 200},
		    {"SELECT max(1", ", 1", ")", 200},
		    {"SELECT 1 -- ", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "", 100000}};
	struct query_world *w = world_of(1, 60);

	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		size_t size = strlen(made[i].first) + strlen(made[i].last) + 8 +
			      strlen(made[i].again) * (size_t)made[i].times;
		char *sql = malloc(size), *to;
		struct hi_query_mistake mistake;
		struct hi_error err = {};

		HI_ASSERT(sql);
		hi_test_defer(free, sql);
		to = stpcpy(sql, made[i].first);
		for (int k = 0; k < made[i].times; k++)
			to = stpcpy(to, made[i].again);
		strcpy(to, made[i].last);
		HI_ASSERT_MSG(refused(w, sql, &mistake, &err) == HI_USAGE, "%.40s", sql);
	}
}

HI_TEST(query_mistakes, errors_have_position_and_near_names)
{
	static const struct {
		const char *sql;
		size_t offset;
		const char *text, *hint;
	} wrong[] = {
		{"SELECT retaned FROM objects", 7, "no such column: retaned", "retained"},
		{"SELECT o.adress FROM objects o", 7, "no such column: o.adress",
		 "address"},
		{"SELECT 1 FROM object", SIZE_MAX, "no such table: object", "objects"},
		{"SELECT id FROM objects WHERE type = \"struct t1\"", 36,
		 "no such column", "single quotes"},
		{"SELECT id FROM objects WHERE", SIZE_MAX, "incomplete input", ""},
		{"SELECT id,, 1", 10, "near \",\": syntax error", ""},
		{"SELECT nosuch(1)", 7, "no such function: nosuch", ""},
		{"SELECT 1; SELECT 2", 10, "only one statement at a time", ""},
		{";\n SELECT x FROM types", 10, "no such column: x", ""},
	};
	struct query_world *w = world_of(1, 60);

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct hi_query_mistake mistake;
		struct hi_error err = {};

		HI_ASSERT_STATUS(HI_USAGE, refused(w, wrong[i].sql, &mistake, &err));
		HI_ASSERT_MSG(strstr(err.text, wrong[i].text), "%s: %s", wrong[i].sql,
			      err.text);
		HI_ASSERT_MSG(mistake.offset == wrong[i].offset, "%s: %zu", wrong[i].sql,
			      mistake.offset);
		HI_ASSERT_MSG(*wrong[i].hint ? strstr(mistake.hint, wrong[i].hint) != NULL
					     : true,
			      "%s: %s", wrong[i].sql, mistake.hint);
	}
}

HI_TEST(query_guard, an_interrupt_ends_what_would_never_end)
{
	struct query_world *w = world_of(1, 60);
	const struct hi_result_cell *cells;
	struct hi_error err = {};

	world_ask(w, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
		     "SELECT max(x) FROM c");
	hi_query_interrupt();
	HI_ASSERT_STATUS(HI_TIMEOUT, hi_query_step(w->q, &cells, &err));
	/* A query that is opened later knows nothing of it. */
	w = world_of(2, 60);
	HI_ASSERT_EQ(1, world_number(w, "SELECT 1"));
}

/* What needs something that nobody knows says so; the rest works. */
HI_TEST(query_guard, columns_without_data_are_refused_with_the_reason)
{
	static const char *const unknown[] = {
		"SELECT * FROM retainer_sets", "SELECT * FROM bins",
		"SELECT retainer_set FROM objects", "SELECT bin FROM objects"};
	struct query_world *w = world_of(1, 60);

	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		struct hi_query_mistake mistake;
		struct hi_error err = {};

		HI_ASSERT_STATUS(HI_UNSUPPORTED, refused(w, unknown[i], &mistake, &err));
		HI_ASSERT(strstr(err.text, "not known"));
	}
	HI_ASSERT_EQ(0, world_number(w, "SELECT count(*) FROM ledger"));
}

HI_TEST(query_guard, failing_allocations_are_reported)
{
	static const char *const statements[] = {
		"SELECT type, count(*) FROM objects GROUP BY type",
		"SELECT count(*) FROM edges WHERE target = 3",
		"SELECT count(*) FROM dominators WHERE idom IS NOT NULL",
		"SELECT count(*) FROM types WHERE count > 0",
		"SELECT count(*) FROM frames, censuses",
	};

	struct query_world *w = world_of(1, 60);

	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++)
		for (uint64_t nth = 1; nth < 100; nth++) {
			struct hi_query_mistake mistake;
			struct hi_error err = {};
			struct hi_query *q = NULL;
			enum hi_status status;

			hi_alloc_fail_at(nth);
			status = hi_query_open(&w->source, &q, &err);
			if (status == HI_OK) {
				hi_query_close(w->q);
				w->q = q;
				status = refused(w, statements[i], &mistake, &err);
			}
			hi_alloc_fail_at(0);
			if (status == HI_OK)
				break; /* it needs no more than this */
			HI_ASSERT_MSG(status == HI_NO_MEMORY, "%s, %d: %s", statements[i],
				      (int)nth, err.text);
			HI_ASSERT(nth < 99);
		}
}
