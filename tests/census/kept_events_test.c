/* SPDX-License-Identifier: BSD-2-Clause */
/* Events that a recording keeps: what comes out is what came in, up to the limit. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/census/recordings.h"

enum { EVENTS = 60000, MOST_BYTES = 8 << 20 };

HI_DEFINE_GUARD(struct hi_event_list *, hi_event_list_free)

static struct hi_kept_events *make_kept_events(uint64_t limit)
{
	struct hi_kept_events *kept = NULL;
	int fd = memfd_create("events", MFD_CLOEXEC);
	struct hi_error err;

	HI_ASSERT(fd >= 0);
	HI_ASSERT_OK(hi_kept_events_create(fd, limit, &kept, &err), &err);
	return kept;
}

/* A recording of a drawn timeline, which keeps its events, and the timeline's events. */
static struct hi_recording *record_drawn_events(struct hi_kept_events *kept,
						struct hi_event *events,
						struct timeline *t)
{
	struct hi_recording *r = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_recording_create(&r, &err), &err);
	hi_recording_keep_events(r, kept);
	timeline_init(t, 77, TIMELINE_SLOTS);
	for (unsigned i = 0; i < EVENTS; i++) {
		events[i] = timeline_next(t);
		HI_ASSERT_OK(hi_recording_apply(r, &events[i], &err), &err);
	}
	return r;
}

/* All bytes of the list, in pieces of an odd size. */
static size_t read_kept_bytes(const struct hi_kept_events *kept, uint8_t *to)
{
	struct hi_error err;
	size_t size = 0, n = 1;

	while (n) {
		HI_ASSERT(size + 1237 <= MOST_BYTES);
		HI_ASSERT_OK(hi_kept_events_read(kept, size, to + size, 1237, &n, &err),
			     &err);
		size += n;
	}
	return size;
}

static void open_kept_list(const struct hi_kept_events *kept, uint8_t *bytes,
			   struct hi_event_list *ret)
{
	struct hi_event_bounds bounds = {.n_contexts = 1000};
	struct hi_error err;

	(void)hi_kept_events_threads(kept, &bounds.n_threads);
	HI_ASSERT_OK(hi_event_list_open(bytes, read_kept_bytes(kept, bytes), &bounds, ret,
					&err),
		     &err);
}

static struct hi_kept_event kept_event_at(const struct hi_event_list *list, uint64_t i)
{
	static struct hi_kept_event events[HI_EVENT_BLOCK];
	struct hi_error err;
	uint32_t n = 0;

	HI_ASSERT_OK(hi_event_list_read(list, i / HI_EVENT_BLOCK, events, &n, &err),
		     &err);
	HI_ASSERT(i % HI_EVENT_BLOCK < n);
	return events[i % HI_EVENT_BLOCK];
}

static void expect_kept(const struct hi_recording *r, const struct hi_kept_events *kept,
			const struct hi_kept_event *e, const struct hi_event *was)
{
	struct hi_context_view view;
	uint32_t n_threads;
	const uint32_t *threads = hi_kept_events_threads(kept, &n_threads);

	hi_contexts_view(hi_recording_contexts(r), &view);
	HI_ASSERT_EQ(was->kind, e->kind);
	HI_ASSERT_EQ(was->time_ns, e->time_ns);
	HI_ASSERT_EQ(was->addr, e->addr);
	HI_ASSERT_EQ(was->size, e->size);
	HI_ASSERT_EQ(was->old, e->old);
	HI_ASSERT_EQ(was->tid, threads[e->thread]);
	HI_ASSERT_EQ(was->stack, view.contexts[e->context].stack);
}

static struct hi_event drawn[EVENTS];
static uint8_t bytes[MOST_BYTES];

HI_TEST(kept_events, are_those_that_were_recorded)
{
	HI_GUARD(hi_kept_events_destroy)
	struct hi_kept_events *kept = make_kept_events(MOST_BYTES);
	struct timeline t;
	HI_GUARD(hi_recording_destroy)
	struct hi_recording *r = record_drawn_events(kept, drawn, &t);
	struct hi_event_list list;
	HI_GUARD(hi_event_list_free) struct hi_event_list *owned = &list;
	struct hi_kept_counts counts;

	open_kept_list(kept, bytes, owned);
	hi_kept_events_counts(kept, &counts);
	HI_ASSERT_EQ(EVENTS, counts.kept);
	HI_ASSERT_EQ(0, counts.left_out);
	HI_ASSERT_EQ(EVENTS, list.count);
	for (uint64_t i = 0; i < EVENTS; i += 1 + i % 97) {
		struct hi_kept_event e = kept_event_at(&list, i);

		expect_kept(r, kept, &e, &drawn[i]);
	}
}

