/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocation events of a program that knows by itself what is live: the events are
 * applied to a simple table, which must then have the same blocks of the same sizes.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/events/filtered_return.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/live_blocks.h"

enum { THREADS = 8, SMALL_RING = 1 << 16 };

struct watched {
	struct hi_fixture *fx;
	struct hi_target *target;
	struct hi_event_functions functions;
	struct hi_event_source *source;
	struct live_blocks *live;
	struct hi_event_sink sink;
	pid_t tids[THREADS];
	size_t n_tids;
	/* What the fixture says. */
	size_t said, missing, wrong_size;
	unsigned long allocs, frees, resized, failed, failed_resizes;
};

static void end_watch(struct watched *w)
{
	hi_event_source_close(w->source);
	hi_target_close(w->target);
	free(w->live);
	free(w);
}

static void take_thread(const char *line, void *arg)
{
	struct watched *w = arg;
	int tid;

	if (sscanf(line, "thread %d", &tid) == 1 && w->n_tids < THREADS)
		w->tids[w->n_tids++] = tid;
}

typedef enum hi_status open_fn(const struct hi_target *target,
			       const struct hi_event_functions *functions,
			       const struct hi_event_source_options *options,
			       struct hi_event_source **ret, struct hi_error *err);

static struct watched *watch_started(struct hi_fixture *fx, open_fn *open,
				     size_t ring_size)
{
	const struct hi_event_source_options options = {.ring_size = ring_size};
	struct watched *w = calloc(1, sizeof(*w));
	enum hi_status status;
	struct hi_error err;

	HI_ASSERT(w);
	w->live = live_blocks_new();
	w->sink = live_blocks_sink(w->live);
	w->fx = fx;
	hi_test_defer(end_watch, w);
	hi_fixture_read_until(w->fx, "ready", take_thread, w);
	HI_ASSERT_OK(hi_target_open(w->fx->pid, &w->target, &err), &err);
	HI_ASSERT_OK(hi_event_functions_find(w->target, &w->functions, &err), &err);
	status = open(w->target, &w->functions, &options, &w->source, &err);
	if (status == HI_UNSUPPORTED && strstr(err.text, "seccomp"))
		HI_SKIP("filters kill processes with probes at returns");
	HI_ASSERT_OK(status, &err);
	HI_ASSERT_OK(hi_event_source_start(w->source, &err), &err);
	return w;
}

static struct watched *watch(const char *fixture, open_fn *open, size_t ring_size)
{
	return watch_started(hi_fixture_start(fixture, NULL), open, ring_size);
}

static void drain(struct watched *w)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_event_source_drain(w->source, &w->sink, &err), &err);
}

static void go(struct watched *w, unsigned long operations)
{
	struct hi_error err;
	char line[64];

	snprintf(line, sizeof(line), "go %lu", operations);
	hi_fixture_tell(w->fx, line);
	HI_ASSERT_OK(hi_event_source_poll(w->source, 1, &w->sink, &err), &err);
	hi_fixture_read_until(w->fx, "done", NULL, NULL);
	drain(w);
}

static void compare_block(const char *line, void *arg)
{
	struct watched *w = arg;
	const struct live_block *block;
	unsigned long addr, size;

	if (sscanf(line, "live %lx %lx", &addr, &size) != 2)
		return;
	w->said++;
	block = live_blocks_find(w->live, addr);
	w->missing += !block;
	w->wrong_size += block && block->size != size;
}

static void expect_same_blocks(struct watched *w)
{
	w->said = w->missing = w->wrong_size = 0;
	hi_fixture_tell(w->fx, "live");
	hi_fixture_read_until(w->fx, "that is all", compare_block, w);
	HI_ASSERT(w->said > 0);
	HI_ASSERT_EQ(0, w->missing);
	HI_ASSERT_EQ(0, w->wrong_size);
	HI_ASSERT_EQ(w->said, w->live->live);
	HI_ASSERT_EQ(0, w->live->twice);
	HI_ASSERT_EQ(0, w->live->backwards);
}

static void take_counts(struct watched *w)
{
	char line[128];

	hi_fixture_tell(w->fx, "counts");
	HI_ASSERT(hi_fixture_line(w->fx, line, sizeof(line)));
	HI_ASSERT_EQ(5, sscanf(line, "counts %lu %lu %lu %lu %lu", &w->allocs, &w->frees,
			       &w->resized, &w->failed, &w->failed_resizes));
}

