/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs of fixtures/python with faults: a C extension that loses references, cycles
 * that the collector has not taken or cannot take. Their own words are the truth.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/metrics.h"
#include "tests/support/python.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"

enum {
	LEAKED_TICKETS = 25, /* fixtures/python/leaky.py */
	LEAKED_REFERENCES = 34,
	LOOPS = 50, /* rubbish.py */
	ASIDE = 7,
	UNSEEN = 5,
	STALE = 2,	 /* stale words may keep so many alive */
	STALE_LOOPS = 8, /* words that lead into large blocks: 4 seen, in 1 run of 80 */
};

static json_t *rows_of(json_t *doc)
{
	return json_object_get(doc, "rows");
}

HI_TEST_SCENARIO(python_faults, the_references_that_an_extension_loses_are_named)
{
	struct python *p = python_start(NULL, "leaky", NULL, NULL);
	json_t *doc = python_ask(p, PYTHON_WORDS("audit"));
	json_t *row = python_row(rows_of(doc), "type", "__main__.Ticket");
	long long example;

	HI_ASSERT(row);
	/* Nothing else: what the extension remembers in a table of its own is found. */
	HI_ASSERT_EQ(1, json_array_size(rows_of(doc)));
	HI_ASSERT(python_number(row, "objects") <= LEAKED_TICKETS &&
		  python_number(row, "objects") >= LEAKED_TICKETS - STALE);
	/* A stale word that looks like a reference hides one. */
	HI_ASSERT(python_number(row, "excess") <= LEAKED_REFERENCES &&
		  python_number(row, "excess") >= LEAKED_REFERENCES - 2 * STALE);
	/* The one that was leaked most often. */
	example = strtoll(python_text(row, "example"), NULL, 16);
	HI_ASSERT_EQ(python_address(p, "leaked"), example);
	HI_ASSERT(python_number(row, "counted") - python_number(row, "found") >=
		  atoi(python_said(p, "leaked", 1)) - STALE);
	HI_ASSERT(
		strstr(hi_heapinspect("audit", "--pid", p->pid)->out, "__main__.Ticket"));
}

HI_TEST_SCENARIO(python_faults, memory_of_c_is_retained_by_the_object_that_owns_it)
{
	struct python *p = python_start(NULL, "leaky", NULL, NULL);
	const char *data = python_said(p, "data", 0);
	long long bytes = atoll(python_said(p, "data", 1));
	char address[32];
	json_t *row;

	snprintf(address, sizeof(address), "%#llx",
		 (unsigned long long)python_address(p, "buffer"));
	row = json_array_get(rows_of(python_ask(p, PYTHON_WORDS("explain", address))), 0);
	HI_ASSERT_STREQ("_cbuf.Buffer", python_text(row, "type"));
	HI_ASSERT(python_number(row, "retained") >= bytes);
	snprintf(address, sizeof(address), "%#llx", strtoull(data, NULL, 16));
	/* Stacks of C may lead there as well. */
	HI_ASSERT(python_row(
		rows_of(python_ask(p, PYTHON_WORDS("paths", address, "-k", "20"))),
		"path", "module __main__[\"MATRICES\"][\"large\"].rows.values"));
	row = python_row(rows_of(python_ask(p, PYTHON_WORDS("census", "--all"))), "type",
			 "__main__.Matrix");
	HI_ASSERT(row && python_number(row, "count") == 2);
	HI_ASSERT(python_number(row, "retained") >= bytes);
}

/* ---- garbage ---- */

static long long sum(json_t *doc, const char *type, const char *fate, bool aside,
		     const char *key)
{
	long long n = 0;
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(doc, "garbage_rows"), i, row)
	{
		if ((!type || strcmp(python_text(row, "type"), type) == 0) &&
		    strcmp(python_text(row, "fate"), fate) == 0 &&
		    json_is_true(json_object_get(row, "put_aside")) == aside)
			n += python_number(row, key);
	}
	return n;
}

