/* SPDX-License-Identifier: BSD-2-Clause */
/* heapinspect -- PROG ARGS: the program is started, followed, and not harmed. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/interrupted.h"
#include "tests/support/json.h"
#include "tests/support/snapshots.h"

/* fixtures/brief_life.c */
#define PROGRAM HI_FIXTURE_DIR "/brief_life"
enum { KEPT = 100, LOST = 30, HELD = 8 };

static char report_path[256];

/* In a directory of this test. */
static const char *make_path(const char *name)
{
	return snapshot_path(snapshot_directory(), name);
}

static void make_report_path(void)
{
	snprintf(report_path, sizeof(report_path), "%s", make_path("report"));
}

static char *read_report(void)
{
	static char text[1 << 20];
	FILE *file = fopen(report_path, "re");
	size_t n;

	HI_ASSERT_MSG(file, "there is no %s", report_path);
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = 0;
	return text;
}

static long long count_type(json_t *doc, const char *type)
{
	return doc_sum_of(doc_at(doc, "types"), "type", type, "count");
}

/* Status of the program, and the heap at its end. */
static json_t *summary_at_exit(const char *what, const char *number, int code)
{
	struct hi_command *c;

	make_report_path();
	c = hi_heapinspect("--json", "--all", "-o", report_path, "--", PROGRAM, what,
			   number);
	HI_ASSERT_MSG(c->exit_code == code, "exit %d: %s", c->exit_code, c->err);
	return doc_read(report_path);
}

HI_TEST_SCENARIO(launch, the_heap_at_the_end_is_reported)
{
	json_t *doc = summary_at_exit("exit", "7", 7);

	HI_ASSERT_EQ(KEPT, count_type(doc, "struct kept"));
	HI_ASSERT_EQ(LOST, doc_number(doc, "objects.leak"));
}

HI_TEST_SCENARIO(launch, a_signal_is_an_exit_status)
{
	json_t *doc = summary_at_exit("signal", "11", 128 + SIGSEGV);

	HI_ASSERT_EQ(KEPT, count_type(doc, "struct kept"));
}

HI_TEST_SCENARIO(launch, nothing_is_read_after_sigkill)
{
	struct hi_command *c = hi_heapinspect("--", PROGRAM, "signal", "9");

	HI_ASSERT_EQ(128 + SIGKILL, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "SIGKILL"), "%s", c->err);
}

/* ---- recorded from the start ---- */

HI_TEST_ROOT(launch, a_recording_has_all_that_the_program_allocated)
{
	const char *file = make_path("whole.hirec");
	struct hi_command *c =
		hi_heapinspect("record", "-o", file, "--", PROGRAM, "exit", "7");
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 7, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_STREQ("", c->out);
	doc = doc_of(hi_heapinspect("census", "--by", "site", "--json", "--all", file));
	HI_ASSERT_EQ(0, doc_number(doc, "before.objects"));
	HI_ASSERT_EQ(0, doc_number(doc, "recording.frees_of_unknown"));
	HI_ASSERT_EQ(KEPT + LOST, doc_number(doc, "recording.allocations"));
	HI_ASSERT_EQ(KEPT, doc_sum_of(doc_at(doc, "rows"), "site.function", "build",
				      "objects"));
}

/* That of libstdc++ allocates its emergency pool, long before main(). */
HI_TEST_ROOT(launch, a_recording_has_what_constructors_of_libraries_allocate)
{
	const char *file = make_path("constructors.hirec");
	struct hi_command *c =
		hi_heapinspect("record", "-o", file, "--", HI_FIXTURE_DIR "/closures");
	json_t *doc, *row;
	int found = 0;

	HI_ASSERT_MSG(!strstr(c->err, "no report"), "%s", c->err);
	doc = doc_of(hi_heapinspect("census", "--by", "site", "--json", "--all", file));
	HI_ASSERT_EQ(0, doc_number(doc, "before.objects"));
	doc_each (row, doc_at(doc, "rows"))
		found += strstr(doc_text(row, "site.module"), "libstdc++") != NULL;
	HI_ASSERT(found > 0);
}

HI_TEST_ROOT(launch, a_space_profile_has_the_whole_run)
{
	struct hi_command *c;
	json_t *doc;

	make_report_path();
	c = hi_heapinspect("alloc", "--json", "--all", "-o", report_path, "--", PROGRAM,
			   "exit", "6");
	HI_ASSERT_MSG(c->exit_code == 6, "exit %d: %s", c->exit_code, c->err);
	doc = doc_read(report_path);
	HI_ASSERT(doc_number(doc, "total.alloc.number") >= KEPT + LOST);
}

HI_TEST_ROOT(launch, biographies_begin_with_the_program)
{
	struct hi_command *c =
		hi_heapinspect("bio", "--every", "50ms", "--", PROGRAM, "exit", "0");

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->err, "recording every allocation"), "%s", c->err);
}

