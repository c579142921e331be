/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The heap itself is the witness: eight threads allocate without a pause and are stopped
 * again and again; what is live by the events up to the stop is what a walk over the
 * image's heap finds; and so is what a recording (census/events) made of them.
 */
#include <signal.h>
#include <stdlib.h>

#include "base/vector.h"
#include "census/events/recording.h"
#include "decode/allocator.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/live_blocks.h"

enum { STOPS = 8, MANY_STOPS = 100, POLLS = 3 };

struct witness {
	struct hi_fixture *fx;
	struct hi_target *target;
	struct hi_event_source *source;
	struct hi_range avoid[HI_BPF_EVENT_OWN + 1 + 4096];
	size_t n_avoid;
	struct live_blocks *live;
	struct hi_recording *recording;
	struct hi_event_sink direct; /* into both */
	/* Those behind the stop wait until it was looked at. */
	uint64_t stopped_ns;
	struct HI_VECTOR(struct hi_event) later;
	size_t walked, missing, unrecorded, too_small, threads_inside;
};

static void end_witness(void *arg)
{
	struct witness *w = arg;

	hi_event_source_close(w->source);
	hi_target_close(w->target);
	hi_recording_destroy(w->recording);
	hi_vector_free(&w->later);
	free(w->live);
	free(w);
}

static void apply_to_both(void *arg, const struct hi_event *event)
{
	struct hi_event_sink sink = live_blocks_sink(((struct witness *)arg)->live);
	struct witness *w = arg;
	struct hi_error err;

	sink.event(sink.arg, event);
	HI_ASSERT_OK(hi_recording_apply(w->recording, event, &err), &err);
}

static void keep_stack_in_both(void *arg, const struct hi_event_stack *stack)
{
	struct hi_event_sink sink = live_blocks_sink(((struct witness *)arg)->live);
	struct witness *w = arg;
	struct hi_error err;

	sink.stack(sink.arg, stack);
	HI_ASSERT_OK(hi_recording_stack(w->recording, stack, &err), &err);
}

static void apply_or_keep(void *arg, const struct hi_event *event)
{
	struct witness *w = arg;

	if (event->time_ns <= w->stopped_ns)
		apply_to_both(w, event);
	else
		HI_ASSERT(hi_vector_push(&w->later, *event));
}

static void apply_later(struct witness *w)
{
	for (size_t i = 0; i < w->later.count; i++)
		apply_to_both(w, &w->later.items[i]);
	w->later.count = 0;
}

/* ---- the heap ---- */

static struct hi_image *stop_target(struct witness *w)
{
	struct hi_stop_options options = {.avoid = w->avoid,
					  .n_avoid = w->n_avoid,
					  .max_tries = 5000,
					  .max_pause_ns = 30000000000ull};
	struct hi_image *image = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_stop_and_copy(w->target, &options, &image, &err), &err);
	w->threads_inside += image->stats.threads_in_allocator;
	w->stopped_ns = image->stats.monotonic_ns;
	return image;
}

static void walk_heap(struct hi_image *image, hi_blocks_fn *fn, void *arg)
{
	struct hi_modules_options options = {};
	struct hi_allocator *allocator = NULL;
	struct hi_modules *modules = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_modules_open(image, &options, &modules, &err), &err);
	HI_ASSERT_OK(hi_allocator_probe(image, modules, &allocator, &err), &err);
	HI_ASSERT_OK(hi_allocator_walk(allocator, fn, arg, &err), &err);
	HI_ASSERT_EQ(0, allocator->n_damage_total);
	hi_allocator_release(allocator);
	hi_modules_close(modules);
}

/* What was there before: as if it were allocated now. */
static bool take_as_allocated(const struct hi_block *blocks, size_t n, unsigned region,
			      void *arg)
{
	struct witness *w = arg;

	(void)region;
	for (size_t i = 0; i < n; i++) {
		struct hi_event event = {.kind = HI_EVENT_ALLOC,
					 .addr = blocks[i].addr,
					 .size = blocks[i].usable};

		if (blocks[i].state == HI_BLOCK_LIVE)
			apply_to_both(w, &event);
	}
	return true;
}

