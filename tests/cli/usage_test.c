/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line as such: words that are wrong, where output goes, exit codes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/options/help.h"
#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/golden.h"
#include "tests/support/json.h"
#include "tests/support/schema.h"
#include "tests/support/stopping.h"
#include "tests/support/temporary.h"

#define PROGRAM HI_BINARY_DIR "/heapinspect"

/* A small target; its pid as text, until the test ends. */
static const char *start_target(void)
{
	static char pid[16];
	struct hi_fixture *fx = hi_fixture_start("leaky_service", "20", "20", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	return pid;
}

static void check_one_line(const struct hi_command *c, const char *word)
{
	HI_ASSERT_MSG(strncmp(c->err, "heapinspect: ", 13) == 0, "%s", c->err);
	HI_ASSERT_MSG(strchr(c->err, '\n') == c->err + c->err_size - 1, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, word) != NULL, "no \"%s\" in: %s", word, c->err);
	HI_ASSERT_EQ(0, c->out_size);
}

HI_TEST_SCENARIO(usage, wrong_arguments_are_named_in_one_line_with_exit_code_2)
{
	static const struct {
		const char *argv[6], *word;
	} cases[] = {
		{{NULL}, "--pid"},
		{{"census"}, "--pid"},
		{{"--pid", "x"}, "--pid x"},
		{{"--pid", "0"}, "--pid 0"},
		{{"--pid", "-5"}, "--pid -5"},
		{{"--pid", "99999999999999999999"}, "--pid 999"},
		{{"4242"}, "--pid"},
		{{"frobnicate", "--pid", "1"}, "frobnicate"},
		{{"census", "--pid", "1", "--by", "colour"}, "colour"},
		{{"census", "--pid", "1", "--by", "type2", "--untyped"}, "one of them"},
		{{"census", "--pid", "1", "--untyped", "--conservative"}, "--untyped"},
		{{"--pid", "1", "--hints", "x", "--conservative"}, "--hints"},
		{{"census", "--pid", "1", "more"}, "more"},
		{{"census", "--pid", "1", "--type=a", "--type=b"}, "given twice"},
		{{"paths", "--pid", "1"}, "ADDRESS|TYPE"},
		{{"explain", "--pid", "1", "12"}, "12"},
		{{"explain", "--pid", "1", "0x123456789abcdef01"}, "0x1234"},
		{{"roots", "--pid", "1"}, "--root NAME=EXPRESSION"},
		{{"roots", "--pid", "1", "--root", "server"}, "NAME=EXPR"},
		{{"roots", "--pid", "1", "--root==x"}, "name is missing"},
		{{"roots", "--pid", "1", "--root=LEAK=x"}, "NOROOT"},
		{{"roots", "--pid", "1", "--root=a=x", "--root=a=y"}, "two roots"},
		{{"census", "--pid", "1", "--root=a=x", "--under=b"}, "--under b"},
		{{"roots", "--pid", "1", "--root=a=x", "--conservative"},
		 "--conservative"},
		{{"retainers", "--pid", "1", "--max-set", "0"}, "--max-set 0"},
		{{"retainers", "--pid", "1", "--identity", "size"}, "type, var, site"},
		{{"retainers", "--pid", "1", "--retainer", ""}, "--retainer"},
		{{"up", "--pid", "1"}, "--type"},
		{{"--pid", "1", "--core", "x"}, "one target"},
		{{"--pid", "1", "--exe", "x"}, "--core"},
		{{"--core", "x", "--swap"}, "--pid"},
		{{"--pid", "1", "--max-pause", "5"}, "200ms"},
		{{"--pid", "1", "--max-pause", "-1s"}, "200ms"},
		{{"leaks", "--pid", "1", "--min-size", "1Q"}, "64KiB"},
		{{"--pid", "1", "--color=red"}, "always"},
		{{"--pid", "1", "--top", "0"}, "--top 0"},
		{{"--pid", "1", "--all", "--top", "3"}, "one of them"},
		{{"--core", "/nonexistent/core"}, "/nonexistent/core"},
		{{"--core", "/dev/null"}, "/dev/null"},
		{{"--pid", "1", "-o", "/nonexistent/x"}, "/nonexistent/x"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *argv[8] = {(char *)(uintptr_t)PROGRAM};
		struct hi_command *c;

		for (int k = 0; k < 6 && cases[i].argv[k]; k++)
			argv[k + 1] = (char *)(uintptr_t)cases[i].argv[k];
		c = hi_command_runv(0, argv);
		HI_ASSERT_MSG(c->exit_code == 2, "%zu: exit %d: %s", i, c->exit_code,
			      c->err);
		check_one_line(c, cases[i].word);
	}
}

HI_TEST_SCENARIO(usage, hints_may_be_repeated_but_not_without_end)
{
	char *argv[40] = {(char *)(uintptr_t)PROGRAM};
	struct hi_command *c;
	int n = 1;

	for (int i = 0; i < 16; i++) {
		argv[n++] = (char *)(uintptr_t) "--hints";
		argv[n++] = (char *)(uintptr_t) "x.hints";
	}
	/* Sixteen are fine; what is missing is the target. */
	c = hi_command_runv(0, argv);
	HI_ASSERT_EQ(2, c->exit_code);
	check_one_line(c, "--pid");
	argv[n++] = (char *)(uintptr_t) "--hints=one.more";
	c = hi_command_runv(0, argv);
	HI_ASSERT_EQ(2, c->exit_code);
	check_one_line(c, "one.more");
}

HI_TEST_SCENARIO(usage, unknown_options_are_refused_with_exit_code_2)
{
	struct hi_command *c = hi_heapinspect("--pid", "1", "--frobnicate");

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "--frobnicate") != NULL);
	/* An option of another command is none of this one. */
	c = hi_heapinspect("summary", "--pid", "1", "--by", "type");
	HI_ASSERT_EQ(2, c->exit_code);
}

