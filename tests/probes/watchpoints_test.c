/* SPDX-License-Identifier: BSD-2-Clause */
/* Accesses that a fixture makes as it is told to, and what watchpoints count of them. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/watch_trial.h"
#include "probes/watchpoints.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/watching.h"

enum { READS = 1000, WRITES = 100, HITS = READS + WRITES, THREADS = 8 };

static uint64_t words; /* of the fixture */
static struct hi_watchpoints *watchpoints;

static void close_watchpoints(void *arg)
{
	(void)arg;
	hi_watchpoints_close(watchpoints);
	watchpoints = NULL;
}

static void take_words(const char *line, void *arg)
{
	(void)arg;
	(void)sscanf(line, "words %lx", &words);
}

static struct hi_fixture *start_watched(const char *threads, unsigned n)
{
	struct hi_fixture *fx = hi_fixture_start("watched_words", threads, NULL);
	struct hi_error err;

	hi_need_watchpoints();
	words = 0;
	hi_fixture_read_until(fx, "ready", take_words, NULL);
	HI_ASSERT(words);
	HI_ASSERT_OK(hi_watchpoints_open(fx->pid, n, &watchpoints, &err), &err);
	hi_test_defer(close_watchpoints, NULL);
	return fx;
}

static void watch_word(uint64_t address)
{
	uint64_t addresses[HI_WATCHPOINTS_MAX] = {address};
	struct hi_error err;

	HI_ASSERT_OK(hi_watchpoints_set(watchpoints, addresses, &err), &err);
}

static void tell(struct hi_fixture *fx, const char *who)
{
	char line[64];

	snprintf(line, sizeof(line), "%s %d %d", who, READS, WRITES);
	hi_fixture_tell(fx, line);
	hi_fixture_read_until(fx, "done", NULL, NULL);
}

static void expect_hits(struct hi_fixture *fx, const char *who, uint64_t expected)
{
	watch_word(words);
	tell(fx, who);
	HI_ASSERT_EQ(expected, hi_watchpoints_hits(watchpoints, 0));
}

HI_TEST_ROOT(watchpoints, count_every_access_of_all_threads)
{
	struct hi_fixture *fx = start_watched("8", 1);

	expect_hits(fx, "main", HITS);
	expect_hits(fx, "all", THREADS * HITS);
	expect_hits(fx, "new", HITS);
	expect_hits(fx, "other", 0);
	/* The count goes on after the thread has ended. */
	tell(fx, "main");
	tell(fx, "new");
	HI_ASSERT_EQ(2 * HITS, hi_watchpoints_hits(watchpoints, 0));
}

HI_TEST_ROOT(watchpoints, leave_out_forked_children)
{
	struct hi_fixture *fx = start_watched("0", 1);

	expect_hits(fx, "child", 0);
}

HI_TEST_ROOT(watchpoints, count_what_the_kernel_does_for_the_program)
{
	struct hi_fixture *fx = start_watched("0", 1);

	watch_word(words);
	tell(fx, "kernel");
	/* The kernel may copy byte by byte. */
	HI_ASSERT(hi_watchpoints_hits(watchpoints, 0) >= HITS);
}

/* As heapinspect reads. */
HI_TEST_ROOT(watchpoints, leave_out_reads_from_outside)
{
	struct hi_fixture *fx = start_watched("0", 1);
	uint64_t word;
	char path[64];
	int fd;

	watch_word(words);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)fx->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	HI_ASSERT(fd >= 0);
	for (int i = 0; i < READS; i++)
		HI_ASSERT_EQ(8, pread(fd, &word, 8, (off_t)words));
	close(fd);
	HI_ASSERT_EQ(0, hi_watchpoints_hits(watchpoints, 0));
	tell(fx, "main");
	HI_ASSERT_EQ(HITS, hi_watchpoints_hits(watchpoints, 0));
}

HI_TEST_ROOT(watchpoints, four_watchpoints_move_between_objects)
{
	struct hi_fixture *fx = start_watched("2", 4);
	uint64_t addresses[4] = {words, words + 8, 0, words + 56};
	struct hi_error err;

	HI_ASSERT_OK(hi_watchpoints_set(watchpoints, addresses, &err), &err);
	tell(fx, "all");
	tell(fx, "other");
	HI_ASSERT_EQ(2 * HITS, hi_watchpoints_hits(watchpoints, 0));
	HI_ASSERT_EQ(HITS, hi_watchpoints_hits(watchpoints, 1));
	HI_ASSERT_EQ(0, hi_watchpoints_hits(watchpoints, 2));
	HI_ASSERT_EQ(0, hi_watchpoints_hits(watchpoints, 3));
	/* Taken away, it keeps its count, and counts no more. */
	hi_watchpoints_end(watchpoints, 0);
	tell(fx, "all");
	HI_ASSERT_EQ(2 * HITS, hi_watchpoints_hits(watchpoints, 0));
	addresses[2] = words;
	addresses[0] = 0;
	HI_ASSERT_OK(hi_watchpoints_set(watchpoints, addresses, &err), &err);
	tell(fx, "all");
	HI_ASSERT_EQ(0, hi_watchpoints_hits(watchpoints, 0));
	HI_ASSERT_EQ(2 * HITS, hi_watchpoints_hits(watchpoints, 2));
}