static void check_garbage(json_t *doc)
{
	long long unseen = sum(doc, "_cbuf.Legacy", "uncollectable", false, "objects");
	long long loops = sum(doc, "__main__.Loop", "garbage", false, "objects");

	HI_ASSERT_MSG(loops <= LOOPS && loops >= LOOPS - STALE_LOOPS, "%lld loops",
		      loops);
	HI_ASSERT_MSG(unseen <= UNSEEN && unseen >= UNSEEN - STALE, "%lld unseen",
		      unseen);
	HI_ASSERT_EQ(ASIDE, sum(doc, "_cbuf.Legacy", "uncollectable", true, "objects"));
	HI_ASSERT_EQ(1, sum(doc, "__main__.Lost", "lost reference", false, "objects"));
	/* What they hold is as they are. */
	HI_ASSERT(sum(doc, "bytes", "garbage", false, "bytes") >=
		  (loops - STALE_LOOPS) * 4000);
	HI_ASSERT(sum(doc, "bytes", "lost reference", false, "bytes") >= 9000);
	HI_ASSERT_EQ(0, sum(doc, "_cbuf.Legacy", "garbage", false, "objects"));
	HI_ASSERT_EQ(sum(doc, NULL, "garbage", false, "bytes"),
		     python_number(doc, "garbage"));
}

static json_t *leak_of(json_t *doc, const char *fate)
{
	return python_row(rows_of(doc), "fate", fate);
}

static void check_leaks(json_t *doc)
{
	json_t *by_fate = json_object_get(json_object_get(doc, "leaks"), "by_fate");
	json_t *loops = leak_of(doc, "garbage"), *lost = leak_of(doc, "lost reference");

	HI_ASSERT(loops && lost && leak_of(doc, "uncollectable"));
	HI_ASSERT_STREQ("__main__.Loop", python_text(loops, "type"));
	/* A cycle is named by one of its objects, whichever. */
	HI_ASSERT(strcmp("__main__.Lost", python_text(lost, "type")) == 0 ||
		  strcmp("list", python_text(lost, "type")) == 0);
	HI_ASSERT(python_number(by_fate, "lost reference") >= 9000);
	HI_ASSERT_EQ(0, python_number(by_fate, "leaked"));
	HI_ASSERT(python_number(by_fate, "garbage") >= (LOOPS - 2 * STALE_LOOPS) * 4000);
}

struct collected {
	long long taken, garbage;
};

static void take_count(const char *line, void *arg)
{
	struct collected *c = arg;

	(void)sscanf(line, "collected %lld", &c->taken);
	(void)sscanf(line, "garbage %lld", &c->garbage);
}

HI_TEST_SCENARIO(python_faults, garbage_is_told_from_what_the_collector_cannot_take)
{
	struct python *p = python_start(NULL, "rubbish", NULL, NULL);
	struct collected c = {};
	json_t *doc;
	char line[200];

	check_garbage(python_ask(p, PYTHON_WORDS("audit", "--all")));
	check_leaks(python_ask(p, PYTHON_WORDS("leaks", "--all")));
	python_ask(p, PYTHON_WORDS("summary"));
	/* The collector agrees: what is garbage goes, the rest stays. */
	hi_fixture_tell(p->fx, "x");
	while (!c.garbage && hi_fixture_line(p->fx, line, sizeof(line)))
		take_count(line, &c);
	HI_ASSERT(c.taken >= LOOPS);
	HI_ASSERT_EQ(ASIDE + UNSEEN, c.garbage);
	doc = python_ask(p, PYTHON_WORDS("audit", "--all"));
	HI_ASSERT_EQ(0, sum(doc, NULL, "garbage", false, "objects"));
	HI_ASSERT_EQ(ASIDE + UNSEEN,
		     sum(doc, "_cbuf.Legacy", "uncollectable", true, "objects"));
	HI_ASSERT_EQ(1, sum(doc, "__main__.Lost", "lost reference", false, "objects"));
}

