/* SPDX-License-Identifier: BSD-2-Clause */
/* query on real heaps: what it says is what the other commands say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/golden.h"
#include "tests/support/json.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"

#define OLD_FILE HI_SOURCE_DIR "/tests/data/v1.hisnap"

static const char *core_of_mixed_heap(const char *in)
{
	return snapshot_core(snapshot_fixture("mixed_heap", "/dev/null", "1500"), in);
}

static json_t *rows_of(json_t *doc)
{
	json_t *rows = json_object_get(doc, "rows");

	HI_ASSERT(json_is_array(rows) && json_array_size(rows) > 0);
	return rows;
}

/* Rows of a statement; the document is as its schema says. */
static json_t *ask(const char *file, const char *sql)
{
	struct hi_command *c = hi_heapinspect("query", file, "--json", sql);

	HI_ASSERT_MSG(c->exit_code == 0, "%s: %s", sql, c->err);
	hi_check_schema(c, "rows.v1.json");
	return rows_of(doc_of(c));
}

static void drop(void *doc)
{
	json_decref(doc);
}

static json_t *until_the_end(json_t *doc)
{
	HI_ASSERT(doc);
	hi_test_defer(drop, doc);
	return doc;
}

static bool same(json_t *a, json_t *b)
{
	/* What is unknown is not there in one, and null in the other. */
	return json_equal(a ? a : json_null(), b ? b : json_null());
}

/* Each row of `ours` has the members `names` of the same row of `theirs`. */
static void check_rows(json_t *ours, json_t *theirs, const char *const names[])
{
	HI_ASSERT_EQ(json_array_size(theirs), json_array_size(ours));
	for (size_t i = 0; i < json_array_size(ours); i++)
		for (size_t k = 0; names[k]; k++) {
			json_t *a = json_object_get(json_array_get(ours, i), names[k]);
			json_t *b = json_object_get(json_array_get(theirs, i), names[k]);

			HI_ASSERT_MSG(same(a, b), "row %zu, %s: %s, not %s", i, names[k],
				      json_dumps(a, JSON_ENCODE_ANY),
				      b ? json_dumps(b, JSON_ENCODE_ANY) : "?");
		}
}

HI_TEST_SCENARIO(query, agrees_with_census_retained_and_leaks)
{
	char *in = snapshot_directory();
	const char *file = snapshot_of_core(core_of_mixed_heap(in), in, "a.hisnap", NULL);
	json_t *doc = doc_of(hi_heapinspect("census", file, "--json", "--all"));

	check_rows(ask(file,
		       "SELECT ifnull(type, '(untyped)') AS type, count(*) AS count, "
		       "sum(shallow) AS shallow, max(shallow) AS largest FROM "
		       "objects WHERE state = 'live' GROUP BY type_id ORDER BY "
		       "shallow DESC, type_id"),
		   rows_of(doc),
		   (const char *const[]){"type", "count", "shallow", "largest", NULL});
	check_rows(ask(file, "SELECT ifnull(type, '(untyped)') AS type, count, shallow, "
			     "retained, largest FROM censuses"),
		   rows_of(doc),
		   (const char *const[]){"type", "count", "shallow", "retained",
					 "largest", NULL});
	check_rows(ask(file, "SELECT ifnull(type, '(untyped)') AS type, count, shallow, "
			     "retained FROM types WHERE count > 0 ORDER BY shallow DESC, "
			     "id"),
		   rows_of(doc),
		   (const char *const[]){"type", "count", "shallow", "retained", NULL});
	doc = doc_of(hi_heapinspect("--json", file));
	check_rows(ask(file, "SELECT sum(verdict = 'certain') AS leak, "
			     "sum(verdict = 'likely') AS likely FROM objects"),
		   until_the_end(json_pack("[O]", json_object_get(doc, "objects"))),
		   (const char *const[]){"leak", "likely", NULL});
	check_rows(ask(file, "SELECT key, level, resident, virtual, swapped, count FROM "
			     "ledger WHERE key <> 'unknown'"),
		   json_object_get(json_object_get(doc, "ledger"), "rows"),
		   (const char *const[]){"key", "level", "resident", "virtual", "swapped",
					 "count", NULL});
}

