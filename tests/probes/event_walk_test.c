/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The heap itself is the witness: a program whose threads allocate without a pause is
 * stopped again and again; what is live by the events up to the stop is what a walk over
 * the image's heap finds; and so is what a recording (census/events) made of them.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/vector.h"
#include "census/events/recording.h"
#include "decode/allocator.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/live_blocks.h"

enum {
	STOPS = 8,
	MANY_STOPS = 100,
	POLLS = 3,
	/* Bytes that glibc may leave to a block above what was asked for: a rest that is
	 * too small for a chunk, and its rounding. pvalloc rounds to pages. */
	SPARE_MAX = 48,
	PVALLOC_SPARE = 4096 + SPARE_MAX,
	MAPPED_MIN = 128 << 10, /* blocks from here on may be whole pages */
};

struct witness {
	struct hi_fixture *fx;
	struct hi_target *target;
	struct hi_event_source *source;
	struct hi_range avoid[HI_BPF_EVENT_OWN + 1 + 4096];
	size_t n_avoid;
	struct live_blocks *live;
	struct hi_recording *recording;
	struct hi_event_sink direct; /* into both */
	/* Those since the stop began; those behind it wait until it was looked at. */
	struct HI_VECTOR(struct hi_event) later;
	atomic_bool is_stopped;
	uint64_t stopped_ns;
	size_t spare; /* see SPARE_MAX */
	size_t walked, missing, unrecorded, too_small, too_large, threads_inside;
};

static void end_witness(struct witness *w)
{
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

static void keep_event(void *arg, const struct hi_event *event)
{
	struct witness *w = arg;

	HI_ASSERT(hi_vector_push(&w->later, *event));
}

/* Those up to the time; the others stay. They are in order but for a few. */
static void apply_kept(struct witness *w, uint64_t until_ns)
{
	size_t left = 0;

	for (size_t i = 0; i < w->later.count; i++) {
		if (w->later.items[i].time_ns <= until_ns)
			apply_to_both(w, &w->later.items[i]);
		else
			w->later.items[left++] = w->later.items[i];
	}
	w->later.count = left;
}

/* The target makes events until it stops, which may take long on a busy machine. */
static void *read_events(void *arg)
{
	struct witness *w = arg;
	struct hi_event_sink keep = {
		.event = keep_event, .stack = keep_stack_in_both, .arg = w};
	struct hi_error err;

	while (!atomic_load(&w->is_stopped))
		HI_ASSERT_OK(hi_event_source_poll(w->source, 10, &keep, &err), &err);
	HI_ASSERT_OK(hi_event_source_drain(w->source, &keep, &err), &err);
	return NULL;
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
		w->too_large += known && blocks[i].usable > known->size + w->spare &&
				blocks[i].usable < MAPPED_MIN;
	}
	return true;
}

/* False: on a busy machine a thread was still inside at the end of the tries, where a
 * block may be given out and not known. */
