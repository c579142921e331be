/* SPDX-License-Identifier: BSD-2-Clause */
/* What a target does while the tracer waits, it does as if nobody were there. */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/stopping.h"
#include "tests/support/waiting.h"

#define SECOND 1000000000ull

static struct hi_fixture *start_ready(const char *name, const char *a, const char *b)
{
	struct hi_fixture *fx = hi_fixture_start(name, a, b, NULL);

	hi_test_expect_line(fx, "ready");
	return fx;
}

static void expect_result(struct hi_waiting *waiting, enum hi_status status,
			  const char *text)
{
	struct hi_waiting_result result = hi_waiting_end(waiting);

	HI_ASSERT_MSG(result.status == status, "status %d: %s", result.status,
		      result.text);
	HI_ASSERT_MSG(strstr(result.text, text), "%s", result.text);
}

/* A stop, near: all is there that should be. */
static size_t hit_now(struct hi_mock_trigger *mock, struct hi_waiting *waiting)
{
	struct hi_waiting_result result;

	mock->base.near_only = true;
	hi_mock_trigger_hit(mock, 0);
	result = hi_waiting_end(waiting);
	HI_ASSERT_MSG(result.status == HI_OK, "%s", result.text);
	HI_ASSERT_EQ(HI_HIT_NEAR, result.position);
	return result.n_threads;
}

/* ---- the end of the wait ---- */

HI_TEST_SCENARIO(attach_wait_life, a_probe_that_is_never_passed_times_out)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_ready("stop_threads", "busy", "8");
	struct hi_waiting waiting = hi_waiting_start(mock, fx->pid, 2 * SECOND);
	long long before = hi_test_ask(fx, "count");

	hi_test_expect_traced(fx->pid);
	expect_result(&waiting, HI_MISSED, "the safepoint was not reached within 2");
	hi_test_expect_free(fx->pid, "RS");
	HI_ASSERT_EQ(1, mock->page->disarms);
	HI_ASSERT_EQ(9, mock->page->added);
	HI_ASSERT(hi_test_ask(fx, "count") > before);
	hi_test_expect_children(1);
}

HI_TEST_SCENARIO(attach_wait_life, a_target_that_is_killed_while_we_wait_is_gone)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();

	for (int i = 0; i < 10; i++) {
		struct hi_fixture *fx = start_ready("stop_threads", "busy", "20");
		struct hi_waiting waiting = hi_waiting_start(mock, fx->pid, 20 * SECOND);

		hi_test_sleep_us(i * 300);
		kill(fx->pid, SIGKILL);
		expect_result(&waiting, HI_GONE, "killed (signal 9)");
		hi_fixture_end(fx);
		HI_ASSERT(WIFSIGNALED(fx->wait_status) &&
			  WTERMSIG(fx->wait_status) == SIGKILL);
	}
	hi_test_expect_children(0);
}

HI_TEST_SCENARIO(attach_wait_life, a_target_that_exits_while_we_wait_is_gone)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_ready("stop_threads", "busy", "20");
	struct hi_waiting waiting = hi_waiting_start(mock, fx->pid, 20 * SECOND);

	HI_ASSERT_EQ(0, hi_fixture_end(fx)); /* its exit status comes to us as ever */
	expect_result(&waiting, HI_GONE, "exited (status 0)");
}

HI_TEST_SCENARIO(attach_wait_life, a_target_that_execs_while_we_wait_is_gone)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_ready("stop_exec", NULL, NULL);

	for (int i = 0; i < 60; i++) {
		struct hi_waiting waiting = hi_waiting_start(mock, fx->pid, 20 * SECOND);
		struct hi_waiting_result result = hi_waiting_end(&waiting);

		HI_ASSERT_MSG(result.status == HI_GONE, "%s", result.text);
		HI_ASSERT_MSG(strstr(result.text, "exec") ||
				      strstr(result.text, "it has exited"),
			      "%s", result.text);
	}
	hi_test_expect_free(fx->pid, "RSD");
}

/* The exec comes under the number of a thread that has been dead for long. */
HI_TEST_SCENARIO(attach_wait_life, a_target_without_a_leader_execs_while_we_wait)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();

	for (int i = 0; i < 5; i++) {
		struct hi_fixture *fx = start_ready("exec_leaderless", NULL, NULL);
		struct hi_waiting waiting;

		while (hi_process_state(fx->pid) != 'Z')
			hi_test_sleep_us(1000);
		waiting = hi_waiting_start(mock, fx->pid, 20 * SECOND);
		hi_fixture_tell(fx, "now");
		expect_result(&waiting, HI_GONE, "exec");
		hi_fixture_tell(fx, "it goes on");
		hi_test_expect_line(fx, "it goes on");
		HI_ASSERT_EQ(0, hi_fixture_end(fx));
	}
}

