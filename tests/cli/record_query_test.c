/* SPDX-License-Identifier: BSD-2-Clause */
/* SQL over recordings, against what fixtures/recorded_sites.c says that it allocates and
 * what the other commands say of the same file. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/recorded_sites.h"
#include "tests/support/schema.h"
#include "tests/support/workshop.h"

/* Rows of a statement; the document is as its schema says. */
static json_t *ask_rows(const struct recorded_sites *r, const char *sql)
{
	struct hi_command *c = hi_heapinspect("query", r->file, "--json", sql);

	HI_ASSERT_MSG(c->exit_code == 0, "%s: %s", sql, c->err);
	hi_check_schema(c, "rows.v1.json");
	return doc_at(doc_of(c), "rows");
}

/* The one number that a statement answers. */
static long long ask_number(const struct recorded_sites *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static long long ask_number(const struct recorded_sites *r, const char *fmt, ...)
{
	char sql[700];
	json_t *rows;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sql, sizeof(sql), fmt, ap);
	va_end(ap);
	rows = ask_rows(r, sql);
	HI_ASSERT_EQ(1, json_array_size(rows));
	return doc_number(rows, "0.n");
}

static void check_allocations_join_objects_by_type(const struct recorded_sites *r)
{
	json_t *row = doc_at(
		ask_rows(r, "SELECT count(*) AS objects, sum(requested) AS requested, "
			    "min(requested) AS least, count(DISTINCT context) AS "
			    "contexts, max(born_ns) < max(age_ns + born_ns) AS in_time "
			    "FROM objects JOIN allocations ON object = id WHERE type = "
			    "'struct node' AND state = 'live'"),
		"0");

	HI_ASSERT_EQ(NODES, doc_number(row, "objects"));
	HI_ASSERT_EQ(NODES * NODE, doc_number(row, "requested"));
	HI_ASSERT_EQ(NODE, doc_number(row, "least"));
	HI_ASSERT_EQ(3, doc_number(row, "contexts"));
	HI_ASSERT_EQ(1, doc_number(row, "in_time"));
	/* From before the recording. */
	HI_ASSERT_EQ(BEFORE, ask_number(r, "SELECT count(*) AS n FROM objects LEFT JOIN "
					   "allocations ON object = id WHERE type = "
					   "'struct node' AND object IS NULL"));
	HI_ASSERT_EQ(LEAKED,
		     ask_number(r,
				"SELECT count(*) AS n FROM allocations JOIN objects "
				"ON id = object WHERE state = 'leak' AND requested "
				"= %d",
				BLOCK));
	HI_ASSERT_EQ(THREADED, ask_number(r,
					  "SELECT count(*) AS n FROM allocations "
					  "WHERE thread = %ld",
					  r->tid));
	HI_ASSERT_EQ(1, ask_number(r,
				   "SELECT count(*) AS n FROM allocations WHERE "
				   "object = object_at(%s)",
				   r->node));
	HI_ASSERT_EQ(0, ask_number(r,
				   "SELECT count(*) AS n FROM allocations WHERE "
				   "object = object_at(%s)",
				   r->old));
}

static void check_contexts_have_their_totals(const struct recorded_sites *r)
{
	static const int counts[] = {FIRST, SECOND, THREADED};
	json_t *rows = ask_rows(r, "SELECT * FROM contexts WHERE function = 'make_node' "
				   "ORDER BY allocations DESC"),
	       *row;

	HI_ASSERT_EQ(3, json_array_size(rows));
	for (size_t i = 0; i < 3; i++) {
		row = doc_at(rows, "%zu", i);
		HI_ASSERT_EQ(counts[i], doc_number(row, "allocations"));
		HI_ASSERT_EQ(counts[i] * NODE, doc_number(row, "bytes"));
		HI_ASSERT_EQ(0, doc_number(row, "frees"));
		HI_ASSERT_EQ(counts[i], doc_number(row, "most_live"));
		HI_ASSERT_EQ(counts[i] * NODE, doc_number(row, "most_bytes"));
		HI_ASSERT_EQ(0, doc_number(row, "truncated"));
		HI_ASSERT(doc_number(row, "line") > 0);
		HI_ASSERT(strstr(doc_text(row, "file"), "recorded_sites.c"));
		HI_ASSERT(strstr(doc_text(row, "module"), "recorded_sites"));
	}
	row = doc_at(
		ask_rows(r, "SELECT * FROM contexts WHERE function = 'churn_blocks'"),
		"0");
	HI_ASSERT_EQ(CHURNED, doc_number(row, "allocations"));
	HI_ASSERT_EQ(CHURNED, doc_number(row, "frees"));
	HI_ASSERT_EQ(doc_number(row, "bytes"), doc_number(row, "freed_bytes"));
	HI_ASSERT_EQ(1, doc_number(row, "most_live"));
	HI_ASSERT_EQ(106, doc_number(row, "most_bytes"));
}