static bool compare_at_a_stop(struct witness *w)
{
	size_t inside = w->threads_inside;
	struct hi_image *image;
	struct hi_event_stats stats;
	pthread_t reader;

	atomic_store(&w->is_stopped, false);
	HI_ASSERT_EQ(0, pthread_create(&reader, NULL, read_events, w));
	image = stop_target(w);
	atomic_store(&w->is_stopped, true);
	HI_ASSERT_EQ(0, pthread_join(reader, NULL));
	if (w->threads_inside > inside) {
		hi_image_destroy(image);
		apply_kept(w, UINT64_MAX);
		return false;
	}
	apply_kept(w, w->stopped_ns);
	hi_event_source_stats(w->source, &stats);
	HI_ASSERT_EQ(0, stats.lost + stats.lost_calls);
	w->walked = 0;
	walk_heap(image, compare_with_events, w);
	hi_image_destroy(image);
	HI_ASSERT_EQ(0, w->missing);
	HI_ASSERT_EQ(0, w->too_small);
	HI_ASSERT_EQ(0, w->too_large);
	HI_ASSERT_EQ(0, w->unrecorded);
	HI_ASSERT_EQ(w->walked, w->live->live);
	HI_ASSERT_EQ(w->walked, hi_recording_live(w->recording));
	apply_kept(w, UINT64_MAX);
	return true;
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

/* Of a program that is ready. Its threads may not keep the reader from the processors. */
static struct witness *start_witness(struct hi_fixture *fx)
{
	const struct hi_event_source_options options = {};
	struct witness *w = calloc(1, sizeof(*w));
	struct hi_event_functions functions;
	struct hi_image *image;
	struct hi_error err;

	HI_ASSERT(w);
	HI_ASSERT_EQ(0, setpriority(PRIO_PROCESS, 0, -19));
	w->spare = SPARE_MAX;
	w->live = live_blocks_new();
	w->direct = (struct hi_event_sink){
		.event = apply_to_both, .stack = keep_stack_in_both, .arg = w};
	HI_ASSERT_OK(hi_recording_create(&w->recording, &err), &err);
	w->fx = fx;
	hi_test_defer(end_witness, w);
	HI_ASSERT_OK(hi_target_open(w->fx->pid, &w->target, &err), &err);
	HI_ASSERT_OK(hi_event_functions_find(w->target, &functions, &err), &err);
	HI_ASSERT_OK(
		hi_event_source_open(w->target, &functions, &options, &w->source, &err),
		&err);
	/* Blocks of pymalloc are none of the allocator's. */
	hi_event_source_drop_optional(w->source);
	avoid_allocator(w);
	image = stop_target(w);
	HI_ASSERT_OK(hi_event_source_start(w->source, &err), &err);
	walk_heap(image, take_as_allocated, w);
	hi_image_destroy(image);
	return w;
}

static void expect_same_at_stops(struct witness *w, int stops)
{
	struct hi_recording_counts counts;
	struct hi_event_stats stats;
	size_t walked = 0, fewest = SIZE_MAX, left_out = 0;
	struct hi_range page;
	struct hi_error err;

	for (int i = 0; i < stops; i++) {
		for (int j = 0; j < POLLS; j++)
			HI_ASSERT_OK(
				hi_event_source_poll(w->source, 100, &w->direct, &err),
				&err);
		if (i == 0 && !left_out) {
			HI_ASSERT(hi_event_return_page(w->fx->pid, &page));
			w->avoid[w->n_avoid++] = page;
		}
		if (!compare_at_a_stop(w)) {
			HI_ASSERT(++left_out <= (size_t)stops);
			i--;
			continue;
		}
		walked += w->walked;
		fewest = w->walked < fewest ? w->walked : fewest;
	}
	hi_event_source_stats(w->source, &stats);
	HI_ASSERT_EQ(0, stats.abandoned);
	hi_recording_counts(w->recording, &counts);
	HI_ASSERT_EQ(0, counts.lost_frees + counts.lost_begins);
	HI_ASSERT_EQ(0, w->live->unknown_frees);
	HI_ASSERT(hi_recording_is_valid(w->recording));
	hi_test_note("%d stops, %llu events, %zu to %zu live, %zu blocks compared; %zu "
		     "more stops had a thread inside",
		     stops, (unsigned long long)stats.events, fewest, w->live->live,
		     walked, left_out);
	kill(w->fx->pid, SIGKILL);
}

static struct witness *start_threads(void)
{
	struct hi_fixture *fx = hi_fixture_start("alloc_events", NULL);
	struct witness *w;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	w = start_witness(fx);
	w->spare = PVALLOC_SPARE;
	hi_fixture_tell(fx, "go 1000000000");
	return w;
}

HI_TEST_ROOT_ALONE(event_walk, finds_what_is_live_by_events)
{
	expect_same_at_stops(start_threads(), STOPS);
}

HI_TEST_SLOW(event_walk, finds_what_is_live_by_events_at_many_stops)
{
	if (geteuid() != 0)
		HI_SKIP("probes need root");
	expect_same_at_stops(start_threads(), MANY_STOPS);
}

/* ---- threads that come and go ---- */

static struct witness *start_churn(void)
{
	struct hi_fixture *fx = hi_fixture_start("alloc_churn", NULL);
	struct witness *w;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	w = start_witness(fx);
	hi_fixture_tell(fx, "go");
	return w;
}

HI_TEST_ROOT_ALONE(event_walk, finds_what_is_live_while_threads_come_and_go)
{
	expect_same_at_stops(start_churn(), STOPS);
}

HI_TEST_SLOW(event_walk, finds_what_is_live_while_threads_come_and_go_at_many_stops)
{
	if (geteuid() != 0)
		HI_SKIP("probes need root");
	expect_same_at_stops(start_churn(), MANY_STOPS);
}

/* ---- programs that know nothing of the test ---- */

/* scripts/build-targets build/targets redis */
#define REDIS HI_SOURCE_DIR "/build/targets/redis-server"

static void remove_socket(void *path)
{
	unlink(path);
}

HI_TEST_SLOW(event_walk, finds_what_is_live_in_redis)
{
	static char path[64];
	struct hi_fixture *redis, *load;
	struct witness *w;
	char line[512];

	if (geteuid() != 0)
		HI_SKIP("probes need root");
	if (access(REDIS, X_OK) != 0)
		HI_SKIP("no build/targets/redis-server");
	snprintf(path, sizeof(path), "/tmp/walk-%d.sock", (int)getpid());
	hi_test_defer(remove_socket, path);
	redis = hi_fixture_start(REDIS, "--port", "0", "--unixsocket", path, "--save", "",
				 NULL);
	do
		HI_ASSERT(hi_fixture_line(redis, line, sizeof(line)));
	while (!strstr(line, "eady to accept connections"));
	w = start_witness(redis);
	load = hi_fixture_start("redis_load", path, NULL);
	hi_fixture_read_until(load, "ready", NULL, NULL);
	expect_same_at_stops(w, MANY_STOPS);
}

/* Blocks of pymalloc are in mappings of their own; above 512 bytes they are malloc's. */
HI_TEST_SLOW(event_walk, finds_what_malloc_gave_to_python)
{
	static const char program[] =
		"import json, os, sys, threading\n"
		"def work():\n"
		"    kept = {}\n"
		"    for i in range(1 << 60):\n"
		"        kept[i % 999] = json.dumps([i] * (i % 700)), bytearray(i % "
		"5000)\n"
		"        if i % 50 == 0:\n"
		"            t = threading.Thread(target=list, args=(range(1000),))\n"
		"            t.start(); t.join()\n"
		"os.write(1, b'ready\\n')\n"
		"sys.stdin.readline()\n"
		"for i in range(3):\n"
		"    threading.Thread(target=work).start()\n";
	struct hi_fixture *fx;
	struct witness *w;

	if (geteuid() != 0)
		HI_SKIP("probes need root");
	if (access("/usr/bin/python3.11", X_OK) != 0)
		HI_SKIP("no /usr/bin/python3.11");
	fx = hi_fixture_start("/usr/bin/python3.11", "-c", program, NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	w = start_witness(fx);
	hi_fixture_tell(fx, "go");
	expect_same_at_stops(w, MANY_STOPS);
}