/* A program that was held goes on when the inspector is killed. */
HI_TEST_ROOT(launch, a_program_that_is_held_outlives_heapinspect)
{
	const char *mark = make_path("was here");
	char command[300];
	struct hi_fixture *fx;

	snprintf(command, sizeof(command), "echo > '%s'", mark);
	fx = hi_fixture_start(HI_BINARY_DIR "/heapinspect", "record", "--", "/bin/sh",
			      "-c", command, NULL);
	usleep(300000);
	HI_ASSERT_EQ(0, kill(fx->pid, SIGKILL));
	for (int i = 0; access(mark, F_OK) != 0 && i < 1500; i++)
		usleep(20000);
	HI_ASSERT_EQ(0, access(mark, F_OK));
}

/* What only the stacks of other threads hold is not leaked. */
HI_TEST_SCENARIO(launch, stacks_of_all_threads_are_roots_at_the_end)
{
	json_t *doc = summary_at_exit("threads", "3", 3);

	HI_ASSERT_EQ(LOST, doc_number(doc, "objects.leak"));
	HI_ASSERT_EQ(HELD, count_type(doc, "struct held"));
}

HI_TEST_SCENARIO(launch, exec_is_followed)
{
	json_t *doc = summary_at_exit("exec", "4", 4);

	HI_ASSERT_EQ(KEPT, count_type(doc, "struct kept"));
	HI_ASSERT_EQ(0, count_type(doc, "struct held"));
}

HI_TEST_SCENARIO(launch, threads_that_end_are_no_end)
{
	json_t *doc = summary_at_exit("births", "5", 5);

	HI_ASSERT_EQ(KEPT, count_type(doc, "struct kept"));
}

HI_TEST_SCENARIO(launch, the_program_has_its_output_and_the_report_is_on_stderr)
{
	struct hi_command *c = hi_heapinspect("census", "--", "/bin/sh", "-c",
					      "echo to stdout; exec " PROGRAM " exit 0");

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_STREQ("to stdout\n", c->out);
	HI_ASSERT_MSG(strstr(c->err, "struct kept"), "%s", c->err);
}

/* The numbers of its last line are those of the end. */
HI_TEST_SCENARIO(launch, a_series_has_a_sample_of_the_end)
{
	char *text, *line, *last = NULL;
	struct hi_command *c;

	/* An end between a census and the next watch is missed: here the only census is
	 * over long before. */
	make_report_path();
	c = hi_heapinspect("census", "--every", "3600s", "--json", "-o", report_path,
			   "--", "/bin/sh", "-c", "sleep 3; exec " PROGRAM " births 6");
	HI_ASSERT_MSG(c->exit_code == 6, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(!strstr(c->err, "no sample of its exit"), "%s", c->err);
	text = read_report();
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (strstr(line, "struct kept"))
			last = line;
	HI_ASSERT(last);
	doc_parse(last);
}

HI_TEST_SCENARIO(launch, snap_and_check_look_at_the_end)
{
	const char *path = make_path("end.hisnap");
	struct hi_command *c;

	c = hi_heapinspect("snap", "-o", path, "--", PROGRAM, "exit", "0");
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	c = hi_heapinspect("--json", "--all", path);
	HI_ASSERT_EQ(KEPT, count_type(doc_of(c), "struct kept"));

	c = hi_heapinspect("check", "--fail-on", "leak.objects > 0", "--", PROGRAM,
			   "exit", "0");
	HI_ASSERT_MSG(c->exit_code == 1, "exit %d: %s", c->exit_code, c->err);
	c = hi_heapinspect("check", "--fail-on", "leak.objects > 1000", "--", PROGRAM,
			   "exit", "0");
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
}

static void expect_refusal(int code, const char *word, const char *const *words)
{
	struct hi_command *c = hi_heapinspect_words(words, NULL);

	HI_ASSERT_MSG(c->exit_code == code, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->err, word), "%s: %s", word, c->err);
	HI_ASSERT_STREQ("", c->out);
}
#define REFUSED(code, word, ...)                                                         \
	expect_refusal(code, word, (const char *const[]){__VA_ARGS__, NULL})

HI_TEST_SCENARIO(launch, program_that_cannot_be_started_is_an_error)
{
	const char *path = make_path("empty");
	int fd;

	REFUSED(127, "No such file", "--", "/no/such/program");
	REFUSED(127, "No such file", "--", "no-such-program-on-path");
	REFUSED(127, "No such file", "--", "");
	REFUSED(126, "Permission denied", "--", "/etc/passwd");
	REFUSED(126, "Permission denied", "--", "/");
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
	HI_ASSERT(fd >= 0);
	HI_ASSERT_EQ(18, write(fd, "#!/no/interpreter\n", 18));
	close(fd);
	REFUSED(127, "cannot be started", "--", path);
	REFUSED(2, "missing", "--");
	REFUSED(2, "one target", "--core", "/no/core", "--", "/bin/true");
	REFUSED(2, "--at", "--at", "gc", "--", "/bin/true");
	REFUSED(2, "cannot write", "-o", "/no/such/directory/x", "--", "/bin/echo", "x");
}

