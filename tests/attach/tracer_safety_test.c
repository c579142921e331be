/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whatever happens to the target, the tracer or us: the target runs on in the
 * state that it was in, no signal is lost, no process of ours is left.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/stopping.h"
#include "tests/support/waiting.h"

#define NOBODY 65534

static const struct hi_stop_options plain = {.best_effort_priority = true,
					     .max_pause_ns = HI_TEST_PATIENCE_NS};

static struct hi_fixture *start_ready(const char *name, const char *a, const char *b)
{
	struct hi_fixture *fx = hi_fixture_start(name, a, b, NULL);

	hi_test_expect_line(fx, "ready");
	return fx;
}

/* One stop and resume, whatever comes of it. */
static enum hi_status attempt(pid_t pid, const struct hi_stop_options *options,
			      long hold_us, struct hi_error *err)
{
	struct hi_target target = hi_test_target(pid);
	struct hi_tracer *tracer = NULL;
	struct hi_tracer_stop stop;
	enum hi_status status;
	uint64_t resumed_ns;

	status = hi_tracer_start(&target, options, &tracer, err);
	if (status == HI_OK)
		status = hi_tracer_stop(tracer, &stop, err);
	if (status == HI_OK) {
		if (hold_us)
			hi_test_sleep_us(hold_us);
		status = hi_tracer_resume(tracer, &resumed_ns, err);
	}
	hi_tracer_destroy(tracer);
	return status;
}

/* Waits until we have no children but these fixtures. */
static void wait_childless(int n_fixtures)
{
	/* Long: the killed must be scheduled once more to die. */
	for (int i = 0; i < 20000 && hi_test_count_children(getpid()) > n_fixtures; i++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		hi_test_sleep_us(500);
	}
	HI_ASSERT_EQ(n_fixtures, hi_test_count_children(getpid()));
}

/* ---- signals ---- */

static void expect_all_signals(struct hi_fixture *fx)
{
	char line[256];
	long sent, received;

	hi_fixture_tell(fx, "finish");
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(2, sscanf(line, "sent %ld received %ld", &sent, &received));
	HI_ASSERT(sent > 1000);
	HI_ASSERT_EQ(sent, received);
}

HI_TEST_SLOW(attach_safety, no_signal_is_lost_or_doubled_over_300_stops)
{
	struct hi_fixture *fx = start_ready("stop_signals", NULL, NULL);

	for (int i = 0; i < 300; i++) {
		hi_test_stop_once(fx->pid, &plain);
		hi_test_sleep_us(i * 31 % 300);
	}
	expect_all_signals(fx);
}

/* A child of ours that stops the target again and again. */
static pid_t start_inspector(pid_t target, long hold_us)
{
	pid_t pid = fork();

	HI_ASSERT(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		struct hi_error err;

		if (attempt(target, &plain, hold_us, &err) == HI_GONE)
			_exit(0);
	}
}

