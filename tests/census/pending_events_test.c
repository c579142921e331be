/* SPDX-License-Identifier: BSD-2-Clause */
/* Events that wait for a census: whenever they are applied, the recording is the same. */
#include "census/events/pending_events.h"

#include "tests/harness.h"
#include "tests/support/random.h"

enum { EVENTS = 5000, ADDRESSES = 300, STACKS = 7 };

static struct hi_recording *make_waiting_recording(void)
{
	struct hi_recording *ret = NULL;

	HI_ASSERT_EQ(HI_OK, hi_recording_create(&ret, NULL));
	hi_test_defer(hi_recording_destroy, ret);
	return ret;
}

/* A small generator: the same events for the same seed. */
static struct hi_event make_random_event(uint64_t *state, uint64_t time_ns)
{
	uint64_t what = next_random(state);
	struct hi_event event = {.time_ns = time_ns,
				 .addr = 0x1000 + 16 * (what % ADDRESSES),
				 .tid = 7,
				 .kind = HI_EVENT_FREE};

	if (what & 1024) {
		event.kind = HI_EVENT_ALLOC;
		event.size = 1 + what % 100;
		event.stack = 1 + what % STACKS;
	}
	return event;
}

static void expect_same_recordings(const struct hi_recording *a,
				   const struct hi_recording *b)
{
	struct hi_context_totals x = hi_recording_totals(a), y = hi_recording_totals(b);
	struct hi_live_allocation live, other;

	HI_ASSERT(memcmp(&x, &y, sizeof(x)) == 0);
	HI_ASSERT_EQ(hi_recording_live(a), hi_recording_live(b));
	for (uint64_t at = 0; hi_recording_next(a, &at, &live);) {
		HI_ASSERT(hi_recording_find(b, live.addr, &other));
		HI_ASSERT_EQ(live.time_ns, other.time_ns);
		HI_ASSERT_EQ(live.size, other.size);
	}
	HI_ASSERT(hi_recording_is_valid(a) && hi_recording_is_valid(b));
}

/* A census at time t sees the events up to t, whatever else waits by then. */
HI_TEST(pending_events, a_census_sees_what_happened_before_its_stop)
{
	struct hi_recording *held = make_waiting_recording();
	struct hi_recording *direct = make_waiting_recording();
	struct hi_pending_events pending = {};
	uint64_t state = 42, again = 42, applied = 0;

	for (uint64_t t = 1; t <= EVENTS; t++) {
		struct hi_event event = make_random_event(&state, t);

		hi_pending_add(&pending, &event);
		if (t % 500)
			continue;
		/* The stop was 100 events ago. */
		HI_ASSERT_EQ(HI_OK, hi_pending_apply(&pending, held, t - 100, NULL));
		while (applied < t - 100) {
			event = make_random_event(&again, ++applied);
			HI_ASSERT_EQ(HI_OK, hi_recording_apply(direct, &event, NULL));
		}
		expect_same_recordings(direct, held);
		HI_ASSERT_EQ(100, pending.events.count);
	}
	hi_pending_free(&pending);
}

HI_TEST(pending_events, events_beyond_the_limit_are_counted_as_lost)
{
	struct hi_recording *recording = make_waiting_recording();
	struct hi_pending_events pending = {.most = 10};
	struct hi_recording_counts counts;
	uint64_t state = 1;

	for (uint64_t t = 1; t <= 15; t++) {
		struct hi_event event = make_random_event(&state, t);

		hi_pending_add(&pending, &event);
	}
	/* The end of the recording is before the gap. */
	HI_ASSERT_EQ(HI_OK, hi_pending_apply(&pending, recording, 4, NULL));
	hi_recording_counts(recording, &counts);
	HI_ASSERT_EQ(4, counts.events);
	HI_ASSERT_EQ(0, counts.lost);
	HI_ASSERT_EQ(HI_OK, hi_pending_apply(&pending, recording, UINT64_MAX, NULL));
	hi_recording_counts(recording, &counts);
	HI_ASSERT_EQ(10, counts.events);
	HI_ASSERT_EQ(5, counts.lost);
	hi_pending_free(&pending);
}

/* What happens while the target stands is not its time. */
HI_TEST(pending_events, samples_of_a_stop_are_dropped_and_nothing_else)
{
	struct hi_recording *recording = make_waiting_recording();
	struct hi_pending_events pending = {};
	struct hi_recording_counts counts;

	for (uint64_t t = 1; t <= 10; t++) {
		struct hi_event tick = {.kind = HI_EVENT_TICK, .time_ns = t};
		struct hi_event alloc = {
			.kind = HI_EVENT_ALLOC, .addr = 16 * t, .size = 1, .time_ns = t};

		hi_pending_add(&pending, &tick);
		hi_pending_add(&pending, &alloc);
	}
	hi_pending_drop_ticks(&pending, 3, 7);
	HI_ASSERT_EQ(HI_OK, hi_pending_apply(&pending, recording, 4, NULL));
	hi_recording_counts(recording, &counts);
	HI_ASSERT_EQ(3, counts.ticks);
	HI_ASSERT_EQ(4, counts.events);
	HI_ASSERT_EQ(HI_OK, hi_pending_apply(&pending, recording, UINT64_MAX, NULL));
	hi_recording_counts(recording, &counts);
	HI_ASSERT_EQ(6, counts.ticks);
	HI_ASSERT_EQ(10, counts.events);
	hi_pending_free(&pending);
}

HI_TEST(pending_events, stacks_come_whole)
{
	struct hi_recording *recording = make_waiting_recording();
	struct hi_pending_events pending = {};
	struct hi_event event = {.time_ns = 1,
				 .addr = 0x1000,
				 .size = 8,
				 .stack = 99,
				 .kind = HI_EVENT_ALLOC};
	struct hi_event_stack stack = {.stack = 99, .kind = HI_EVENT_STACK, .cut = 1};
	uint32_t frames[HI_STACK_FRAMES];
	struct hi_context_view view;

	stack.n = HI_STACK_FRAMES;
	for (unsigned i = 0; i < HI_STACK_FRAMES; i++)
		stack.frames[i] = 0x400000 + i;
	hi_pending_add(&pending, &event);
	hi_pending_add_stack(&pending, &stack);
	HI_ASSERT_EQ(HI_OK, hi_pending_apply(&pending, recording, UINT64_MAX, NULL));
	hi_contexts_view(hi_recording_contexts(recording), &view);
	HI_ASSERT_EQ(2, view.n_contexts);
	HI_ASSERT_EQ(HI_STACK_FRAMES, hi_context_frames(&view, 1, frames));
	HI_ASSERT_EQ(HI_CONTEXT_CUT, view.contexts[1].flags);
	for (unsigned i = 0; i < HI_STACK_FRAMES; i++)
		HI_ASSERT_EQ(0x400000 + i, hi_contexts_addresses(hi_recording_contexts(
						   recording))[frames[i]]);
	hi_pending_free(&pending);
}