HI_TEST_SCENARIO(usage, a_process_that_is_not_there_gives_3)
{
	struct hi_command *c = hi_heapinspect("--pid", "2147483647");

	HI_ASSERT_EQ(3, c->exit_code);
	check_one_line(c, "2147483647");
}

static unsigned lines_of(const char *text)
{
	unsigned lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

HI_TEST_SCENARIO(usage, every_command_has_help_with_an_example)
{
	static const char *const names[] = {
		"summary", "census", "retained", "leaks",  "paths", "explain", "waste",
		"graph",   "mark",   "audit",	 "record", "bio",   "era",     "alloc"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct hi_command *after = hi_heapinspect(names[i], "--help");
		struct hi_command *before = hi_heapinspect("--help", names[i]);
		char example[64];

		HI_ASSERT_EQ(0, after->exit_code);
		HI_ASSERT_STREQ(after->out, before->out);
		HI_ASSERT_MSG(lines_of(after->out) <= HI_HELP_LINES, "%s", after->out);
		snprintf(example, sizeof(example), "  heapinspect %s",
			 i ? names[i] : "--pid");
		HI_ASSERT_MSG(strstr(after->out, example) != NULL, "%s", after->out);
	}
	HI_ASSERT(strncmp(hi_heapinspect("--version")->out, "heapinspect ", 12) == 0);
}

/* The first two have what all commands have in common. */
HI_TEST_SCENARIO(usage, help_is_a_page)
{
	HI_EXPECT_GOLDEN("help", hi_heapinspect("--help")->out);
	HI_EXPECT_GOLDEN("help-census", hi_heapinspect("census", "--help")->out);
	HI_EXPECT_GOLDEN("help-all-deep", hi_heapinspect("deep", "--help-all")->out);
	HI_ASSERT_STREQ(hi_heapinspect("--help")->out, hi_heapinspect("help")->out);
	HI_ASSERT_STREQ(hi_heapinspect("deep", "--help-all")->out,
			hi_heapinspect("--help-all", "deep")->out);
	HI_ASSERT_STREQ(hi_heapinspect("census", "--help")->out,
			hi_heapinspect("help", "census")->out);
}

HI_TEST_SCENARIO(usage, command_may_stand_before_or_after_options)
{
	const char *pid = start_target();
	struct hi_command *a = hi_heapinspect("leaks", "--pid", pid, "--top", "2", "-q");
	struct hi_command *b = hi_heapinspect("--pid", pid, "-q", "--top=2", "leaks");
	struct hi_command *c = hi_heapinspect("-qp", pid, "leaks", "--top", "2");

	HI_ASSERT_MSG(a->exit_code == 0, "%s", a->err);
	HI_ASSERT_EQ(0, b->exit_code);
	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT(strstr(a->out, "Largest leak roots") != NULL);
	HI_ASSERT(strstr(b->out, "Largest leak roots") != NULL);
	HI_ASSERT(strstr(c->out, "Largest leak roots") != NULL);
}

HI_TEST_SCENARIO(usage, pause_is_printed_on_stderr_unless_quiet)
{
	const char *pid = start_target();
	struct hi_command *loud = hi_heapinspect("--pid", pid);
	struct hi_command *quiet = hi_heapinspect("--pid", pid, "-q");
	struct hi_command *verbose = hi_heapinspect("--pid", pid, "-v");

	HI_ASSERT(strstr(loud->err, "was paused for ") != NULL);
	HI_ASSERT_STREQ("", quiet->err);
	HI_ASSERT(strstr(verbose->err, "dominators") != NULL);
	/* No colours and no progress where nobody looks. */
	HI_ASSERT(strchr(loud->out, '\033') == NULL);
	HI_ASSERT(strchr(loud->err, '\r') == NULL);
	HI_ASSERT(strchr(hi_heapinspect("--pid", pid, "--color=always")->out, '\033'));
}

static double sum_of(const json_t *phases, const char *member)
{
	double sum = 0;
	const json_t *p;
	size_t i;

	json_array_foreach(phases, i, p) sum +=
		(double)json_integer_value(json_object_get(p, member));
	return sum;
}

/* Two threads use at most two nanoseconds of processor time in each. */
HI_TEST_SCENARIO(usage, steps_of_v_are_in_json_with_times_and_memory)
{
	const char *pid = start_target();
	uint64_t began = hi_clock_ns();
	struct hi_command *c =
		hi_heapinspect("census", "--pid", pid, "-v", "--json", "--threads", "2");
	double took = (double)(hi_clock_ns() - began);
	json_t *phases = json_object_get(doc_of(c), "phases"), *first, *last;
	struct hi_command *without = hi_heapinspect("census", "--pid", pid, "--json");

	hi_check_schema(c, "rows.v1.json");
	HI_ASSERT(json_array_size(phases) > 4);
	first = json_array_get(phases, 0);
	last = json_array_get(phases, json_array_size(phases) - 1);
	HI_ASSERT_STREQ("opening the target",
			json_string_value(json_object_get(first, "name")));
	HI_ASSERT(sum_of(phases, "wall_ns") < took);
	HI_ASSERT(sum_of(phases, "cpu_ns") > 0);
	HI_ASSERT(sum_of(phases, "cpu_ns") < 2 * took);
	/* It has mapped more than itself by then. */
	HI_ASSERT(json_integer_value(json_object_get(last, "peak_bytes")) > 1 << 20);
	HI_ASSERT(strstr(c->err, "modules") && strstr(c->err, "together"));
	HI_ASSERT(!json_object_get(doc_of(without), "phases"));
}

/* Of a bash command that writes more than is buffered. */
static struct hi_command *write_much(const char *before, const char *rest)
{
	char command[900];

	snprintf(command, sizeof(command),
		 "%s" PROGRAM " query -f csv %s/tests/data/v1.hisnap "
		 "'SELECT a.id FROM objects a, objects b LIMIT 100000' %s",
		 before, HI_SOURCE_DIR, rest);
	return hi_command_run(0, "bash", "-c", command, NULL);
}

/* The program with `-q --pid PID` behind `before` and before `rest` of a bash command;
 * its exit code. */
static int shell(const char *before, const char *pid, const char *rest)
{
	char command[600];

	snprintf(command, sizeof(command), "%s" PROGRAM " -q --pid %s %s", before, pid,
		 rest);
	return hi_command_run(0, "bash", "-c", command, NULL)->exit_code;
}

HI_TEST_SCENARIO(usage, a_full_disk_is_an_error_and_a_closed_pipe_ends_quietly)
{
	/* Until the reader has gone: it need not have been there yet. */
	static const char closed[] = "(while (echo) 2>/dev/null; do :; done; ";
	const char *pid = start_target();
	struct hi_command *c;
	char command[600];

	HI_ASSERT_EQ(2, shell("", pid, ">/dev/full"));
	HI_ASSERT_EQ(2, shell("", pid, "--json >/dev/full"));
	HI_ASSERT_EQ(2, shell("", pid, "-o /dev/full"));
	HI_ASSERT_EQ(2, shell("", pid, ">&-"));
	HI_ASSERT_EQ(141, shell(closed, pid, "--all) | true; exit ${PIPESTATUS[0]}"));
	HI_ASSERT_EQ(141, shell(closed, pid, "--json) | true; exit ${PIPESTATUS[0]}"));
	/* Also where a write failed long before the last one. */
	c = write_much(closed, ") | true; exit ${PIPESTATUS[0]}");
	HI_ASSERT_MSG(c->exit_code == 141 && !*c->err, "exit %d: %s", c->exit_code,
		      c->err);
	snprintf(command, sizeof(command),
		 "%s" PROGRAM " census -q --pid %s --every 100ms --for 50ms) | true; "
		 "exit ${PIPESTATUS[0]}",
		 closed, pid);
	c = hi_command_run(0, "bash", "-c", command, NULL);
	HI_ASSERT_MSG(c->exit_code == 141 && !*c->err, "exit %d: %s", c->exit_code,
		      c->err);
	c = write_much("", ">/dev/full");
	HI_ASSERT_MSG(c->exit_code == 2 && strstr(c->err, "No space left"), "exit %d: %s",
		      c->exit_code, c->err);
}

/* Names in a directory, but for . and .. */
static int count_files(const char *directory)
{
	struct hi_command *c = hi_command_run(0, "ls", "-A", directory, NULL);
	int n = 0;

	for (const char *s = c->out; *s; s++)
		n += *s == '\n';
	return n;
}

HI_TEST_SCENARIO(usage, an_output_file_is_private_and_appears_only_when_complete)
{
	const char *pid = start_target(), *directory = temporary_directory();
	char path[128], text[64];
	struct hi_command *c;
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/report", directory);
	fd = open(path, O_CREAT | O_WRONLY, 0644);
	HI_ASSERT(fd >= 0 && write(fd, "old\n", 4) == 4);
	close(fd);
	/* What fails leaves the old file, and no other. */
	HI_ASSERT_EQ(3, hi_heapinspect("--pid", "2147483647", "-o", path)->exit_code);
	c = hi_heapinspect("paths", "no_such_type", "--pid", pid, "-o", path);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_EQ(1, count_files(directory));
	HI_ASSERT(stat(path, &st) == 0 && st.st_size == 4);
	c = hi_heapinspect("--pid", pid, "-o", path);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_EQ(0, c->out_size);
	HI_ASSERT(stat(path, &st) == 0 && st.st_size > 400);
	HI_ASSERT_EQ(0600, st.st_mode & 0777);
	HI_ASSERT_EQ(1, count_files(directory));
	snprintf(text, sizeof(text), "leaky_service, pid %s", pid);
	HI_ASSERT(strstr(hi_command_run(0, "cat", path, NULL)->out, text) != NULL);
}

HI_TEST_SCENARIO(usage, a_signal_ends_it_as_signals_do_without_litter)
{
	struct hi_fixture *fx = hi_fixture_start("leaky_service", "400000", "10", NULL);
	const char *directory = temporary_directory();
	char command[512];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	/* Some are ended while the target is stopped, some later. */
	for (int i = 1; i <= 5; i++) {
		snprintf(command, sizeof(command),
			 "%s -q --pid %d -o %s/report & p=$!; sleep 0.0%d; "
			 "kill -TERM $p; wait $p; exit $?",
			 PROGRAM, (int)fx->pid, directory, i * 2 - 1);
		HI_ASSERT_EQ(128 + 15,
			     hi_command_run(0, "bash", "-c", command, NULL)->exit_code);
		HI_ASSERT_EQ(0, count_files(directory));
	}
	hi_test_expect_free(fx->pid, "S");
}

static size_t longest_line(const struct hi_command *c)
{
	size_t longest = 0;

	HI_ASSERT_EQ(0, c->exit_code);
	for (const char *s = c->out; *s; s += strcspn(s, "\n") + 1)
		longest = strcspn(s, "\n") > longest ? strcspn(s, "\n") : longest;
	return longest;
}

HI_TEST_SCENARIO(usage, the_width_is_that_of_the_option_then_of_the_environment)
{
	const char *pid = start_target();
	char command[256];

	/* The path of the program makes the first line longer than any width. */
	snprintf(command, sizeof(command), "LC_ALL=C COLUMNS=100 " PROGRAM " -q --pid %s",
		 pid);
	HI_ASSERT(longest_line(hi_command_run(0, "sh", "-c", command, NULL)) <= 100);
	snprintf(command, sizeof(command),
		 "LC_ALL=C COLUMNS=200 " PROGRAM " -q --width 80 --pid %s", pid);
	HI_ASSERT(longest_line(hi_command_run(0, "sh", "-c", command, NULL)) <= 80);
	snprintf(command, sizeof(command),
		 "LC_ALL=C COLUMNS=400 " PROGRAM " -q leaks --pid %s", pid);
	HI_ASSERT(longest_line(hi_command_run(0, "sh", "-c", command, NULL)) > 80);
}
