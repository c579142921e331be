/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inspector, tracer or watchdog are killed or stopped while the tracer waits, and
 * around the hit: the target runs on, and no signal is lost, doubled or late for ever.
 * HI_WAIT_KILLS says how often (default 40 each, fewer on a busy machine).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/interrupted.h"
#include "tests/support/stopping.h"
#include "tests/support/waiting.h"

#define SECOND 1000000000ull

static struct hi_test_course start_kills(void)
{
	return hi_test_course_of("HI_WAIT_KILLS", 5, 40);
}

static struct hi_fixture *start_ready(const char *name, const char *a, const char *b)
{
	struct hi_fixture *fx = hi_fixture_start(name, a, b, NULL);

	hi_test_expect_line(fx, "ready");
	hi_test_adopt_orphans();
	return fx;
}

enum moment { WAITING, AT_THE_HIT };

/* "" is the inspector itself. */
static void kill_at_random(struct hi_mock_trigger *mock, pid_t target, const char *name,
			   enum moment moment, unsigned round)
{
	struct hi_waiting waiting = hi_waiting_start(mock, target, 20 * SECOND);
	pid_t victim = *name ? hi_waiting_await_child(waiting.inspector, name)
			     : waiting.inspector;

	hi_test_sleep_us(round * 1231 % 2500);
	if (moment == AT_THE_HIT) {
		hi_mock_trigger_hit(mock, 0);
		hi_test_sleep_us(round * 147 % 400);
	}
	kill(victim, SIGKILL);
	if (moment == WAITING && strcmp(name, "hi-watchdog") == 0)
		hi_mock_trigger_hit(mock, 0); /* it goes on without one */
	(void)hi_waiting_end(&waiting);
}

/*
 * A tracer that dies between telling a thread to stop and looking at it leaves it an
 * EINTR: only while it waits it interrupts nobody. Two tracers that hand on thousands of
 * signals a second, with their priority, keep two processors from all others.
 */
static void expect_storm_survives(const char *name, enum moment moment)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_ready("wait_storm", "8", "4000");
	long sent, received, disorder;
	char line[256];

	mock->base.near_only = true;
	for (struct hi_test_course c = start_kills(); hi_test_course_goes_on(&c);) {
		kill_at_random(mock, fx->pid, name, moment, c.round);
		hi_test_expect_free(fx->pid, "RS");
	}
	hi_test_expect_children(1);
	if (moment == WAITING)
		HI_ASSERT_EQ(0, hi_test_ask(fx, "woken"));
	hi_fixture_tell(fx, "finish");
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(3, sscanf(line, "sent %ld received %ld disorder %ld", &sent,
			       &received, &disorder));
	HI_ASSERT(sent > 100);
	HI_ASSERT_EQ(sent, received);
	HI_ASSERT_EQ(0, disorder);
}

HI_TEST_STORM(attach_wait_kill, a_tracer_killed_in_the_wait_takes_no_signal_along)
{
	expect_storm_survives("hi-tracer", WAITING);
}

HI_TEST_STORM(attach_wait_kill, a_tracer_killed_at_the_hit_takes_no_signal_along)
{
	expect_storm_survives("hi-tracer", AT_THE_HIT);
}

HI_TEST_STORM(attach_wait_kill, an_inspector_killed_in_the_wait_takes_no_signal_along)
{
	expect_storm_survives("", WAITING);
}

HI_TEST_STORM(attach_wait_kill, an_inspector_killed_at_the_hit_takes_no_signal_along)
{
	expect_storm_survives("", AT_THE_HIT);
}

HI_TEST_STORM(attach_wait_kill, a_watchdog_killed_in_the_wait_takes_no_signal_along)
{
	expect_storm_survives("hi-watchdog", WAITING);
}

HI_TEST_STORM(attach_wait_kill, a_watchdog_killed_at_the_hit_takes_no_signal_along)
{
	expect_storm_survives("hi-watchdog", AT_THE_HIT);
}

/* Children, their ends and the signals that tell of them. */
static void expect_births_survive(const char *name)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_ready("wait_births", NULL, NULL);

	mock->base.near_only = true;
	for (struct hi_test_course c = start_kills(); hi_test_course_goes_on(&c);)
		kill_at_random(mock, fx->pid, name, c.round % 2 ? WAITING : AT_THE_HIT,
			       c.round);
	hi_test_expect_free(fx->pid, "RSD");
	hi_test_expect_children(1);
	hi_test_expect_progress(fx);
	HI_ASSERT_EQ(0, hi_test_ask(fx, "errors"));
	HI_ASSERT(hi_test_ask(fx, "signals") <= 1);
}