/* ---- births ---- */

HI_TEST_SCENARIO(attach_wait_life, children_of_every_kind_are_born_free)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_ready("wait_births", NULL, NULL);

	for (int i = 0; i < 20; i++) {
		struct hi_waiting waiting = hi_waiting_start(mock, fx->pid, 20 * SECOND);

		hi_test_sleep_us(i * 777);
		hi_test_expect_progress(fx);
		HI_ASSERT(hit_now(mock, &waiting) >= 2);
		mock->base.near_only = false;
	}
	hi_test_expect_free(fx->pid, "RSD");
	HI_ASSERT_EQ(0, hi_test_ask(fx, "errors"));
	HI_ASSERT(hi_test_ask(fx, "signals") <= 1); /* one may be on its way */
}

HI_TEST_SCENARIO(attach_wait_life, threads_that_are_born_and_die_are_all_stopped)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_ready("stop_threads", "churn", "8");

	for (int i = 0; i < 20; i++) {
		struct hi_waiting waiting = hi_waiting_start(mock, fx->pid, 20 * SECOND);

		hi_test_sleep_us(i * 1777);
		HI_ASSERT(hit_now(mock, &waiting) >= 9);
	}
	hi_test_expect_free(fx->pid, "RSX");
	HI_ASSERT(hi_test_ask(fx, "count") > 0);
}

/* ---- job control ---- */

static long long cpu_ticks(pid_t pid)
{
	unsigned long long user, system;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	HI_ASSERT(file && fscanf(file,
				 "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u "
				 "%*u %*u %llu %llu",
				 &user, &system) == 2);
	fclose(file);
	return (long long)(user + system);
}

static void expect_stop_and_continue(struct hi_fixture *fx)
{
	long long ticks;
	int status;

	kill(fx->pid, SIGSTOP);
	HI_ASSERT_EQ(fx->pid, waitpid(fx->pid, &status, WUNTRACED));
	HI_ASSERT(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	ticks = cpu_ticks(fx->pid);
	hi_test_sleep_us(100000);
	HI_ASSERT(cpu_ticks(fx->pid) <= ticks + 1);
	kill(fx->pid, SIGCONT);
	HI_ASSERT_EQ(fx->pid, waitpid(fx->pid, &status, WCONTINUED));
	HI_ASSERT(WIFCONTINUED(status));
	hi_test_expect_progress(fx);
}

HI_TEST_SCENARIO(attach_wait_life, a_target_stops_and_continues_while_we_wait)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_ready("stop_threads", "busy", "8");
	struct hi_waiting waiting = hi_waiting_start(mock, fx->pid, 20 * SECOND);

	for (int i = 0; i < 5; i++)
		expect_stop_and_continue(fx);
	HI_ASSERT_EQ(9, hit_now(mock, &waiting));
	hi_test_expect_free(fx->pid, "RS");
}

HI_TEST_SCENARIO(attach_wait_life, a_target_that_was_stopped_before_stays_so)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_ready("stop_threads", "busy", "8");
	struct hi_waiting waiting;

	kill(fx->pid, SIGSTOP);
	hi_test_expect_free(fx->pid, "T");
	waiting = hi_waiting_start(mock, fx->pid, SECOND / 5);
	expect_result(&waiting, HI_MISSED, "it is stopped (SIGSTOP");
	hi_test_expect_free(fx->pid, "T");
	/* Stopped while we wait, it is so afterwards, also after a hit. */
	waiting = hi_waiting_start(mock, fx->pid, 20 * SECOND);
	HI_ASSERT_EQ(9, hit_now(mock, &waiting));
	hi_test_expect_free(fx->pid, "T");
	kill(fx->pid, SIGCONT);
	hi_test_expect_free(fx->pid, "RS");
	HI_ASSERT(hi_test_ask(fx, "count") > 0);
}

/* ---- signals ---- */

static void expect_all_in_order(struct hi_fixture *fx, long at_least)
{
	long sent, received, disorder;
	char line[256];

	hi_fixture_tell(fx, "finish");
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(3, sscanf(line, "sent %ld received %ld disorder %ld", &sent,
			       &received, &disorder));
	HI_ASSERT(sent >= at_least);
	HI_ASSERT_EQ(sent, received);
	HI_ASSERT_EQ(0, disorder);
}

