/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heaps that nothing here decodes: what is unknown is never 0. musl_static (all of
 * the heap is unknown: a program that never frees), two_heaps (a part), own_malloc
 * (another malloc than glibc's, without debug information). The truth is what they print:
 * each has leaked.
 */
#include <stdlib.h>
#include <unistd.h>

#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/metrics.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"

struct truth {
	char pid[16];
	long nodes, node_size, leaks, leak_size;
};

static void read_truth(const char *line, void *arg)
{
	struct truth *t = arg;

	if (sscanf(line, "nodes %ld %ld", &t->nodes, &t->node_size) != 2)
		(void)sscanf(line, "leaks %ld %ld", &t->leaks, &t->leak_size);
}

static struct truth start(const char *fixture)
{
	struct hi_fixture *fx = hi_fixture_start(fixture, NULL);
	struct truth t = {};

	hi_fixture_read_until(fx, "ready", read_truth, &t);
	HI_ASSERT(t.leaks > 0);
	snprintf(t.pid, sizeof(t.pid), "%d", (int)fx->pid);
	return t;
}

static json_t *parse(const struct hi_command *c)
{
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, JSON_REJECT_DUPLICATES, NULL);
	HI_ASSERT_MSG(doc, "no JSON: %.300s", c->out);
	hi_test_defer(free_json, doc);
	return doc;
}

static json_t *member(json_t *doc, const char *object, const char *key)
{
	return json_object_get(json_object_get(doc, object), key);
}

static void check_has(const char *text, const char *part)
{
	HI_ASSERT_MSG(strstr(text, part), "no \"%s\" in: %.1500s", part, text);
}

static void check_has_not(const char *text, const char *part)
{
	HI_ASSERT_MSG(!strstr(text, part), "\"%s\" in: %.1500s", part, text);
}

static const char *known_word(json_t *doc)
{
	return json_string_value(member(doc, "heap", "known"));
}

static const char *const fixtures[] = {"musl_static", "two_heaps", "own_malloc"};
enum { FIXTURES = sizeof(fixtures) / sizeof(*fixtures) };

/* ---- what people and scripts read ---- */

HI_TEST_SCENARIO(unknown_heap, leaks_are_null_and_called_unknown)
{
	for (size_t i = 0; i < FIXTURES; i++) {
		struct truth t = start(fixtures[i]);
		struct hi_command *text = hi_heapinspect("leaks", "--pid", t.pid);
		struct hi_command *c = hi_heapinspect("leaks", "--pid", t.pid, "--json");
		json_t *doc = parse(c);

		check_has_not(text->out, "No leaks;");
		check_has(text->out, "unknown");
		hi_check_schema(c, "rows.v1.json");
		HI_ASSERT(json_is_null(member(doc, "leaks", "bytes")));
		HI_ASSERT(json_is_null(member(doc, "leaks", "objects")));
		HI_ASSERT(json_is_null(member(doc, "leaks", "roots")));
		HI_ASSERT_MSG(strcmp(known_word(doc), "all") != 0, "%s", fixtures[i]);
		c = hi_heapinspect("--pid", t.pid, "--json");
		doc = parse(c);
		hi_check_schema(c, "summary.v1.json");
		HI_ASSERT(json_is_null(member(doc, "leaks", "bytes")));
		HI_ASSERT(json_is_null(member(doc, "bytes", "leak")));
		HI_ASSERT(json_is_null(member(doc, "objects", "leak")));
		check_ledger(doc);
	}
}

HI_TEST_SCENARIO(unknown_heap, what_typed_pointers_lead_to_is_a_lower_bound)
{
	struct truth t = start("musl_static");
	json_t *doc = summary_with((pid_t)atoi(t.pid), NULL);
	struct hi_command *c = hi_heapinspect("--pid", t.pid);

	check_has(c->out, "≥ ");
	check_has(c->out, "objects that typed pointers lead to");
	check_has(c->out, "lower bound");
	check_has_not(c->out, " live in ");
	check_has_not(c->out, "live heap");
	check_has_not(c->out, "typed       exactly");
	HI_ASSERT(count_of_type(doc, "struct node") <= t.nodes);
	HI_ASSERT(json_is_null(member(doc, "ledger", "leak")));
	HI_ASSERT(json_is_null(member(doc, "ledger", "free")));
	HI_ASSERT(json_is_null(member(doc, "typed", "exact")));
}

