/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs of fixtures/python with faults: a C extension that loses references, cycles
 * that the collector has not taken or cannot take. Their own words are the truth.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/metrics.h"
#include "tests/support/python.h"
#include "tests/support/schema.h"

enum {
	LEAKED_TICKETS = 25, /* fixtures/python/leaky.py */
	LEAKED_REFERENCES = 34,
	LOOPS = 50, /* rubbish.py */
	ASIDE = 7,
	UNSEEN = 5,
	STALE = 2,	 /* stale words may keep so many alive */
	STALE_LOOPS = 8, /* words that lead into large blocks: 4 seen, in 1 run of 80 */
};

static void check_the_references_that_an_extension_loses_are_named(const struct target *t)
{
	json_t *doc = python_ask(t, "audit");
	json_t *row = doc_row(doc_at(doc, "rows"), "type", "__main__.Ticket");

	/* Nothing else: what the extension remembers in a table of its own is found. */
	HI_ASSERT_EQ(1, doc_size(doc, "rows"));
	HI_ASSERT(doc_number(row, "objects") <= LEAKED_TICKETS &&
		  doc_number(row, "objects") >= LEAKED_TICKETS - STALE);
	/* A stale word that looks like a reference hides one. */
	HI_ASSERT(doc_number(row, "excess") <= LEAKED_REFERENCES &&
		  doc_number(row, "excess") >= LEAKED_REFERENCES - 2 * STALE);
	/* The one that was leaked most often. */
	HI_ASSERT_EQ(target_number(t, "leaked"),
		     strtoll(doc_text(row, "example"), NULL, 16));
	HI_ASSERT(doc_number(row, "counted") - doc_number(row, "found") >=
		  target_nth(t, "leaked", 1) - STALE);
	HI_ASSERT(strstr(target_run(t, "audit")->out, "__main__.Ticket"));
}

static void
check_memory_of_c_is_retained_by_the_object_that_owns_it(const struct target *t)
{
	/* "data ADDRESS BYTES" */
	long long bytes = target_nth(t, "data", 1);
	char address[32];
	json_t *row;

	row = doc_at(python_ask(t, "explain", target_said(t, "buffer")), "rows.0");
	HI_ASSERT_STREQ("_cbuf.Buffer", doc_text(row, "type"));
	HI_ASSERT(doc_number(row, "retained") >= bytes);
	snprintf(address, sizeof(address), "%#llx",
		 (unsigned long long)target_number(t, "data"));
	/* Stacks of C may lead there as well. */
	doc_row(doc_at(python_ask(t, "paths", address, "-k", "20"), "rows"), "path",
		"module __main__[\"MATRICES\"][\"large\"].rows.values");
	row = doc_row(doc_at(python_ask(t, "census", "--all"), "rows"), "type",
		      "__main__.Matrix");
	HI_ASSERT_EQ(2, doc_number(row, "count"));
	HI_ASSERT(doc_number(row, "retained") >= bytes);
}

HI_TEST_SCENARIO(python_faults, objects_lost_and_held_by_an_extension_are_named)
{
	struct target *t = python_start(NULL, "leaky", NULL, NULL);

	check_the_references_that_an_extension_loses_are_named(t);
	check_memory_of_c_is_retained_by_the_object_that_owns_it(t);
}

/* ---- known losses ---- */

/* Over the rows of one library; all of it in the others' numbers is 0. */
static long long sum_known(json_t *audit, const char *of, const char *key)
{
	long long n = 0;
	json_t *row;

	doc_each (row, doc_at(audit, "known_rows")) {
		if (strcmp(doc_text(row, "of"), of) == 0)
			n += doc_number(row, "%s", key);
	}
	return n;
}

static void check_library(const struct target *t, json_t *audit, const char *name,
			  const char *of)
{
	long long objects = target_number(t, name), references = target_nth(t, name, 1);
	long long found = sum_known(audit, of, "objects");

	/* A stale word that looks like a reference hides one. */
	HI_ASSERT_MSG(found <= objects && found >= objects - STALE, "%s: %lld", of,
		      found);
	found = sum_known(audit, of, "excess");
	HI_ASSERT_MSG(found <= references && found >= references - STALE, "%s: %lld", of,
		      found);
}

/* A list or a text that nothing else has is none of them. */
HI_TEST_SCENARIO(python_faults, known_losses_of_libraries_do_not_hide_others)
{
	struct target *t = python_start(NULL, "habits", NULL, NULL);
	json_t *doc = python_ask(t, "audit", "--all");
	long long others = target_number(t, "others");
	struct hi_command *c;

	check_library(t, doc, "cython", "constants of Cython");
	check_library(t, doc, "f2py", "texts of f2py");
	check_library(t, doc, "sip", "bound signals of sip");
	HI_ASSERT_EQ(2, doc_size(doc, "rows")); /* lists, tuples */
	HI_ASSERT(doc_number(doc, "excess_objects") <= others &&
		  doc_number(doc, "excess_objects") >= others - 2 * STALE);
	HI_ASSERT_EQ(0, doc_number(doc, "missing"));
	c = target_run(t, "audit");
	HI_ASSERT_MSG(strstr(c->out, "Known losses") && strstr(c->out, "bound signals"),
		      "%s", c->out);
}

