/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that allocated what is live, of a program that runs tracemalloc: without a
 * recording, against what it says itself. */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/python.h"
#include "tests/support/pythons.h"
#include "tests/support/snapshots.h"
#include "tests/support/workshop.h"

enum { LINES = 4 };

struct traced_lines {
	struct hi_fixture *fx;
	char pid[16];
	size_t n;
	long long line[LINES], blocks[LINES], bytes[LINES];
};

static void take_traces_line(const char *text, void *arg)
{
	struct traced_lines *t = arg;

	HI_ASSERT(t->n < LINES);
	if (sscanf(text, "%lld %lld %lld", &t->line[t->n], &t->blocks[t->n],
		   &t->bytes[t->n]) == 3)
		t->n++;
}

static struct traced_lines start_traced(const char *python)
{
	struct traced_lines t = {};

	t.fx = hi_fixture_start(python, HI_SOURCE_DIR "/fixtures/python/traced.py", NULL);
	hi_fixture_read_until(t.fx, "ready", take_traces_line, &t);
	HI_ASSERT_EQ(LINES, t.n);
	snprintf(t.pid, sizeof(t.pid), "%d", (int)t.fx->pid);
	return t;
}

static void expect_line(const struct traced_lines *t, const json_t *row)
{
	long long line = doc_number(row, "line");

	for (size_t i = 0; i < t->n; i++) {
		if (t->line[i] != line)
			continue;
		HI_ASSERT_EQ(t->blocks[i], doc_number(row, "blocks"));
		HI_ASSERT_EQ(t->bytes[i], doc_number(row, "bytes"));
		return;
	}
	HI_ASSERT_MSG(false, "line %lld", line);
}

#define LINES_SQL                                                                        \
	"SELECT c.line AS line, count(*) AS blocks, sum(a.requested) AS bytes FROM "     \
	"allocations a JOIN contexts c ON c.id = a.context WHERE c.file LIKE "           \
	"'%/traced.py' GROUP BY c.line HAVING count(*) > 100"

static void expect_lines(const struct traced_lines *t, struct hi_command *c)
{
	json_t *rows = doc_at(doc_of(c), "rows"), *row;

	HI_ASSERT_EQ(LINES, json_array_size(rows));
	doc_each (row, rows)
		expect_line(t, row);
}

static void check_lines(const char *python)
{
	struct traced_lines t = start_traced(python);
	char file[256];
	struct hi_command *c;

	expect_lines(&t, hi_heapinspect("query", "--pid", t.pid, "--all", "--json",
					LINES_SQL));
	snprintf(file, sizeof(file), "%s/traced.his", workshop_open());
	c = hi_heapinspect("snap", "--pid", t.pid, "-o", file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	expect_lines(&t, hi_heapinspect("query", file, "--all", "--json", LINES_SQL));
}

HI_TEST_SCENARIO(python_traces, lines_are_those_that_tracemalloc_has)
{
	hi_each_python(check_lines);
}

HI_TEST_SCENARIO(python_traces, census_and_explain_show_lines)
{
	struct traced_lines t = start_traced(PYTHON);
	struct hi_command *c = hi_heapinspect("census", "--by", "site", "--pid", t.pid);
	json_t *rows;

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->out, "traced      by the program's own tracemalloc"),
		      "%s", c->out);
	HI_ASSERT(strstr(c->out, "traced.py:"));
	HI_ASSERT(!strstr(c->out, "oldest"));
	rows = doc_at(
		doc_of(hi_heapinspect(
			"query", "--pid", t.pid, "--json",
			"SELECT address FROM objects WHERE id IN (SELECT object FROM "
			"allocations WHERE thread IS NULL AND age_ns IS NULL AND "
			"requested = 1033) LIMIT 1")),
		"rows");
	HI_ASSERT_EQ(1, json_array_size(rows));
	c = hi_heapinspect("explain", doc_text(json_array_get(rows, 0), "address"),
			   "--pid", t.pid);
	HI_ASSERT_MSG(strstr(c->out, "(the program's tracemalloc)"), "%s%s", c->out,
		      c->err);
	c = hi_heapinspect("census", "--by", "type", "--site-any", "traced.py:*", "--pid",
			   t.pid);
	HI_ASSERT_MSG(c->exit_code == 0 && strstr(c->out, "Slotted"), "%s%s", c->out,
		      c->err);
}

HI_TEST_SCENARIO(python_traces, there_are_no_ages_and_threads)
{
	struct traced_lines t = start_traced(PYTHON);
	struct hi_command *c;
	char file[256];

	snprintf(file, sizeof(file), "%s/traced.his", workshop_open());
	c = hi_heapinspect("snap", "--pid", t.pid, "-o", file);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	c = hi_heapinspect("census", "--by", "age", file);
	HI_ASSERT_MSG(c->exit_code == 2 && strstr(c->err, "knows neither"), "%s", c->err);
	c = hi_heapinspect("census", "--age", "1s..", file);
	HI_ASSERT_MSG(c->exit_code == 2 && strstr(c->err, "neither times"), "%s", c->err);
}

/* For a program without it the answer is what helps. */
HI_TEST_SCENARIO(python_traces, without_tracemalloc_there_is_no_recording)
{
	struct target *p = python_start(NULL, "counted", "plain", NULL);
	char pid[16];
	struct hi_command *c;

	snprintf(pid, sizeof(pid), "%d", (int)p->fx->pid);
	c = hi_heapinspect("census", "--by", "site", "--pid", pid);
	HI_ASSERT(c->exit_code != 0);
	HI_ASSERT_MSG(strstr(c->err, "heapinspect record"), "%s", c->err);
}