HI_TEST_SCENARIO(python_faults, a_file_keeps_what_becomes_of_garbage)
{
	struct python *p = python_start(NULL, "rubbish", NULL, NULL);
	const char *file = snapshot_path(snapshot_directory(), "rubbish.hisnap");
	char address[24];
	json_t *doc, *row;

	HI_ASSERT_EQ(
		0, hi_heapinspect("snap", "--pid", p->pid, "-q", "-o", file)->exit_code);
	hi_fixture_end(p->fx);
	doc = python_ask_file(file, PYTHON_WORDS("leaks", "--all"));
	check_leaks(doc);
	snprintf(address, sizeof(address), "%s",
		 python_text(leak_of(doc, "garbage"), "example"));
	row = json_array_get(
		rows_of(python_ask_file(file, PYTHON_WORDS("explain", address))), 0);
	HI_ASSERT_STREQ("leak", python_text(row, "state"));
	HI_ASSERT_STREQ("garbage", python_text(row, "fate"));
}

/* ---- what the collector cannot look into; too few references ---- */

enum { CLOSED = 100, OPEN = 50, CACHED = 20 };

struct left {
	int closed, open, cached;
	bool said;
};

static void take_left(const char *line, void *arg)
{
	struct left *l = arg;

	(void)sscanf(line, "closed %d", &l->closed);
	(void)sscanf(line, "open %d", &l->open);
	l->said |= sscanf(line, "cached %d", &l->cached) == 1;
}

static void check_unseen(json_t *doc)
{
	long long closed = sum(doc, "__main__.Closed", "uncollectable", false, "objects");
	json_t *cause =
		python_row(json_object_get(doc, "causes"), "type", "_cbuf.Holder");

	HI_ASSERT_MSG(closed <= CLOSED && closed >= CLOSED - STALE, "%lld closed",
		      closed);
	HI_ASSERT_EQ(0, sum(doc, "__main__.Closed", "garbage", false, "objects"));
	HI_ASSERT(cause);
	HI_ASSERT_EQ(closed, python_number(cause, "objects"));
	HI_ASSERT_EQ(1, json_array_size(json_object_get(doc, "causes")));
	/* Nor is that what only leads to such an object. */
	HI_ASSERT_EQ(0, sum(doc, "__main__.Open", "uncollectable", false, "objects"));
	HI_ASSERT_EQ(0, sum(doc, "__main__.Held", "uncollectable", false, "objects"));
	HI_ASSERT_EQ(0, sum(doc, "__main__.Mark", "uncollectable", false, "objects"));
	HI_ASSERT(sum(doc, "__main__.Open", "garbage", false, "objects") >= OPEN - STALE);
	HI_ASSERT(sum(doc, "__main__.Mark", "garbage", false, "objects") >=
		  CACHED - STALE_LOOPS);
}

HI_TEST_SCENARIO(python_faults, cycles_that_the_collector_cannot_see_are_uncollectable)
{
	struct python *p = python_start(NULL, "unseen", NULL, NULL);
	struct left left = {};
	char line[200];

	check_unseen(python_ask(p, PYTHON_WORDS("audit", "--all")));
	/* The collector agrees. */
	hi_fixture_tell(p->fx, "x");
	while (!left.said && hi_fixture_line(p->fx, line, sizeof(line)))
		take_left(line, &left);
	HI_ASSERT_EQ(CLOSED, left.closed);
	HI_ASSERT_EQ(0, left.open);
	HI_ASSERT_EQ(0, left.cached);
}