/* None is left behind by a failure: with one fewer they can be set. */
HI_TEST_ROOT(watchpoints, say_that_others_have_taken_them)
{
	struct hi_fixture *fx = start_watched("0", 4);
	uint64_t addresses[4] = {words, words + 8, words + 16, words + 24};
	struct hi_error err;
	int others[3], taken = hi_take_watchpoint(fx->pid, words + 32);

	HI_ASSERT(taken >= 0);
	HI_ASSERT_STATUS(HI_LIMIT, hi_watchpoints_set(watchpoints, addresses, &err));
	HI_ASSERT(strstr(err.text, "are taken"));
	HI_ASSERT_EQ(0, hi_watchpoints_hits(watchpoints, 0));
	for (unsigned i = 0; i < 3; i++)
		HI_ASSERT((others[i] = hi_take_watchpoint(fx->pid, words)) >= 0);
	for (unsigned i = 0; i < 3; i++)
		close(others[i]);
	addresses[3] = 0;
	HI_ASSERT_OK(hi_watchpoints_set(watchpoints, addresses, &err), &err);
	tell(fx, "main");
	HI_ASSERT_EQ(HITS, hi_watchpoints_hits(watchpoints, 0));
	close(taken);
}

HI_TEST_ROOT(watchpoints, refuse_what_cannot_be)
{
	struct hi_fixture *fx = start_watched("0", 1);
	struct hi_watchpoints *none = NULL;
	struct hi_error err;
	uint64_t odd[1] = {words + 4}, kernel[1] = {0xffffffff81000000};

	HI_ASSERT_STATUS(HI_USAGE, hi_watchpoints_open(fx->pid, 5, &none, &err));
	HI_ASSERT(strstr(err.text, "has 1 to 4"));
	HI_ASSERT_STATUS(HI_USAGE, hi_watchpoints_open(fx->pid, 0, &none, &err));
	HI_ASSERT_STATUS(HI_USAGE, hi_watchpoints_set(watchpoints, odd, &err));
	HI_ASSERT_STATUS(HI_USAGE, hi_watchpoints_set(watchpoints, kernel, &err));
	expect_hits(fx, "main", HITS);
}

HI_TEST_ROOT(watchpoints, outlive_their_process)
{
	struct hi_fixture *fx = start_watched("2", 2);
	uint64_t addresses[2] = {words, words + 8};
	struct hi_error err;

	expect_hits(fx, "main", HITS);
	hi_fixture_end(fx);
	HI_ASSERT_EQ(HITS, hi_watchpoints_hits(watchpoints, 0));
	HI_ASSERT_STATUS(HI_GONE, hi_watchpoints_set(watchpoints, addresses, &err));
	HI_ASSERT_EQ(0, hi_watchpoints_hits(watchpoints, 1));
}

/* Its threads are still listed, until it is waited for. */
HI_TEST_ROOT(watchpoints, know_a_process_that_has_ended)
{
	uint64_t address[1] = {(uintptr_t)&words & ~7ull};
	struct hi_error err;
	siginfo_t info;
	pid_t pid;

	hi_need_watchpoints();
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	HI_ASSERT(pid > 0);
	HI_ASSERT_OK(hi_watchpoints_open(pid, 1, &watchpoints, &err), &err);
	hi_test_defer(close_watchpoints, NULL);
	HI_ASSERT_OK(hi_watchpoints_set(watchpoints, address, &err), &err);
	HI_ASSERT_EQ(0, kill(pid, SIGKILL));
	HI_ASSERT_EQ(0, waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
	HI_ASSERT_STATUS(HI_GONE, hi_watchpoints_set(watchpoints, address, &err));
	HI_ASSERT_EQ(pid, waitpid(pid, NULL, 0));
}

static struct hi_watch_trial trial;

static void end_trial(void *arg)
{
	(void)arg;
	hi_watch_trial_end(&trial);
}

/* What would kill the target kills the process for the trial first. */
HI_TEST_SCENARIO(watchpoints, watchpoints_are_refused_where_they_kill)
{
	struct hi_error err;
	uint64_t took_ns;

	HI_ASSERT_OK(hi_watch_trial_start(&trial, 4, &err), &err);
	hi_test_defer(end_trial, NULL);
	HI_ASSERT_OK(hi_watch_trial_run(&trial, &took_ns, &err), &err);
	HI_ASSERT_EQ(0, kill(trial.pid, SIGTRAP));
	HI_ASSERT_STATUS(HI_UNSUPPORTED, hi_watch_trial_run(&trial, &took_ns, &err));
	HI_ASSERT(strstr(err.text, "ended by SIGTRAP"));
}

HI_TEST_ROOT(watchpoints, leave_files_for_others)
{
	struct hi_fixture *fx = start_watched("40", 4);
	uint64_t addresses[4] = {words, words + 8, words + 16, words + 24};
	struct rlimit old, few;
	struct hi_error err;
	enum hi_status status;

	HI_ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &old));
	few = old;
	few.rlim_cur = 2 * 4 * 41 - 1;
	HI_ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &few));
	status = hi_watchpoints_set(watchpoints, addresses, &err);
	HI_ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &old));
	HI_ASSERT_STATUS(HI_LIMIT, status);
	HI_ASSERT(strstr(err.text, "41 threads take 164 open files"));
	few.rlim_cur++;
	HI_ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &few));
	status = hi_watchpoints_set(watchpoints, addresses, &err);
	HI_ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &old));
	HI_ASSERT_OK(status, &err);
	tell(fx, "all");
	HI_ASSERT_EQ(40 * HITS, hi_watchpoints_hits(watchpoints, 0));
}
