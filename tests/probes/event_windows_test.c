/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events in windows: beside the counts that a program makes of its own allocations, what
 * windows cost it, and that they leave no probe.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "probes/events/event_source.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"

enum { WINDOWS_MOST = 256 };

struct seen_windows {
	struct hi_fixture *fx;
	struct hi_target *target;
	struct hi_event_functions functions;
	struct hi_event_source *source;
	struct hi_event_sink sink;
	struct hi_event_window windows[WINDOWS_MOST];
	size_t n;
	/* Counts events since the last window; and of all, those outside of theirs. */
	uint64_t first_ns, last_ns[2], since, events, outside, allocs;
};

static void end_windows(struct seen_windows *w)
{
	hi_event_source_close(w->source);
	hi_target_close(w->target);
	free(w);
}

static void see_event(void *arg, const struct hi_event *event)
{
	struct seen_windows *w = arg;

	if (!w->since++)
		w->first_ns = event->time_ns;
	if (event->time_ns < w->first_ns)
		w->first_ns = event->time_ns;
	w->last_ns[w->since & 1] = event->time_ns;
	w->events++;
	w->allocs += event->kind == HI_EVENT_ALLOC;
}

static void see_stack(void *arg, const struct hi_event_stack *stack)
{
	(void)arg, (void)stack;
}

static void see_window(void *arg, const struct hi_event_window *window)
{
	struct seen_windows *w = arg;

	HI_ASSERT(w->n < WINDOWS_MOST);
	w->windows[w->n++] = *window;
	/* The one thread that allocates may be preempted between the look at the clock
	 * and the event: that is its last one. */
	w->outside += (w->since > 0 && w->first_ns < window->from_ns) ||
		      (w->since > 1 && w->last_ns[(w->since - 1) & 1] > window->to_ns);
	w->since = 0;
	hi_test_note("window of %.3f ms, %lu hits, %lu late; opened in %.3f ms, closed "
		     "in %.3f ms%s",
		     (double)(window->to_ns - window->from_ns) / 1e6,
		     (unsigned long)window->hits, (unsigned long)window->late_hits,
		     (double)window->open_ns / 1e6, (double)window->close_ns / 1e6,
		     window->is_cut ? ", cut" : "");
}

static struct seen_windows *open_windows(const struct hi_event_schedule *schedule)
{
	const struct hi_event_source_options options = {.windows = *schedule};
	struct seen_windows *w = calloc(1, sizeof(*w));
	enum hi_status status;
	struct hi_error err;

	HI_ASSERT(w);
	w->sink = (struct hi_event_sink){
		.event = see_event, .stack = see_stack, .window = see_window, .arg = w};
	hi_test_defer(end_windows, w);
	w->fx = hi_fixture_start("counted_sites", NULL);
	hi_fixture_read_until(w->fx, "ready", NULL, NULL);
	HI_ASSERT_OK(hi_target_open(w->fx->pid, &w->target, &err), &err);
	HI_ASSERT_OK(hi_event_functions_find(w->target, &w->functions, &err), &err);
	status = hi_event_source_open(w->target, &w->functions, &options, &w->source,
				      &err);
	if (status == HI_UNSUPPORTED)
		HI_SKIP(err.text);
	HI_ASSERT_OK(status, &err);
	return w;
}

static uint64_t take_counts_of_fixture(struct seen_windows *w, uint64_t counts[5])
{
	unsigned long long v[6] = {};
	char line[200];

	hi_fixture_tell(w->fx, "counts");
	HI_ASSERT(hi_fixture_line(w->fx, line, sizeof(line)));
	HI_ASSERT_EQ(6, sscanf(line, "counts %llu %llu %llu %llu %llu %llu", &v[0], &v[1],
			       &v[2], &v[3], &v[4], &v[5]));
	for (int i = 0; i < 5; i++)
		counts[i] = v[i + 1];
	return v[0];
}

static void see_windows(struct seen_windows *w, size_t n)
{
	const uint64_t limit = hi_clock_ns() + 60 * HI_NS_PER_S;
	struct hi_error err;

	while (w->n < n && hi_clock_ns() < limit)
		HI_ASSERT_OK(hi_event_source_poll(w->source, 20, &w->sink, &err), &err);
	HI_ASSERT(w->n >= n);
}

HI_TEST_ROOT_ALONE(event_windows, events_are_of_windows_alone)
{
	const struct hi_event_schedule schedule = {20000000, 200000000, 1 << 20, 0};
	struct seen_windows *w = open_windows(&schedule);
	uint64_t before[5], after[5];
	struct hi_error err;

	HI_ASSERT_OK(hi_event_source_start(w->source, &err), &err);
	take_counts_of_fixture(w, before);
	see_windows(w, 10);
	take_counts_of_fixture(w, after);
	hi_event_source_stop(w->source);
	HI_ASSERT_OK(hi_event_source_drain(w->source, &w->sink, &err), &err);
	HI_ASSERT_EQ(0, w->since);
	HI_ASSERT_EQ(0, w->outside);
	HI_ASSERT(w->allocs > 100);
	HI_ASSERT(w->allocs < (after[0] - before[0] + after[1] - before[1]) / 2);
	for (size_t i = 0; i < w->n; i++)
		HI_ASSERT(w->windows[i].to_ns - w->windows[i].from_ns <=
			  schedule.length_ns);
}