static void check_contexts_have_their_frames(const struct recorded_sites *r)
{
	static const char stacks[] =
		"SELECT f.context, group_concat(f.function, '<') AS stack, "
		"(SELECT count(*) FROM allocations a WHERE a.context = f.context) AS "
		"objects FROM (SELECT * FROM context_frames ORDER BY context, depth) f "
		"GROUP BY f.context";
	static const struct {
		const char *stack;
		int objects;
	} known[] = {
		{"xmalloc<make_node<prepend_node<make_first<go<main<", FIRST},
		{"xmalloc<make_node<prepend_node<make_second<go<main<", SECOND},
		{"xmalloc<make_node<prepend_node<run_thread<start_thread", THREADED},
		{"leak_blocks<go<main<", LEAKED},
	};
	json_t *rows = ask_rows(r, stacks), *row;

	for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++) {
		long long found = 0;

		doc_each (row, rows) {
			if (strncmp(doc_text(row, "stack"), known[k].stack,
				    strlen(known[k].stack)) == 0)
				found += doc_number(row, "objects");
		}
		HI_ASSERT_MSG(found == known[k].objects, "%lld by %s", found,
			      known[k].stack);
	}
	/* Anywhere in the stack, as --site-any. */
	HI_ASSERT_EQ(FIRST + SECOND + LEAKED,
		     ask_number(r,
				"SELECT count(*) AS n FROM allocations JOIN objects "
				"ON id = object WHERE requested IN (%d, %d) AND "
				"context IN (SELECT context FROM context_frames WHERE "
				"function = 'go')",
				NODE, BLOCK));
}

static bool is_same_text(json_t *ours, json_t *theirs)
{
	return json_equal(ours ? ours : json_null(), theirs ? theirs : json_null());
}

/* The row of SQL that is about a site of the census; NULL: none. */
static json_t *find_site_row(json_t *rows, json_t *site)
{
	static const char *const keys[] = {"function", "file", "line", "module"};
	json_t *row;

	doc_each (row, rows) {
		bool same = true;

		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			same &= is_same_text(doc_find(row, "%s", keys[k]),
					     doc_find(site, "%s", keys[k]));
		if (same)
			return row;
	}
	return NULL;
}

static void check_sums_are_those_of_the_census_by_site(const struct recorded_sites *r)
{
	static const char live[] =
		"SELECT c.function, c.file, c.line, c.module, count(*) AS objects, "
		"sum(o.shallow) AS bytes FROM allocations a JOIN objects o ON o.id = "
		"a.object JOIN contexts c ON c.id = a.context WHERE o.state = 'live' "
		"GROUP BY c.function, c.file, c.line, c.module, iif(c.line, 0, c.offset)";
	static const char totals[] =
		"SELECT function, file, line, module, sum(allocations) AS allocations, "
		"sum(frees) AS frees, sum(bytes) AS allocated_bytes FROM contexts GROUP "
		"BY function, file, line, module, iif(line, 0, offset)";
	static const char *const sums[] = {"objects", "bytes"};
	static const char *const counts[] = {"allocations", "frees", "allocated_bytes"};
	json_t *census = doc_at(doc_of(hi_heapinspect("census", "--by", "site", "--all",
						      "--json", r->file)),
				"rows");
	json_t *ours = ask_rows(r, live), *all = ask_rows(r, totals), *row;

	HI_ASSERT_EQ(json_array_size(census), json_array_size(ours));
	doc_each (row, census) {
		json_t *a = find_site_row(ours, doc_at(row, "site"));
		json_t *b = find_site_row(all, doc_at(row, "site"));

		HI_ASSERT(a && b);
		for (size_t k = 0; k < 2; k++)
			HI_ASSERT_EQ(doc_number(row, "%s", sums[k]),
				     doc_number(a, "%s", sums[k]));
		for (size_t k = 0; k < 3; k++)
			HI_ASSERT_EQ(doc_number(row, "%s", counts[k]),
				     doc_number(b, "%s", counts[k]));
	}
}

