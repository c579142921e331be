/* SPDX-License-Identifier: BSD-2-Clause */
/* The tracer waits for a trigger, and the stop lands where it was hit. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/thread_stat.h"
#include "base/clock.h"
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
	options->timeout_ns = 60 * SECOND;
	options->max_pause_ns = HI_TEST_PATIENCE_NS;
	options->best_effort_priority = true;
	HI_ASSERT_OK(hi_tracer_start(&target, options, &waiter, &err), &err);
	HI_ASSERT_OK(hi_tracer_stop(waiter, &stop, &err), &err);
	return stop;
}

static struct hi_tracer_stop stop_once(pid_t pid)
{
	const struct hi_stop_options options = {.max_pause_ns = HI_TEST_PATIENCE_NS,
						.best_effort_priority = true};
	struct hi_target target = hi_test_target(pid);
	struct hi_tracer_stop stop = {};
	struct hi_error err = {};

	HI_ASSERT_OK(hi_tracer_start(&target, &options, &waiter, &err), &err);
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
	long long urgent = -1;

	hi_test_expect_progress(fx);
	/* One may be on its way; one that is lost is missing for ever. */
	for (int i = 0; i < 1000 && urgent < 0; i++)
		urgent = hi_test_ask(fx, "urgent");
	HI_ASSERT_EQ(0, urgent);
	HI_ASSERT_EQ(0, hi_test_ask(fx, "errors"));
	hi_test_expect_free(fx->pid, "RS");
	hi_test_expect_children(1);
}

static void expect_at(const char *mode, const char *n, int rounds)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_probe(mock, mode, n);
	struct hi_stop_options options = {};

	for (int i = 0; i < rounds; i++) {
		struct hi_tracer_stop stop = wait_once(fx->pid, &options, mock);
		const struct hi_trigger_hit *hit = &stop.trigger.hit;

		HI_ASSERT_EQ(HI_HIT_AT, stop.trigger.position);
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

HI_TEST_SCENARIO(attach_wait, a_thread_that_was_just_born_stands_at_the_probe)
{
	expect_at("newborn", "2", 50);
}

/* Go preempts its threads by the same signal: none of these may be taken. */
HI_TEST_SCENARIO(attach_wait, signals_of_the_program_itself_are_handed_on)
{
	expect_at("own", "4", 100);
}

/* ---- near ---- */

/* Bit of the trigger's signal in a mask of a thread's status. */
static bool has_urgent(pid_t pid, pid_t tid, const char *key)
{
	unsigned long long mask = 0;
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	file = fopen(path, "r");
	HI_ASSERT(file);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, key, strlen(key)) == 0)
			mask = strtoull(line + strlen(key) + 1, NULL, 16);
	fclose(file);
	return mask >> (SIGURG - 1) & 1;
}

HI_TEST_SCENARIO(attach_wait, a_thread_that_blocks_the_signal_is_stopped_near)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_probe(mock, "blocked", "2");
	struct hi_stop_options options = {};

	for (int i = 0; i < 20; i++) {
		struct hi_tracer_stop stop = wait_once(fx->pid, &options, mock);

		HI_ASSERT_EQ(HI_HIT_NEAR, stop.trigger.position);
		HI_ASSERT_EQ(mock->page->tid, stop.trigger.hit.tid);
		HI_ASSERT(has_urgent(fx->pid, mock->page->tid, "SigBlk"));
		go_on(&stop);
	}
	/* What could not be taken away: one signal for each thread, merged. */
	hi_test_ask(fx, "unblock");
	hi_test_sleep_us(20000);
	HI_ASSERT(hi_test_ask(fx, "urgent") <= 2);
	HI_ASSERT_EQ(0, hi_test_ask(fx, "errors"));
	hi_test_expect_free(fx->pid, "RS");
}

HI_TEST_SCENARIO(attach_wait, a_probe_that_sees_the_block_leaves_nothing_pending)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_probe(mock, "unsent", "2");
	struct hi_stop_options options = {};

	for (int i = 0; i < 20; i++) {
		struct hi_tracer_stop stop = wait_once(fx->pid, &options, mock);

		HI_ASSERT_EQ(HI_HIT_NEAR, stop.trigger.position);
		HI_ASSERT(!has_urgent(fx->pid, mock->page->tid, "SigPnd"));
		go_on(&stop);
	}
	hi_test_ask(fx, "unblock");
	expect_well(fx);
}