HI_TEST_SCENARIO(query, agrees_with_retainers_and_roots)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("leak_shapes", "acyclic", "5"), in);
	const char *file = snapshot_of_core(core, in, "a.hisnap", "--compress");
	json_t *sets = rows_of(doc_of(hi_heapinspect("retainers", file, "--json", "--all",
						     "--retainer", "struct item")));
	json_t *bins = rows_of(doc_of(
		hi_heapinspect("roots", file, "--json", "--all", "--root", "l=live")));
	struct hi_command *c;

	c = hi_heapinspect("query", file, "--json", "--retainer", "struct item",
			   "SELECT id AS 'set', bytes, objects, exact, pure FROM "
			   "retainer_sets ORDER BY bytes DESC, size, id");
	hi_check_schema(c, "rows.v1.json");
	check_rows(
		rows_of(doc_of(c)), sets,
		(const char *const[]){"set", "bytes", "objects", "exact", "pure", NULL});
	/* Object by object it adds up to the same. */
	c = hi_heapinspect("query", file, "--json", "--retainer", "struct item",
			   "SELECT s.id AS 'set', sum(o.shallow) AS bytes, count(*) AS "
			   "objects FROM objects o JOIN retainer_sets s ON s.id = "
			   "o.retainer_set GROUP BY s.id ORDER BY bytes DESC, s.size, "
			   "s.id");
	check_rows(rows_of(doc_of(c)), sets,
		   (const char *const[]){"set", "bytes", "objects", NULL});
	c = hi_heapinspect("query", file, "--json", "--root", "l=live",
			   "SELECT bin, bytes, objects, exact, leaked, pure FROM bins");
	check_rows(rows_of(doc_of(c)), bins,
		   (const char *const[]){"bin", "bytes", "objects", "exact", "leaked",
					 "pure", NULL});
	c = hi_heapinspect("query", file, "SELECT * FROM bins");
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "--root NAME=EXPRESSION"));
}

/* Two ways to the same tables that share no code but the graph. */
HI_TEST_SCENARIO(query, csv_is_what_export_writes)
{
	static const struct {
		const char *table, *sql;
	} both[] = {
		{"objects",
		 "SELECT id, address, usable, shallow, type, type_id, module, evidence, "
		 "state, retained, idom FROM objects"},
		{"edges", "SELECT source, target, grade, label FROM edges"},
		{"types", "SELECT id, type, module, class, size, count, shallow, "
			  "retained FROM types"},
		{"roots", "SELECT node, kind, name, detail, type, address, size, "
			  "retained FROM roots"},
	};
	char *in = snapshot_directory();
	const char *file = snapshot_of_core(core_of_mixed_heap(in), in, "a.hisnap", NULL);

	for (size_t i = 0; i < sizeof(both) / sizeof(*both); i++) {
		struct hi_command *a = hi_heapinspect("export", file, "-q", "-f", "csv",
						      "--table", both[i].table);
		struct hi_command *b =
			hi_heapinspect("query", file, "-f", "csv", both[i].sql);

		HI_ASSERT_MSG(a->exit_code == 0 && b->exit_code == 0, "%s%s", a->err,
			      b->err);
		HI_ASSERT(!strchr(a->out, '\r'));
		HI_ASSERT_MSG(a->out_size > 300 && strcmp(a->out, b->out) == 0,
			      "%s differs", both[i].table);
	}
}

HI_TEST_SCENARIO(query, a_running_process_answers)
{
	struct hi_fixture *fx = snapshot_fixture("leak_shapes", "acyclic", "5");
	char pid[16];
	struct hi_command *c;

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_heapinspect("query", "--pid", pid, "-q",
			   "SELECT count(*), count(label) > 0 AS has_names FROM edges");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->out, "paused") && strstr(c->out, "has_names"), "%s",
		      c->out);
	c = hi_heapinspect("query", "--pid", pid, "-q", "-f", "csv",
			   "SELECT type FROM objects WHERE used > usable");
	HI_ASSERT_STREQ("type\n", c->out);
}