static void expect_same_counts(struct watched *w)
{
	struct hi_event_stats stats;
	uint64_t failed = 0;

	take_counts(w);
	HI_ASSERT_EQ(w->allocs, w->live->allocs);
	HI_ASSERT_EQ(w->frees, w->live->frees);
	HI_ASSERT_EQ(w->failed - w->failed_resizes, w->live->failed);
	HI_ASSERT_EQ(w->resized, w->live->begun);
	HI_ASSERT_EQ(w->resized, w->live->ended);
	hi_event_source_stats(w->source, &stats);
	HI_ASSERT_EQ(0, stats.lost + stats.lost_calls + stats.abandoned);
	HI_ASSERT_EQ(w->live->allocs + w->live->frees + w->live->failed + 2 * w->resized,
		     stats.events);
	for (size_t i = 0; i < stats.n_functions; i++) {
		HI_ASSERT_MSG(stats.functions[i].hits > 0, "%s was never hit",
			      stats.functions[i].name);
		failed += stats.functions[i].failed;
	}
	HI_ASSERT(failed >= w->failed);
}

static void expect_threads(const struct watched *w)
{
	HI_ASSERT_EQ(THREADS, w->n_tids);
	HI_ASSERT_EQ(THREADS, w->live->n_tids);
	for (size_t i = 0; i < THREADS; i++) {
		bool is_known = false;

		for (size_t j = 0; j < THREADS; j++)
			is_known |= w->tids[j] == (pid_t)w->live->tids[i];
		HI_ASSERT_MSG(is_known, "an event of thread %u", w->live->tids[i]);
	}
}

static void expect_all(const char *fixture, open_fn *open)
{
	struct watched *w = watch(fixture, open, 0);

	for (int round = 0; round < 10; round++) {
		go(w, 2000);
		expect_same_blocks(w);
	}
	expect_same_counts(w);
	expect_threads(w);
	hi_test_note("%s, %s", w->source->ops->name, w->functions.module);
}

HI_TEST_ROOT(event_source, sees_what_is_live)
{
	expect_all("alloc_events", hi_event_source_open);
}

HI_TEST_ROOT(event_source, sees_what_is_live_by_perf_events)
{
	expect_all("alloc_events", hi_event_source_open_by_perf);
}

HI_TEST_ROOT(event_source, sees_what_is_live_as_on_old_kernels)
{
	expect_all("alloc_events", hi_event_source_open_as_on_old_kernels);
}

HI_TEST_ROOT(event_source, sees_what_is_live_in_a_static_program)
{
	expect_all("alloc_events_static", hi_event_source_open);
}

static void forget_preloaded(void *unused)
{
	(void)unused;
	unsetenv("LD_PRELOAD");
}

static void expect_all_behind_a_wrapper(open_fn *open)
{
	struct watched *w;

	HI_ASSERT_EQ(0, setenv("LD_PRELOAD", HI_FIXTURE_DIR "/libmalloc_wrapper.so", 1));
	hi_test_defer(forget_preloaded, NULL);
	w = watch("alloc_events", open, 0);
	forget_preloaded(NULL);
	HI_ASSERT_STREQ("libmalloc_wrapper.so", w->functions.module);
	go(w, 3000);
	expect_same_blocks(w);
	expect_same_counts(w);
}

HI_TEST_ROOT(event_source, sees_functions_of_two_libraries)
{
	expect_all_behind_a_wrapper(hi_event_source_open);
	expect_all_behind_a_wrapper(hi_event_source_open_by_perf);
	expect_all_behind_a_wrapper(hi_event_source_open_as_on_old_kernels);
}

static void expect_all_without_pvalloc(const char *fixture)
{
	struct watched *w =
		watch_started(hi_fixture_start(fixture, "without-pvalloc", NULL),
			      hi_event_source_open, 0);

	forget_preloaded(NULL);
	hi_test_note("%s", w->functions.module);
	for (int round = 0; round < 4; round++) {
		go(w, 2000);
		expect_same_blocks(w);
	}
	take_counts(w);
	HI_ASSERT_EQ(w->allocs, w->live->allocs);
	HI_ASSERT_EQ(w->frees, w->live->frees);
}

