/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random heaps under all kinds of hints: the same whatever the number of threads,
 * whole whatever the bytes are, and clean whatever allocation fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "attach/mock.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "harness.h"
#include "support/random_world.h"
#include "support/two_typings.h"
#include "tests/support/random.h"

static struct hi_error err;

/* Of processors: others may have them. */
static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static uint64_t state;

/* ---- any number of threads ---- */

static void compare_threads(struct world *w, uint64_t seed)
{
	struct hi_typing *typing;
	struct hi_graph *graph;
	struct hi_rulebook *book;

	HI_ASSERT_OK(world_run(w, &(struct hi_typing_options){.threads = 1}, &err), &err);
	HI_ASSERT(hi_graph_is_valid(w->graph));
	graph = hi_take(w->graph);
	typing = hi_take(w->typing);
	book = hi_take(w->book);
	for (unsigned threads = 2; threads <= 4; threads += 2) {
		struct hi_typing_options options = {.threads = threads};

		HI_ASSERT_OK(world_run(w, &options, &err), &err);
		two_graphs_same(graph, w->graph, seed);
		HI_ASSERT_EQ(typing->stats.conflicts, w->typing->stats.conflicts);
		HI_ASSERT_EQ(typing->stats.subobjects.count,
			     w->typing->stats.subobjects.count);
		HI_ASSERT_EQ(typing->stats.subobjects.conflicts,
			     w->typing->stats.subobjects.conflicts);
	}
	hi_typing_destroy(typing);
	hi_graph_destroy(graph);
	hi_rulebook_destroy(book);
}

HI_TEST(rules_random, results_do_not_depend_on_the_number_of_threads)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		char text[4000];
		unsigned n = seed % 10 ? 300 + (unsigned)(seed * 977 % 3000) : 20000;
		struct world *w = random_world(&state, seed, n, text, sizeof(text));

		compare_threads(w, seed);
		world_forget(w);
	}
}

/* ---- any bytes ---- */

/* Random bytes everywhere, some words of them small or pointers. */
static void scramble(struct world *w)
{
	for (size_t i = 0; i < w->blocks.count; i++)
		for (uint64_t o = 0; o + 8 <= w->blocks.items[i].usable; o += 8) {
			uint64_t word = random_below(&state, UINT64_MAX / 2) * 2 +
					random_below(&state, 2);

			if (random_below(&state, 2))
				word = random_world_word(w, &state);
			else if (random_below(&state, 4) == 0)
				word >>= random_below(&state, 64);
			world_poke(w, w->blocks.items[i].addr + o, word);
		}
}

HI_TEST(rules_random, hostile_bytes_give_a_whole_graph_in_bounded_time)
{
	uint64_t start = now_ms();

	for (uint64_t seed = 1; seed <= 30; seed++) {
		char text[4000];
		struct world *w = random_world(&state, 3 * seed, 400, text, sizeof(text));

		scramble(w);
		HI_ASSERT_OK(
			world_run(w, &(struct hi_typing_options){.threads = 2}, &err),
			&err);
		HI_ASSERT(hi_graph_is_valid(w->graph));
		(void)world_leaks(w);
		world_forget(w);
	}
	HI_ASSERT(now_ms() - start < 120000); /* seconds, with sanitizers */
}

HI_TEST(rules_random, unreadable_pages_are_never_fatal)
{
	char text[4000];
	struct world *w = random_world(&state, 3, 500, text, sizeof(text));

	for (uint64_t page = 0; page < 12; page++) {
		hi_memory_mock_poison(w->memory, page % 2 ? WORLD_FAR + page * 4096
							  : WORLD_HEAP + page * 4096);
		HI_ASSERT_OK(world_run(w, NULL, &err), &err);
		HI_ASSERT(hi_graph_is_valid(w->graph));
	}
	for (uint64_t nth = 1; nth < 300; nth += 7) {
		hi_memory_mock_fail_at(w->memory, nth);
		HI_ASSERT_OK(world_run(w, NULL, &err), &err);
		HI_ASSERT(hi_graph_is_valid(w->graph));
		hi_memory_mock_fail_at(w->memory, 0);
	}
}

/* ---- any allocation ---- */

HI_TEST(rules_random, every_allocation_may_fail)
{
	char text[4000];
	struct world *w = random_world(&state, 3, 150, text, sizeof(text));
	enum hi_status status = HI_NO_MEMORY;
	hi_node n;

	HI_ASSERT_OK(world_run(w, &(struct hi_typing_options){.threads = 2}, &err), &err);
	HI_ASSERT(w->typing->stats.subobjects.count > 0);
	n = w->graph->n_objects;
	for (uint64_t nth = 1; status != HI_OK; nth++) {
		hi_alloc_fail_at(nth);
		status = world_run(w, &(struct hi_typing_options){.threads = 2}, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(nth < 20000);
		if (status != HI_OK)
			HI_ASSERT_EQ(HI_NO_MEMORY, status);
	}
	HI_ASSERT_EQ(n, w->graph->n_objects);
}

/* One that fails alone: the run says so, or goes on with less, and is whole. */
HI_TEST(rules_random, every_single_allocation_may_fail)
{
	char text[4000];
	struct world *w = random_world(&state, 6, 150, text, sizeof(text));

	for (uint64_t nth = 1, failures;; nth++) {
		enum hi_status status;

		failures = hi_alloc_failures();
		hi_alloc_fail_once(nth);
		status = world_run(w, &(struct hi_typing_options){.threads = 1}, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
		if (status == HI_OK)
			HI_ASSERT(hi_graph_is_valid(w->graph));
		HI_ASSERT(nth < 20000);
		if (hi_alloc_failures() == failures)
			break;
	}
}