/* "N live" would be a statement about all of the heap. */
HI_TEST_SCENARIO(unknown_heap, no_headline_says_how_much_is_live)
{
	static const char *const commands[] = {"census", "retainers", "retained",
					       "waste"};
	struct truth t = start("musl_static");

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		struct hi_command *c = hi_heapinspect(commands[i], "--pid", t.pid);

		HI_ASSERT_MSG(c->exit_code == 0, "%s: %s", commands[i], c->err);
		check_has_not(c->out, " live in ");
		check_has_not(c->out, "B live;");
		check_has(c->out, "≥ ");
		check_has(c->out, "lower bound");
	}
}

/* The same program on mallocng is read: musl_static never frees, so that musl gives it
 * only what has no structure. */
HI_TEST_SCENARIO(unknown_heap, musl_that_frees_is_known)
{
	struct truth t = start("musl_dynamic");
	json_t *doc = parse(hi_heapinspect("leaks", "--pid", t.pid, "--json"));

	HI_ASSERT_STREQ("all", known_word(doc));
	HI_ASSERT_EQ(t.leaks, json_integer_value(member(doc, "leaks", "objects")));
	HI_ASSERT_EQ(t.leaks * t.leak_size,
		     json_integer_value(member(doc, "leaks", "bytes")));
	doc = parse(hi_heapinspect("--pid", t.pid, "--json"));
	HI_ASSERT_EQ(t.nodes, count_of_type(doc, "struct node"));
}

HI_TEST_SCENARIO(unknown_heap, what_glibc_leaked_beside_another_heap_is_said)
{
	struct truth t = start("two_heaps");
	json_t *doc = parse(hi_heapinspect("leaks", "--pid", t.pid, "--json"));
	json_t *at_least = member(doc, "leaks", "at_least");
	struct hi_command *c = hi_heapinspect("leaks", "--pid", t.pid);

	HI_ASSERT_STREQ("part", known_word(doc));
	HI_ASSERT_EQ(t.leaks, json_integer_value(json_object_get(at_least, "objects")));
	/* A chunk of 208 bytes for each 200. */
	HI_ASSERT_EQ(t.leaks * (t.leak_size + 8),
		     json_integer_value(json_object_get(at_least, "bytes")));
	HI_ASSERT(json_integer_value(member(doc, "heap", "outside_objects")) >= t.nodes);
	check_has(c->out, "in 50 objects under 50 roots");
	check_has(c->out, "others are unknown");
	check_has(hi_heapinspect("--pid", t.pid)->out, "other leaks are");
}

/* ---- runtimes ---- */

/* A program that has only the names of an interpreter, and what stdio allocates. */
static json_t *inspect_python(const char *fixture, const char *kind, char **text_ret)
{
	struct hi_fixture *fx = hi_fixture_start(fixture, kind, NULL);
	struct hi_command *c;
	char pid[16];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_heapinspect("--pid", pid);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	*text_ret = c->out;
	return parse(hi_heapinspect("--pid", pid, "--json"));
}

HI_TEST_SCENARIO(unknown_heap, a_runtime_that_is_not_decoded_makes_leaks_unknown)
{
	static const struct {
		const char *fixture, *kind, *name;
	} those[] = {{"python_unknown", "unknown", "CPython"},
		     {"python_unknown", "free-threaded", "CPython"},
		     {"python_silent", NULL, "CPython"},
		     {"python_old", NULL, "CPython"},
		     {"python_pypy", NULL, "PyPy"}};

	for (size_t i = 0; i < sizeof(those) / sizeof(*those); i++) {
		char *text;
		json_t *doc = inspect_python(those[i].fixture, those[i].kind, &text);

		HI_ASSERT_STREQ("part", known_word(doc));
		HI_ASSERT_STREQ(those[i].name,
				json_string_value(member(doc, "heap", "not_decoded")));
		HI_ASSERT(json_is_null(member(doc, "leaks", "bytes")));
		check_has_not(text, "no leaks");
		check_has(text, "leaks: none in");
		check_has(text, "its heap is not decoded");
	}
}

HI_TEST_SCENARIO(unknown_heap, a_library_that_was_never_initialised_hides_nothing)
{
	char *text;
	json_t *doc = inspect_python("python_silent", "unused", &text);

	HI_ASSERT_STREQ("all", known_word(doc));
	check_has(text, "no leaks");
	check_has_not(text, "CPython");
}