/* A hit that no signal tells of: by the descriptor only, and then by the clock. */
HI_TEST_SCENARIO(attach_wait, a_trigger_that_sends_no_signal_stops_all_near)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_probe(mock, "never", "3");
	struct hi_stop_options options = {.trigger = &mock->base,
					  .timeout_ns = 20 * SECOND,
					  .max_pause_ns = HI_TEST_PATIENCE_NS,
					  .best_effort_priority = true};
	struct hi_target target = hi_test_target(fx->pid);
	struct hi_tracer_stop stop = {};
	struct hi_error err = {};

	for (int i = 0; i < 3; i++) {
		hi_mock_trigger_reset(mock);
		mock->base.near_only = i > 0;
		mock->base.poll_fd = i == 2 ? -1 : mock->pipe[0];
		HI_ASSERT_OK(hi_tracer_start(&target, &options, &waiter, &err), &err);
		hi_mock_trigger_hit(mock, 0);
		HI_ASSERT_OK(hi_tracer_stop(waiter, &stop, &err), &err);
		HI_ASSERT_EQ(HI_HIT_NEAR, stop.trigger.position);
		HI_ASSERT_EQ(4, stop.n_threads);
		go_on(&stop);
		hi_test_expect_free(fx->pid, "RS");
	}
}

/* ---- the allocator ---- */

/* The safepoint may be malloc itself: that thread stays where it is. */
HI_TEST_SCENARIO(attach_wait, an_end_before_the_trigger_is_armed_is_held)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = hi_fixture_start("stop_threads", "busy", "1", NULL);
	struct hi_stop_options options = {.exit_hold_ns = 60 * SECOND};
	uint64_t start_ns = hi_clock_ns();
	struct hi_tracer_stop stop;

	hi_test_expect_line(fx, "ready");
	hi_test_defer(destroy_waiter, NULL);
	mock->ends = fx->pid;
	stop = wait_once(fx->pid, &options, mock);
	HI_ASSERT_EQ(0, mock->page->arms);
	HI_ASSERT(stop.stopped_ns > start_ns);
	/* Longer than the watchdog needs that has a moment in the past. */
	hi_test_sleep_us(100000);
	HI_ASSERT_EQ('t', hi_thread_state(fx->pid, fx->pid));
	go_on(&stop);
	hi_fixture_end(fx);
	HI_ASSERT(WIFSIGNALED(fx->wait_status) && WTERMSIG(fx->wait_status) == SIGTERM);
}

HI_TEST_SCENARIO(attach_wait, a_probe_inside_the_allocator_is_where_the_thread_stays)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_probe(mock, "plain", "4");
	struct hi_stop_options options = {};
	struct hi_tracer_stop stop = wait_once(fx->pid, &options, mock);
	uint64_t pc = stop.trigger.hit.pc;
	const struct hi_range around = {pc - 1, pc + 1};

	go_on(&stop);
	options.avoid = &around;
	options.n_avoid = 1;
	for (int i = 0; i < 20; i++) {
		const struct hi_thread *thread;

		stop = wait_once(fx->pid, &options, mock);
		HI_ASSERT_EQ(HI_HIT_AT, stop.trigger.position);
		thread = thread_of(&stop, stop.trigger.hit.tid);
		HI_ASSERT_EQ(pc, thread->regs.rip);
		HI_ASSERT(!thread->maybe_in_allocator);
		for (size_t t = 0; t < stop.n_threads; t++)
			HI_ASSERT(&stop.threads[t] == thread ||
				  stop.threads[t].maybe_in_allocator ||
				  stop.threads[t].regs.rip != pc);
		go_on(&stop);
	}
	expect_well(fx);
}

/* ---- how long ---- */

static int compare_times(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t since(uint64_t start_ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec - start_ns;
}

#define ROUNDS 3
#define TRIES 5

static uint64_t median(uint64_t *times)
{
	qsort(times, ROUNDS, sizeof(*times), compare_times);
	return times[ROUNDS / 2];
}

/* Whether a stop that was waited for took as long as one at once. */
static bool is_as_quick(struct hi_fixture *fx, struct hi_mock_trigger *mock)
{
	uint64_t took_ns[ROUNDS], plain_ns[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		struct hi_stop_options options = {};
		struct hi_tracer_stop stop = wait_once(fx->pid, &options, mock);

		took_ns[i] = since(stop.stopped_ns);
		HI_ASSERT_EQ(1001, stop.n_threads);
		HI_ASSERT_EQ(HI_HIT_AT, stop.trigger.position);
		go_on(&stop);
		stop = stop_once(fx->pid);
		plain_ns[i] = since(stop.stopped_ns);
		go_on(&stop);
	}
	hi_test_note("1,001 threads stand: %.1f ms after the hit, %.1f ms without one",
		     (double)median(took_ns) / 1e6, (double)median(plain_ns) / 1e6);
	return median(took_ns) < 3 * median(plain_ns) + 15000000;
}

/* Others may have the processors for one of two that are compared, not always so. */
HI_TEST_BUSY(attach_wait, a_thousand_busy_threads_stand_soon_after_the_hit)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_fixture *fx = start_probe(mock, "busy", "1000");
	bool quick = false;

	for (int i = 0; i < TRIES && !quick; i++)
		quick = is_as_quick(fx, mock);
	HI_ASSERT(quick);
	HI_ASSERT_EQ(0, hi_test_ask(fx, "errors"));
}