HI_TEST_SCENARIO(python_faults, an_object_that_counts_too_few_references_is_said_first)
{
	struct python *p = python_start(NULL, "unseen", NULL, NULL);
	json_t *doc = python_ask(p, PYTHON_WORDS("audit", "--all"));
	json_t *row = json_array_get(json_object_get(doc, "short_rows"), 0);
	unsigned long long id = python_address(p, "few");
	char address[32];
	struct hi_command *c;

	HI_ASSERT_EQ(1, python_number(doc, "short_objects"));
	HI_ASSERT_EQ(1, python_number(doc, "missing"));
	HI_ASSERT_STREQ("list", python_text(row, "type"));
	HI_ASSERT_EQ(atoi(python_said(p, "few", 1)), python_number(row, "counted"));
	HI_ASSERT_EQ(atoi(python_said(p, "few", 2)), python_number(row, "found"));
	snprintf(address, sizeof(address), "%s", python_text(row, "example"));
	row = json_array_get(rows_of(python_ask(p, PYTHON_WORDS("explain", address))), 0);
	HI_ASSERT_EQ(id, strtoull(address, NULL, 16));
	HI_ASSERT_EQ(1, python_number(row, "counted"));
	c = hi_heapinspect("audit", "--pid", p->pid);
	HI_ASSERT_MSG(strstr(c->out, "1 object counts fewer references than"), "%s",
		      c->out);
	/* The same as a table; what has no runtime is refused, as no row means no fault.
	 */
	doc = python_ask(p, PYTHON_WORDS("query", "-q", "SELECT * FROM audit"));
	row = json_array_get(rows_of(doc), 0);
	HI_ASSERT_STREQ("missing", python_text(row, "difference"));
	HI_ASSERT_STREQ("list", python_text(row, "type"));
	HI_ASSERT_EQ(1, python_number(row, "objects"));
	HI_ASSERT_EQ(1, python_number(row, "references"));
	HI_ASSERT_EQ(id, strtoull(python_text(row, "example"), NULL, 16));
	HI_ASSERT_EQ(atoi(python_said(p, "few", 1)), python_number(row, "counted"));
	HI_ASSERT_EQ(atoi(python_said(p, "few", 2)), python_number(row, "found"));
	c = hi_heapinspect("query", HI_SOURCE_DIR "/tests/data/v1.hisnap", "-q",
			   "SELECT count(*) FROM audit");
	HI_ASSERT_MSG(c->exit_code == 2, "exit %d: %s", c->exit_code, c->out);
}

/* ---- names ---- */

HI_TEST_SCENARIO(python_faults, functions_and_coroutines_that_leaked_have_names)
{
	struct python *p = python_start(NULL, "forgotten", NULL, NULL);
	json_t *doc = python_ask(p, PYTHON_WORDS("leaks", "--all"));
	json_t *roots = json_object_get(doc, "roots");
	struct hi_command *c = hi_heapinspect("leaks", "--pid", p->pid);

	HI_ASSERT_MSG(strstr(c->out, "which is"), "%s", c->out);
	for (unsigned i = 0; i < 2; i++) {
		const char *kind = i ? "coroutine" : "function";
		char name[80];
		json_t *row;

		snprintf(name, sizeof(name), "%s", python_said(p, kind, 0));
		row = python_row(roots, "name", name);
		HI_ASSERT_MSG(row, "no %s in %.1500s", name, c->out);
		HI_ASSERT_STREQ(kind, python_text(row, "type"));
	}
}

/* ---- the collector ---- */

static void check_collector(json_t *doc, const struct python *p)
{
	json_t *c = json_object_get(json_object_get(doc, "runtime"), "collector");
	json_t *thresholds = json_object_get(c, "thresholds"),
	       *counts = json_object_get(c, "counts");

	HI_ASSERT_EQ(3, json_array_size(thresholds));
	HI_ASSERT_EQ(3, json_array_size(counts));
	HI_ASSERT_EQ(atoi(python_said(p, "enabled", 0)),
		     json_is_true(json_object_get(c, "on")));
	for (unsigned i = 0; i < 3; i++)
		HI_ASSERT_EQ(atoi(python_said(p, "thresholds", i)),
			     json_integer_value(json_array_get(thresholds, i)));
	/* Of the youngest generation it goes on. */
	for (unsigned i = 1; i < 3; i++)
		HI_ASSERT_EQ(atoi(python_said(p, "counts", i)),
			     json_integer_value(json_array_get(counts, i)));
}