/* ---- gates and metrics ---- */

static void check_gate_fails(const struct hi_command *c)
{
	HI_ASSERT_MSG(c->exit_code == 1, "exit %d: %s%s", c->exit_code, c->out, c->err);
	check_has(c->out, "FAILED");
	check_has(c->out, "unknown");
}

HI_TEST_SCENARIO(unknown_heap, a_gate_over_what_is_unknown_fails)
{
	static const char *const gates[] = {
		"leak.bytes > 0",    "leak.count > 1000000",
		"leak.roots < 0",    "total.bytes > 1TiB",
		"live.bytes > 1TiB", "ledger(\"leak\").bytes > 1TiB"};

	char *in = snapshot_directory();

	for (size_t i = 0; i < FIXTURES; i++) {
		struct truth t = start(fixtures[i]);
		char file[128];
		struct hi_command *c;

		snprintf(file, sizeof(file), "%s/%s.hisnap", in, fixtures[i]);
		c = hi_heapinspect("snap", "--pid", t.pid, "-o", file);
		HI_ASSERT_EQ(0, c->exit_code);
		for (size_t g = 0; g < sizeof(gates) / sizeof(*gates); g++)
			check_gate_fails(
				hi_heapinspect("check", file, "--fail-on", gates[g]));
		check_gate_fails(hi_heapinspect("check", "--pid", t.pid, "--fail-on",
						"leak.bytes > 0"));
		check_gate_fails(hi_heapinspect("check", file, "--baseline", file,
						"--fail-on", "growth(leak.bytes) > 5%"));
		c = hi_heapinspect("check", file, "--json", "--fail-on",
				   "leak.bytes > 0");
		HI_ASSERT_EQ(1, c->exit_code);
		check_has(c->out, "\"known\": false");
		c->exit_code = 0;
		hi_check_schema(c, "rows.v1.json");
		c = hi_heapinspect("check", file, "--fail-on", "snapshot.pause > 1000s");
		HI_ASSERT_EQ(0, c->exit_code);
	}
}

HI_TEST_SCENARIO(unknown_heap, metrics_have_no_leaks_instead_of_none)
{
	struct truth t = start("musl_static");
	struct hi_command *c =
		hi_heapinspect("export", "-f", "prometheus", "--pid", t.pid);

	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_MSG(!hi_metrics_have(c->out, "heapinspect_leak_bytes"), "%s", c->out);
	HI_ASSERT_MSG(!hi_metrics_have(c->out, "heapinspect_leak_objects"), "%s", c->out);
	HI_ASSERT_MSG(hi_metrics_have(c->out, "heapinspect_live_bytes"), "%s", c->out);
	HI_ASSERT_MSG(hi_metrics_have_value(c->out, "heapinspect_heap_known", 0), "%s",
		      c->out);
	check_has(c->err, "leaks there are unknown");
	c = hi_heapinspect("export", "-f", "hp", "--pid", t.pid);
	check_has(c->out, "lower bound");
}

/* ---- files, series, queries ---- */

/* No rows would be read as none. */
static void check_query_refused(const char *file, const char *sql)
{
	struct hi_command *c = hi_heapinspect("query", file, "-q", sql);

	HI_ASSERT_MSG(c->exit_code == 2, "%s: exit %d: %s", sql, c->exit_code, c->out);
	check_has(c->err, "leaks are unknown");
}