/* Blocks of an allocator that takes the place of libc's; skipped where it is missing. */
static void expect_all_of_allocator(const char *library)
{
	char path[128];

	snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/%s", library);
	if (access(path, R_OK) != 0)
		HI_SKIP("this library is not installed");
	HI_ASSERT_EQ(0, setenv("LD_PRELOAD", path, 1));
	hi_test_defer(forget_preloaded, NULL);
	expect_all_without_pvalloc("alloc_events");
}

HI_TEST_ROOT(event_source, sees_what_is_live_of_jemalloc)
{
	expect_all_of_allocator("libjemalloc.so.2");
}

HI_TEST_ROOT(event_source, sees_what_is_live_of_tcmalloc)
{
	expect_all_of_allocator("libtcmalloc_minimal.so.4");
}

HI_TEST_ROOT(event_source, sees_what_is_live_of_mimalloc)
{
	expect_all_of_allocator("libmimalloc.so.2");
}

HI_TEST_ROOT(event_source, sees_what_is_live_of_the_full_tcmalloc)
{
	expect_all_of_allocator("libtcmalloc.so.4");
}

static void expect_all_of_musl(const char *fixture)
{
	char path[256];

	snprintf(path, sizeof(path), HI_FIXTURE_DIR "/%s", fixture);
	if (access(path, X_OK) != 0)
		HI_SKIP("no musl-gcc");
	expect_all_without_pvalloc(fixture);
}

HI_TEST_ROOT(event_source, sees_what_is_live_of_musl)
{
	expect_all_of_musl("alloc_events_musl_dynamic");
}

HI_TEST_ROOT(event_source, sees_what_is_live_of_a_static_musl)
{
	expect_all_of_musl("alloc_events_musl_static");
}

/* Or it says that the kernel cannot do it: see Note [Returns that are filtered]. */
static void expect_all_behind_a_filter(open_fn *open)
{
	struct watched *w =
		watch_started(hi_fixture_start("alloc_events", "filter", NULL), open, 0);

	HI_ASSERT(hi_process_is_filtered(w->fx->pid));
	go(w, 3000);
	expect_same_blocks(w);
	expect_same_counts(w);
}

HI_TEST_ROOT(event_source, sees_what_is_live_with_a_filter)
{
	expect_all_behind_a_filter(hi_event_source_open);
	expect_all_behind_a_filter(hi_event_source_open_by_perf);
}

HI_TEST_SCENARIO(event_source, tries_filters_without_a_child_left)
{
	bool had_none = waitpid(-1, NULL, WNOHANG) < 0;
	struct hi_error err;
	int link = -1;

	HI_ASSERT(hi_filtered_return_check(-1, false, &link, &err) != HI_OK);
	HI_ASSERT_EQ(-1, link);
	HI_ASSERT(!had_none || waitpid(-1, NULL, WNOHANG) < 0);
}

HI_TEST_ROOT(event_source, does_not_follow_children)
{
	struct watched *w = watch("alloc_events", hi_event_source_open, 0);
	size_t before;

	go(w, 1000);
	before = w->live->allocs + w->live->frees + w->live->begun;
	hi_fixture_tell(w->fx, "fork");
	hi_fixture_read_until(w->fx, "done", NULL, NULL);
	drain(w);
	HI_ASSERT_EQ(before, w->live->allocs + w->live->frees + w->live->begun);
	expect_same_blocks(w);
}

/* glibc empties the thread's cache by free, of blocks that were given back before. */
HI_TEST_ROOT(event_source, sees_blocks_given_back_once_when_a_thread_ends)
{
	struct watched *w = watch("alloc_events", hi_event_source_open, 0);

	hi_fixture_tell(w->fx, "thread");
	hi_fixture_read_until(w->fx, "done", NULL, NULL);
	drain(w);
	HI_ASSERT(w->functions.n_own > 0);
	HI_ASSERT(w->live->frees >= 7);
	HI_ASSERT_EQ(0, w->live->unknown_frees);
}

