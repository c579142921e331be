/* SPDX-License-Identifier: BSD-2-Clause */
/* What watchpoints prove between stops, and what they cost. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/biography/watch_sample.h"
#include "session/live/watch_evidence.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/watching.h"

static uint64_t words; /* of the fixture */
static struct hi_watch_evidence *evidence;

static struct hi_stop_observers observers;

static void close_evidence(void *arg)
{
	(void)arg;
	hi_stop_observers_close(&observers);
	evidence = NULL;
}

static void take_words_of(const char *line, void *arg)
{
	(void)arg;
	(void)sscanf(line, "words %lx", &words);
}

static struct hi_fixture *start_evidence(unsigned n)
{
	struct hi_fixture *fx = hi_fixture_start("watched_words", "2", NULL);
	struct hi_error err;

	hi_need_watchpoints();
	words = 0;
	hi_fixture_read_until(fx, "ready", take_words_of, NULL);
	HI_ASSERT(words);
	HI_ASSERT_OK(hi_watch_evidence_open(fx->pid, n, &evidence, &err), &err);
	hi_stop_observers_add(&observers, hi_watch_evidence_observer(evidence));
	hi_test_defer(close_evidence, NULL);
	return fx;
}

static void tell_words(struct hi_fixture *fx, const char *line)
{
	hi_fixture_tell(fx, line);
	hi_fixture_read_until(fx, "done", NULL, NULL);
}

/* A stop: the hook runs in a fork, as in the tracer process. */
static void run_hook(const struct hi_stop_options *stop)
{
	const struct hi_stop_moment moment = {};
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		stop->hook->run(stop->hook->arg, &moment);
		_exit(0);
	}
	HI_ASSERT(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

static void stop_at_once(void)
{
	struct hi_stop_options stop = {};

	hi_stop_observers_before(&observers, NULL, &stop);
	run_hook(&stop);
	hi_stop_observers_after(&observers);
}

static void set_place(uint64_t address, bool goes_on)
{
	struct hi_watch_place places[HI_WATCHPOINTS_MAX] = {{address, goes_on}};

	HI_ASSERT(hi_watch_evidence_set(evidence, places));
}

HI_TEST_ROOT(watch_evidence, has_the_hits_between_two_stops)
{
	struct hi_fixture *fx = start_evidence(1);
	struct hi_stop_options stop = {};

	set_place(words, false);
	tell_words(fx, "main 10 1");
	HI_ASSERT_EQ(0, hi_watch_evidence_take(evidence, 0)); /* no stop was there yet */
	hi_stop_observers_before(&observers, NULL, &stop);
	tell_words(fx, "main 100 0"); /* while it waits for the place */
	run_hook(&stop);
	tell_words(fx, "main 3 0"); /* after the stop */
	hi_stop_observers_after(&observers);
	tell_words(fx, "main 2 0");
	HI_ASSERT_EQ(111, hi_watch_evidence_take(evidence, 0));
	HI_ASSERT_EQ(0, hi_watch_evidence_take(evidence, 0));
	/* The next word of the object: what came since the stop counts on. */
	set_place(words + 8, true);
	tell_words(fx, "other 3 0");
	stop_at_once();
	HI_ASSERT_EQ(8, hi_watch_evidence_take(evidence, 0));
	/* Another object: it does not. */
	tell_words(fx, "other 7 0");
	set_place(words, false);
	tell_words(fx, "all 1 1");
	stop_at_once();
	HI_ASSERT_EQ(4, hi_watch_evidence_take(evidence, 0));
	HI_ASSERT_EQ(130, hi_watch_evidence_counts(evidence).hits);
	HI_ASSERT_EQ(0, hi_watch_evidence_counts(evidence).moved_on);
}

/* A wait that ends without a stop ends no period. */
HI_TEST_ROOT(watch_evidence, goes_on_where_nothing_was_stopped)
{
	struct hi_fixture *fx = start_evidence(1);
	struct hi_stop_options stop = {};

	set_place(words, false);
	tell_words(fx, "main 10 0");
	hi_stop_observers_before(&observers, NULL, &stop);
	tell_words(fx, "main 7 0");
	hi_stop_observers_after(&observers);
	HI_ASSERT_EQ(0, hi_watch_evidence_take(evidence, 0));
	tell_words(fx, "main 1 0");
	stop_at_once();
	HI_ASSERT_EQ(18, hi_watch_evidence_take(evidence, 0));
}

/* One that is ended for its cost while the command waits has its hits until then, and
 * leaves the processor's place to another one. */
HI_TEST_ROOT(watch_evidence, has_the_hits_of_one_that_is_ended_before_the_stop)
{
	struct hi_fixture *fx = start_evidence(1);
	struct hi_stop_options stop = {};
	uint64_t hits;

	set_place(words, false);
	hi_stop_observers_before(&observers, NULL, &stop);
	hi_fixture_tell(fx, "spin 300 1");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	HI_ASSERT_EQ(1, hi_watch_evidence_counts(evidence).moved_on);
	run_hook(&stop);
	hi_stop_observers_after(&observers);
	hits = hi_watch_evidence_take(evidence, 0);
	HI_ASSERT(hits > 0);
	HI_ASSERT(hits >= hi_watch_evidence_counts(evidence).hits);
	for (unsigned i = 0; i < 4; i++)
		HI_ASSERT(hi_take_watchpoint(fx->pid, words + 8) >= 0);
}

static void offer_words(struct hi_watch_sample *sample)
{
	const struct hi_watch_object object = {
		.address = words, .serial = 5, .usable = 16, .size = 16};

	HI_ASSERT(hi_watch_sample_offer(sample, &object));
	hi_watch_sample_end(sample, evidence);
}

/* What was born at its address proves nothing, nor do hits after the stop. */
HI_TEST_ROOT(watch_evidence, is_of_the_object_of_that_birth)
{
	struct hi_fixture *fx = start_evidence(1);
	struct hi_watch_sample *sample = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_watch_sample_create(1, 1, &sample, &err), &err);
	hi_watch_sample_begin(sample, evidence);
	offer_words(sample);
	tell_words(fx, "main 20 0");
	stop_at_once();
	tell_words(fx, "main 3 0");
	hi_watch_sample_begin(sample, evidence);
	HI_ASSERT_EQ(0, hi_watch_sample_hits(sample, words, 6));
	HI_ASSERT_EQ(0, hi_watch_sample_hits(sample, words + 8, 5));
	HI_ASSERT_EQ(20, hi_watch_sample_hits(sample, words, 5));
	offer_words(sample);
	/* Its second word now. */
	tell_words(fx, "main 100 0");
	tell_words(fx, "other 1 0");
	stop_at_once();
	hi_watch_sample_begin(sample, evidence);
	HI_ASSERT_EQ(3 + 1, hi_watch_sample_hits(sample, words, 5));
	offer_words(sample);
	HI_ASSERT_EQ(1, hi_watch_sample_totals(sample).used);
	HI_ASSERT_EQ(24, hi_watch_sample_totals(sample).hits);
	hi_watch_sample_destroy(sample);
}

