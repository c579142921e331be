/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stops of 12 threads that keep an allocator busy: how often all could be got out of it,
 * in how many rounds, and how long it took. Whether the heap is whole then is compared in
 * allocator_truth_test.c.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/types/types.h"
#include "tests/harness.h"
#include "tests/support/allocator_truth.h"
#include "tests/support/stopping.h"

enum { STOPS_MAX = 100 };

struct stops {
	uint64_t pause_ns[STOPS_MAX];
	uint32_t rounds[STOPS_MAX];
	size_t n, unclean; /* unclean: a thread was left inside */
	size_t marked;	   /* threads, before they were unwound */
	size_t inside;	   /* and after */
};

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int compare_rounds(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void unwind_marked(struct hi_image *image, const struct hi_range *text, size_t n)
{
	struct hi_modules_options options = {.cache_dir = ""};
	struct hi_modules *modules = NULL;
	struct hi_types *types = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_modules_open(image, &options, &modules, &err), &err);
	HI_ASSERT_OK(hi_types_open(modules, &types, &err), &err);
	HI_ASSERT_OK(hi_allocator_recheck_threads(image, types, text, n, &err), &err);
	hi_types_close(types);
	hi_modules_close(modules);
}

/* With the pause budget that an inspection has: on a busy machine it may run out. */
static struct hi_image *stop_and_copy(struct hi_target *target,
				      const struct hi_stop_options *options)
{
	enum hi_status status = HI_TIMEOUT;
	struct hi_image *image = NULL;
	struct hi_error err;

	for (int i = 0; i < 60 && status == HI_TIMEOUT; i++)
		status = hi_stop_and_copy(target, options, &image, &err);
	HI_ASSERT_OK(status, &err);
	return image;
}

static void stop_churn(struct hi_fixture *fx, struct stops *stops)
{
	struct hi_stop_options options = {.snapshot = HI_REQUEST_COPY};
	struct hi_target *target;
	struct hi_range *text;
	struct hi_image *image;
	struct hi_error err;
	size_t n = 0;

	HI_ASSERT_OK(hi_target_open(fx->pid, &target, &err), &err);
	HI_ASSERT_OK(hi_allocator_text(target, &text, &n, &err), &err);
	HI_ASSERT(n > 0);
	options.avoid = text;
	options.n_avoid = n;
	image = stop_and_copy(target, &options);
	stops->marked += image->stats.threads_in_allocator;
	if (image->stats.threads_in_allocator)
		unwind_marked(image, text, n);
	stops->inside += image->stats.threads_in_allocator;
	stops->unclean += image->stats.threads_in_allocator > 0;
	stops->pause_ns[stops->n] = image->stats.pause_ns;
	stops->rounds[stops->n++] = image->stats.avoid_rounds;
	hi_image_destroy(image);
	hi_target_close(target);
	free(text);
}

static void note_stops(const char *what, struct stops *s)
{
	qsort(s->pause_ns, s->n, sizeof(*s->pause_ns), compare_times);
	qsort(s->rounds, s->n, sizeof(*s->rounds), compare_rounds);
	hi_test_note("%s: %zu stops, pause %.1f ms (median) %.1f ms (most); rounds %u, "
		     "%u; %zu stops with %zu threads inside (%zu marked)",
		     what, s->n, (double)s->pause_ns[s->n / 2] / 1e6,
		     (double)s->pause_ns[s->n - 1] / 1e6, s->rounds[s->n / 2],
		     s->rounds[s->n - 1], s->unclean, s->inside, s->marked);
}

static void hammer(const char *what, const char *library, const char *environment, int n)
{
	const struct allocator_run run = {.arguments = {"12", "5000", "7", "20000"},
					  .shim = "",
					  .preload = library,
					  .environment = {environment}};
	struct hi_fixture *fx = allocator_churn_start(&run);
	struct stops stops = {};

	hi_fixture_tell(fx, "load");
	for (int i = 0; i < n; i++)
		stop_churn(fx, &stops);
	note_stops(what, &stops);
	HI_ASSERT_MSG(stops.unclean <= stops.n / 2, "%zu of %zu stops were not clean",
		      stops.unclean, stops.n);
	hi_fixture_end(fx);
}

struct hammered {
	const char *what, *library, *environment;
};
static const struct hammered hammered[] = {
	{"glibc", NULL, NULL},
	{"jemalloc", "libjemalloc.so.2", NULL},
	{"jemalloc, background threads", "libjemalloc.so.2",
	 "MALLOC_CONF=background_thread:true"},
	{"tcmalloc", "libtcmalloc_minimal.so.4", NULL},
	{"mimalloc", "libmimalloc.so.2.0", NULL},
};

static void hammer_one(unsigned i, int n)
{
	hammer(hammered[i].what, hammered[i].library, hammered[i].environment, n);
}

HI_TEST_SCENARIO(allocator_stops, threads_leave_glibc)
{
	hammer_one(0, 3);
}

HI_TEST_SCENARIO(allocator_stops, threads_leave_jemalloc)
{
	hammer_one(2, 3);
}

HI_TEST_SCENARIO(allocator_stops, threads_leave_tcmalloc)
{
	hammer_one(3, 3);
}

HI_TEST_SCENARIO(allocator_stops, threads_leave_mimalloc)
{
	hammer_one(4, 3);
}

HI_TEST_SLOW(allocator_stops, threads_leave_each_allocator_100_times)
{
	for (unsigned i = 0; i < sizeof(hammered) / sizeof(hammered[0]); i++)
		hammer_one(i, STOPS_MAX);
}