static bool compare_with_events(const struct hi_block *blocks, size_t n, unsigned region,
				void *arg)
{
	struct witness *w = arg;

	(void)region;
	for (size_t i = 0; i < n; i++) {
		const struct live_block *known;
		struct hi_live_allocation recorded;

		if (blocks[i].state != HI_BLOCK_LIVE)
			continue;
		known = live_blocks_find(w->live, blocks[i].addr);
		w->walked++;
		w->missing += !known;
		w->unrecorded +=
			!hi_recording_find(w->recording, blocks[i].addr, &recorded) ||
			!known || known->size != recorded.size;
		w->too_small += known && blocks[i].usable < known->size;
	}
	return true;
}

static void compare_at_a_stop(struct witness *w)
{
	struct hi_event_sink cut = {
		.event = apply_or_keep, .stack = keep_stack_in_both, .arg = w};
	struct hi_image *image = stop_target(w);
	struct hi_error err;

	HI_ASSERT_OK(hi_event_source_drain(w->source, &cut, &err), &err);
	w->walked = 0;
	walk_heap(image, compare_with_events, w);
	hi_image_destroy(image);
	HI_ASSERT_EQ(0, w->missing);
	HI_ASSERT_EQ(0, w->too_small);
	HI_ASSERT_EQ(0, w->unrecorded);
	HI_ASSERT_EQ(w->walked, w->live->live);
	HI_ASSERT_EQ(w->walked, hi_recording_live(w->recording));
	apply_later(w);
}

/* ---- the tests ---- */

static void avoid_allocator(struct witness *w)
{
	struct hi_range *text = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_allocator_text(w->target, &text, &w->n_avoid, &err), &err);
	HI_ASSERT(w->n_avoid && w->n_avoid < 4096);
	memcpy(w->avoid, text, w->n_avoid * sizeof(*text));
	free(text);
}

static struct witness *start_witness(void)
{
	const struct hi_event_source_options options = {};
	struct witness *w = calloc(1, sizeof(*w));
	struct hi_event_functions functions;
	struct hi_image *image;
	struct hi_error err;

	HI_ASSERT(w);
	w->live = live_blocks_new();
	w->direct = (struct hi_event_sink){
		.event = apply_to_both, .stack = keep_stack_in_both, .arg = w};
	HI_ASSERT_OK(hi_recording_create(&w->recording, &err), &err);
	w->fx = hi_fixture_start("alloc_events", NULL);
	hi_test_defer(end_witness, w);
	hi_fixture_read_until(w->fx, "ready", NULL, NULL);
	HI_ASSERT_OK(hi_target_open(w->fx->pid, &w->target, &err), &err);
	HI_ASSERT_OK(hi_event_functions_find(w->target, &functions, &err), &err);
	HI_ASSERT_OK(
		hi_event_source_open(w->target, &functions, &options, &w->source, &err),
		&err);
	avoid_allocator(w);
	image = stop_target(w);
	HI_ASSERT_OK(hi_event_source_start(w->source, &err), &err);
	walk_heap(image, take_as_allocated, w);
	hi_image_destroy(image);
	return w;
}

static void expect_same_at_stops(int stops)
{
	struct witness *w = start_witness();
	struct hi_recording_counts counts;
	struct hi_event_stats stats;
	struct hi_range page;
	struct hi_error err;

	hi_fixture_tell(w->fx, "go 1000000000");
	for (int i = 0; i < stops; i++) {
		for (int j = 0; j < POLLS; j++)
			HI_ASSERT_OK(
				hi_event_source_poll(w->source, 100, &w->direct, &err),
				&err);
		if (i == 0) {
			HI_ASSERT(hi_event_return_page(w->fx->pid, &page));
			w->avoid[w->n_avoid++] = page;
		}
		compare_at_a_stop(w);
	}
	hi_event_source_stats(w->source, &stats);
	HI_ASSERT_EQ(0, stats.lost);
	hi_recording_counts(w->recording, &counts);
	HI_ASSERT_EQ(0, counts.lost_frees + counts.lost_begins);
	HI_ASSERT(hi_recording_is_valid(w->recording));
	hi_test_note("%d stops, %llu events, %zu live, %zu threads perhaps inside", stops,
		     (unsigned long long)stats.events, w->live->live, w->threads_inside);
	kill(w->fx->pid, SIGKILL);
}

HI_TEST_ROOT(event_walk, finds_what_is_live_by_events)
{
	expect_same_at_stops(STOPS);
}

HI_TEST_SLOW(event_walk, finds_what_is_live_by_events_at_many_stops)
{
	if (geteuid() != 0)
		HI_SKIP("probes need root");
	expect_same_at_stops(MANY_STOPS);
}