/* ---- garbage ---- */

static long long sum(json_t *doc, const char *type, const char *fate, bool aside,
		     const char *key)
{
	long long n = 0;
	json_t *row;

	doc_each (row, doc_at(doc, "garbage_rows")) {
		if ((!type || strcmp(doc_text(row, "type"), type) == 0) &&
		    strcmp(doc_text(row, "fate"), fate) == 0 &&
		    doc_bool(row, "put_aside") == aside)
			n += doc_number(row, "%s", key);
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
		     doc_number(doc, "garbage"));
}

static json_t *leak_of(json_t *doc, const char *fate)
{
	return doc_row(doc_at(doc, "rows"), "fate", fate);
}

static void check_leaks(json_t *doc)
{
	const char *lost = doc_text(leak_of(doc, "lost reference"), "type");

	leak_of(doc, "uncollectable");
	HI_ASSERT_STREQ("__main__.Loop", doc_text(leak_of(doc, "garbage"), "type"));
	/* A cycle is named by one of its objects, whichever. */
	HI_ASSERT(strcmp("__main__.Lost", lost) == 0 || strcmp("list", lost) == 0);
	HI_ASSERT(doc_number(doc, "leaks.by_fate.lost reference") >= 9000);
	HI_ASSERT_EQ(0, doc_number(doc, "leaks.by_fate.leaked"));
	HI_ASSERT(doc_number(doc, "leaks.by_fate.garbage") >=
		  (LOOPS - 2 * STALE_LOOPS) * 4000);
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

/* The collector agrees: what is garbage goes, the rest stays. */
static void check_the_collector_takes_the_garbage(const struct target *t)
{
	struct collected c = {};
	json_t *doc;
	char line[200];

	hi_fixture_tell(t->fx, "x");
	while (!c.garbage && hi_fixture_line(t->fx, line, sizeof(line)))
		take_count(line, &c);
	HI_ASSERT(c.taken >= LOOPS);
	HI_ASSERT_EQ(ASIDE + UNSEEN, c.garbage);
	doc = python_ask(t, "audit", "--all");
	HI_ASSERT_EQ(0, sum(doc, NULL, "garbage", false, "objects"));
	HI_ASSERT_EQ(ASIDE + UNSEEN,
		     sum(doc, "_cbuf.Legacy", "uncollectable", true, "objects"));
	HI_ASSERT_EQ(1, sum(doc, "__main__.Lost", "lost reference", false, "objects"));
}

static void check_a_file_keeps_what_becomes_of_garbage(const char *file)
{
	json_t *doc = python_ask_file(file, "leaks", "--all");
	const char *address = doc_text(leak_of(doc, "garbage"), "example");

	check_leaks(doc);
	doc = python_ask_file(file, "explain", address);
	HI_ASSERT_STREQ("leak", doc_text(doc, "rows.0.state"));
	HI_ASSERT_STREQ("garbage", doc_text(doc, "rows.0.fate"));
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
	HI_ASSERT_EQ(n[4], doc_number(doc, "%s", certain));
	for (size_t i = 1; i < 4; i++)
		HI_ASSERT_EQ(n[4 + i], doc_number(doc, "%s", names[i]));
}

/* The later heap is the one before the collection: its rubbish is all that is new. */
static void check_differences_tell_garbage_from_leaks(const char *a, const char *b)
{
	struct hi_command *c =
		hi_heapinspect("diff", b, a, "--by", "root", "--all", "--json");
	json_t *doc = doc_of_exit(c, 1), *row;

	hi_check_schema_of(doc, "rows.v1.json");
	check_sums(doc_at(doc, "after"), "leak", a);
	row = doc_row(doc_at(doc, "rows"), "root", "(garbage)");
	HI_ASSERT(doc_number(row, "born.bytes") > (LOOPS - STALE_LOOPS) * 4000);
	HI_ASSERT(doc_number(doc, "garbage.bytes") > (LOOPS - STALE_LOOPS) * 4000);
	row = doc_row(doc_at(doc, "new"), "type", "__main__.Loop");
	HI_ASSERT(doc_number(row, "garbage") > 0);
	HI_ASSERT_EQ(0, doc_number(row, "leaked"));
}

static void check_series_tell_garbage_from_leaks(const struct target *t)
{
	const char *file = target_snap(t, "--every", "100ms", "--for", "50ms");
	json_t *row = doc_at(python_ask_file(file, "snapshots"), "rows.0");
	struct hi_command *c;

	check_sums(row, "leaked", file);
	c = hi_heapinspect("export", file, "-f", "prometheus");
	HI_ASSERT_MSG(hi_metrics_have_value(c->out, "heapinspect_garbage_bytes",
					    doc_number(row, "garbage")),
		      "%.1500s", c->out);
	HI_ASSERT_MSG(hi_metrics_have_value(c->out, "heapinspect_leak_bytes",
					    doc_number(row, "leaked")),
		      "%.1500s", c->out);
	c = target_run(t, "census", "--every", "100ms", "--for", "50ms");
	HI_ASSERT_MSG(strstr(c->out, " garbage"), "%s", c->out);
	c = target_run(t, "census", "--every", "100ms", "--for", "50ms", "--json");
	HI_ASSERT_MSG(!strstr(c->out, "\"garbage\":0,") && strstr(c->out, "\"garbage\":"),
		      "%.600s", c->out);
}

HI_TEST_SCENARIO(python_faults, garbage_is_told_from_what_the_collector_cannot_take)
{
	struct target *t = python_start(NULL, "rubbish", NULL, NULL);
	const char *file = target_snap(t);

	check_garbage(python_ask(t, "audit", "--all"));
	check_leaks(python_ask(t, "leaks", "--all"));
	python_ask(t, "summary");
	check_a_file_keeps_what_becomes_of_garbage(file);
	check_series_tell_garbage_from_leaks(t);
	check_the_collector_takes_the_garbage(t);
	check_differences_tell_garbage_from_leaks(file, target_snap(t));
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
	json_t *cause = doc_row(doc_at(doc, "causes"), "type", "_cbuf.Holder");

	HI_ASSERT_MSG(closed <= CLOSED && closed >= CLOSED - STALE, "%lld closed",
		      closed);
	HI_ASSERT_EQ(0, sum(doc, "__main__.Closed", "garbage", false, "objects"));
	HI_ASSERT_EQ(closed, doc_number(cause, "objects"));
	HI_ASSERT_EQ(1, doc_size(doc, "causes"));
	/* Nor is that what only leads to such an object. */
	HI_ASSERT_EQ(0, sum(doc, "__main__.Open", "uncollectable", false, "objects"));
	HI_ASSERT_EQ(0, sum(doc, "__main__.Held", "uncollectable", false, "objects"));
	HI_ASSERT_EQ(0, sum(doc, "__main__.Mark", "uncollectable", false, "objects"));
	HI_ASSERT(sum(doc, "__main__.Open", "garbage", false, "objects") >= OPEN - STALE);
	HI_ASSERT(sum(doc, "__main__.Mark", "garbage", false, "objects") >=
		  CACHED - STALE_LOOPS);
}

/* The collector agrees. */
static void check_the_collector_leaves_what_it_cannot_see(const struct target *t)
{
	struct left left = {};
	char line[200];

	hi_fixture_tell(t->fx, "x");
	while (!left.said && hi_fixture_line(t->fx, line, sizeof(line)))
		take_left(line, &left);
	HI_ASSERT_EQ(CLOSED, left.closed);
	HI_ASSERT_EQ(0, left.open);
	HI_ASSERT_EQ(0, left.cached);
}

static void
check_an_object_that_counts_too_few_references_is_said_first(const struct target *t,
							     json_t *doc)
{
	/* "few ADDRESS COUNTED FOUND" */
	long long id = target_number(t, "few"), counted = target_nth(t, "few", 1),
		  found = target_nth(t, "few", 2);
	json_t *row = doc_at(doc, "short_rows.0");
	const char *address = doc_text(row, "example");
	struct hi_command *c = target_run(t, "audit");

	HI_ASSERT_EQ(1, doc_number(doc, "short_objects"));
	HI_ASSERT_EQ(1, doc_number(doc, "missing"));
	HI_ASSERT_STREQ("list", doc_text(row, "type"));
	HI_ASSERT_EQ(counted, doc_number(row, "counted"));
	HI_ASSERT_EQ(found, doc_number(row, "found"));
	HI_ASSERT_EQ(id, strtoll(address, NULL, 16));
	HI_ASSERT_EQ(1, doc_number(python_ask(t, "explain", address), "rows.0.counted"));
	HI_ASSERT_MSG(strstr(c->out, "1 object counts fewer references than"), "%s",
		      c->out);
	/* The same as a table; what has no runtime is refused, as no row means no fault.
	 */
	row = doc_at(python_ask(t, "query", "-q", "SELECT * FROM audit"), "rows.0");
	HI_ASSERT_STREQ("missing", doc_text(row, "difference"));
	HI_ASSERT_STREQ("list", doc_text(row, "type"));
	HI_ASSERT_EQ(1, doc_number(row, "objects"));
	HI_ASSERT_EQ(1, doc_number(row, "references"));
	HI_ASSERT_EQ(id, strtoll(doc_text(row, "example"), NULL, 16));
	HI_ASSERT_EQ(counted, doc_number(row, "counted"));
	HI_ASSERT_EQ(found, doc_number(row, "found"));
	c = hi_heapinspect("query", HI_SOURCE_DIR "/tests/data/v1.hisnap", "-q",
			   "SELECT count(*) FROM audit");
	HI_ASSERT_MSG(c->exit_code == 2, "exit %d: %s", c->exit_code, c->out);
}

static void check_gate(const struct target *t, const char *gate, int exit_code)
{
	struct hi_command *c =
		hi_heapinspect("check", "--pid", t->pid, "--fail-on", gate);

	HI_ASSERT_MSG(c->exit_code == exit_code, "%s: %d\n%s%s", gate, c->exit_code,
		      c->out, c->err);
}

HI_TEST_SCENARIO(python_faults, cycles_that_the_collector_cannot_see_are_uncollectable)
{
	struct target *t = python_start(NULL, "unseen", NULL, NULL);
	json_t *doc = python_ask(t, "audit", "--all");

	check_unseen(doc);
	check_an_object_that_counts_too_few_references_is_said_first(t, doc);
	check_gate(t, "uncollectable.bytes < 98 * 4000", 0);
	check_gate(t, "uncollectable.bytes > 98 * 4000", 1);
	check_gate(t, "leak.bytes > 98 * 4000", 1);
	check_gate(t, "garbage.count < 90", 0);
	check_gate(t, "lost.bytes > 0", 0);
	check_the_collector_leaves_what_it_cannot_see(t);
}

HI_TEST_SCENARIO(python_faults, gates_tell_garbage_from_leaks)
{
	struct target *clean = python_start(NULL, "clean", NULL, NULL);

	/* Garbage is all that it has. */
	check_gate(clean, "garbage.bytes < 90 * 4000", 0);
	check_gate(clean, "leak.bytes > 0", 0);
	check_gate(clean, "leak.roots > 0", 0);
	check_gate(clean, "total.bytes - live.bytes < garbage.bytes", 0);
	/* A module keeps what its dict keeps: 100 bytes objects of 10,000. */
	check_gate(clean, "root(\"module __main__\").retained < 1000000", 0);
	check_gate(clean, "root(\"module __main__\").retained < 3000000", 1);
}

/* ---- names ---- */

HI_TEST_SCENARIO(python_faults, functions_and_coroutines_that_leaked_have_names)
{
	static const char *const kinds[] = {"function", "coroutine"};
	struct target *t = python_start(NULL, "forgotten", NULL, NULL);
	json_t *roots = doc_at(python_ask(t, "leaks", "--all"), "roots");
	struct hi_command *c = target_run(t, "leaks");

	HI_ASSERT_MSG(strstr(c->out, "which is"), "%s", c->out);
	for (unsigned i = 0; i < 2; i++)
		HI_ASSERT_STREQ(kinds[i],
				doc_text(doc_row(roots, "name", target_said(t, kinds[i])),
					 "type"));
}

/* ---- the collector ---- */

static void check_collector(json_t *doc, const struct target *t)
{
	json_t *c = doc_at(doc, "runtime.collector");

	HI_ASSERT_EQ(3, doc_size(c, "thresholds"));
	HI_ASSERT_EQ(3, doc_size(c, "counts"));
	HI_ASSERT_EQ(target_number(t, "enabled"), doc_bool(c, "on"));
	for (unsigned i = 0; i < 3; i++)
		HI_ASSERT_EQ(target_nth(t, "thresholds", i),
			     doc_number(c, "thresholds.%u", i));
	/* A collection of the youngest generation goes on. */
	for (unsigned i = 1; i < 3; i++)
		HI_ASSERT_EQ(target_nth(t, "counts", i), doc_number(c, "counts.%u", i));
}

HI_TEST_SCENARIO(python_faults, a_collector_that_is_off_is_said)
{
	for (int on = 0; on < 2; on++) {
		struct target *t =
			python_start(NULL, "collector", on ? "on" : "off", NULL);

		check_collector(python_ask(t, "summary"), t);
		check_collector(python_ask_file(target_snap(t), "census"), t);
		HI_ASSERT_EQ(!on, strstr(target_run(t)->out, "garbage stays") != NULL);
		HI_ASSERT_EQ(!on, strstr(target_run(t, "audit")->out, "garbage stays") !=
					  NULL);
	}
}
