/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stopping at a place, as people ask for it. fixtures/marker_rounds.c has 1000 to 1009
 * nodes when it calls at_full, and anything up to twice as many at other times: only a
 * stop at the very call sees so many.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cli/summary.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/schema.h"
#include "tests/support/stopping.h"
#include "tests/support/targets.h"
#include "tests/support/temporary.h"
#include "tests/support/workshop.h"

#define PROGRAM HI_BINARY_DIR "/heapinspect"
#define PYTHON "/usr/bin/python3.11"

static struct hi_fixture *target;

/* mode: "free" or NULL. */
static const char *start_rounds(const char *mode)
{
	struct target *t = target_start("marker_rounds", mode, NULL);

	target = t->fx;
	return t->pid;
}

/* "rows" of a census, or of a sample of a series. */
static long long nodes_in(json_t *doc)
{
	long long sum = 0;
	json_t *row;

	doc_each (row, doc_at(doc, "rows")) {
		const char *type = json_string_value(doc_find(row, "type"));
		const char *name = json_string_value(doc_find(row, "name"));

		if (type && strcmp(type, "struct node") == 0)
			sum += doc_number(row, "count");
		if (name && strcmp(name, "struct node") == 0)
			sum += doc_number(row, "objects");
	}
	return sum;
}

static void check_one_line(const struct hi_command *c, const char *word)
{
	HI_ASSERT_MSG(strncmp(c->err, "heapinspect: ", 13) == 0, "%s", c->err);
	HI_ASSERT_MSG(strchr(c->err, '\n') == c->err + c->err_size - 1, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, word) != NULL, "no \"%s\" in: %s", word, c->err);
	HI_ASSERT_EQ(0, c->out_size);
}

static void check_untouched(void)
{
	hi_test_expect_free(target->pid, "SRD");
}

/* ---- what is wrong ---- */

HI_TEST_SCENARIO(safepoints, wrong_arguments_are_named_in_one_line_with_exit_code_2)
{
	static const struct {
		const char *argv[7], *word;
	} cases[] = {
		{{"--pid", "1", "--at", ""}, "--at"},
		{{"--pid", "1", "--at", "usdt:x"}, "usdt:"},
		{{"--pid", "1", "--at", "serverCron if"}, "a condition is expected"},
		{{"--pid", "1", "--at", "serverCron if "}, "a condition is expected"},
		{{"--pid", "1", "--at", "every:10"}, "--at FUNCTION"},
		{{"--pid", "1", "--at", "every:0", "--at", "f"}, "every:0"},
		{{"--pid", "1", "--at", "every:x", "--at", "f"}, "every:x"},
		{{"--pid", "1", "--at", "every:2", "--at", "every:3"}, "given twice"},
		{{"--pid", "1", "--at", "every:2", "--at", "now"}, "--at now"},
		{{"--pid", "1", "--at", "f", "--at", "g"}, "given twice"},
		{{"--pid", "1", "--timeout", "5s"}, "only with --at"},
		{{"--pid", "1", "--timeout", "5s", "--at", "now"}, "--at now"},
		{{"--pid", "1", "--timeout", "5", "--at", "f"}, "30s"},
		{{"--pid", "1", "--snapshot", "clone"}, "auto, copy, fork"},
		{{"--pid", "1", "--max-image", "much"}, "512MiB"},
		{{"--pid", "1", "--max-image", "1G", "--snapshot", "copy"}, "copy"},
		{{"--core", "x", "--at", "gc"}, "--at: only with --pid"},
		{{"--core", "x", "--at", "every:2"}, "--at: only with --pid"},
		{{"--core", "x", "--snapshot", "fork"}, "--snapshot: only with --pid"},
		{{"--core", "x", "--max-image", "1G"}, "--max-image: only with --pid"},
		{{"census", "--pid", "1", "--for", "2s"}, "--at"},
		{{"census", "--pid", "1", "--for", "2s", "--at=now"}, "--every"},
		{{"census", "--pid", "1", "--hp", "x", "--at=f"}, "--for"},
		{{"census", "--core", "x", "--for", "2s", "--at=f"}, "--pid"},
		{{"safepoints"}, "--pid"},
		{{"safepoints", "--pid", "1", "--for", "5"}, "--for 5"},
		{{"safepoints", "--pid", "1", "more"}, "more"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *argv[10] = {(char *)(uintptr_t)PROGRAM};
		struct hi_command *c;

		for (int k = 0; k < 7 && cases[i].argv[k]; k++)
			argv[k + 1] = (char *)(uintptr_t)cases[i].argv[k];
		c = hi_command_runv(0, argv);
		HI_ASSERT_MSG(c->exit_code == 2, "%zu: exit %d: %s", i, c->exit_code,
			      c->err);
		check_one_line(c, cases[i].word);
	}
}

HI_TEST_SCENARIO(safepoints, unknown_safepoint_is_named_with_exit_code_2)
{
	static const struct {
		const char *at, *word;
	} cases[] = {
		{"at_ful", "at_full"}, /* the nearest */
		{"usdt:nobody:nothing", "nobody"},
		{"gc", "runtime"},
		{"marker_rounds.c:100000", "marker_rounds.c"},
	};
	const char *pid = start_rounds(NULL);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hi_command *c = hi_heapinspect("--pid", pid, "--at", cases[i].at);

		HI_ASSERT_MSG(c->exit_code == 2, "%s: exit %d: %s", cases[i].at,
			      c->exit_code, c->err);
		check_one_line(c, cases[i].word);
	}
	check_untouched();
}

