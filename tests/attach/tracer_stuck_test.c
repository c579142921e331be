/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes of ours that are stopped or asked to end: the inspector gets an answer in
 * time, the target runs on, and no process of ours is left.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/interrupted.h"
#include "tests/support/stopping.h"

/* Hangs are what is looked for: far above what a loaded machine needs. */
enum { LIMIT_US = 300000000 };

static const struct hi_stop_options brief = {.max_pause_ns = 500000000};
static const struct hi_stop_options patient = {.max_pause_ns = HI_TEST_PATIENCE_NS};

struct stuck {
	struct hi_fixture *fx;
	struct hi_target target;
	struct hi_tracer *tracer;
	pid_t tracer_pid, watchdog_pid;
};

static pid_t await_process(const char *name)
{
	for (int i = 0; i < 300000; i++) {
		pid_t pid = hi_process_of(getpid(), name);

		if (pid)
			return pid;
		hi_test_sleep_us(1000);
	}
	hi_test_fail(__FILE__, __LINE__, "no process %s", name);
}

static struct stuck start_stuck(const struct hi_stop_options *options)
{
	struct stuck s = {.fx = hi_fixture_start("stop_threads", "busy", "4", NULL)};
	struct hi_error err;

	hi_test_expect_line(s.fx, "ready");
	s.target = hi_test_target(s.fx->pid);
	HI_ASSERT_OK(hi_tracer_start(&s.target, options, &s.tracer, &err), &err);
	s.tracer_pid = await_process("hi-tracer");
	s.watchdog_pid = await_process("hi-watchdog");
	return s;
}

static void expect_end(struct stuck *s)
{
	uint64_t start_us = hi_test_now_us();

	hi_tracer_destroy(s->tracer);
	HI_ASSERT(hi_test_now_us() - start_us < LIMIT_US);
	hi_test_expect_free(s->fx->pid, "RS");
	hi_test_expect_progress(s->fx);
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
}

HI_TEST_SCENARIO(attach_stuck, a_tracer_and_a_watchdog_that_are_stopped_before_the_stop)
{
	struct stuck s = start_stuck(&brief);
	uint64_t start_us = hi_test_now_us();
	struct hi_tracer_stop stop;
	struct hi_error err;

	kill(s.watchdog_pid, SIGSTOP);
	kill(s.tracer_pid, SIGSTOP);
	HI_ASSERT_EQ(HI_TIMEOUT, hi_tracer_stop(s.tracer, &stop, &err));
	HI_ASSERT(hi_test_now_us() - start_us < LIMIT_US);
	expect_end(&s);
}

HI_TEST_SCENARIO(attach_stuck, a_tracer_and_a_watchdog_that_are_stopped_in_the_stop)
{
	struct stuck s = start_stuck(&brief);
	struct hi_tracer_stop stop;
	struct hi_error err;
	enum hi_status status;
	uint64_t start_us, resumed_ns;

	kill(s.watchdog_pid, SIGSTOP);
	status = hi_tracer_stop(s.tracer, &stop, &err);
	kill(s.tracer_pid, SIGSTOP);
	start_us = hi_test_now_us();
	if (status == HI_OK)
		status = hi_tracer_resume(s.tracer, &resumed_ns, &err);
	HI_ASSERT_EQ(HI_TIMEOUT, status);
	HI_ASSERT(hi_test_now_us() - start_us < LIMIT_US);
	expect_end(&s);
}

/* The watchdog alone is enough where the tracer is stopped. */
HI_TEST_SCENARIO(attach_stuck, a_tracer_that_is_stopped_in_the_stop)
{
	struct stuck s = start_stuck(&brief);
	struct hi_tracer_stop stop;
	struct hi_error err;
	enum hi_status status = hi_tracer_stop(s.tracer, &stop, &err);
	uint64_t resumed_ns;

	kill(s.tracer_pid, SIGSTOP);
	hi_test_expect_free(s.fx->pid, "RS");
	if (status == HI_OK)
		status = hi_tracer_resume(s.tracer, &resumed_ns, &err);
	HI_ASSERT_EQ(HI_TIMEOUT, status);
	expect_end(&s);
}

/* They end with the inspector and not when they are asked to. */
HI_TEST_SCENARIO(attach_stuck, signals_that_ask_to_end_change_nothing)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct stuck s = start_stuck(&patient);
		struct hi_tracer_stop stop;
		struct hi_error err;
		uint64_t resumed_ns;

		kill(s.tracer_pid, signals[i]);
		HI_ASSERT_OK(hi_tracer_stop(s.tracer, &stop, &err), &err);
		kill(s.tracer_pid, signals[i]);
		kill(s.watchdog_pid, signals[i]);
		HI_ASSERT_OK(hi_tracer_resume(s.tracer, &resumed_ns, &err), &err);
		hi_tracer_destroy(s.tracer);
		hi_test_expect_free(s.fx->pid, "RS");
	}
}