/* The example of docs/QUERY.md that other files refuse. */
static void check_the_example_of_the_document(const struct recorded_sites *r)
{
	struct hi_command *c =
		hi_command_run(0, "cat", HI_SOURCE_DIR "/docs/QUERY.md", NULL);
	char *at = c->out, *end;
	int n = 0;

	while ((at = strstr(at, "```sql\n"))) {
		at += strlen("```sql\n");
		end = strstr(at, "```");
		HI_ASSERT(end);
		*end = '\0';
		if (strstr(at, "allocations")) {
			json_t *row = doc_at(ask_rows(r, at), "0");

			HI_ASSERT_STREQ("struct node", doc_text(row, "type"));
			HI_ASSERT_STREQ("make_node", doc_text(row, "function"));
			HI_ASSERT_EQ(NODES, doc_number(row, "objects"));
			n++;
		}
		at = end + 3;
	}
	HI_ASSERT_EQ(1, n);
}

static void check_an_exported_database(const struct recorded_sites *r)
{
	char path[300];
	struct hi_command *c;

	snprintf(path, sizeof(path), "%s.db", r->file);
	c = hi_heapinspect("export", "-f", "sqlite", "-o", path, r->file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	c = hi_command_run(0, "python3", "-c",
			   "import sqlite3, sys\n"
			   "db = sqlite3.connect(sys.argv[1])\n"
			   "print(db.execute('SELECT count(*) FROM objects o, "
			   "allocations a, contexts c ON a.object = o.id AND c.id = "
			   "a.context WHERE o.type = \"struct node\" AND c.function = "
			   "\"make_node\"').fetchone()[0])\n"
			   "print(db.execute('SELECT count(*) FROM context_frames WHERE "
			   "function = \"make_node\"').fetchone()[0])\n",
			   path, NULL);
	HI_ASSERT_STREQ("870\n3\n", c->out);
}

HI_TEST_ROOT(record_query, answers_of_a_recording)
{
	struct recorded_sites r = sites_record(NULL);

	check_allocations_join_objects_by_type(&r);
	check_contexts_have_their_totals(&r);
	check_contexts_have_their_frames(&r);
	check_sums_are_those_of_the_census_by_site(&r);
	check_the_example_of_the_document(&r);
	check_an_exported_database(&r);
}

HI_TEST_SCENARIO(record_query, says_where_nothing_was_recorded)
{
	static const char *const tables[] = {"allocations", "contexts", "context_frames",
					     "pieces", "events"};
	const char *file = HI_SOURCE_DIR "/tests/data/v1.hisnap";
	char sql[64], path[300];
	struct hi_command *c;

	snprintf(path, sizeof(path), "%s/old.db", workshop_open());
	c = hi_heapinspect("export", "-f", "sqlite", "-o", path, file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		snprintf(sql, sizeof(sql), "SELECT * FROM %s", tables[i]);
		c = hi_heapinspect("query", file, sql);
		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_STREQ("", c->out);
		HI_ASSERT_MSG(strstr(c->err, "v1.hisnap has no recording") &&
				      strstr(c->err, "heapinspect record"),
			      "%s", c->err);
		c = hi_command_run(0, "python3", "-c",
				   "import sqlite3, sys\n"
				   "print(sqlite3.connect(sys.argv[1]).execute('SELECT "
				   "count(*) FROM ' + sys.argv[2]).fetchone()[0])\n",
				   path, tables[i], NULL);
		HI_ASSERT_STREQ("0\n", c->out);
	}
}