HI_TEST_ROOT(launch, setuid_is_refused)
{
	const char *path = make_path("setuid");
	char command[4096];

	snprintf(command, sizeof(command),
		 "cp " PROGRAM " '%s' && chown 65534 '%s' && chmod 4755 '%s'", path, path,
		 path);
	HI_ASSERT_EQ(0, system(command));
	REFUSED(126, "setuid", "--", path, "exit", "0");
}

/* ---- a program that goes on ---- */

/* "ready PID" out of the program's output. */
static pid_t read_ready(FILE *from)
{
	char line[64];
	int pid = 0;

	HI_ASSERT(fgets(line, sizeof(line), from));
	HI_ASSERT_MSG(sscanf(line, "ready %d", &pid) == 1, "%s", line);
	return pid;
}

static pid_t start_following(const char *const *words, FILE **out_ret)
{
	int ends[2];
	pid_t inspector;

	hi_traces_watch(0);
	HI_ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
	inspector = hi_inspector_start(words, ends[1]);
	close(ends[1]);
	*out_ret = fdopen(ends[0], "r");
	HI_ASSERT(*out_ret);
	return inspector;
}

static void await_untraced(pid_t pid)
{
	while (hi_process_status(pid, "TracerPid") != 0)
		usleep(1000);
}

static void expect_line(FILE *from, const char *expected)
{
	char line[64] = "";

	HI_ASSERT(fgets(line, sizeof(line), from));
	HI_ASSERT_STREQ(expected, line);
}

/* While it waits for the end, and amid censuses. */
HI_TEST_SCENARIO(launch, the_program_outlives_heapinspect)
{
	static const char *const series[] = {"census", "--every", "20ms", "--",
					     PROGRAM,  "wait",	  "5",	  NULL};
	static const char *const single[] = {"--", PROGRAM, "wait", "5", NULL};

	for (int i = 0; i < 8; i++) {
		FILE *out;
		pid_t inspector = start_following(i % 2 ? series : single, &out);
		pid_t pid = read_ready(out);
		int status;

		usleep((useconds_t)hi_test_random(100000));
		kill(inspector, SIGKILL);
		(void)hi_inspector_wait(inspector);
		await_untraced(pid);
		kill(pid, SIGUSR1);
		expect_line(out, "done\n");
		HI_ASSERT_EQ(pid, waitpid(pid, &status, 0)); /* the orphan is ours */
		HI_ASSERT_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 5, "0x%x",
			      (unsigned)status);
		fclose(out);
	}
}

HI_TEST_SCENARIO(launch, an_interruption_is_the_programs)
{
	static const char *const words[] = {"--", PROGRAM, "wait-int", NULL};
	FILE *out;
	pid_t inspector = start_following(words, &out), pid = read_ready(out);
	int status;

	(void)pid;
	kill(inspector, SIGINT);
	expect_line(out, "interrupted\n");
	status = hi_inspector_wait(inspector);
	HI_ASSERT_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 9, "0x%x",
		      (unsigned)status);
	fclose(out);
}

HI_TEST_SCENARIO(launch, a_gate_fails_when_the_end_was_missed)
{
	static const char *const words[] = {"check", "--fail-on", "leak.objects > 1000",
					    "--",    PROGRAM,	  "wait",
					    "0",     NULL};
	FILE *out;
	pid_t inspector = start_following(words, &out), pid = read_ready(out);
	pid_t tracer = hi_process_of(inspector, "hi-tracer");
	int status;

	HI_ASSERT(tracer > 0);
	kill(tracer, SIGKILL);
	await_untraced(pid);
	kill(pid, SIGUSR1);
	expect_line(out, "done\n");
	status = hi_inspector_wait(inspector);
	HI_ASSERT_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 3, "0x%x",
		      (unsigned)status);
	fclose(out);
}

HI_TEST_SCENARIO(launch, a_daemon_is_left_alone)
{
	static const char *const words[] = {"--", PROGRAM, "daemon", NULL};
	FILE *out;
	pid_t inspector = start_following(words, &out), pid = read_ready(out);
	int status = hi_inspector_wait(inspector);

	HI_ASSERT_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "0x%x",
		      (unsigned)status);
	HI_ASSERT_EQ(0, hi_process_status(pid, "TracerPid"));
	kill(pid, SIGUSR1);
	expect_line(out, "done\n");
	fclose(out);
}
