/* SPDX-License-Identifier: BSD-2-Clause */
/* From a source to a recording, without a process: what is live is what the drawn program
 * of the mock source says. */
#include "census/events/recording.h"
#include "tests/harness.h"
#include "tests/support/mock_events.h"

struct run {
	struct mock_events *mock;
	struct hi_recording *recording;
	struct hi_event_sink sink;
};

static void take_event(void *arg, const struct hi_event *event)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_recording_apply(arg, event, &err), &err);
}

static void take_stack(void *arg, const struct hi_event_stack *stack)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_recording_stack(arg, stack, &err), &err);
}

static void end_run(struct run *run)
{
	hi_event_source_close(&run->mock->base);
	hi_recording_destroy(run->recording);
}

static void start_run(struct run *run, uint64_t seed)
{
	struct hi_error err;

	*run = (struct run){};
	HI_ASSERT_OK(mock_events_open(seed, &run->mock, &err), &err);
	HI_ASSERT_OK(hi_recording_create(&run->recording, &err), &err);
	hi_test_defer(end_run, run);
	run->sink = (struct hi_event_sink){
		.event = take_event, .stack = take_stack, .arg = run->recording};
	HI_ASSERT_OK(hi_event_source_start(&run->mock->base, &err), &err);
}

static void poll_run(struct run *run)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_event_source_poll(&run->mock->base, 1, &run->sink, &err), &err);
	HI_ASSERT_OK(hi_event_source_drain(&run->mock->base, &run->sink, &err), &err);
}

static void check_run(const struct run *run)
{
	uint64_t n = 0;
	struct hi_context_view view;
	struct hi_live_allocation live;

	hi_contexts_view(hi_recording_contexts(run->recording), &view);
	for (int i = 0; i < TIMELINE_SLOTS; i++) {
		const struct timeline_block *b = &run->mock->timeline.blocks[i];
		bool wanted = b->is_live && !b->is_held;

		HI_ASSERT_EQ(wanted, hi_recording_find(run->recording,
						       timeline_address(i), &live));
		if (!wanted)
			continue;
		n++;
		HI_ASSERT_EQ(b->size, live.size);
		HI_ASSERT_EQ(b->stack, view.contexts[live.context].stack);
		HI_ASSERT(!(view.contexts[live.context].flags & HI_CONTEXT_MISSING));
	}
	HI_ASSERT_EQ(n, hi_recording_live(run->recording));
}

HI_TEST(probes_mock_events, a_recording_of_it_has_what_its_program_has)
{
	static struct run run;
	struct hi_event_stats stats;
	struct hi_recording_counts counts;

	start_run(&run, 3);
	for (unsigned i = 0; i < 50; i++) {
		poll_run(&run);
		check_run(&run);
	}
	hi_event_source_stats(&run.mock->base, &stats);
	hi_recording_counts(run.recording, &counts);
	HI_ASSERT_EQ(1000, stats.events);
	HI_ASSERT_EQ(1000, counts.events);
	HI_ASSERT(stats.stacks > 10 && stats.stacks < TIMELINE_STACKS);
	hi_event_source_stop(&run.mock->base);
	poll_run(&run);
	hi_event_source_stats(&run.mock->base, &stats);
	HI_ASSERT_EQ(1000, stats.events);
	check_run(&run);
}

HI_TEST(probes_mock_events, tables_of_stacks_are_taken)
{
	static struct run run;
	uint64_t words[5] = {};
	const struct hi_unwind_tables tables = {words, 5};
	struct hi_error err;

	start_run(&run, 5);
	HI_ASSERT_OK(hi_event_source_set_unwind(&run.mock->base, &tables, &err), &err);
	HI_ASSERT_EQ(5, run.mock->unwind_words);
}

HI_TEST(probes_mock_events, lost_events_are_said)
{
	static struct run run;
	struct hi_event_stats stats;
	struct hi_recording_counts counts;

	start_run(&run, 4);
	run.mock->lost_a_poll = 3;
	for (unsigned i = 0; i < 50; i++)
		poll_run(&run);
	hi_event_source_stats(&run.mock->base, &stats);
	hi_recording_counts(run.recording, &counts);
	HI_ASSERT_EQ(150, stats.lost);
	HI_ASSERT_EQ(150, counts.lost);
	HI_ASSERT_EQ(850, counts.events);
	HI_ASSERT(counts.unknown_frees + counts.lost_frees + counts.lost_begins +
			  counts.lost_ends >
		  0);
	HI_ASSERT(hi_recording_is_valid(run.recording));
}