struct spin {
	uint64_t reads, processor_ns;
};

static void take_spin(const char *line, void *arg)
{
	struct spin *spin = arg;

	(void)sscanf(line, "reads %lu %lu", &spin->reads, &spin->processor_ns);
}

static struct spin end_spin(struct hi_fixture *fx)
{
	struct spin spin = {};

	hi_fixture_read_until(fx, "done", take_spin, &spin);
	HI_ASSERT(spin.reads && spin.processor_ns);
	return spin;
}

/* In a second of the processor's time, which other processes do not take. */
static double reads_a_second(struct spin spin)
{
	return (double)spin.reads * 1e9 / (double)spin.processor_ns;
}

/* A loop over a watched word goes on nearly as fast, although the watchpoint is set again
 * and again. */
HI_TEST_ROOT_ALONE(watch_evidence, holds_its_budget)
{
	struct hi_fixture *fx = start_evidence(4);
	struct hi_watch_counts counts;
	struct spin spin;
	double alone, watched, lost_ns;
	uint64_t start;

	hi_fixture_tell(fx, "spin 1500 1");
	alone = reads_a_second(end_spin(fx));
	start = hi_clock_ns();
	hi_fixture_tell(fx, "spin 4000 1");
	while (hi_clock_ns() - start < 3900000000) {
		set_place(words, true);
		usleep(100000);
		stop_at_once();
	}
	spin = end_spin(fx);
	watched = reads_a_second(spin);
	lost_ns = (double)spin.processor_ns - (double)spin.reads * 1e9 / alone;
	counts = hi_watch_evidence_counts(evidence);
	printf("reads a second: %.0f, watched %.0f (%.1f %%); a hit %lu ns, %lu hits, "
	       "ended "
	       "%lu times, waited %lu times\n",
	       alone, watched, 100 * watched / alone, counts.hit_ns, counts.hits,
	       counts.moved_on, counts.waited);
	HI_ASSERT(counts.moved_on > 0 && counts.hits > 0);
	/* 2 % of a processor is the budget, whatever share of it the target has. A busy
	 * machine looks later than it should, and so pays for more at a time. */
	HI_ASSERT_MSG(lost_ns < 0.1 * 4e9, "%.0f ms of 4 s were lost", lost_ns / 1e6);
}
