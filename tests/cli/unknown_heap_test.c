/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heaps that nothing here decodes: what is unknown is never 0. musl_static (all of
 * the heap is unknown: a program that never frees), two_heaps (a part), own_malloc
 * (another malloc than glibc's, without debug information). The truth is what they print:
 * each has leaked.
 */
#include "tests/cli/summary.h"
#include "tests/support/metrics.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"
#include "tests/support/targets.h"

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
	return doc_text(doc, "heap.known");
}

static long leaks_of(const struct target *t, long *size_ret)
{
	long n;

	HI_ASSERT_EQ(2, sscanf(target_said(t, "leaks"), "%ld %ld", &n, size_ret));
	HI_ASSERT(n > 0);
	return n;
}

/* ---- what people and scripts read ---- */

static void check_leaks_are_null_and_called_unknown(const struct target *t)
{
	struct hi_command *text = target_run(t, "leaks");
	struct hi_command *c = target_run(t, "leaks", "--json");
	json_t *doc = doc_of(c);

	HI_ASSERT(target_number(t, "leaks") > 0);
	check_has_not(text->out, "No leaks;");
	check_has(text->out, "unknown");
	hi_check_schema(c, "rows.v1.json");
	HI_ASSERT(doc_is_null(doc, "leaks.bytes"));
	HI_ASSERT(doc_is_null(doc, "leaks.objects"));
	HI_ASSERT(doc_is_null(doc, "leaks.roots"));
	HI_ASSERT(strcmp(known_word(doc), "all") != 0);
	c = target_run(t, "--json");
	doc = doc_of(c);
	hi_check_schema(c, "summary.v1.json");
	HI_ASSERT(doc_is_null(doc, "leaks.bytes"));
	HI_ASSERT(doc_is_null(doc, "bytes.leak"));
	HI_ASSERT(doc_is_null(doc, "objects.leak"));
	check_ledger(doc);
}

static void check_what_typed_pointers_lead_to_is_a_lower_bound(const struct target *t)
{
	json_t *doc = target_ask(t, "--all", "--max-pause=30s");
	struct hi_command *c = target_run(t);

	check_has(c->out, "≥ ");
	check_has(c->out, "objects that typed pointers lead to");
	check_has(c->out, "lower bound");
	check_has_not(c->out, " live in ");
	check_has_not(c->out, "live heap");
	check_has_not(c->out, "typed       exactly");
	HI_ASSERT(count_of_type(doc, "struct node") <= target_number(t, "nodes"));
	HI_ASSERT(doc_is_null(doc, "ledger.leak"));
	HI_ASSERT(doc_is_null(doc, "ledger.free"));
	HI_ASSERT(doc_is_null(doc, "typed.exact"));
}

/* "N live" would be a statement about all of the heap. */
static void check_no_headline_says_how_much_is_live(const struct target *t)
{
	static const char *const commands[] = {"census", "retainers", "retained",
					       "waste"};

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		struct hi_command *c = target_run(t, commands[i]);

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
	struct target *t = target_start("musl_dynamic", NULL);
	json_t *doc = target_ask(t, "leaks");
	long size, leaks = leaks_of(t, &size);

	HI_ASSERT_STREQ("all", known_word(doc));
	HI_ASSERT_EQ(leaks, doc_number(doc, "leaks.objects"));
	HI_ASSERT_EQ(leaks * size, doc_number(doc, "leaks.bytes"));
	doc = target_ask(t);
	HI_ASSERT_EQ(target_number(t, "nodes"), count_of_type(doc, "struct node"));
}

static void check_what_glibc_leaked_beside_another_heap_is_said(const struct target *t)
{
	json_t *doc = target_ask(t, "leaks");
	struct hi_command *c = target_run(t, "leaks");
	long size, leaks = leaks_of(t, &size);

	HI_ASSERT_STREQ("part", known_word(doc));
	HI_ASSERT_EQ(leaks, doc_number(doc, "leaks.at_least.objects"));
	/* A chunk of 208 bytes for each 200. */
	HI_ASSERT_EQ(leaks * (size + 8), doc_number(doc, "leaks.at_least.bytes"));
	HI_ASSERT(doc_number(doc, "heap.outside_objects") >= target_number(t, "nodes"));
	check_has(c->out, "in 50 objects under 50 roots");
	check_has(c->out, "others are unknown");
	check_has(target_run(t)->out, "other leaks are");
}