/* ---- the live set, by the events alone ---- */

struct replayed {
	bool is_live[TIMELINE_SLOTS];
	struct hi_kept_event birth[TIMELINE_SLOTS];
	/* By thread: what a reallocation has in hand. */
	bool has_held[TIMELINE_THREADS];
	struct hi_kept_event held[TIMELINE_THREADS];
};

static void replay_birth(struct replayed *live, const struct hi_kept_event *e)
{
	int slot = timeline_slot(e->addr);

	HI_ASSERT(slot >= 0);
	live->is_live[slot] = true;
	live->birth[slot] = *e;
}

static void replay_event(struct replayed *live, const struct hi_kept_event *e)
{
	int slot = timeline_slot(e->addr);

	if (e->kind == HI_EVENT_ALLOC && e->addr)
		replay_birth(live, e);
	if (e->kind == HI_EVENT_FREE && slot >= 0)
		live->is_live[slot] = false;
	if (e->kind == HI_EVENT_REALLOC_BEGIN) {
		live->has_held[e->thread] = slot >= 0 && live->is_live[slot];
		if (live->has_held[e->thread])
			live->held[e->thread] = live->birth[slot];
		if (slot >= 0)
			live->is_live[slot] = false;
	}
	if (e->kind == HI_EVENT_REALLOC_END && e->addr)
		replay_birth(live, e);
	else if (e->kind == HI_EVENT_REALLOC_END && e->size && live->has_held[e->thread])
		replay_birth(live, &live->held[e->thread]);
}

HI_TEST(kept_events, replayed_give_what_is_live_in_the_recording)
{
	static struct hi_kept_event events[HI_EVENT_BLOCK];
	static struct replayed live;
	HI_GUARD(hi_kept_events_destroy)
	struct hi_kept_events *kept = make_kept_events(MOST_BYTES);
	struct timeline t;
	HI_GUARD(hi_recording_destroy)
	struct hi_recording *r = record_drawn_events(kept, drawn, &t);
	struct hi_event_list list;
	HI_GUARD(hi_event_list_free) struct hi_event_list *owned = &list;
	struct hi_live_allocation found;
	struct hi_error err;
	uint32_t n_events = 0;
	unsigned n = 0;

	open_kept_list(kept, bytes, owned);
	for (uint64_t block = 0; block < list.n_blocks; block++) {
		HI_ASSERT_OK(hi_event_list_read(&list, block, events, &n_events, &err),
			     &err);
		for (uint32_t i = 0; i < n_events; i++)
			replay_event(&live, &events[i]);
	}
	for (int slot = 0; slot < TIMELINE_SLOTS; slot++) {
		bool is_live = hi_recording_find(r, timeline_address(slot), &found);

		HI_ASSERT_EQ(is_live, live.is_live[slot]);
		if (!is_live)
			continue;
		HI_ASSERT_EQ(found.time_ns, live.birth[slot].time_ns);
		HI_ASSERT_EQ(found.size, live.birth[slot].size);
		HI_ASSERT_EQ(found.context, live.birth[slot].context);
		n++;
	}
	HI_ASSERT_EQ(hi_recording_live(r), n);
	HI_ASSERT(n > 5);
}

/* ---- limits ---- */

HI_TEST(kept_events, end_at_the_limit_and_are_then_counted)
{
	static const uint64_t limits[] = {0, 5, 100, 30000, 200000};

	for (size_t i = 0; i < 5; i++) {
		HI_GUARD(hi_kept_events_destroy)
		struct hi_kept_events *kept = make_kept_events(limits[i]);
		struct timeline t;
		HI_GUARD(hi_recording_destroy)
		struct hi_recording *r = record_drawn_events(kept, drawn, &t);
		struct hi_event_list list;
		HI_GUARD(hi_event_list_free) struct hi_event_list *owned = &list;
		struct hi_recording_counts all;
		struct hi_kept_counts counts;
		size_t size = read_kept_bytes(kept, bytes);

		open_kept_list(kept, bytes, owned);
		hi_kept_events_counts(kept, &counts);
		hi_recording_counts(r, &all);
		HI_ASSERT_EQ(EVENTS, all.events);
		HI_ASSERT_EQ(EVENTS, counts.kept + counts.left_out);
		HI_ASSERT_EQ(counts.kept, list.count);
		HI_ASSERT(size <= limits[i]);
		HI_ASSERT(size + HI_EVENT_HEADER + HI_EVENT_MOST_BYTES > limits[i]);
		/* The first ones, without a gap. */
		for (uint64_t k = 0; k < list.count; k += 1 + k % 97) {
			struct hi_kept_event e = kept_event_at(&list, k);

			expect_kept(r, kept, &e, &drawn[k]);
		}
	}
}