/* Of those that are not looked at, the sums alone are in the file. */
HI_TEST_SCENARIO(query, has_all_censuses_of_a_file_with_many)
{
	struct hi_fixture *fx = snapshot_fixture("leak_shapes", "acyclic", "5");
	const char *file = snapshot_path(snapshot_directory(), "many.hisnap");
	static const char *const spans[] = {"1s", "5s", "30s"};
	json_t *points = NULL, *point;
	struct hi_command *c;
	char pid[16];
	size_t i;

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	/* Where a census takes long there are three only in a longer time. */
	for (int k = 0; k < 3 && json_array_size(points) < 3; k++) {
		c = hi_heapinspect("snap", "--every", "0.2s", "--for", spans[k], "--pid",
				   pid, "-q", "-o", file);
		HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
		c = hi_heapinspect("snapshots", file, "--json");
		points = rows_of(doc_of(c));
	}
	HI_ASSERT(json_array_size(points) >= 3);
	check_rows(ask(file, "SELECT census, time_ns, sum(count) AS objects, "
			     "sum(shallow) AS bytes FROM censuses GROUP BY census, "
			     "time_ns ORDER BY census"),
		   points,
		   (const char *const[]){"census", "time_ns", "objects", "bytes", NULL});
	json_array_foreach(points, i, point)
	{
		char number[16], sql[200];
		json_t *types;

		snprintf(number, sizeof(number), "%lld",
			 (long long)json_integer_value(json_object_get(point, "census")));
		c = hi_heapinspect("snapshots", file, "--census", number, "--json",
				   "--all");
		types = json_object_get(doc_of(c), "types");
		snprintf(sql, sizeof(sql),
			 "SELECT type, module, count, shallow, retained FROM censuses "
			 "WHERE "
			 "census = %s",
			 number);
		check_rows(ask(file, sql), types,
			   (const char *const[]){"type", "module", "count", "shallow",
						 "retained", NULL});
	}
	/* Only the one that is looked at has its largest objects. */
	check_rows(ask(file, "SELECT count(DISTINCT census) AS n FROM censuses WHERE "
			     "largest IS NOT NULL AND type_id IS NOT NULL"),
		   until_the_end(json_pack("[{s:i}]", "n", 1)),
		   (const char *const[]){"n", NULL});
}

/* ---- docs/QUERY.md ---- */

static char *read_document(void)
{
	struct hi_command *c =
		hi_command_run(0, "cat", HI_SOURCE_DIR "/docs/QUERY.md", NULL);

	HI_ASSERT(c->exit_code == 0 && c->out_size > 1000);
	return c->out;
}

HI_TEST_SCENARIO(query, all_queries_of_the_document_work)
{
	char *in = snapshot_directory();
	const char *file = snapshot_of_core(core_of_mixed_heap(in), in, "a.hisnap", NULL);
	char *at = read_document();
	int n = 0;

	while ((at = strstr(at, "```sql\n"))) {
		char *end = strstr(at += 7, "```");
		struct hi_command *c;

		HI_ASSERT(end);
		*end = 0;
		c = hi_heapinspect("query", file, "--json", at);
		n++;
		/* record_query_test.c has a recording. */
		if (strstr(at, "allocations")) {
			HI_ASSERT_EQ(2, c->exit_code);
			HI_ASSERT_MSG(strstr(c->err, "a.hisnap has no recording"), "%s",
				      c->err);
		} else {
			HI_ASSERT_MSG(c->exit_code == 0, "%s: %s", at, c->err);
			hi_check_schema(c, "rows.v1.json");
			rows_of(doc_of(c));
		}
		at = end + 3;
	}
	HI_ASSERT_EQ(12, n);
}

HI_TEST_SCENARIO(query, the_document_has_all_columns)
{
	struct hi_command *c = hi_heapinspect("query", "--schema", "--json");
	const char *text = read_document(), *at = text;
	json_t *tables, *table, *column;
	size_t i, k, lines = 0, columns = 0;

	hi_check_schema(c, "query-schema.v1.json");
	tables = json_object_get(doc_of(c), "tables");
	HI_ASSERT_EQ(17, json_array_size(tables));
	json_array_foreach(tables, i, table)
	{
		char line[400];
		const char *section;

		snprintf(line, sizeof(line), "\n### %s\n",
			 json_string_value(json_object_get(table, "name")));
		section = strstr(text, line);
		HI_ASSERT_MSG(section, "%s", line);
		json_array_foreach(json_object_get(table, "columns"), k, column)
		{
			bool hidden = json_is_true(json_object_get(column, "hidden"));

			snprintf(line, sizeof(line), "\n| `%s`%s | %s | %s |\n",
				 json_string_value(json_object_get(column, "name")),
				 hidden ? " *" : "",
				 json_string_value(json_object_get(column, "unit")),
				 json_string_value(json_object_get(column, "about")));
			HI_ASSERT_MSG(strstr(section, line), "%s", line);
			columns++;
		}
	}
	while ((at = strstr(at, "\n| `"))) {
		lines++;
		at++;
	}
	HI_ASSERT_EQ(columns, lines);
}

