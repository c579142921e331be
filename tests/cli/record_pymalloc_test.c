/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recorded objects of Python against the heap itself: what is live in pymalloc's pools
 * and in malloc at the end has a record, or was there when the recording began. The
 * blocks of then are those of a snapshot; between the two the program sleeps.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/python.h"
#include "tests/support/pythons.h"
#include "tests/support/recording_run.h"
#include "tests/support/snapshots.h"
#include "tests/support/workshop.h"

struct python_service {
	struct hi_fixture *fx;
	char pid[16], before[300], file[300];
	struct hi_command *c; /* of record */
};

static struct python_service record_python(const char *environment, const char *python)
{
	struct python_service s = {};
	struct recording_run run;
	struct hi_command *snap;
	const char *dir = workshop_open();

	s.fx = hi_fixture_start("/usr/bin/env", environment, python,
				HI_SOURCE_DIR "/fixtures/python/pymalloc.py", NULL);
	hi_fixture_read_until(s.fx, "ready", NULL, NULL);
	snprintf(s.pid, sizeof(s.pid), "%d", (int)s.fx->pid);
	snprintf(s.before, sizeof(s.before), "%s/before.his", dir);
	snprintf(s.file, sizeof(s.file), "%s/app.hirec", dir);
	snap = hi_heapinspect("snap", "--pid", s.pid, "-o", s.before);
	HI_ASSERT_MSG(snap->exit_code == 0, "%s", snap->err);
	run = recording_start(s.fx->pid, "--json", "-o", s.file, NULL);
	hi_fixture_tell(s.fx, "go");
	hi_fixture_read_until(s.fx, "done", NULL, NULL);
	s.c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(s.c->exit_code == 0, "exit %d: %s", s.c->exit_code, s.c->err);
	return s;
}

static json_t *rows_of(const char *file, const char *sql)
{
	struct hi_command *c = hi_heapinspect("query", file, "--all", "--json", sql);

	return doc_at(doc_of(c), "rows");
}

static const char *address_of_row(const json_t *row)
{
	return doc_text(row, "address");
}

static const char *type_of_row(const json_t *row)
{
	const char *type = json_string_value(doc_find(row, "type"));

	return type ? type : "";
}

/* The row of that time that is at this distance; NULL: none. */
static const json_t *row_before(const json_t *known, const json_t *row, int distance)
{
	unsigned long long address = strtoull(address_of_row(row), NULL, 16);
	char text[32];

	snprintf(text, sizeof(text), "%#llx", address + (unsigned long long)distance);
	return json_object_get(known, text);
}

/* Was its block there? One in a free list is called by the address of its block, others
 * by what is behind their collector's head. */
static bool was_there(const json_t *known, const json_t *row)
{
	enum { GC_HEAD = 16 };
	const int distances[] = {-GC_HEAD, GC_HEAD};

	if (row_before(known, row, 0))
		return true;
	for (int i = 0; i < 2; i++) {
		const json_t *then = row_before(known, row, distances[i]);

		if (then && (strstr(type_of_row(then), "(free list)") ||
			     strstr(type_of_row(row), "(free list)")))
			return true;
	}
	return false;
}

/* Objects without a record were there before, in the same block: one that was freed
 * meanwhile, and whose memory was given out again, has a record. Others than Python's are
 * left out: those of the dynamic linker are in no block. */
static size_t count_missing(const struct python_service *s)
{
	json_t *before = rows_of(s->before, "SELECT address, type FROM objects");
	json_t *without = rows_of(
		s->file, "SELECT address, type FROM objects LEFT JOIN allocations ON "
			 "object = id WHERE object IS NULL AND state != 'internal' AND "
			 "(evidence = 'runtime' OR type IS NULL)");
	json_t *known = json_object(), *row;
	size_t missing = 0;

	doc_each (row, before)
		json_object_set(known, address_of_row(row), row);
	doc_each (row, without) {
		if (was_there(known, row))
			continue;
		fprintf(stderr, "%s: %s\n", address_of_row(row), type_of_row(row));
		missing++;
	}
	HI_ASSERT(json_array_size(without) > 1000);
	json_decref(known);
	return missing;
}