/* A program that does much gets a shorter window. */
HI_TEST_ROOT_ALONE(event_windows, a_number_of_hits_ends_a_window)
{
	const struct hi_event_schedule schedule = {500000000, 600000000, 500, 0};
	struct seen_windows *w = open_windows(&schedule);
	struct hi_error err;

	HI_ASSERT_OK(hi_event_source_start(w->source, &err), &err);
	see_windows(w, 3);
	hi_event_source_stop(w->source);
	HI_ASSERT_OK(hi_event_source_drain(w->source, &w->sink, &err), &err);
	for (size_t i = 0; i < 3; i++) {
		HI_ASSERT(w->windows[i].is_cut);
		HI_ASSERT_EQ(500, w->windows[i].hits);
		HI_ASSERT(w->windows[i].to_ns - w->windows[i].from_ns < 400000000);
	}
	HI_ASSERT(w->events <= 500 * w->n);
	HI_ASSERT_EQ(0, w->outside);
}

static int compare_costs(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Beside the window's own figures; the trap of a return costs about as much as that of an
 * entry. */
HI_TEST_ROOT_ALONE(event_windows, a_cost_ends_a_window)
{
	const struct hi_event_schedule schedule = {400000000, 500000000, 1 << 20,
						   4000000};
	struct seen_windows *w = open_windows(&schedule);
	double costs[8];
	struct hi_error err;

	HI_ASSERT_OK(hi_event_source_start(w->source, &err), &err);
	see_windows(w, 10);
	hi_event_source_stop(w->source);
	HI_ASSERT_OK(hi_event_source_drain(w->source, &w->sink, &err), &err);
	for (size_t i = 0; i < 8; i++) {
		const struct hi_event_window *window = &w->windows[i + 2];

		HI_ASSERT(window->is_cut);
		costs[i] = (double)window->hits * (double)window->entry_ns +
			   (double)window->program_ns;
		hi_test_note("%.3f ms of traps and programs", costs[i] / 1e6);
	}
	qsort(costs, 8, sizeof(*costs), compare_costs);
	HI_ASSERT(costs[4] < 1.3 * 4e6);
	HI_ASSERT(costs[7] > 0.1 * 4e6);
}

static void forget_events(struct seen_windows *w)
{
	w->since = w->events = w->allocs = w->outside = 0;
}

/* All of the time, until some were allocated. */
static void see_all_events(struct seen_windows *w)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_event_source_start(w->source, &err), &err);
	while (w->allocs < 1000)
		HI_ASSERT_OK(hi_event_source_poll(w->source, 20, &w->sink, &err), &err);
	hi_event_source_stop(w->source);
	HI_ASSERT_OK(hi_event_source_drain(w->source, &w->sink, &err), &err);
	forget_events(w);
}

static void expect_rest(struct seen_windows *w)
{
	struct hi_error err;
	size_t n;

	HI_ASSERT_OK(hi_event_source_rest(w->source, &w->sink, &err), &err);
	HI_ASSERT_EQ(0, w->since);
	n = w->n;
	HI_ASSERT_OK(hi_event_source_poll(w->source, 300, &w->sink, &err), &err);
	HI_ASSERT_EQ(n, w->n);
}

/* Drains all that was recorded before; what comes later is of windows
 * alone. At rest there are none until the next start. */
HI_TEST_ROOT_ALONE(event_windows, a_source_goes_over_to_them)
{
	const struct hi_event_schedule none = {},
				       schedule = {20000000, 100000000, 1 << 20, 0};
	struct seen_windows *w = open_windows(&none);
	enum hi_status status;
	struct hi_error err;

	see_all_events(w);
	status = hi_event_source_use_windows(w->source, &schedule, &err);
	if (status == HI_UNSUPPORTED)
		HI_SKIP(err.text);
	HI_ASSERT_OK(status, &err);
	HI_ASSERT_OK(hi_event_source_poll(w->source, 20, &w->sink, &err), &err);
	HI_ASSERT_EQ(0, w->events);
	HI_ASSERT_OK(hi_event_source_start(w->source, &err), &err);
	see_windows(w, 3);
	expect_rest(w);
	HI_ASSERT_OK(hi_event_source_start(w->source, &err), &err);
	/* It may wait for a processor for the whole length of some. */
	do
		see_windows(w, w->n + 1);
	while (w->allocs < 100);
	HI_ASSERT_EQ(0, w->outside);
}