HI_TEST_SCENARIO(python_faults, a_collector_that_is_off_is_said)
{
	const char *file = snapshot_path(snapshot_directory(), "collector.hisnap");

	for (int on = 0; on < 2; on++) {
		struct python *p =
			python_start(NULL, "collector", on ? "on" : "off", NULL);
		struct hi_command *c = hi_heapinspect("--pid", p->pid);
		struct hi_command *audit = hi_heapinspect("audit", "--pid", p->pid);

		check_collector(python_ask(p, PYTHON_WORDS("summary")), p);
		HI_ASSERT_EQ(0, hi_heapinspect("snap", "--pid", p->pid, "-q", "-o", file)
					->exit_code);
		check_collector(python_ask_file(file, PYTHON_WORDS("census")), p);
		HI_ASSERT_EQ(!on, strstr(c->out, "garbage stays") != NULL);
		HI_ASSERT_EQ(!on, strstr(audit->out, "garbage stays") != NULL);
	}
}

/* ---- gates ---- */

static void check_gate(const char *pid, const char *gate, int exit_code)
{
	struct hi_command *c = hi_heapinspect("check", "--pid", pid, "--fail-on", gate);

	HI_ASSERT_MSG(c->exit_code == exit_code, "%s: %d\n%s%s", gate, c->exit_code,
		      c->out, c->err);
}

/* Sums of a document or of a part of it, against the table of objects of the file. */
static void check_sums(json_t *doc, const char *certain, const char *file)
{
	static const char *const names[] = {NULL, "garbage", "uncollectable", "lost"};
	struct hi_command *c = hi_heapinspect(
		"query", file, "-q", "-f", "csv",
		"SELECT sum(state = 'leak' AND coalesce(fate, '') <> 'garbage' AND "
		"verdict = "
		"'certain'), "
		"sum(fate = 'garbage'), sum(fate = 'uncollectable'), "
		"sum(fate = 'lost reference'), "
		"sum(shallow * (state = 'leak' AND coalesce(fate, '') <> 'garbage' AND "
		"verdict = "
		"'certain')), sum(shallow * (fate = 'garbage')), "
		"sum(shallow * (fate = 'uncollectable')), sum(shallow * (fate = 'lost "
		"reference')) FROM objects");
	long long n[8];
	char *row = strchr(c->out, '\n');

	HI_ASSERT_MSG(c->exit_code == 0 && row, "%s", c->err);
	HI_ASSERT_EQ(8, sscanf(row, "%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld", &n[0],
			       &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7]));
	HI_ASSERT(n[1] > 0);
	HI_ASSERT_EQ(n[4], python_number(doc, certain));
	for (size_t i = 1; i < 4; i++)
		HI_ASSERT_EQ(n[4 + i], python_number(doc, names[i]));
}

static json_t *diff_of(const char *before, const char *after, const char *by)
{
	struct hi_command *c =
		hi_heapinspect("diff", before, after, "--by", by, "--all", "--json");
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 1, "exit %d: %s", c->exit_code, c->err);
	c->exit_code = 0;
	doc = doc_of(c);
	hi_check_schema(c, "rows.v1.json");
	return doc;
}