HI_TEST_SCENARIO(attach_wait_kill, a_killed_tracer_leaves_every_child_free)
{
	expect_births_survive("hi-tracer");
}

HI_TEST_SCENARIO(attach_wait_kill, a_killed_inspector_leaves_every_child_free)
{
	expect_births_survive("");
}

/* The probe's own signal, of a tracer that is dead by then: to a handler at worst. */
HI_TEST_SCENARIO(attach_wait_kill, a_tracer_killed_at_the_probe_leaves_a_harmless_signal)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = hi_fixture_start("wait_probe", mock->page_path,
						 mock->pipe_path, "plain", "2", NULL);
	struct hi_test_course course;

	hi_test_expect_line(fx, "ready");
	hi_test_adopt_orphans();
	for (course = start_kills(); hi_test_course_goes_on(&course);) {
		struct hi_waiting waiting = hi_waiting_start(mock, fx->pid, 20 * SECOND);
		pid_t tracer = hi_waiting_find_child(waiting.inspector, "hi-tracer");

		hi_test_sleep_us(course.round * 107 % 300);
		if (tracer) /* it has not ended by its hit */
			kill(tracer, SIGKILL);
		(void)hi_waiting_end(&waiting);
		hi_test_expect_free(fx->pid, "RS");
	}
	hi_test_expect_progress(fx);
	HI_ASSERT(hi_test_ask(fx, "urgent") <= course.round);
	HI_ASSERT_EQ(0, hi_test_ask(fx, "errors"));
	hi_test_expect_children(1);
}

/* ---- stopped instead of killed ---- */

/* The watchdog continues it, and it goes on to wait. */
HI_TEST_SCENARIO(attach_wait_kill, a_tracer_that_is_stopped_while_it_waits_is_continued)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_ready("wait_storm", "8", "1000");
	struct hi_waiting waiting = hi_waiting_start_hurried(mock, fx->pid, 5 * SECOND);
	struct hi_waiting_result result;

	kill(hi_waiting_await_child(waiting.inspector, "hi-tracer"), SIGSTOP);
	result = hi_waiting_end(&waiting);
	HI_ASSERT_MSG(result.status == HI_MISSED, "%s", result.text);
	hi_test_expect_free(fx->pid, "RS");
	HI_ASSERT_EQ(0, hi_test_ask(fx, "woken"));
	hi_test_expect_children(1);
}

static bool has_ended(pid_t pid)
{
	return strchr("ZX", hi_process_state(pid)) != NULL; /* or there is none */
}

static void await_naps(pid_t pid, unsigned n)
{
	unsigned long long until = hi_process_naps(pid) + n;

	for (int i = 0; i < 300000 && hi_process_naps(pid) < until; i++) {
		HI_ASSERT(!has_ended(pid));
		hi_test_sleep_us(1000);
	}
	HI_ASSERT(hi_process_naps(pid) >= until);
}

static void await_end(pid_t pid)
{
	for (int i = 0; i < 300000 && !has_ended(pid); i++)
		hi_test_sleep_us(1000);
	HI_ASSERT(has_ended(pid));
}

/* Ctrl-Z: the tracer goes on, and the target is not held by what it finds. */
HI_TEST_SCENARIO(attach_wait_kill,
		 a_stopped_inspector_holds_nothing_while_the_tracer_waits)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_ready("stop_threads", "busy", "4");
	struct hi_waiting waiting = hi_waiting_start_hurried(mock, fx->pid, 600 * SECOND);
	pid_t tracer = hi_waiting_await_child(waiting.inspector, "hi-tracer");
	struct hi_waiting_result result;

	kill(waiting.inspector, SIGSTOP);
	/* Longer than the watchdog's time: it wakes up four times in that. */
	await_naps(tracer, 6);
	hi_test_expect_progress(fx);
	mock->base.near_only = true;
	hi_mock_trigger_hit(mock, 0);
	await_end(tracer); /* the budget is over */
	hi_test_expect_free(fx->pid, "RS");
	kill(waiting.inspector, SIGCONT);
	result = hi_waiting_end(&waiting);
	HI_ASSERT_MSG(result.status == HI_TIMEOUT, "%s", result.text);
	hi_test_expect_progress(fx);
}