/* ---- forms ---- */

/* The rows of a document, from their key on. */
static const char *rows_as_json(const struct hi_command *c)
{
	const char *rows = strstr(c->out, "  \"rows\"");

	HI_ASSERT_MSG(c->exit_code == 0 && rows, "%s%s", c->out, c->err);
	return rows;
}

HI_TEST_SCENARIO(query, forms_tell_null_from_empty_and_show_nothing_raw)
{
	static const char sql[] = "VALUES (NULL, '', 'a,\"b\"' || char(27) || '[31m', "
				  "x'00ff', 1.5, -7, 9e999, char(10), 'x' || char(0) || "
				  "'y')";
	struct hi_command *c = hi_heapinspect("query", OLD_FILE, "-f", "csv", sql);
	struct hi_golden_pages *pages = hi_golden_pages();

	HI_ASSERT_STREQ("column1,column2,column3,column4,column5,column6,column7,column8,"
			"column9\n,\"\",\"a,\"\"b\"\"\\x1b[31m\",00ff,1.5,-7,inf,\\n,"
			"x\\x00y\n",
			c->out);
	c = hi_heapinspect("query", OLD_FILE, "--json", sql);
	hi_check_schema(c, "rows.v1.json");
	hi_golden_add(pages, "--json", rows_as_json(c));
	c = hi_heapinspect("query", OLD_FILE, "--width", "200", sql);
	HI_ASSERT_EQ(0, c->exit_code);
	hi_golden_add(pages, "text", c->out);
	/* Two columns of one name are two members. */
	c = hi_heapinspect("query", OLD_FILE, "--json", "SELECT 1 AS a, 2 AS a");
	hi_golden_add(pages, "--json, two columns of one name", rows_as_json(c));
	HI_EXPECT_GOLDEN_PAGES("query-forms", pages);
}

HI_TEST_SCENARIO(query, a_table_has_units_and_says_what_it_leaves_out)
{
	struct hi_command *c =
		hi_heapinspect("query", OLD_FILE,
			       "SELECT type, sum(shallow), max(address) FROM objects "
			       "WHERE type = 'struct item' GROUP BY type");

	HI_EXPECT_GOLDEN("query-table", c->out);
	c = hi_heapinspect("query", OLD_FILE,
			   "SELECT a.id FROM objects a, objects b LIMIT "
			   "10500");
	HI_ASSERT_MSG(strstr(c->out, "10,000 of 10,500 rows"), "%.300s", c->out);
	c = hi_heapinspect("query", OLD_FILE, "--all",
			   "SELECT a.id FROM objects a, objects b LIMIT 10500");
	HI_ASSERT_MSG(strstr(c->out, "\n  10,500 rows\n"), "%.300s", c->out);
	c = hi_heapinspect("query", OLD_FILE, "--top", "2", "SELECT id FROM objects");
	HI_ASSERT_MSG(strstr(c->out, "2 of 603 rows"), "%s", c->out);
}

/* The reason why the statement is refused; all of it is on stderr. */
static void add_mistake(struct hi_golden_pages *pages, const char *sql)
{
	struct hi_command *c = hi_heapinspect("query", OLD_FILE, sql);

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_STREQ("", c->out);
	hi_golden_add(pages, sql, c->err);
}

HI_TEST_SCENARIO(query, mistakes_are_pointed_at)
{
	struct hi_golden_pages *pages = hi_golden_pages();

	add_mistake(pages, "SELECT retaned\nFROM objects");
	add_mistake(pages, "SELECT id,\n  , x FROM objects");
	add_mistake(pages, "SELECT id FROM object");
	add_mistake(pages, "DROP TABLE objects");
	HI_EXPECT_GOLDEN_PAGES("query-mistakes", pages);
	HI_ASSERT_EQ(
		2, hi_heapinspect("query", OLD_FILE, "-f", "xml", "SELECT 1")->exit_code);
	HI_ASSERT_EQ(2,
		     hi_heapinspect("query", OLD_FILE, "--json", "-f", "csv", "SELECT 1")
			     ->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("query", "SELECT 1")->exit_code);
	HI_ASSERT_EQ(2, hi_heapinspect("query", "/nowhere/x.hisnap")->exit_code);
}

