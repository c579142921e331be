/* SPDX-License-Identifier: BSD-2-Clause */
/* The tracer waits for a trigger, and the stop lands where it was hit. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/mock_trigger.h"
#include "tests/support/stopping.h"

#define SECOND 1000000000ull

static struct hi_tracer *waiter; /* the tracer of the test that runs */

static void destroy_waiter(void *arg)
{
	(void)arg;
	hi_tracer_destroy(waiter);
	waiter = NULL;
}

static struct hi_fixture *start_probe(struct hi_mock_trigger *mock, const char *mode,
				      const char *n)
{
	struct hi_fixture *fx = hi_fixture_start("wait_probe", mock->page_path,
						 mock->pipe_path, mode, n, NULL);

	hi_test_expect_line(fx, "ready");
	hi_test_defer(destroy_waiter, NULL);
	return fx;
}

static struct hi_tracer_stop wait_once(pid_t pid, struct hi_stop_options *options,
				       struct hi_mock_trigger *mock)
{
	struct hi_target target = hi_test_target(pid);
	struct hi_tracer_stop stop = {};
	struct hi_error err = {};

	hi_mock_trigger_reset(mock);
	options->trigger = &mock->base;
	options->timeout_ns = 20 * SECOND;
	options->max_pause_ns = 5 * SECOND;
	options->best_effort_priority = true;
	HI_ASSERT_OK(hi_tracer_start(&target, options, &waiter, &err), &err);
	HI_ASSERT_OK(hi_tracer_stop(waiter, &stop, &err), &err);
	return stop;
}

static void go_on(struct hi_tracer_stop *stop)
{
	struct hi_error err = {};
	uint64_t resumed_ns = 0;

	HI_ASSERT_OK(hi_tracer_resume(waiter, &resumed_ns, &err), &err);
	HI_ASSERT(resumed_ns > stop->stopped_ns);
	destroy_waiter(NULL);
}

static const struct hi_thread *thread_of(const struct hi_tracer_stop *stop, pid_t tid)
{
	for (size_t i = 0; i < stop->n_threads; i++)
		if (stop->threads[i].tid == tid)
			return &stop->threads[i];
	hi_test_fail(__FILE__, __LINE__, "no thread %d", (int)tid);
}

/* It runs, nobody traces it, and it noticed nothing. */
static void expect_well(struct hi_fixture *fx)
{
	long long before = hi_test_ask(fx, "count");

	hi_test_sleep_us(20000);
	HI_ASSERT(hi_test_ask(fx, "count") > before);
	HI_ASSERT_EQ(0, hi_test_ask(fx, "urgent"));
	HI_ASSERT_EQ(0, hi_test_ask(fx, "errors"));
	hi_test_expect_free(fx->pid, "RS");
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
}

static void expect_at(const char *mode, const char *n, int rounds)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_probe(mock, mode, n);
	struct hi_stop_options options = {};

	for (int i = 0; i < rounds; i++) {
		struct hi_tracer_stop stop = wait_once(fx->pid, &options, mock);
		const struct hi_trigger_hit *hit = &stop.trigger.hit;

		HI_ASSERT_EQ(HI_LANDING_AT, stop.trigger.landing);
		HI_ASSERT_EQ(mock->page->tid, hit->tid);
		HI_ASSERT_EQ(mock->page->pc, thread_of(&stop, hit->tid)->regs.rip);
		HI_ASSERT_EQ(mock->page->time_ns, stop.stopped_ns);
		go_on(&stop);
	}
	HI_ASSERT_EQ(rounds, mock->page->arms);
	HI_ASSERT_EQ(rounds, mock->page->disarms);
	expect_well(fx);
}

HI_TEST_SCENARIO(attach_wait, one_thread_stands_at_the_probe)
{
	expect_at("plain", "1", 200);
}

HI_TEST_SCENARIO(attach_wait, one_of_eight_threads_stands_at_the_probe)
{
	expect_at("plain", "8", 100);
}