/* ---- runtimes ---- */

/* A program that has only the names of an interpreter, and what stdio allocates. */
static json_t *inspect_python(const char *fixture, const char *kind, char **text_ret)
{
	struct target *t = target_start(fixture, kind, NULL);

	*text_ret = target_run(t)->out;
	return target_ask(t);
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
		HI_ASSERT_STREQ(those[i].name, doc_text(doc, "heap.not_decoded"));
		HI_ASSERT(doc_is_null(doc, "leaks.bytes"));
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

static void check_a_gate_over_what_is_unknown_fails(const struct target *t,
						    const char *file)
{
	static const char *const gates[] = {
		"leak.bytes > 0",    "leak.count > 1000000",
		"leak.roots < 0",    "total.bytes > 1TiB",
		"live.bytes > 1TiB", "ledger(\"leak\").bytes > 1TiB"};

	struct hi_command *c;

	for (size_t g = 0; g < sizeof(gates) / sizeof(*gates); g++)
		check_gate_fails(hi_heapinspect("check", file, "--fail-on", gates[g]));
	check_gate_fails(
		hi_heapinspect("check", "--pid", t->pid, "--fail-on", "leak.bytes > 0"));
	check_gate_fails(hi_heapinspect("check", file, "--baseline", file, "--fail-on",
					"growth(leak.bytes) > 5%"));
	c = hi_heapinspect("check", file, "--json", "--fail-on", "leak.bytes > 0");
	HI_ASSERT_EQ(1, c->exit_code);
	check_has(c->out, "\"known\": false");
	c->exit_code = 0;
	hi_check_schema(c, "rows.v1.json");
	c = hi_heapinspect("check", file, "--fail-on", "snapshot.pause > 1000s");
	HI_ASSERT_EQ(0, c->exit_code);
}

static void check_metrics_have_no_leaks_instead_of_none(const struct target *t)
{
	struct hi_command *c = target_run(t, "export", "-f", "prometheus");

	HI_ASSERT_MSG(!hi_metrics_have(c->out, "heapinspect_leak_bytes"), "%s", c->out);
	HI_ASSERT_MSG(!hi_metrics_have(c->out, "heapinspect_leak_objects"), "%s", c->out);
	HI_ASSERT_MSG(hi_metrics_have(c->out, "heapinspect_live_bytes"), "%s", c->out);
	HI_ASSERT_MSG(hi_metrics_have_value(c->out, "heapinspect_heap_known", 0), "%s",
		      c->out);
	check_has(c->err, "leaks there are unknown");
	c = target_run(t, "export", "-f", "hp");
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

static void check_a_file_keeps_that_it_is_unknown(const char *file)
{
	struct hi_command *c;
	json_t *doc;

	doc = doc_of(hi_heapinspect("leaks", file, "--json"));
	HI_ASSERT(doc_is_null(doc, "leaks.bytes"));
	HI_ASSERT_STREQ("none", known_word(doc));
	doc = doc_of(hi_heapinspect("snapshots", file, "--json"));
	HI_ASSERT(doc_is_null(doc, "rows.0.leaked"));
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
	doc = doc_of(hi_heapinspect("roots", file, "--root", "l=list", "--json"));
	HI_ASSERT(doc_is_null(doc, "rows.2.bytes"));
}

static void check_a_series_keeps_that_it_is_unknown(const struct target *t)
{
	char *in = snapshot_directory(), shell[400];
	const char *file = snapshot_path(in, "series.hisnap");
	const char *hp = snapshot_path(in, "series.hp");
	struct hi_command *c;
	json_t *doc;

	c = target_run(t, "census", "--json", "--every", "100ms", "--for", "50ms", "--hp",
		       hp);
	*strchr(c->out, '\n') = 0;
	doc = doc_of(c);
	HI_ASSERT(doc_is_null(doc, "leaked"));
	HI_ASSERT(doc_bool(doc, "lower_bound"));
	snprintf(shell, sizeof(shell), "head -1 %s", hp);
	check_has(hi_command_run(0, "sh", "-c", shell, NULL)->out, "lower bound");
	target_run(t, "retainers", "--json", "--every", "100ms", "--for", "50ms");
	target_run(t, "snap", "-o", file, "--every", "100ms", "--for", "50ms");
	doc = doc_of(hi_heapinspect("snapshots", file, "--json"));
	HI_ASSERT(doc_is_null(doc, "rows.0.leaked"));
	c = hi_heapinspect("export", file, "-f", "prometheus");
	HI_ASSERT_MSG(!hi_metrics_have(c->out, "heapinspect_leak_bytes"), "%s", c->out);
	HI_ASSERT_MSG(hi_metrics_have(c->out, "heapinspect_live_bytes"), "%s", c->out);
}

/* Up to which byte: within a page of what the kernel gave it. */
static void check_the_malloc_that_never_frees_is_named(const struct target *t)
{
	struct hi_command *c = target_run(t, "--json");
	const char *at = strstr(c->out, " bytes are handed");
	char path[40], line[512] = "";
	unsigned long start = 0, end = 0, bytes;
	FILE *maps;

	check_has(c->out, "the program never calls");
	check_has_not(c->out, "a check of its layout failed");
	HI_ASSERT_MSG(at, "%.1500s", c->out);
	while (at > c->out && at[-1] >= '0' && at[-1] <= '9')
		at--;
	bytes = strtoul(at, NULL, 10);
	snprintf(path, sizeof(path), "/proc/%s/maps", t->pid);
	maps = fopen(path, "r");
	HI_ASSERT(maps);
	while (!strstr(line, "[heap]") && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx", &start, &end) != 2)
			start = end = 0;
	fclose(maps);
	HI_ASSERT_MSG(bytes <= end - start && bytes + 4096 > end - start, "%lu of %lu",
		      bytes, end - start);
}

HI_TEST_SCENARIO(unknown_heap, heap_of_musl_without_any_free_is_unknown)
{
	struct target *t = target_start("musl_static", NULL);
	const char *file = target_snap(t);

	check_the_malloc_that_never_frees_is_named(t);
	check_leaks_are_null_and_called_unknown(t);
	check_what_typed_pointers_lead_to_is_a_lower_bound(t);
	check_no_headline_says_how_much_is_live(t);
	check_a_gate_over_what_is_unknown_fails(t, file);
	check_metrics_have_no_leaks_instead_of_none(t);
	check_a_file_keeps_that_it_is_unknown(file);
	check_a_series_keeps_that_it_is_unknown(t);
}

HI_TEST_SCENARIO(unknown_heap, one_of_two_heaps_is_unknown)
{
	struct target *t = target_start("two_heaps", NULL);

	check_leaks_are_null_and_called_unknown(t);
	check_what_glibc_leaked_beside_another_heap_is_said(t);
	check_a_gate_over_what_is_unknown_fails(t, target_snap(t));
}

HI_TEST_SCENARIO(unknown_heap, leaks_of_an_unknown_malloc_are_unknown)
{
	struct target *t = target_start("own_malloc", NULL);

	check_leaks_are_null_and_called_unknown(t);
	check_a_gate_over_what_is_unknown_fails(t, target_snap(t));
}

/* Ten and more records of it are a great part of a small program's objects. */
HI_TEST_SCENARIO(unknown_heap, memory_of_the_dynamic_linker_is_no_heap_beside)
{
	json_t *doc = target_ask(target_start("typing_threads", NULL));

	HI_ASSERT_STREQ("all", doc_text(doc, "heap.known"));
	HI_ASSERT(doc_number(doc, "leaks.bytes") >= 0);
}

/* ---- what is there and not in use ---- */

HI_TEST_SCENARIO(unknown_heap, an_allocator_that_is_not_used_hides_nothing)
{
	struct target *unused = target_start("mimalloc_inside", NULL);
	struct target *used = target_start("mimalloc_inside", "1", NULL);

	HI_ASSERT_STREQ("all", known_word(target_ask(unused)));
	HI_ASSERT_STREQ("part", known_word(target_ask(used)));
}
