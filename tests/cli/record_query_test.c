/* SPDX-License-Identifier: BSD-2-Clause */
/* SQL over recordings, against what fixtures/recorded_sites.c says that it allocates and
 * what the other commands say of the same file. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/recording_run.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"
#include "tests/support/workshop.h"

/* Of fixtures/recorded_sites.c. */
enum { BEFORE = 200, FIRST = 500, SECOND = 300, LEAKED = 50, THREADED = 70 };
enum { NODES = FIRST + SECOND + THREADED, NODE = 48, BLOCK = 1000, CHURNED = 100000 };

struct recorded_file {
	struct hi_fixture *fx;
	long tid;
	char node[32], old[32], path[256];
};

static void take_line(const char *line, void *arg)
{
	struct recorded_file *r = arg;

	(void)sscanf(line, "thread %ld", &r->tid);
	(void)sscanf(line, "node %31s", r->node);
	(void)sscanf(line, "old %31s", r->old);
}

static struct recorded_file record_sites(bool churns)
{
	struct recorded_file r = {};
	struct recording_run run;
	struct hi_command *c;

	r.fx = hi_fixture_start("recorded_sites", NULL);
	hi_fixture_read_until(r.fx, "ready", NULL, NULL);
	snprintf(r.path, sizeof(r.path), "%s/app.hirec", workshop_open());
	run = recording_start(r.fx->pid, "-o", r.path, NULL);
	hi_fixture_tell(r.fx, "go");
	hi_fixture_read_until(r.fx, "done", take_line, &r);
	if (churns) {
		hi_fixture_tell(r.fx, "churn");
		hi_fixture_read_until(r.fx, "done", NULL, NULL);
	}
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	return r;
}

/* Rows of a statement; the document is as its schema says. */
static json_t *ask_rows(const struct recorded_file *r, const char *sql)
{
	struct hi_command *c = hi_heapinspect("query", r->path, "--json", sql);
	json_t *rows;

	HI_ASSERT_MSG(c->exit_code == 0, "%s: %s", sql, c->err);
	hi_check_schema(c, "rows.v1.json");
	rows = json_object_get(doc_of(c), "rows");
	HI_ASSERT(json_is_array(rows));
	return rows;
}

static json_t *rows_of_command(struct hi_command *c)
{
	json_t *rows = json_object_get(doc_of(c), "rows");

	HI_ASSERT(json_array_size(rows) > 0);
	return rows;
}