static double work_a_second(struct hi_fixture *fx)
{
	struct timespec start, end;
	long long before = hi_test_ask(fx, "work"), after;

	clock_gettime(CLOCK_MONOTONIC, &start);
	hi_test_sleep_us(1000000);
	after = hi_test_ask(fx, "work");
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (double)(after - before) / ((double)(end.tv_sec - start.tv_sec) +
					   (double)(end.tv_nsec - start.tv_nsec) / 1e9);
}

HI_TEST_STORM(attach_wait_life, a_storm_of_signals_comes_through_complete_and_in_order)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_ready("wait_storm", "1000", "10000");
	double alone = 1, waited_for = 0;

	/* Others may have the processors for one of the two seconds, not always so. */
	for (int i = 0; i < 8 && waited_for <= alone / 2; i++) {
		struct hi_waiting waiting;

		alone = work_a_second(fx);
		mock->base.near_only = false;
		waiting = hi_waiting_start(mock, fx->pid, 60 * SECOND);
		waited_for = work_a_second(fx);
		HI_ASSERT_EQ(1003, hit_now(mock, &waiting));
		hi_test_note("work done while we wait, 1,000 threads and 10,000 signals "
			     "a second: %.0f %%",
			     100 * waited_for / alone);
	}
	HI_ASSERT(waited_for > alone / 2);
	HI_ASSERT_EQ(0, hi_test_ask(fx, "woken"));
	expect_all_in_order(fx, 10000);
}

static size_t list_threads(pid_t pid, pid_t *tids, size_t max)
{
	struct dirent *entry;
	char path[64];
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	HI_ASSERT(dir);
	while (n < max && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			tids[n++] = (pid_t)strtol(entry->d_name, NULL, 10);
	closedir(dir);
	return n;
}

/* Untraced they would have been dropped before anybody woke up. */
HI_TEST_SCENARIO(attach_wait_life, signals_that_are_ignored_interrupt_nothing)
{
	static const int sigs[] = {SIGWINCH, SIGCHLD, SIGURG, SIGCONT};
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_ready("wait_storm", "20", "100");
	struct hi_waiting waiting = hi_waiting_start(mock, fx->pid, 20 * SECOND);
	pid_t tids[32];
	size_t n = list_threads(fx->pid, tids, 32);

	HI_ASSERT_EQ(23, n);
	for (size_t i = 0; i < 400; i++) {
		HI_ASSERT_EQ(0,
			     syscall(SYS_tgkill, fx->pid, tids[i / 4 % n], sigs[i % 4]));
		hi_test_sleep_us(200);
	}
	HI_ASSERT_EQ(0, hi_test_ask(fx, "woken"));
	HI_ASSERT_EQ(23, hit_now(mock, &waiting));
	HI_ASSERT_EQ(0, hi_test_ask(fx, "woken"));
	expect_all_in_order(fx, 10);
}

/* ---- it cannot move ---- */

HI_TEST_SCENARIO(attach_wait_life, a_thread_in_uninterruptible_sleep_is_named)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_ready("stop_vfork", NULL, NULL);
	struct hi_waiting waiting = hi_waiting_start(mock, fx->pid, SECOND / 5);

	expect_result(&waiting, HI_MISSED, "was not reached");
	hi_fixture_tell(fx, "go on");
	hi_test_expect_line(fx, "done");
	hi_test_expect_free(fx->pid, "S");
}

/* ---- its priority ---- */

/* Until the tracer has this one, or for some seconds. */
static int await_policy(const struct hi_waiting *waiting, int policy)
{
	pid_t tracer = hi_waiting_await_child(waiting->inspector, "hi-tracer");

	for (int i = 0; i < 1000 && sched_getscheduler(tracer) != policy; i++)
		hi_test_sleep_us(10000);
	return sched_getscheduler(tracer);
}

/* Else it, and a few like it, would have all processors to themselves. */
HI_TEST_ROOT(attach_wait_life, a_rush_of_signals_is_handled_at_normal_priority)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_ready("wait_storm", "2", "10000");
	struct hi_waiting waiting = hi_waiting_start(mock, fx->pid, 60 * SECOND);

	HI_ASSERT_EQ(SCHED_OTHER, await_policy(&waiting, SCHED_OTHER));
	hi_fixture_tell(fx, "finish");
	HI_ASSERT_EQ(SCHED_FIFO, await_policy(&waiting, SCHED_FIFO));
	HI_ASSERT_EQ(2 + 3, hit_now(mock, &waiting));
}
