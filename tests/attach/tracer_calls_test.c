/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls that sleep while we stop the target go on as if nothing was. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/stopping.h"

#define STOPS 20

static const struct hi_stop_options plain = {.max_pause_ns = HI_TEST_PATIENCE_NS};

static struct hi_fixture *start_call(const char *name)
{
	struct hi_fixture *fx = hi_fixture_start("stop_calls", name, NULL);

	hi_test_expect_line(fx, "ready");
	return fx;
}

static struct hi_fixture *start_filtered(const char *name)
{
	struct hi_fixture *fx = hi_fixture_start("stop_calls", name, "filter", NULL);

	hi_test_expect_line(fx, "ready");
	return fx;
}

static void stop_often(pid_t pid)
{
	for (int i = 0; i < STOPS; i++) {
		hi_test_stop_once(pid, &plain);
		hi_test_sleep_us(i * 137 % 1000);
	}
	hi_test_expect_free(pid, "RS");
}

static void expect_unnoticed(const char *name)
{
	struct hi_fixture *fx = start_call(name);

	stop_often(fx->pid);
	hi_fixture_tell(fx, "finish");
	hi_test_expect_line(fx, "calls 1 result 1 errno 0 early 0");
}

#define UNNOTICED(call)                                                                  \
	HI_TEST_SCENARIO(attach_calls, call##_sleeps_on_over_many_stops)                 \
	{                                                                                \
		expect_unnoticed(#call);                                                 \
	}
HI_TEST_EACH_CALL(UNNOTICED)

/* The thread that is not the leader, as it was published. */
static const struct hi_thread *sleeper_of(const struct hi_tracer_stop *stop)
{
	HI_ASSERT_EQ(2, stop->n_threads);
	return &stop->threads[1];
}

/* A handler that comes while all stand still still ends the call by EINTR. */
static void expect_handler_ends(const char *name, int number)
{
	struct hi_fixture *fx = start_call(name);
	struct hi_target target = hi_test_target(fx->pid);
	struct hi_tracer_stop stop;
	struct hi_tracer *tracer;
	struct hi_error err;
	uint64_t resumed_ns;

	HI_ASSERT_OK(hi_tracer_start(&target, &plain, &tracer, &err), &err);
	HI_ASSERT_OK(hi_tracer_stop(tracer, &stop, &err), &err);
	HI_ASSERT_EQ(number, sleeper_of(&stop)->regs.rax);
	HI_ASSERT_EQ(0, syscall(SYS_tgkill, fx->pid, sleeper_of(&stop)->tid, SIGUSR1));
	HI_ASSERT_OK(hi_tracer_resume(tracer, &resumed_ns, &err), &err);
	hi_tracer_destroy(tracer);
	HI_ASSERT_EQ(1, hi_test_ask(fx, "await"));
	hi_fixture_tell(fx, "finish");
	hi_test_expect_line(fx, "calls 1 result -1 errno 4 early 1");
}

HI_TEST_SCENARIO(attach_calls, a_handler_during_the_stop_ends_epoll_wait)
{
	expect_handler_ends("epoll_wait", SYS_epoll_wait);
}

HI_TEST_SCENARIO(attach_calls, a_handler_during_the_stop_ends_epoll_pwait)
{
	expect_handler_ends("epoll_pwait", SYS_epoll_pwait);
}

HI_TEST_SCENARIO(attach_calls, a_handler_after_the_stop_ends_epoll_pwait)
{
	struct hi_fixture *fx = start_call("epoll_pwait");

	stop_often(fx->pid);
	hi_fixture_tell(fx, "signal");
	hi_test_expect_line(fx, "handled 1");
	hi_fixture_tell(fx, "finish");
	hi_test_expect_line(fx, "calls 1 result -1 errno 4 early 1");
}

/* Signals that nobody handles interrupt nothing, traced or not. */
HI_TEST_SCENARIO(attach_calls, an_ignored_signal_during_the_stop_ends_nothing)
{
	struct hi_fixture *fx = start_call("epoll_wait");

	for (int i = 0; i < 200; i++) {
		kill(fx->pid, SIGWINCH);
		kill(fx->pid, SIGUSR2);
		if (i % 10 == 0)
			hi_test_stop_once(fx->pid, &plain);
	}
	hi_fixture_tell(fx, "finish");
	hi_test_expect_line(fx, "calls 1 result 1 errno 0 early 0");
}

/* ---- filters that kill on restart_syscall ---- */

enum { FILTERED_STOPS = 50 };

static void stop_filtered(pid_t pid)
{
	for (int i = 0; i < FILTERED_STOPS; i++) {
		hi_test_stop_once(pid, &plain);
		hi_test_sleep_us(i * 137 % 1000);
	}
}

/* With a filter of our own, the target's cannot be read, whoever we are. */
static void stop_filtered_unseen(pid_t pid)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
			_exit(3);
		stop_filtered(pid);
		_exit(0);
	}
	HI_ASSERT(child > 0);
	HI_ASSERT_EQ(child, waitpid(child, &status, 0));
	HI_ASSERT_EQ(0, status);
}

static void expect_survival(const char *name, void (*stop)(pid_t pid))
{
	struct hi_fixture *fx = start_filtered(name);

	stop(fx->pid);
	hi_test_expect_free(fx->pid, "RS");
	hi_fixture_tell(fx, "finish");
	hi_test_expect_line(fx, "calls 1 result 1 errno 0 early 0");
}

#define SURVIVED(call)                                                                   \
	HI_TEST_SCENARIO(attach_calls, call##_under_a_filter_that_kills_on_restart)      \
	{                                                                                \
		expect_survival(#call, stop_filtered);                                   \
	}                                                                                \
	HI_TEST_SCENARIO(attach_calls,                                                   \
			 call##_under_a_filter_that_kills_and_cannot_be_read)            \
	{                                                                                \
		expect_survival(#call, stop_filtered_unseen);                            \
	}
SURVIVED(nanosleep)
SURVIVED(poll)
SURVIVED(futex)
SURVIVED(epoll_wait)