/* ---- waiting ---- */

static void check_nobody_comes_by_and_the_time_is_over(const char *pid)
{
	struct hi_command *c = hi_heapinspect("--pid", pid, "--at", "never_called",
					      "--timeout=300ms", "-q");

	HI_ASSERT_EQ(124, c->exit_code);
	check_one_line(c, "never_called");
	HI_ASSERT_MSG(strstr(c->err, "nothing was stopped"), "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, "not reached"), "%s", c->err);
	check_untouched();
	c = hi_heapinspect("--pid", pid, "--at", "never_called", "--timeout=300ms");
	HI_ASSERT_EQ(124, c->exit_code);
	HI_ASSERT_MSG(strncmp(c->err, "heapinspect: waiting for never_called", 37) == 0,
		      "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, " in marker_rounds; ^C ends it\n"), "%s", c->err);
	c = hi_heapinspect("census", "--pid", pid, "--at", "never_called", "--for=300ms",
			   "-q");
	HI_ASSERT_EQ(124, c->exit_code);
	check_one_line(c,
		       "(--for 300.00 ms) without a sample: the place was not reached");
}

/* Everything took longer than --timeout, but there was a stop. */
static void check_a_pause_that_was_too_long_is_no_safepoint_missed(const char *pid)
{
	struct hi_command *c = hi_heapinspect("--pid", pid, "--at", "at_full",
					      "--timeout=60s", "--max-pause=1us", "-q");

	HI_ASSERT_MSG(c->exit_code == 124, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(!strstr(c->err, "nothing was stopped"), "%s", c->err);
	check_one_line(c, "budget");
	check_untouched();
}

static void check_a_condition_that_never_holds_is_told_with_the_hits(const char *pid)
{
	static const char words[] = "without the condition: ";
	static const char *const times[] = {"--timeout=500ms", "--timeout=5s",
					    "--timeout=60s"};
	const char *hits = NULL;
	struct hi_command *c = NULL;

	/* Until it had the processor at all. */
	for (int i = 0; i < 3 && !hits; i++) {
		c = hi_heapinspect("--pid", pid, "--at", "at_full if digit == 77",
				   times[i], "-q");
		HI_ASSERT_MSG(c->exit_code == 124, "exit %d: %s", c->exit_code, c->err);
		hits = strstr(c->err, words);
	}
	HI_ASSERT_MSG(hits, "%s", c->err);
	HI_ASSERT_MSG(strtol(hits + strlen(words), NULL, 10) > 0, "%s", c->err);
	check_untouched();
}

/* Does the tracer, with the probe armed, wait in ppoll(2) and the target run on? */
static bool is_waited_for(void)
{
	long long tracer = hi_process_status(target->pid, "TracerPid");
	char path[64], state = hi_process_state(target->pid);
	int call = -1;
	FILE *in;

	if (tracer <= 0 || state == 't')
		return false;
	snprintf(path, sizeof(path), "/proc/%lld/syscall", tracer);
	in = fopen(path, "r");
	if (in && fscanf(in, "%d", &call) != 1)
		call = -1;
	if (in)
		fclose(in);
	return call == SYS_ppoll;
}

/* Until it is so, and stays so: a stop of before may just be ending. */
static void await_waiting(void)
{
	unsigned times = 0;

	for (int i = 0; i < 12000 && times < 20; i++) {
		times = is_waited_for() ? times + 1 : 0;
		hi_test_sleep_us(5000);
	}
	HI_ASSERT_MSG(times == 20, "nobody waits for %d", (int)target->pid);
}

static long order_rounds(long n)
{
	char line[64];
	long round = -1;

	snprintf(line, sizeof(line), "rounds %ld", n);
	hi_fixture_tell(target, line);
	HI_ASSERT(hi_fixture_line(target, line, sizeof(line)));
	HI_ASSERT_EQ(1, sscanf(line, "done %ld", &round));
	return round;
}

static void check_an_interrupt_while_waiting_leaves_no_trace(const char *pid)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGKILL};

	for (size_t i = 0; i < 3; i++) {
		struct hi_fixture *waiting = hi_fixture_start(
			PROGRAM, "--pid", pid, "--at", "at_full", "-q", NULL);
		int status;

		await_waiting();
		kill(waiting->pid, signals[i]);
		status = hi_fixture_end(waiting);
		HI_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
		check_untouched();
		order_rounds(3); /* it runs, and nothing stops it */
		check_untouched();
	}
}

HI_TEST_ROOT(safepoints, waiting_leaves_no_trace)
{
	const char *pid = start_rounds(NULL);

	check_nobody_comes_by_and_the_time_is_over(pid);
	check_an_interrupt_while_waiting_leaves_no_trace(pid);
}

/* ---- the very place ---- */

static void check_the_heap_is_as_it_is_at_the_call(const char *pid)
{
	for (int i = 0; i < 8; i++) {
		struct hi_command *c = hi_heapinspect(
			"census", "--pid", pid, "--at", "at_full", "--timeout=60s",
			"--max-pause=20s", "--json", "--all");
		json_t *doc = doc_of(c);
		long long n = nodes_in(doc);

		HI_ASSERT_MSG(n >= 1000 && n <= 1009, "%lld nodes", n);
		HI_ASSERT_STREQ("at_full", doc_text(doc, "snapshot.safepoint"));
		HI_ASSERT_STREQ("at", doc_text(doc, "snapshot.stop.landing"));
		HI_ASSERT_EQ(target->pid, doc_number(doc, "snapshot.stop.thread"));
		HI_ASSERT_STREQ("at_full", doc_text(doc, "snapshot.stop.place.function"));
		HI_ASSERT_STREQ("marker_rounds",
				doc_text(doc, "snapshot.stop.place.module"));
		if (i == 0)
			hi_check_schema(c, "rows.v1.json");
	}
	check_untouched();
}

static void check_a_condition_picks_the_call(const char *pid)
{
	static const char *const conditions[] = {"at_full if digit == 7",
						 "at_full if last_digit == 7",
						 "at_full if held == 1007"};

	for (size_t i = 0; i < 3; i++) {
		json_t *doc = doc_of(hi_heapinspect("census", "--pid", pid, "--at",
						    conditions[i], "--timeout=60s",
						    "--json", "--all"));

		HI_ASSERT_MSG(nodes_in(doc) == 1007, "%s: %lld nodes", conditions[i],
			      nodes_in(doc));
	}
}

HI_TEST_ROOT(safepoints, every_nth_time_is_counted_from_the_waiting_on)
{
	const char *pid = start_rounds(NULL);
	struct hi_fixture *waiting = hi_fixture_start(
		PROGRAM, "census", "--pid", pid, "--at", "at_full", "--at", "every:4",
		"--timeout=60s", "--json", "--all", "-q", NULL);
	char text[1 << 16] = "", line[4096];

	await_waiting();
	HI_ASSERT_EQ(3, order_rounds(3));
	await_waiting(); /* still */
	HI_ASSERT_EQ(5, order_rounds(2));
	while (hi_fixture_line(waiting, line, sizeof(line)))
		strncat(text, line, sizeof(text) - strlen(text) - 1);
	HI_ASSERT_EQ(0, hi_fixture_end(waiting));
	/* The fourth one is round 3. */
	HI_ASSERT_EQ(1003, nodes_in(doc_parse(text)));
}

/* ---- series ---- */

/* Samples until the end; each has as many nodes as a call. The last line's end. */
static int check_samples(const struct hi_command *c, char end[16])
{
	json_t *lines = doc_lines(c->out), *doc;
	int n = 0;

	doc_each (doc, lines) {
		long long nodes;

		snprintf(end, 16, "%s", doc_find(doc, "end") ? doc_text(doc, "end") : "");
		if (*end)
			continue;
		nodes = nodes_in(doc);
		HI_ASSERT_MSG(nodes >= 1000 && nodes <= 1009, "%lld nodes", nodes);
		HI_ASSERT_STREQ("at", doc_text(doc, "stop.landing"));
		n++;
	}
	return n;
}

/* Of a series at the call with two more words, of which the last says for how long. It
 * may be over before its first sample: 124. */
static int sample(const char *pid, const char *word, const char *span)
{
	struct hi_command *c = hi_heapinspect("census", "--pid", pid, "--at", "at_full",
					      "--json", word, span);
	char end[16] = "";
	int n;

	if (c->exit_code == 124 && strstr(c->err, "without a sample"))
		return 0;
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	n = check_samples(c, end);
	HI_ASSERT_STREQ("over", end);
	return n;
}

static void check_a_series_at_each_hit(const char *pid)
{
	static const char *const spans[] = {"--for=2s", "--for=20s", "--for=100s"};
	int n = 0;

	/* Where a census takes long there are three only in a longer time. */
	for (int i = 0; i < 3 && n < 3; i++)
		n = sample(pid, "-q", spans[i]);
	HI_ASSERT_MSG(n >= 3, "%d samples", n);
	check_untouched();
}

static void check_a_series_of_intervals_takes_the_next_hit(const char *pid)
{
	static const char *const spans[][2] = {{"--every=500ms", "--for=1800ms"},
					       {"--every=5s", "--for=18s"},
					       {"--every=30s", "--for=108s"}};
	int n = 0;

	for (int i = 0; i < 3 && n < 2; i++) {
		n = sample(pid, spans[i][0], spans[i][1]);
		HI_ASSERT_MSG(n <= 4, "%d samples", n);
	}
	HI_ASSERT_MSG(n >= 2, "%d samples", n);
}

HI_TEST_ROOT(safepoints, a_series_stops_at_calls)
{
	const char *pid = start_rounds("free");

	check_a_series_at_each_hit(pid);
	check_a_series_of_intervals_takes_the_next_hit(pid);
}

HI_TEST_ROOT(safepoints, a_series_counts_each_nth_hit_anew)
{
	const char *pid = start_rounds(NULL);
	struct hi_fixture *series =
		hi_fixture_start(PROGRAM, "census", "--pid", pid, "--at", "at_full",
				 "--at", "every:3", "--for=60s", "--json", "-q", NULL);
	static char line[1 << 18];
	struct hi_command *mark;
	json_t *doc;

	/* A mark does not wait for the first sample, where the axes begin. */
	await_waiting();
	mark = hi_heapinspect("mark", pid, "early");
	HI_ASSERT_MSG(mark->exit_code == 0, "%s", mark->err);
	HI_ASSERT(hi_fixture_line(series, line, sizeof(line)));
	doc = doc_parse(line);
	HI_ASSERT_STREQ("early", doc_text(doc, "mark"));
	HI_ASSERT_EQ(0, doc_number(doc, "at_ns"));
	for (int i = 0; i < 3; i++) {
		await_waiting();
		HI_ASSERT_EQ(3 * (i + 1), order_rounds(3));
		HI_ASSERT(hi_fixture_line(series, line, sizeof(line)));
		doc = doc_parse(line);
		HI_ASSERT_EQ(1002 + 3 * i, nodes_in(doc));
		if (i == 0)
			HI_ASSERT_EQ(0, doc_number(doc, "cpu_ns"));
	}
	/* While it waits, a signal ends it in order. */
	await_waiting();
	kill(series->pid, SIGINT);
	HI_ASSERT(hi_fixture_line(series, line, sizeof(line)));
	HI_ASSERT_STREQ("stopped", doc_text(doc_parse(line), "end"));
	HI_ASSERT_EQ(0, hi_fixture_end(series));
	check_untouched();
}

/* ---- copies and forks ---- */

HI_TEST_SCENARIO(safepoints, a_forked_child_tells_the_same_as_a_copy)
{
	static const char *const same[] = {"objects",	 "bytes", "types",
					   "root_kinds", "leaks", "typed"};
	struct target *t = target_start("leaky_service", "200", "200", NULL);
	json_t *copied = target_ask(t, "--all", "--snapshot=copy"), *forked;
	struct hi_command *c = target_run(t, "--json", "--all", "--snapshot=fork");

	forked = doc_of(c);
	hi_check_schema(c, "summary.v1.json");
	HI_ASSERT_STREQ("copy", doc_text(copied, "snapshot.mode"));
	HI_ASSERT_STREQ("fork", doc_text(forked, "snapshot.mode"));
	(void)doc_number(forked, "snapshot.copied_on_write");
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		HI_ASSERT_MSG(json_equal(doc_at(copied, "%s", same[i]),
					 doc_at(forked, "%s", same[i])),
			      "%s differ: %.400s and %.400s", same[i],
			      json_dumps(doc_at(copied, "%s", same[i]), JSON_COMPACT),
			      json_dumps(doc_at(forked, "%s", same[i]), JSON_COMPACT));
	hi_test_expect_free(t->fx->pid, "SRD");
}

static void check_a_fork_at_the_call_is_as_exact(const char *pid)
{
	for (int i = 0; i < 4; i++) {
		json_t *doc = doc_of(hi_heapinspect("census", "--pid", pid, "--at",
						    "at_full if digit == 3",
						    "--snapshot=fork", "--max-pause=20s",
						    "--timeout=60s", "--json", "--all"));

		HI_ASSERT_STREQ("fork", doc_text(doc, "snapshot.mode"));
		HI_ASSERT_EQ(1003, nodes_in(doc));
	}
}

HI_TEST_ROOT(safepoints, the_stop_is_at_the_very_call)
{
	const char *pid = start_rounds("free");

	check_a_pause_that_was_too_long_is_no_safepoint_missed(pid);
	check_a_condition_that_never_holds_is_told_with_the_hits(pid);
	check_the_heap_is_as_it_is_at_the_call(pid);
	check_a_condition_picks_the_call(pid);
	check_a_fork_at_the_call_is_as_exact(pid);
}

/* ---- a runtime ---- */

static const char *start_python(void)
{
	static const char script[] =
		"import gc, select, sys\n"
		"class Thing: pass\n"
		"things = [Thing() for i in range(500)]\n"
		"print('ready', flush=True)\n"
		"while not select.select([sys.stdin], [], [], 0.02)[0]:\n"
		"    gc.collect()\n";
	struct target *t;

	if (access(PYTHON, X_OK) != 0)
		HI_SKIP("needs python3.11");
	t = target_start(PYTHON, "-c", script, NULL);
	target = t->fx;
	return t->pid;
}

static void check_a_runtime_is_stopped_at_the_end_of_its_collection(const char *pid)
{
	static const char *const words[] = {"gc", "usdt:python:gc__done"};

	for (size_t i = 0; i < 2; i++) {
		struct hi_command *c = hi_heapinspect("--pid", pid, "--at", words[i],
						      "--timeout=60s", "--json");
		json_t *doc = doc_of(c);

		hi_check_schema(c, "summary.v1.json");
		HI_ASSERT_STREQ(words[i], doc_text(doc, "snapshot.safepoint"));
		HI_ASSERT_MSG(strncmp(doc_text(doc, "snapshot.stop.place.function"),
				      "gc_collect", 10) == 0,
			      "in %s", doc_text(doc, "snapshot.stop.place.function"));
		HI_ASSERT_MSG(!strstr(c->out, "the collector was running"), "%s",
			      words[i]);
	}
	/* Elsewhere in a collection it is to be said. */
	HI_ASSERT_MSG(strstr(hi_heapinspect("--pid", pid, "--at", "usdt:python:gc__start",
					    "--timeout=60s", "--json")
				     ->out,
			     "the collector was running"),
		      "no warning");
	check_untouched();
}

/* Stops at this place, and counts objects of fixtures/collector.c there. */
static void check_whole_at(const struct target *t, const char *place, long long whole)
{
	json_t *doc = target_ask(t, "--at", place, "--timeout=60s", "--all");

	HI_ASSERT_EQ(whole, count_of_type(doc, "struct whole"));
	if (whole)
		HI_ASSERT_EQ(0, count_of_type(doc, "struct half_done"));
}

/* It returns in three ways. */
HI_TEST_ROOT(safepoints, a_function_is_stopped_where_it_returns)
{
	struct target *t = target_start("collector", NULL);
	static const char *const ends[] = {"gc", "gc_collect_main%return"};

	for (int i = 0; i < 8; i++)
		check_whole_at(t, ends[i % 2], 1);
	check_whole_at(t, "gc_collect_main", 0);
	HI_ASSERT_MSG(strstr(hi_heapinspect("--pid", t->pid, "--at",
					    "gc_collect_main%return if n > 1")
				     ->err,
			     "a return takes no condition"),
		      "a condition at a return");
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void check_those_of_a_process_are_listed_and_counted(const char *pid)
{
	static const char *const spans[] = {"--for=1s", "--for=10s", "--for=60s"};
	struct hi_command *c = NULL;
	json_t *doc = NULL, *row;
	long long hits = 0;

	/* A collection each 20 ms and more, where it has the processor. */
	for (int i = 0; i < 3 && hits < 2; i++) {
		uint64_t start = now_ms();

		c = hi_heapinspect("safepoints", "--pid", pid, spans[i], "--all",
				   "--json");
		doc = doc_of(c);
		row = doc_row(doc_at(doc, "rows"), "at", "usdt:python:gc__start");
		hits = doc_number(row, "hits");
		HI_ASSERT_MSG(hits <= (long long)(now_ms() - start) / 20 + 5,
			      "%lld collections", hits);
	}
	HI_ASSERT_MSG(hits >= 2, "%lld collections", hits);
	hi_check_schema(c, "safepoints.v1.json");
	HI_ASSERT(doc_bool(doc, "rows.0.gc"));
	/* Nothing is imported any more. */
	row = doc_row(doc_at(doc, "rows"), "at", "usdt:python:import__find__load__start");
	HI_ASSERT_EQ(0, doc_number(row, "hits"));
	check_untouched();
	c = hi_heapinspect("safepoints", "--pid", pid, "--for=100ms");
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT_MSG(strstr(c->out, "--at gc --pid"), "%s", c->out);
}

HI_TEST_ROOT(safepoints, safepoints_of_a_runtime_stop_and_are_listed)
{
	const char *pid = start_python();

	check_a_runtime_is_stopped_at_the_end_of_its_collection(pid);
	check_those_of_a_process_are_listed_and_counted(pid);
}

/* ---- permission ---- */

static bool may_probe_unprivileged(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = 3;

	if (file && fscanf(file, "%d", &level) != 1)
		level = 3;
	if (file)
		fclose(file);
	return level < 0;
}

HI_TEST_ROOT(safepoints, user_without_rights_is_told_what_is_needed)
{
	char *dir = temporary_directory(), path[96], own[96], pid[16];
	struct hi_fixture *fx;
	struct hi_command *c;

	if (may_probe_unprivileged())
		HI_SKIP("every user may probe here");
	chmod(dir, 0755);
	HI_ASSERT_EQ(0, hi_command_run(0, "cp", PROGRAM, HI_FIXTURE_DIR "/marker_rounds",
				       dir, NULL)
				->exit_code);
	snprintf(path, sizeof(path), "%s/heapinspect", dir);
	snprintf(own, sizeof(own), "%s/marker_rounds", dir);
	fx = hi_fixture_start("/usr/bin/setpriv", "--reuid=65534", "--regid=65534",
			      "--clear-groups", own, "free", NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_command_run(65534, path, "--pid", pid, "--at", "at_full", NULL);
	HI_ASSERT_MSG(c->exit_code == 3, "exit %d: %s", c->exit_code, c->err);
	check_one_line(c, "CAP_PERFMON");
	c = hi_command_run(65534, path, "safepoints", "--pid", pid, "--for=100ms", NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_EQ(0, hi_process_status(fx->pid, "TracerPid"));
	if (access(PYTHON, X_OK) != 0)
		return;
	fx = hi_fixture_start("/usr/bin/setpriv", "--reuid=65534", "--regid=65534",
			      "--clear-groups", PYTHON, "-c",
			      "import sys; print('ready', flush=True); sys.stdin.read()",
			      NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_command_run(65534, path, "safepoints", "--pid", pid, NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->out, "counting needs BPF"), "%s", c->out);
	HI_ASSERT_MSG(strstr(c->out, "  sudo heapinspect --at gc "), "%s", c->out);
}