/* A small one that would fit behind a large one that did not would hide a gap. */
HI_TEST(kept_events, have_no_gap_where_one_did_not_fit)
{
	HI_GUARD(hi_kept_events_destroy)
	struct hi_kept_events *kept = make_kept_events(HI_EVENT_HEADER + 40);
	const struct hi_event small = {
		.kind = HI_EVENT_FREE, .time_ns = 1, .addr = 16, .tid = 3};
	const struct hi_event large = {.kind = HI_EVENT_REALLOC_END,
				       .time_ns = 1ull << 60,
				       .addr = 1ull << 60,
				       .size = UINT64_MAX,
				       .old = 1,
				       .tid = 3};
	struct hi_kept_counts counts;

	hi_kept_events_add(kept, &small, 0);
	hi_kept_events_add(kept, &large, 0);
	hi_kept_events_add(kept, &small, 0);
	hi_kept_events_counts(kept, &counts);
	HI_ASSERT_EQ(1, counts.kept);
	HI_ASSERT_EQ(2, counts.left_out);
}

/* A disk that is full, a descriptor that cannot be written: the recording goes on. */
HI_TEST(kept_events, events_are_left_out_where_the_file_cannot_be_written)
{
	HI_GUARD(hi_kept_events_destroy) struct hi_kept_events *kept = NULL;
	struct hi_error err;
	struct timeline t;
	struct hi_kept_counts counts;
	struct hi_recording *r;

	HI_ASSERT_OK(hi_kept_events_create(open("/dev/full", O_RDWR | O_CLOEXEC),
					   MOST_BYTES, &kept, &err),
		     &err);
	r = record_drawn_events(kept, drawn, &t);
	hi_kept_events_counts(kept, &counts);
	HI_ASSERT_EQ(0, counts.kept);
	HI_ASSERT_EQ(EVENTS, counts.left_out);
	HI_ASSERT_EQ(0, read_kept_bytes(kept, bytes));
	HI_ASSERT(hi_recording_is_valid(r));
	hi_recording_destroy(r);
}

HI_TEST(kept_events, have_marks_of_lost_ones_and_no_unknown_kinds)
{
	HI_GUARD(hi_kept_events_destroy)
	struct hi_kept_events *kept = make_kept_events(MOST_BYTES);
	const struct hi_event events[] = {
		{.kind = HI_EVENT_ALLOC, .time_ns = 50, .addr = 16, .size = 1, .tid = 9},
		{.kind = HI_EVENT_LOST, .size = 12},
		{.kind = 7, .time_ns = 70, .addr = 32},
		{.kind = HI_EVENT_STACK, .time_ns = 75, .addr = 32},
		{.kind = HI_EVENT_FREE, .time_ns = 80, .addr = 16, .tid = 9}};
	struct hi_event_list list;
	HI_GUARD(hi_event_list_free) struct hi_event_list *owned = &list;
	struct hi_kept_counts counts;

	for (size_t i = 0; i < 5; i++)
		hi_kept_events_add(kept, &events[i], 0);
	hi_kept_events_counts(kept, &counts);
	HI_ASSERT_EQ(3, counts.kept);
	HI_ASSERT_EQ(0, counts.left_out);
	open_kept_list(kept, bytes, owned);
	HI_ASSERT_EQ(3, list.count);
	HI_ASSERT_EQ(HI_EVENT_LOST, kept_event_at(&list, 1).kind);
	HI_ASSERT_EQ(12, kept_event_at(&list, 1).size);
	/* Where it is in the recording. */
	HI_ASSERT_EQ(50, kept_event_at(&list, 1).time_ns);
	HI_ASSERT_EQ(80, kept_event_at(&list, 2).time_ns);
}