HI_TEST_ROOT(event_source, says_how_many_events_are_lost)
{
	struct watched *w = watch("alloc_events", hi_event_source_open, SMALL_RING);
	struct hi_event_stats stats;
	size_t seen;

	hi_fixture_tell(w->fx, "go 3000");
	hi_fixture_read_until(w->fx, "done", NULL, NULL);
	drain(w);
	HI_ASSERT(w->live->lost > 0);
	/* Again with room: what was lost is said in its place, and once. */
	go(w, 1);
	take_counts(w);
	seen = w->live->allocs + w->live->frees + w->live->begun + w->live->ended;
	seen += w->live->failed;
	HI_ASSERT_EQ(w->allocs + w->frees + 2 * w->resized + w->failed -
			     w->failed_resizes,
		     seen + w->live->lost);
	hi_event_source_stats(w->source, &stats);
	HI_ASSERT_EQ(w->live->lost, stats.lost);
	HI_ASSERT_EQ(seen, stats.events);
}

HI_TEST_ROOT(event_source, makes_no_events_once_it_is_stopped)
{
	struct watched *w = watch("alloc_events", hi_event_source_open, 0);

	go(w, 500);
	expect_same_blocks(w);
	take_counts(w);
	hi_event_source_stop(w->source);
	go(w, 500);
	HI_ASSERT_EQ(w->allocs, w->live->allocs);
	HI_ASSERT_EQ(w->frees, w->live->frees);
}

/* ---- calls that never return ---- */

static void jump(struct watched *w, int times)
{
	struct hi_error err;
	char line[32];

	snprintf(line, sizeof(line), "go %d", times);
	hi_fixture_tell(w->fx, line);
	hi_fixture_read_until(w->fx, "that is all", NULL, NULL);
	HI_ASSERT_OK(hi_event_source_poll(w->source, 1000, &w->sink, &err), &err);
	drain(w);
}

HI_TEST_ROOT(event_source, forgets_calls_that_are_left_by_a_longjmp)
{
	struct watched *w = watch("alloc_jumps", hi_event_source_open, 0);
	struct hi_event_stats stats;

	HI_ASSERT_STREQ("alloc_jumps", w->functions.module);
	/* One call and a poll: the kernel's return address is known then. */
	jump(w, 0);
	for (int round = 0; round < 4; round++)
		jump(w, 50);
	HI_ASSERT_EQ(200, w->live->live);
	HI_ASSERT_EQ(405, w->live->allocs);
	HI_ASSERT_EQ(205, w->live->frees);
	hi_event_source_stats(w->source, &stats);
	HI_ASSERT(stats.abandoned > 100);
}

/* ---- functions ---- */

HI_TEST_SCENARIO(event_functions, missing_functions_are_reported)
{
	struct hi_fixture *fx = hi_fixture_start("no_malloc", NULL);
	struct hi_event_functions functions;
	struct hi_target *target = NULL;
	struct hi_error err;
	enum hi_status status;

	hi_fixture_await_program(fx->pid, "no_malloc");
	HI_ASSERT_OK(hi_target_open(fx->pid, &target, &err), &err);
	status = hi_event_functions_find(target, &functions, &err);
	hi_target_close(target);
	HI_ASSERT_EQ(HI_NOT_FOUND, status);
	HI_ASSERT(strstr(err.text, "malloc"));
	/* What helps, to its end. */
	HI_ASSERT(strstr(err.text, "--calls") && strstr(err.text, "mmap"));
}

HI_TEST_SCENARIO(event_functions, functions_are_probed_at_cheap_instructions)
{
	struct hi_fixture *fx = hi_fixture_start("alloc_events", NULL);
	struct hi_event_functions functions;
	struct hi_target *target = NULL;
	struct hi_error err;
	enum hi_status status;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT_OK(hi_target_open(fx->pid, &target, &err), &err);
	status = hi_event_functions_find(target, &functions, &err);
	hi_target_close(target);
	HI_ASSERT_OK(status, &err);
	HI_ASSERT(strncmp(functions.module, "libc", 4) == 0);
	HI_ASSERT(functions.count >= 9);
	for (size_t i = 0; i < functions.count; i++) {
		const struct hi_event_function *f = &functions.items[i];

		hi_test_note("%s+%llu %s", f->name,
			     (unsigned long long)f->site.into_function,
			     f->site.instruction);
		/* reallocarray has no instruction that would do. */
		HI_ASSERT_MSG(!f->site.single_stepped ||
				      strcmp(f->name, "reallocarray") == 0,
			      "%s is single-stepped", f->name);
	}
}