static void check_witness(const char *python)
{
	struct python_service s = record_python("PYTHONUTF8=1", python);
	json_t *doc = doc_of(s.c);
	size_t missing;

	if (strstr(s.c->err, "pymalloc is not followed")) {
		fprintf(stderr, "%s: %s", python, s.c->err);
		HI_ASSERT(doc_number(doc, "not_recorded.objects") > 1000);
		return;
	}
	missing = count_missing(&s);
	HI_ASSERT_EQ(0, doc_number(doc, "recording.lost"));
	HI_ASSERT_EQ(0, doc_number(doc, "recording.missing"));
	HI_ASSERT_EQ(0, doc_number(doc, "recording.without_object"));
	HI_ASSERT_EQ(0, doc_number(doc, "recording.too_large"));
	HI_ASSERT(doc_number(doc, "recording.joined") > 10000);
	HI_ASSERT_MSG(missing == 0, "%s: %zu new objects have no record", python,
		      missing);
}

HI_TEST_ROOT(record_pymalloc, each_new_object_has_a_record)
{
	hi_each_python(check_witness);
}

/* Functions that tracemalloc calls have copies, too; its own tables are malloc's. */
HI_TEST_ROOT(record_pymalloc, each_new_object_has_a_record_beside_tracemalloc)
{
	struct python_service s = record_python("PYTHONTRACEMALLOC=1", PYTHON);
	json_t *doc = doc_of(s.c);
	size_t missing;

	if (strstr(s.c->err, "pymalloc is not followed"))
		HI_SKIP("this Python has no copies of pymalloc");
	missing = count_missing(&s);
	HI_ASSERT_EQ(0, doc_number(doc, "recording.lost"));
	HI_ASSERT_EQ(0, doc_number(doc, "recording.missing"));
	HI_ASSERT_EQ(0, doc_number(doc, "recording.too_large"));
	HI_ASSERT_MSG(missing == 0, "%zu new objects have no record", missing);
}

/* Then all of it is malloc's. */
HI_TEST_ROOT(record_pymalloc, objects_in_blocks_of_malloc_have_records)
{
	struct python_service s = record_python("PYTHONMALLOC=malloc", PYTHON);
	json_t *doc = doc_of(s.c);
	size_t missing = count_missing(&s);

	HI_ASSERT(!strstr(s.c->err, "not followed"));
	HI_ASSERT(doc_number(doc, "recording.joined") > 10000);
	HI_ASSERT_EQ(0, doc_number(doc, "recording.without_object"));
	HI_ASSERT_EQ(0, missing);
}

HI_TEST_ROOT(record_pymalloc, says_why_debugged_objects_have_no_record)
{
	struct python_service s = record_python("PYTHONMALLOC=debug", PYTHON);

	HI_ASSERT_MSG(strstr(s.c->err, "pymalloc is not followed: PYTHONMALLOC=debug"),
		      "%s", s.c->err);
	HI_ASSERT(doc_number(doc_of(s.c), "not_recorded.objects") > 1000);
}

/* A list that ends goes to a free list, and the next one is made of it. */
static const char reusing[] = "import sys\n"
			      "kept = []\n"
			      "def reuse():\n"
			      "    for i in range(500):\n"
			      "        x = [i]\n" /* line 5 */
			      "        del x\n"
			      "        kept.append([i])\n" /* line 7 */
			      "print('ready', flush=True)\n"
			      "sys.stdin.readline()\n"
			      "reuse()\n"
			      "print('done', flush=True)\n"
			      "sys.stdin.readline()\n";

static long long lists_of_line(const char *file, int line)
{
	char sql[300];

	snprintf(sql, sizeof(sql),
		 "SELECT object FROM allocations a JOIN contexts c ON c.id = a.context "
		 "JOIN objects o ON o.id = a.object WHERE c.line = %d AND o.type = "
		 "'list'",
		 line);
	return (long long)json_array_size(rows_of(file, sql));
}

HI_TEST_ROOT(record_pymalloc, an_object_of_a_free_list_has_its_own_line)
{
	struct hi_fixture *fx = hi_fixture_start(PYTHON, "-c", reusing, NULL);
	struct recording_run run;
	struct hi_command *c;
	char file[256];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(file, sizeof(file), "%s/app.hirec", workshop_open());
	run = recording_start(fx->pid, "--sample", "all", "-o", file, NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	if (strstr(c->err, "pymalloc is not followed"))
		HI_SKIP("this Python has no copies of pymalloc");
	HI_ASSERT_EQ(500, lists_of_line(file, 7));
	HI_ASSERT_EQ(0, lists_of_line(file, 5));
}
