/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of time of a process whose CPU time its fixture tells (fixtures/time_lives.c):
 * one for each period of each thread, whichever timers a thread has.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "probes/events/bpf_source_internal.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"

enum { SCAN_NS = 2000000 };

struct ticking {
	struct hi_fixture *fx;
	struct hi_target *target;
	struct hi_event_functions functions;
	struct hi_event_source *source;
	struct hi_event_sink sink;
	unsigned long ticks, others, stacks, cut, stopped;
};

static void end_ticking(struct ticking *t)
{
	hi_event_source_close(t->source);
	hi_target_close(t->target);
	free(t);
}

static void take_event(void *arg, const struct hi_event *event)
{
	struct ticking *t = arg;

	t->ticks += event->kind == HI_EVENT_TICK;
	t->others += event->kind != HI_EVENT_TICK;
	t->cut += event->kind == HI_EVENT_TICK && !event->stack;
}

static void take_stack(void *arg, const struct hi_event_stack *stack)
{
	(void)stack;
	((struct ticking *)arg)->stacks++;
}

typedef enum hi_status opening_fn(const struct hi_target *target,
				  const struct hi_event_functions *functions,
				  const struct hi_event_source_options *options,
				  struct hi_event_source **ret, struct hi_error *err);

static struct ticking *open_ticking(opening_fn *open, uint64_t scan_ns)
{
	const struct hi_event_source_options options = {.scan_ns = scan_ns};
	struct ticking *t = calloc(1, sizeof(*t));
	struct hi_error err;

	HI_ASSERT(t);
	hi_test_defer(end_ticking, t);
	t->fx = hi_fixture_start("time_lives", NULL);
	t->sink = (struct hi_event_sink){
		.event = take_event, .stack = take_stack, .arg = t};
	hi_fixture_read_until(t->fx, "ready", NULL, NULL);
	HI_ASSERT_OK(hi_target_open(t->fx->pid, &t->target, &err), &err);
	HI_ASSERT_OK(hi_event_functions_find(t->target, &t->functions, &err), &err);
	HI_ASSERT_OK(open(t->target, &t->functions, &options, &t->source, &err), &err);
	return t;
}

static struct ticking *start_ticking(opening_fn *open, uint64_t scan_ns)
{
	struct ticking *t = open_ticking(open, scan_ns);
	struct hi_error err;

	HI_ASSERT_OK(hi_event_source_start(t->source, &err), &err);
	return t;
}

/* Microseconds that the fixture has run for by it. */
static double run_command(struct ticking *t, const char *command)
{
	struct hi_error err;
	char answer[64];
	long first, second;

	hi_fixture_tell(t->fx, command);
	HI_ASSERT(hi_fixture_line(t->fx, answer, sizeof(answer)));
	HI_ASSERT_EQ(2, sscanf(answer, "%ld %ld", &first, &second));
	HI_ASSERT_OK(hi_event_source_drain(t->source, &t->sink, &err), &err);
	return (double)(first + second);
}

static void check_ticks(const struct ticking *t, double us)
{
	double expected = us * 1000 / SCAN_NS;

	HI_ASSERT_MSG(fabs((double)t->ticks - expected) < 3 + expected / 10,
		      "%lu ticks in %.0f us", t->ticks, us);
}

static void check_of_source(opening_fn *open)
{
	struct ticking *t = start_ticking(open, SCAN_NS);
	double us = run_command(t, "spin 200 100");
	struct hi_event_stats stats;

	check_ticks(t, us);
	HI_ASSERT(t->stacks > 0);
	HI_ASSERT_EQ(0, t->others);
	HI_ASSERT_EQ(0, t->cut);
	hi_event_source_stats(t->source, &stats);
	HI_ASSERT_EQ(SCAN_NS, stats.ticks.scan_ns);
	HI_ASSERT_EQ(0, stats.ticks.missed);
	HI_ASSERT_EQ(0, stats.ticks.no_stack);
	HI_ASSERT_STREQ("", stats.ticks.why_none);
}

HI_TEST_ROOT_ALONE(ticks, one_tick_for_each_period_of_cpu_time)
{
	check_of_source(hi_event_source_open);
}

HI_TEST_ROOT(ticks, one_tick_for_each_period_by_perf_events)
{
	check_of_source(hi_event_source_open_by_perf);
}

HI_TEST_ROOT(ticks, one_tick_for_each_period_as_on_old_kernels)
{
	check_of_source(hi_event_source_open_as_on_old_kernels);
}

HI_TEST_ROOT(ticks, no_timer_without_a_period)
{
	struct ticking *t = start_ticking(hi_event_source_open, 0);
	struct hi_event_stats stats;

	run_command(t, "spin 50 50");
	HI_ASSERT_EQ(0, t->ticks);
	hi_event_source_stats(t->source, &stats);
	HI_ASSERT_EQ(0, stats.ticks.scan_ns);
}

HI_TEST_ROOT(ticks, no_tick_comes_before_start_or_after_stop)
{
	struct ticking *t = open_ticking(hi_event_source_open, SCAN_NS);
	struct hi_error err;
	double us;

	run_command(t, "spin 50 0");
	hi_event_source_count(t->source);
	run_command(t, "spin 50 0");
	HI_ASSERT_EQ(0, t->ticks);
	HI_ASSERT_OK(hi_event_source_start(t->source, &err), &err);
	us = run_command(t, "spin 100 0");
	hi_event_source_stop(t->source);
	run_command(t, "spin 100 0");
	check_ticks(t, us);
}