/* The later heap is the one before the collection: its rubbish is all that is new. */
HI_TEST_SCENARIO(python_faults, differences_tell_garbage_from_leaks)
{
	struct python *p = python_start(NULL, "rubbish", NULL, NULL);
	const char *in = snapshot_directory();
	const char *a = snapshot_path(in, "a.hisnap"), *b = snapshot_path(in, "b.hisnap");
	struct collected c = {};
	json_t *doc, *row;
	char line[200];

	HI_ASSERT_EQ(0,
		     hi_heapinspect("snap", "--pid", p->pid, "-q", "-o", a)->exit_code);
	hi_fixture_tell(p->fx, "x");
	while (!c.garbage && hi_fixture_line(p->fx, line, sizeof(line)))
		take_count(line, &c);
	HI_ASSERT_EQ(0,
		     hi_heapinspect("snap", "--pid", p->pid, "-q", "-o", b)->exit_code);
	doc = diff_of(b, a, "root");
	check_sums(json_object_get(doc, "after"), "leak", a);
	row = python_row(json_object_get(doc, "rows"), "root", "(garbage)");
	HI_ASSERT(row && python_number(json_object_get(row, "born"), "bytes") >
				 (LOOPS - STALE_LOOPS) * 4000);
	HI_ASSERT(python_number(json_object_get(doc, "garbage"), "bytes") >
		  (LOOPS - STALE_LOOPS) * 4000);
	row = python_row(json_object_get(doc, "new"), "type", "__main__.Loop");
	HI_ASSERT(row && python_number(row, "garbage") > 0);
	HI_ASSERT_EQ(0, python_number(row, "leaked"));
}

HI_TEST_SCENARIO(python_faults, series_tell_garbage_from_leaks)
{
	struct python *p = python_start(NULL, "rubbish", NULL, NULL);
	const char *file = snapshot_path(snapshot_directory(), "series.hisnap");
	struct hi_command *c = hi_heapinspect("snap", "--pid", p->pid, "-o", file,
					      "--every", "100ms", "--for", "50ms");
	json_t *row;

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	row = json_array_get(
		rows_of(python_ask_file(NULL, PYTHON_WORDS("snapshots", file))), 0);
	check_sums(row, "leaked", file);
	c = hi_heapinspect("export", file, "-f", "prometheus");
	HI_ASSERT_MSG(hi_metrics_have_value(c->out, "heapinspect_garbage_bytes",
					    python_number(row, "garbage")),
		      "%.1500s", c->out);
	HI_ASSERT_MSG(hi_metrics_have_value(c->out, "heapinspect_leak_bytes",
					    python_number(row, "leaked")),
		      "%.1500s", c->out);
	c = hi_heapinspect("census", "--pid", p->pid, "--every", "100ms", "--for",
			   "50ms");
	HI_ASSERT_MSG(strstr(c->out, " garbage"), "%s", c->out);
	c = hi_heapinspect("census", "--pid", p->pid, "--every", "100ms", "--for", "50ms",
			   "--json");
	HI_ASSERT_MSG(!strstr(c->out, "\"garbage\":0,") && strstr(c->out, "\"garbage\":"),
		      "%.600s", c->out);
}

HI_TEST_SCENARIO(python_faults, gates_tell_garbage_from_leaks)
{
	struct python *unseen = python_start(NULL, "unseen", NULL, NULL);
	struct python *clean = python_start(NULL, "clean", NULL, NULL);

	check_gate(unseen->pid, "uncollectable.bytes < 98 * 4000", 0);
	check_gate(unseen->pid, "uncollectable.bytes > 98 * 4000", 1);
	check_gate(unseen->pid, "leak.bytes > 98 * 4000", 1);
	check_gate(unseen->pid, "garbage.count < 90", 0);
	check_gate(unseen->pid, "lost.bytes > 0", 0);
	/* Garbage is all that it has. */
	check_gate(clean->pid, "garbage.bytes < 90 * 4000", 0);
	check_gate(clean->pid, "leak.bytes > 0", 0);
	check_gate(clean->pid, "leak.roots > 0", 0);
	check_gate(clean->pid, "total.bytes - live.bytes < garbage.bytes", 0);
	/* A module keeps what its dict keeps: 100 bytes objects of 10,000. */
	check_gate(clean->pid, "root(\"module __main__\").retained < 1000000", 0);
	check_gate(clean->pid, "root(\"module __main__\").retained < 3000000", 1);
}
