/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long trials of each allocator against the table of the shim: 20 stops at rest, the last
 * ones with more than a million blocks, and 100 under load, with 2 to 12 threads, by copy
 * and by fork in turns.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/harness.h"
#include "tests/support/allocator_truth.h"

enum { BLOCKS_AT_REST = 1100000, BLOCKS_UNDER_LOAD = 60000 };

static const unsigned thread_counts[] = {2, 4, 8, 12};

static enum hi_snapshot_request in_turns(unsigned i)
{
	return i % 2 ? HI_REQUEST_FORK : HI_REQUEST_COPY;
}

static struct hi_fixture *start_churn(const struct allocator_run *kind, unsigned threads,
				      size_t blocks)
{
	static char n_threads[16], n_blocks[32], seed[32];
	struct allocator_run run = *kind;

	snprintf(n_threads, sizeof(n_threads), "%u", threads);
	snprintf(n_blocks, sizeof(n_blocks), "%zu", blocks);
	snprintf(seed, sizeof(seed), "%u", 100 + threads);
	run.arguments[0] = n_threads;
	run.arguments[1] = n_blocks;
	run.arguments[2] = seed;
	run.room = blocks + 10000;
	return allocator_churn_start(&run);
}

static void try_at_rest(const struct allocator_run *run)
{
	struct allocator_figures figures = {};

	for (unsigned k = 0; k < 4; k++) {
		size_t blocks = k == 3 ? BLOCKS_AT_REST : 50000u << k;
		struct hi_fixture *fx = start_churn(run, thread_counts[k], blocks);

		for (unsigned i = 0; i < 5; i++) {
			if (i)
				allocator_churn_tell(fx, "round", "ready");
			allocator_truth_stop(fx->pid, run, in_turns(i), &figures);
		}
		hi_fixture_end(fx);
	}
	allocator_figures_note("at rest", &figures);
	HI_ASSERT_EQ(20, figures.stops);
	HI_ASSERT_EQ(0, figures.in_calls);
	allocator_figures_expect(&figures);
}

static void try_under_load(const struct allocator_run *run)
{
	struct allocator_figures figures = {};

	for (unsigned k = 0; k < 4; k++) {
		struct hi_fixture *fx =
			start_churn(run, thread_counts[k], BLOCKS_UNDER_LOAD);

		allocator_churn_tell(fx, "load", "loaded");
		for (unsigned i = 0; i < 25; i++)
			allocator_truth_stop(fx->pid, run, in_turns(i), &figures);
		hi_fixture_end(fx);
	}
	allocator_figures_note("under load", &figures);
	HI_ASSERT_EQ(100, figures.stops + figures.inside);
	/* A machine with few processors may hold a thread inside for long. */
	HI_ASSERT(figures.inside <= 10);
	allocator_figures_expect(&figures);
}

static bool is_walked(const char *name)
{
	for (size_t i = 0; hi_allocators[i]; i++)
		if (strncmp(hi_allocators[i]->name, name, strlen(name)) == 0)
			return true;
	hi_test_note("no walker of %s", name);
	return false;
}

#define LONG_TRIALS(NAME, ...)                                                           \
	HI_TEST_SLOW(allocator_trials, NAME##_at_rest)                                   \
	{                                                                                \
		static const struct allocator_run run = {__VA_ARGS__};                   \
		if (is_walked(run.parts))                                                \
			try_at_rest(&run);                                               \
	}                                                                                \
	HI_TEST_SLOW(allocator_trials, NAME##_under_load)                                \
	{                                                                                \
		static const struct allocator_run run = {__VA_ARGS__};                   \
		if (is_walked(run.parts))                                                \
			try_under_load(&run);                                            \
	}

LONG_TRIALS(glibc, .parts = "glibc")
LONG_TRIALS(glibc_static, .program = "allocator_churn_glibc_static", .shim = "",
	    .parts = "glibc")
LONG_TRIALS(jemalloc, .preload = "libjemalloc.so.2", .parts = "jemalloc")
LONG_TRIALS(jemalloc_inside, .program = "allocator_churn_jemalloc_inside", .shim = "",
	    .parts = "jemalloc")
LONG_TRIALS(tcmalloc_minimal, .preload = "libtcmalloc_minimal.so.4", .parts = "tcmalloc")
LONG_TRIALS(tcmalloc_full, .preload = "libtcmalloc.so.4", .parts = "tcmalloc")
LONG_TRIALS(mimalloc, .preload = "libmimalloc.so.2.0", .parts = "mimalloc")
LONG_TRIALS(musl_dynamic, .program = "allocator_churn_musl_dynamic",
	    .shim = "liballocator_shim_musl.so", .parts = "musl",
	    .is_known = allocator_truth_is_musl_loader)
LONG_TRIALS(musl_static, .program = "allocator_churn_musl_static", .shim = "",
	    .parts = "musl")