HI_TEST_ROOT(ticks, threads_that_begin_later_have_theirs)
{
	struct ticking *t = start_ticking(hi_event_source_open, SCAN_NS);
	double us = 0;

	for (int i = 0; i < 5; i++)
		us += run_command(t, "thread 60");
	check_ticks(t, us);
}

/* As a thread has that was listed after it was made by one that was listed before: a
 * timer that was inherited, and its own. So have the threads that it makes. */
HI_TEST_ROOT(ticks, a_thread_with_two_timers_counts_once)
{
	struct ticking *t = start_ticking(hi_event_source_open, SCAN_NS);
	struct hi_bpf_source *source = (struct hi_bpf_source *)t->source;
	struct bpf_program *program =
		bpf_object__find_program_by_name(source->object, "tick");
	struct hi_ticks more = {};
	struct hi_error err;
	double us;

	HI_ASSERT_OK(hi_ticks_open(&more, t->fx->pid, bpf_program__fd(program),
				   SCAN_NS / hi_ticks_steps(SCAN_NS) + 1, &err),
		     &err);
	HI_ASSERT_EQ(1, more.events.count);
	us = run_command(t, "spin 200 100") + run_command(t, "thread 200");
	hi_ticks_close(&more);
	check_ticks(t, us);
}

/* Shorter than the time between two samples, and longer than a step: on average they have
 * their part. Of 200 threads with probability 3/10 (or 2/10, where they end too soon for
 * a third step): five standard deviations. */
HI_TEST_ROOT(ticks, threads_that_are_shorter_than_the_distance_have_their_part)
{
	struct ticking *t = start_ticking(hi_event_source_open, 10000000);

	run_command(t, "threads 200 3");
	HI_ASSERT_MSG(t->ticks >= 12 && t->ticks <= 95, "%lu", t->ticks);
}

static double cpu_us_of(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	HI_ASSERT_EQ(0, clock_getcpuclockid(pid, &clock));
	HI_ASSERT_EQ(0, clock_gettime(clock, &time));
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* None of them is missed, and none counts twice: all that the process runs for from the
 * start on is sampled, but what is left of each thread behind its last step. */
HI_TEST_ROOT(ticks, threads_may_come_and_go_while_timers_are_opened)
{
	struct ticking *t = open_ticking(hi_event_source_open, SCAN_NS);
	double before, after, end;
	struct hi_error err;
	char answer[64];

	hi_fixture_tell(t->fx, "threads 60 12");
	before = cpu_us_of(t->fx->pid);
	HI_ASSERT_OK(hi_event_source_start(t->source, &err), &err);
	after = cpu_us_of(t->fx->pid);
	HI_ASSERT(hi_fixture_line(t->fx, answer, sizeof(answer)));
	end = cpu_us_of(t->fx->pid);
	HI_ASSERT_OK(hi_event_source_drain(t->source, &t->sink, &err), &err);
	HI_ASSERT_MSG((double)t->ticks * SCAN_NS / 1000 > (end - after) * .8 &&
			      (double)t->ticks * SCAN_NS / 1000 < (end - before) * 1.1,
		      "%lu ticks in %.0f to %.0f us", t->ticks, end - after,
		      end - before);
}

static struct rlimit limit_to_one_file(void)
{
	struct rlimit few;

	HI_ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &few));
	/* One for the listing, and none for a timer. */
	few.rlim_cur = (rlim_t)dup(0) + 1;
	close((int)few.rlim_cur - 1);
	HI_ASSERT(few.rlim_cur < few.rlim_max);
	HI_ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &few));
	return few;
}

static void restore_limit(void *limit)
{
	setrlimit(RLIMIT_NOFILE, limit);
}

/* In a child: the limit for later is lower, too. */
HI_TEST_ROOT(ticks, a_process_without_files_left_says_so)
{
	struct ticking *t = open_ticking(hi_event_source_open, SCAN_NS);
	pid_t child = fork();
	int status;

	HI_ASSERT(child >= 0);
	if (child == 0) {
		struct rlimit few = limit_to_one_file();
		struct hi_event_stats stats;
		struct hi_error err;
		bool ok;

		few.rlim_max = few.rlim_cur;
		ok = setrlimit(RLIMIT_NOFILE, &few) == 0 &&
		     hi_event_source_start(t->source, &err) == HI_OK;
		hi_event_source_stats(t->source, &stats);
		_exit(ok && stats.ticks.missed == 1 ? 0 : 1);
	}
	HI_ASSERT_EQ(child, waitpid(child, &status, 0));
	HI_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

HI_TEST_ROOT(ticks, more_files_are_allowed_where_they_may_be)
{
	static struct rlimit before;
	struct ticking *t = open_ticking(hi_event_source_open, SCAN_NS);
	struct hi_error err;

	HI_ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
	hi_test_defer(restore_limit, &before);
	limit_to_one_file();
	HI_ASSERT_OK(hi_event_source_start(t->source, &err), &err);
	restore_limit(&before);
	check_ticks(t, run_command(t, "spin 100 0"));
}

HI_TEST_ROOT(ticks, an_ended_process_is_gone)
{
	struct hi_ticks ticks = {};
	struct hi_error err;

	HI_ASSERT_EQ(HI_GONE, hi_ticks_open(&ticks, INT32_MAX, -1, SCAN_NS, &err));
	HI_ASSERT_EQ(0, ticks.events.count);
	hi_ticks_close(&ticks);
}