HI_TEST_SCENARIO(unknown_heap, a_file_keeps_that_it_is_unknown)
{
	struct truth t = start("musl_static");
	char file[128];
	struct hi_command *c;
	json_t *doc;

	snprintf(file, sizeof(file), "%s/musl.hisnap", snapshot_directory());
	HI_ASSERT_EQ(0, hi_heapinspect("snap", "--pid", t.pid, "-o", file)->exit_code);
	doc = parse(hi_heapinspect("leaks", file, "--json"));
	HI_ASSERT(json_is_null(member(doc, "leaks", "bytes")));
	HI_ASSERT_STREQ("none", known_word(doc));
	doc = parse(hi_heapinspect("snapshots", file, "--json"));
	HI_ASSERT(json_is_null(json_object_get(
		json_array_get(json_object_get(doc, "rows"), 0), "leaked")));
	c = hi_heapinspect("diff", file, file);
	HI_ASSERT_EQ(0, c->exit_code);
	check_has(c->out, "No difference in the known part");
	c = hi_heapinspect("query", file, "-q", "-f", "csv",
			   "SELECT resident IS NULL, count IS NULL FROM ledger WHERE "
			   "key IN ('leak', 'free')");
	check_has(c->out, "1,1\n1,1\n");
	c = hi_heapinspect("query", file, "-q", "-f", "csv", "--root", "l=list",
			   "SELECT bytes IS NULL FROM bins WHERE bin = 'LEAK'");
	check_has(c->out, "\n1\n");
	check_query_refused(file, "SELECT count(*) FROM objects WHERE state = 'leak'");
	check_query_refused(file, "SELECT sum(state = 'leak') FROM objects");
	check_query_refused(file, "WITH o AS (SELECT state AS s FROM objects) SELECT "
				  "count(*) FROM o WHERE s IN ('leak', 'x')");
	check_query_refused(file,
			    "SELECT count(*) FROM objects WHERE verdict = 'likely'");
	HI_ASSERT_EQ(0,
		     hi_heapinspect("query", file, "-q",
				    "SELECT count(*) FROM objects WHERE state = 'live'")
			     ->exit_code);
	doc = parse(hi_heapinspect("roots", file, "--root", "l=list", "--json"));
	HI_ASSERT(json_is_null(json_object_get(
		json_array_get(json_object_get(doc, "rows"), 2), "bytes")));
}

HI_TEST_SCENARIO(unknown_heap, a_series_keeps_that_it_is_unknown)
{
	struct truth t = start("musl_static");
	char file[128], hp[128], shell[400], *in = snapshot_directory();
	struct hi_command *c;
	json_t *doc;

	snprintf(file, sizeof(file), "%s/series.hisnap", in);
	snprintf(hp, sizeof(hp), "%s/series.hp", in);
	c = hi_heapinspect("census", "--pid", t.pid, "--json", "--every", "100ms",
			   "--for", "50ms", "--hp", hp);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	*strchr(c->out, '\n') = 0;
	doc = parse(c);
	HI_ASSERT(json_is_null(json_object_get(doc, "leaked")));
	HI_ASSERT(json_is_true(json_object_get(doc, "lower_bound")));
	snprintf(shell, sizeof(shell), "head -1 %s", hp);
	check_has(hi_command_run(0, "sh", "-c", shell, NULL)->out, "lower bound");
	c = hi_heapinspect("retainers", "--pid", t.pid, "--json", "--every", "100ms",
			   "--for", "50ms");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	c = hi_heapinspect("snap", "--pid", t.pid, "-o", file, "--every", "100ms",
			   "--for", "50ms");
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	doc = parse(hi_heapinspect("snapshots", file, "--json"));
	HI_ASSERT(json_is_null(json_object_get(
		json_array_get(json_object_get(doc, "rows"), 0), "leaked")));
	c = hi_heapinspect("export", file, "-f", "prometheus");
	HI_ASSERT_MSG(!hi_metrics_have(c->out, "heapinspect_leak_bytes"), "%s", c->out);
	HI_ASSERT_MSG(hi_metrics_have(c->out, "heapinspect_live_bytes"), "%s", c->out);
}

/* Ten and more records of it are a great part of a small program's objects. */
HI_TEST_SCENARIO(unknown_heap, memory_of_the_dynamic_linker_is_no_heap_beside)
{
	struct hi_fixture *fx = hi_fixture_start("typing_threads", NULL);
	char pid[16];
	json_t *doc;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	doc = parse(hi_heapinspect("--pid", pid, "--json"));
	HI_ASSERT_STREQ("all", json_string_value(member(doc, "heap", "known")));
	HI_ASSERT(json_is_integer(member(doc, "leaks", "bytes")));
}

/* ---- what is there and not in use ---- */

HI_TEST_SCENARIO(unknown_heap, an_allocator_that_is_not_used_hides_nothing)
{
	struct hi_fixture *unused = hi_fixture_start("mimalloc_inside", NULL);
	struct hi_fixture *used = hi_fixture_start("mimalloc_inside", "1", NULL);

	hi_fixture_read_until(unused, "ready", NULL, NULL);
	hi_fixture_read_until(used, "ready", NULL, NULL);
	HI_ASSERT_STREQ("all", known_word(summary_with(unused->pid, NULL)));
	HI_ASSERT_STREQ("part", known_word(summary_with(used->pid, NULL)));
}