static void reap_deferred(void *arg)
{
	pid_t pid = *(pid_t *)arg;

	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Kills inspectors, or their tracers first, at many moments. */
static void kill_often(struct hi_fixture *fx, bool tracers, int rounds)
{
	hi_test_adopt_orphans();
	for (int i = 0; i < rounds; i++) {
		pid_t inspector = start_inspector(fx->pid, 0);

		hi_test_sleep_us(2000 + i * 97 % 3000);
		for (int k = 0; tracers && k < 5; k++) {
			pid_t tracer = hi_waiting_find_child(inspector, "hi-tracer");

			if (tracer)
				kill(tracer, SIGKILL);
			hi_test_sleep_us(i * 13 % 300);
		}
		reap_deferred(&inspector);
		wait_childless(1);
	}
}

HI_TEST_SLOW(attach_safety, no_signal_is_lost_when_tracers_are_killed)
{
	struct hi_fixture *fx = start_ready("stop_signals", NULL, NULL);

	kill_often(fx, true, 150);
	hi_test_expect_free(fx->pid, "RS");
	expect_all_signals(fx);
}

HI_TEST_SLOW(attach_safety, no_signal_is_lost_when_inspectors_are_killed)
{
	struct hi_fixture *fx = start_ready("stop_signals", NULL, NULL);

	kill_often(fx, false, 150);
	hi_test_expect_free(fx->pid, "RS");
	expect_all_signals(fx);
}

HI_TEST_SLOW(attach_safety, busy_threads_run_on_when_inspectors_are_killed)
{
	struct hi_fixture *fx = start_ready("stop_threads", "busy", "16");

	kill_often(fx, false, 50);
	hi_test_expect_free(fx->pid, "RS");
	hi_test_expect_progress(fx);
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
}

HI_TEST_SCENARIO(attach_safety, a_tracer_killed_in_the_pause_frees_the_target)
{
	struct hi_fixture *fx = start_ready("stop_threads", "busy", "4");
	struct hi_target target = hi_test_target(fx->pid);
	struct hi_tracer_stop stop;
	struct hi_tracer *tracer;
	struct hi_error err;
	uint64_t resumed_ns;
	enum hi_status status;

	HI_ASSERT_OK(hi_tracer_start(&target, &plain, &tracer, &err), &err);
	status = hi_tracer_stop(tracer, &stop, &err);
	kill(hi_waiting_find_child(getpid(), "hi-tracer"), SIGKILL);
	hi_test_expect_free(fx->pid, "RS");
	if (status == HI_OK)
		status = hi_tracer_resume(tracer, &resumed_ns, &err);
	hi_tracer_destroy(tracer);
	HI_ASSERT_EQ(HI_OS, status);
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
}

/* ---- the group stop ---- */

HI_TEST_SCENARIO(attach_safety, a_group_stopped_target_stays_stopped_and_can_continue)
{
	struct hi_fixture *fx = start_ready("stop_threads", "busy", "8");
	long long before = hi_test_ask(fx, "count");

	kill(fx->pid, SIGSTOP);
	hi_test_expect_free(fx->pid, "T");
	for (int i = 0; i < 20; i++) {
		HI_ASSERT_EQ(9, hi_test_stop_once(fx->pid, &plain));
		hi_test_expect_free(fx->pid, "T");
	}
	kill(fx->pid, SIGCONT);
	hi_test_expect_free(fx->pid, "RS");
	hi_test_expect_progress(fx);
	HI_ASSERT(hi_test_ask(fx, "count") > before);
}

HI_TEST_SCENARIO(attach_safety, a_group_stopped_target_stays_so_when_inspectors_die)
{
	struct hi_fixture *fx = start_ready("stop_threads", "busy", "8");

	kill(fx->pid, SIGSTOP);
	hi_test_expect_free(fx->pid, "T");
	kill_often(fx, false, 30);
	hi_test_expect_free(fx->pid, "T");
	kill(fx->pid, SIGCONT);
	hi_test_expect_free(fx->pid, "RS");
	HI_ASSERT(hi_test_ask(fx, "count") > 0);
}

/* Sends signals while the target stands; expects this state afterwards. */
static void signal_in_pause(pid_t pid, int first, int second, const char *states)
{
	struct hi_target target = hi_test_target(pid);
	struct hi_tracer_stop stop;
	struct hi_tracer *tracer;
	struct hi_error err = {};
	uint64_t resumed_ns;
	enum hi_status status;

	HI_ASSERT_OK(hi_tracer_start(&target, &plain, &tracer, &err), &err);
	status = hi_tracer_stop(tracer, &stop, &err);
	kill(pid, first);
	if (second)
		kill(pid, second);
	if (status == HI_OK)
		status = hi_tracer_resume(tracer, &resumed_ns, &err);
	hi_tracer_destroy(tracer);
	HI_ASSERT_OK(status, &err);
	hi_test_sleep_us(20000);
	hi_test_expect_free(pid, states);
}

HI_TEST_SCENARIO(attach_safety, sigstop_and_sigcont_during_the_pause_take_effect)
{
	struct hi_fixture *fx = start_ready("stop_threads", "busy", "8");

	signal_in_pause(fx->pid, SIGSTOP, 0, "T");
	signal_in_pause(fx->pid, SIGCONT, 0, "RS");
	signal_in_pause(fx->pid, SIGSTOP, SIGCONT, "RS");
	kill(fx->pid, SIGSTOP);
	hi_test_expect_free(fx->pid, "T");
	signal_in_pause(fx->pid, SIGCONT, SIGSTOP, "T");
	kill(fx->pid, SIGCONT);
	hi_test_expect_free(fx->pid, "RS");
}

HI_TEST_SCENARIO(attach_safety, stops_amid_a_storm_of_sigstop_and_sigcont_end_well)
{
	struct hi_fixture *fx = start_ready("stop_threads", "busy", "8");
	pid_t inspector = start_inspector(fx->pid, 0);

	for (int i = 0; i < 300; i++) {
		kill(fx->pid, SIGSTOP);
		hi_test_sleep_us(i * 17 % 700);
		kill(fx->pid, SIGCONT);
		hi_test_sleep_us(i * 29 % 700);
	}
	reap_deferred(&inspector);
	hi_test_expect_free(fx->pid, "RS");
	kill(fx->pid, SIGSTOP);
	hi_test_expect_free(fx->pid, "T");
	kill(fx->pid, SIGCONT);
	hi_test_expect_free(fx->pid, "RS");
	HI_ASSERT(hi_test_ask(fx, "count") > 0);
}

/* ---- the target dies, or becomes another ---- */

HI_TEST_SLOW(attach_safety, a_target_that_is_killed_at_any_moment_is_gone)
{
	int gone = 0;

	for (int i = 0; i < 40; i++) {
		struct hi_fixture *fx = start_ready("stop_threads", "busy", "20");
		pid_t killer = fork();
		struct hi_error err = {};
		enum hi_status status = HI_OK;

		if (killer == 0) {
			hi_test_sleep_us(i * 200);
			kill(fx->pid, SIGKILL);
			_exit(0);
		}
		for (int k = 0; status == HI_OK && k < 10000; k++)
			status = attempt(fx->pid, &plain, i % 3 * 500, &err);
		waitpid(killer, NULL, 0);
		HI_ASSERT_MSG(status == HI_GONE, "%s", err.text);
		HI_ASSERT(err.text[0]);
		gone++;
		hi_fixture_end(fx);
		HI_ASSERT(WIFSIGNALED(fx->wait_status) &&
			  WTERMSIG(fx->wait_status) == SIGKILL);
	}
	HI_ASSERT_EQ(40, gone);
	HI_ASSERT_EQ(0, hi_test_count_children(getpid()));
}

static long generation_of(pid_t pid)
{
	char path[64], text[256] = "";
	size_t n, used;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return -1;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	used = strlen(text) + 1;
	return used < n ? strtol(text + used, NULL, 10) : 0;
}

HI_TEST_SCENARIO(attach_safety, a_target_that_execs_during_the_stop_goes_on)
{
	struct hi_fixture *fx = start_ready("stop_exec", NULL, NULL);
	int n_ok = 0, n_gone = 0;
	long before, now = 0;

	/* More where others have the processors: one between two execs is wanted. */
	for (int i = 0; i < 400 || (n_ok == 0 && i < 40000); i++) {
		struct hi_error err = {};
		enum hi_status status = attempt(fx->pid, &plain, 0, &err);

		HI_ASSERT_MSG(status == HI_OK || status == HI_GONE, "%s", err.text);
		n_ok += status == HI_OK;
		n_gone += status == HI_GONE;
	}
	hi_test_note("%d stops, %d execs met", n_ok, n_gone);
#ifndef __SANITIZE_ADDRESS__ /* too slow to be done between two execs */
	HI_ASSERT(n_ok > 0);
#endif
	while ((before = generation_of(fx->pid)) <= 0)
		hi_test_sleep_us(100);
	for (int i = 0; i < 20000 && (now = generation_of(fx->pid)) <= before; i++)
		hi_test_sleep_us(1000); /* it reads as empty amid an exec */
	HI_ASSERT(now > before);
	HI_ASSERT_EQ(0, hi_process_status(fx->pid, "TracerPid"));
}

HI_TEST_SCENARIO(attach_safety, a_target_that_exec_ed_between_start_and_stop_is_gone)
{
	struct hi_fixture *fx = start_ready("stop_exec", NULL, NULL);
	struct hi_target target = hi_test_target(fx->pid);
	struct hi_tracer *tracer = NULL;
	struct hi_tracer_stop stop;
	struct hi_error err = {};
	enum hi_status status;
	long before;

	HI_ASSERT_OK(hi_tracer_start(&target, &plain, &tracer, &err), &err);
	while ((before = generation_of(fx->pid)) <= 0)
		hi_test_sleep_us(100); /* it reads as empty amid an exec */
	for (int i = 0; i < 20000 && generation_of(fx->pid) < before + 3; i++)
		hi_test_sleep_us(1000);
	status = hi_tracer_stop(tracer, &stop, &err);
	hi_tracer_destroy(tracer);
	HI_ASSERT_EQ(HI_GONE, status);
	/* Caught in the middle of one more exec there is nobody to attach to. */
	HI_ASSERT_MSG(strstr(err.text, "exec") || strstr(err.text, "it has exited"), "%s",
		      err.text);
	hi_test_sleep_us(20000);
	HI_ASSERT_EQ(0, hi_process_status(fx->pid, "TracerPid"));
}

/* ---- the budget ---- */

/* What an inspector that is stopped in the pause has found. */
struct stopped_inspector {
	enum hi_status stop, resume;
	char state; /* of the target, before it was stopped */
};

static struct stopped_inspector stop_inspector(pid_t pid,
					       const struct hi_stop_options *options)
{
	struct stopped_inspector found = {};
	struct hi_target target = hi_test_target(pid);
	struct hi_tracer_stop stop;
	struct hi_tracer *tracer = NULL;
	struct hi_error err;
	uint64_t resumed_ns;

	found.stop = hi_tracer_start(&target, options, &tracer, &err);
	if (found.stop == HI_OK)
		found.stop = hi_tracer_stop(tracer, &stop, &err);
	if (found.stop == HI_OK) {
		found.state = hi_process_state(pid);
		raise(SIGSTOP);
		found.resume = hi_tracer_resume(tracer, &resumed_ns, &err);
	}
	hi_tracer_destroy(tracer);
	return found;
}

/* False where the budget was over before the inspector was stopped. */
static bool stopped_in_the_pause(struct hi_fixture *fx)
{
	struct hi_stop_options options = {.max_pause_ns = 300000000};
	struct stopped_inspector found = {};
	int ends[2], status = 0;
	pid_t inspector;

	HI_ASSERT(pipe(ends) == 0);
	inspector = fork();
	if (inspector == 0) {
		found = stop_inspector(fx->pid, &options);
		_exit(write(ends[1], &found, sizeof(found)) != sizeof(found));
	}
	close(ends[1]);
	HI_ASSERT(waitpid(inspector, &status, WUNTRACED) == inspector);
	hi_test_expect_free(fx->pid, "RS"); /* while it still does nothing */
	if (WIFSTOPPED(status)) {
		kill(inspector, SIGCONT);
		waitpid(inspector, NULL, 0);
	}
	HI_ASSERT_EQ(sizeof(found), read(ends[0], &found, sizeof(found)));
	close(ends[0]);
	HI_ASSERT(found.stop == HI_OK || found.stop == HI_TIMEOUT);
	if (found.stop == HI_OK)
		HI_ASSERT_EQ(HI_TIMEOUT, found.resume);
	return found.stop == HI_OK && found.state == 't';
}

HI_TEST_SCENARIO(attach_safety,
		 a_stopped_inspector_holds_the_target_no_longer_than_the_budget)
{
	struct hi_fixture *fx = start_ready("stop_threads", "busy", "8");
	bool done = false;

	/* Others may have the processors for as long as the budget. */
	for (int i = 0; i < 20 && !done; i++)
		done = stopped_in_the_pause(fx);
	HI_ASSERT(done);
}

HI_TEST_SCENARIO(attach_safety, a_thread_in_uninterruptible_sleep_costs_the_budget_only)
{
	struct hi_stop_options options = {.max_pause_ns = 200000000};
	struct hi_fixture *fx = start_ready("stop_vfork", NULL, NULL);
	struct hi_error err = {};

	for (int i = 0; i < 300000 && hi_process_state(fx->pid) != 'D'; i++)
		hi_test_sleep_us(1000);
	HI_ASSERT_EQ('D', hi_process_state(fx->pid));
	/* Its other thread may be the one that has no processor for so long. */
	for (int i = 0; i < 5 && !strstr(err.text, "uninterruptible"); i++) {
		HI_ASSERT_STATUS(HI_TIMEOUT, attempt(fx->pid, &options, 0, &err));
		options.max_pause_ns *= 4;
	}
	HI_ASSERT_MSG(strstr(err.text, "uninterruptible"), "%s", err.text);
	hi_test_expect_free(fx->pid, "DS");
	hi_fixture_tell(fx, "go on");
	hi_test_expect_line(fx, "done");
	hi_test_stop_once(fx->pid, &plain);
}

/* ---- refusals ---- */

HI_TEST_SCENARIO(attach_safety, a_target_that_is_traced_already_is_left_alone)
{
	struct hi_fixture *fx = start_ready("stop_threads", "busy", "2");
	struct hi_error err = {};
	char text[64];

	HI_ASSERT_EQ(0, ptrace(PTRACE_SEIZE, fx->pid, 0, 0));
	HI_ASSERT_STATUS(HI_CANNOT_ATTACH, attempt(fx->pid, &plain, 0, &err));
	snprintf(text, sizeof(text), "already traced by process %d", (int)getpid());
	HI_ASSERT_MSG(strstr(err.text, text), "%s", err.text);
	HI_ASSERT_EQ(EPERM, err.os_errno);
	HI_ASSERT_EQ(getpid(), hi_process_status(fx->pid, "TracerPid"));
	HI_ASSERT(hi_test_ask(fx, "count") > 0);
	ptrace(PTRACE_INTERRUPT, fx->pid, 0, 0);
	waitpid(fx->pid, NULL, __WALL);
	HI_ASSERT_EQ(0, ptrace(PTRACE_DETACH, fx->pid, 0, 0));
}

HI_TEST_SCENARIO(attach_safety, a_pid_that_is_not_there_is_gone)
{
	struct hi_error err = {};
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	HI_ASSERT_STATUS(HI_GONE, attempt(pid, &plain, 0, &err));
}

/* As nobody: 0 if stopping `pid` gives the expected status. */
static int attempt_as_nobody(pid_t pid, enum hi_status expected)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct hi_error err;

		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(2);
		_exit(attempt(pid, &plain, 0, &err) != expected);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

HI_TEST_ROOT(attach_safety, an_unprivileged_user_may_stop_a_process_of_theirs_only)
{
	struct hi_fixture *fx = start_ready("stop_threads", "busy", "2");
	pid_t own;

	HI_ASSERT_EQ(0, attempt_as_nobody(fx->pid, HI_CANNOT_ATTACH));
	own = fork();
	if (own == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(1);
		prctl(PR_SET_DUMPABLE,
		      1); /* setuid took it away; exec would bring it back */
		for (;;)
			pause();
	}
	for (int i = 0; i < 1000 && hi_process_state(own) != 'S'; i++)
		hi_test_sleep_us(10000);
	HI_ASSERT_EQ(0, attempt_as_nobody(own, HI_OK));
	hi_test_expect_free(own, "S");
	reap_deferred(&own);
}