HI_TEST_SCENARIO(query, reads_standard_input)
{
	struct hi_command *c = hi_command_run(
		0, "sh", "-c",
		"echo 'SELECT count(*) AS n FROM objects; -- all' | \"$0\" query \"$1\" "
		"-f csv -",
		HI_BINARY_DIR "/heapinspect", OLD_FILE, NULL);

	HI_ASSERT_STREQ("n\n603\n", c->out);
	c = hi_command_run(0, "sh", "-c", "\"$0\" query \"$1\" - </dev/zero",
			   HI_BINARY_DIR "/heapinspect", OLD_FILE, NULL);
	HI_ASSERT_EQ(2, c->exit_code);
}

/* As a shell sees it: by the signal, and the file that was begun is gone. */
HI_TEST_SCENARIO(query, an_interrupt_ends_it_and_leaves_nothing)
{
	static const char endless[] = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT "
				      "x + 1 FROM c) SELECT max(x) FROM c";
	static const char *const seconds[] = {"1", "5", "30"};
	char *in = snapshot_directory();
	struct hi_command *c = NULL;

	/* Who is interrupted while it still reads the file says nothing. */
	for (int i = 0; i < 3 && (!c || !*c->err); i++)
		c = hi_command_run(0, "timeout", "--foreground", "--preserve-status",
				   "-s", "INT", seconds[i], HI_BINARY_DIR "/heapinspect",
				   "query", OLD_FILE, "-f", "csv", "-o",
				   snapshot_path(in, "x.csv"), endless, NULL);
	HI_ASSERT_MSG(c->exit_code == 128 + 2, "%d: %s", c->exit_code, c->err);
	HI_ASSERT_STREQ("heapinspect: query: interrupted after 0 rows\n", c->err);
	c = hi_command_run(0, "ls", in, NULL);
	HI_ASSERT_STREQ("", c->out);
}

HI_TEST_SCENARIO(query, closed_pipe_and_full_disk_are_reported)
{
	struct hi_command *c =
		hi_command_run(0, "sh", "-c",
			       "\"$0\" query \"$1\" -f csv 'SELECT a.* FROM objects a, "
			       "objects b, objects c' "
			       "| head -2 | tail -1; \"$0\" query \"$1\" 'SELECT 1' > "
			       "/dev/full; echo $?",
			       HI_BINARY_DIR "/heapinspect", OLD_FILE, NULL);

	HI_ASSERT_MSG(strstr(c->out, "internal") && strstr(c->out, "\n2\n"), "%s%s",
		      c->out, c->err);
}

/* The groups of `waste` of the same file. */
static void check_groups(json_t *rows, json_t *waste)
{
	json_t *groups = json_object_get(waste, "groups"), *group;
	size_t i;

	HI_ASSERT(json_array_size(groups) > 5);
	HI_ASSERT_EQ(json_array_size(groups), json_array_size(rows));
	json_array_foreach(groups, i, group)
	{
		json_t *row = json_array_get(rows, i);
		char address[24];

		snprintf(address, sizeof(address), "0x%llx",
			 json_integer_value(json_object_get(row, "first")));
		HI_ASSERT_STREQ(address,
				json_string_value(json_object_get(group, "example")));
		HI_ASSERT(same(json_object_get(row, "n"),
			       json_object_get(group, "objects")));
		HI_ASSERT(same(json_object_get(row, "saved"),
			       json_object_get(group, "bytes")));
	}
}

HI_TEST_SCENARIO(query, groups_of_duplicates_are_those_of_waste)
{
	static const char sql[] = "SELECT min(address) - 0 AS first, count(*) AS n, "
				  "sum(shallow) - max(shallow) AS saved FROM objects "
				  "WHERE duplicate_group IS NOT NULL AND state = 'live' "
				  "GROUP BY duplicate_group ORDER BY saved DESC, first";
	char *in = snapshot_directory();
	const char *core = snapshot_core(snapshot_fixture("waste_heap", NULL, NULL), in);
	const char *file = snapshot_of_core(core, in, "a.hisnap", NULL);
	json_t *waste = doc_of(hi_heapinspect("waste", file, "--json", "--all"));
	struct hi_command *c;

	check_groups(ask(file, sql), waste);
	c = hi_heapinspect("query", OLD_FILE, "--format", "csv",
			   "SELECT count(duplicate_group) FROM objects");
	HI_ASSERT_MSG(c->exit_code == 0 && strstr(c->out, "\n0"), "%s%s", c->out, c->err);
}