static const char *text_at(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

static long long number_in(const json_t *row, const char *key)
{
	json_t *number = json_object_get(row, key);

	HI_ASSERT_MSG(json_is_integer(number), "no number %s", key);
	return json_integer_value(number);
}

/* The one number that a statement answers. */
static long long number_of(const struct recorded_file *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static long long number_of(const struct recorded_file *r, const char *fmt, ...)
{
	char sql[700];
	json_t *rows;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sql, sizeof(sql), fmt, ap);
	va_end(ap);
	rows = ask_rows(r, sql);
	HI_ASSERT_EQ(1, json_array_size(rows));
	return number_in(json_array_get(rows, 0), "n");
}

HI_TEST_ROOT(record_query, joins_allocations_with_objects_by_type)
{
	struct recorded_file r = record_sites(false);
	json_t *row = json_array_get(
		ask_rows(&r, "SELECT count(*) AS objects, sum(requested) AS requested, "
			     "min(requested) AS least, count(DISTINCT context) AS "
			     "contexts, max(born_ns) < max(age_ns + born_ns) AS in_time "
			     "FROM objects JOIN allocations ON object = id WHERE type = "
			     "'struct node' AND state = 'live'"),
		0);

	HI_ASSERT_EQ(NODES, number_in(row, "objects"));
	HI_ASSERT_EQ(NODES * NODE, number_in(row, "requested"));
	HI_ASSERT_EQ(NODE, number_in(row, "least"));
	HI_ASSERT_EQ(3, number_in(row, "contexts"));
	HI_ASSERT_EQ(1, number_in(row, "in_time"));
	/* From before the recording. */
	HI_ASSERT_EQ(BEFORE, number_of(&r, "SELECT count(*) AS n FROM objects LEFT JOIN "
					   "allocations ON object = id WHERE type = "
					   "'struct node' AND object IS NULL"));
	HI_ASSERT_EQ(LEAKED,
		     number_of(&r,
			       "SELECT count(*) AS n FROM allocations JOIN objects "
			       "ON id = object WHERE state = 'leak' AND requested "
			       "= %d",
			       BLOCK));
	HI_ASSERT_EQ(THREADED, number_of(&r,
					 "SELECT count(*) AS n FROM allocations "
					 "WHERE thread = %ld",
					 r.tid));
	HI_ASSERT_EQ(1, number_of(&r,
				  "SELECT count(*) AS n FROM allocations WHERE "
				  "object = object_at(%s)",
				  r.node));
	HI_ASSERT_EQ(0, number_of(&r,
				  "SELECT count(*) AS n FROM allocations WHERE "
				  "object = object_at(%s)",
				  r.old));
}

HI_TEST_ROOT(record_query, has_the_contexts_with_their_totals)
{
	static const int counts[] = {FIRST, SECOND, THREADED};
	struct recorded_file r = record_sites(true);
	json_t *rows = ask_rows(&r, "SELECT * FROM contexts WHERE function = 'make_node' "
				    "ORDER BY allocations DESC"),
	       *row;

	HI_ASSERT_EQ(3, json_array_size(rows));
	for (size_t i = 0; i < 3; i++) {
		row = json_array_get(rows, i);
		HI_ASSERT_EQ(counts[i], number_in(row, "allocations"));
		HI_ASSERT_EQ(counts[i] * NODE, number_in(row, "bytes"));
		HI_ASSERT_EQ(0, number_in(row, "frees"));
		HI_ASSERT_EQ(counts[i], number_in(row, "most_live"));
		HI_ASSERT_EQ(counts[i] * NODE, number_in(row, "most_bytes"));
		HI_ASSERT_EQ(0, number_in(row, "truncated"));
		HI_ASSERT(number_in(row, "line") > 0);
		HI_ASSERT(strstr(text_at(row, "file"), "recorded_sites.c"));
		HI_ASSERT(strstr(text_at(row, "module"), "recorded_sites"));
	}
	row = json_array_get(
		ask_rows(&r, "SELECT * FROM contexts WHERE function = 'churn_blocks'"),
		0);
	HI_ASSERT_EQ(CHURNED, number_in(row, "allocations"));
	HI_ASSERT_EQ(CHURNED, number_in(row, "frees"));
	HI_ASSERT_EQ(number_in(row, "bytes"), number_in(row, "freed_bytes"));
	HI_ASSERT_EQ(1, number_in(row, "most_live"));
	HI_ASSERT_EQ(106, number_in(row, "most_bytes"));
}

HI_TEST_ROOT(record_query, has_the_frames_of_each_context)
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
	struct recorded_file r = record_sites(false);
	json_t *rows = ask_rows(&r, stacks), *row;
	size_t i;

	for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++) {
		long long found = 0;

		json_array_foreach(rows, i, row)
		{
			if (strncmp(text_at(row, "stack"), known[k].stack,
				    strlen(known[k].stack)) == 0)
				found += number_in(row, "objects");
		}
		HI_ASSERT_MSG(found == known[k].objects, "%lld by %s", found,
			      known[k].stack);
	}
	/* Anywhere in the stack, as --site-any. */
	HI_ASSERT_EQ(FIRST + SECOND + LEAKED,
		     number_of(&r,
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
	size_t i;

	json_array_foreach(rows, i, row)
	{
		bool same = true;

		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			same &= is_same_text(json_object_get(row, keys[k]),
					     json_object_get(site, keys[k]));
		if (same)
			return row;
	}
	return NULL;
}

HI_TEST_ROOT(record_query, adds_up_to_the_census_by_site)
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
	struct recorded_file r = record_sites(false);
	json_t *census = rows_of_command(
		hi_heapinspect("census", "--by", "site", "--all", "--json", r.path));
	json_t *ours = ask_rows(&r, live), *all = ask_rows(&r, totals), *row;
	size_t i;

	HI_ASSERT_EQ(json_array_size(census), json_array_size(ours));
	json_array_foreach(census, i, row)
	{
		json_t *a = find_site_row(ours, json_object_get(row, "site"));
		json_t *b = find_site_row(all, json_object_get(row, "site"));

		HI_ASSERT(a && b);
		for (size_t k = 0; k < 2; k++)
			HI_ASSERT_EQ(number_in(row, sums[k]), number_in(a, sums[k]));
		for (size_t k = 0; k < 3; k++)
			HI_ASSERT_EQ(number_in(row, counts[k]), number_in(b, counts[k]));
	}
}

/* The example of docs/QUERY.md that other files refuse. */
HI_TEST_ROOT(record_query, answers_the_example_of_the_document)
{
	struct recorded_file r = record_sites(false);
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
			json_t *row = json_array_get(ask_rows(&r, at), 0);

			HI_ASSERT_STREQ("struct node", text_at(row, "type"));
			HI_ASSERT_STREQ("make_node", text_at(row, "function"));
			HI_ASSERT_EQ(NODES, number_in(row, "objects"));
			n++;
		}
		at = end + 3;
	}
	HI_ASSERT_EQ(1, n);
}

HI_TEST_ROOT(record_query, is_in_an_exported_database)
{
	struct recorded_file r = record_sites(false);
	char path[300];
	struct hi_command *c;

	snprintf(path, sizeof(path), "%s.db", r.path);
	c = hi_heapinspect("export", "-f", "sqlite", "-o", path, r.path);
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
