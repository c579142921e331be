/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jemalloc with options that change what its heap is made of, against the shim's table.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/allocator_truth.h"

#define VARIANT(NAME, CONF)                                                              \
	HI_TEST_SCENARIO(jemalloc_variants, NAME)                                        \
	{                                                                                \
		static const struct allocator_run run = {                                \
			.arguments = {"4", "30000"},                                     \
			.preload = "libjemalloc.so.2",                                   \
			.parts = "jemalloc",                                             \
			.environment = {"MALLOC_CONF=" CONF}};                           \
		compare_variant(CONF, &run);                                             \
	}

static void compare_variant(const char *conf, const struct allocator_run *run)
{
	struct allocator_figures figures = {};
	struct hi_fixture *fx = allocator_churn_start(run);

	for (unsigned i = 0; i < 4; i++) {
		if (i)
			allocator_churn_tell(fx, "round", "ready");
		allocator_truth_stop(fx->pid, run,
				     i % 2 ? HI_REQUEST_FORK : HI_REQUEST_COPY, &figures);
	}
	allocator_figures_note(conf, &figures);
	allocator_figures_expect(&figures);
}

VARIANT(one_arena_no_caches, "narenas:1,tcache:false")
VARIANT(arenas_by_processor, "percpu_arena:percpu,background_thread:true")
VARIANT(background_threads, "background_thread:true,narenas:2")
VARIANT(junk, "junk:true")
VARIANT(huge_pages, "hpa:true,metadata_thp:always")
VARIANT(program_break, "dss:primary,lg_tcache_max:18,tcache_nslots_small_max:1000")
VARIANT(sizes_and_shards,
	"slab_sizes:1-4096:17|100-200:1|128-128:2,bin_shards:1-160:16|129-512:4,"
	"retain:false")
VARIANT(guards, "san_guard_small:3,san_guard_large:2")
VARIANT(quick_decay, "dirty_decay_ms:0,muzzy_decay_ms:0")

/* The program has one in itself, and a library brings another, which only its own
 * constructor has used. */
HI_TEST_SCENARIO(jemalloc_variants, two_copies)
{
	static const struct allocator_run run = {
		.program = "allocator_churn_jemalloc_inside",
		.shim = "",
		.preload = "libjemalloc.so.2",
		.arguments = {"2", "20000"},
		.parts = "jemalloc"};
	compare_variant("two copies", &run);
}

static uint64_t unseen_bytes; /* of live blocks that the shim has not seen */

static bool add_unseen(const struct hi_image *image, const struct hi_block *block)
{
	(void)image;
	unseen_bytes += block->usable;
	return true;
}

/* Sampled small blocks are live with their own sizes. The profiler's blocks look like the
 * program's; how many bytes they have is said, out of jemalloc's counters. */
HI_TEST_SCENARIO(jemalloc_variants, profiler)
{
	static const struct allocator_run run = {
		.arguments = {"4", "30000"},
		.preload = "libjemalloc.so.2",
		.parts = "jemalloc",
		.is_known = add_unseen,
		.environment = {"MALLOC_CONF=prof:true,lg_prof_sample:14"}};
	struct allocator_figures figures = {};
	struct hi_fixture *fx = allocator_churn_start(&run);
	const char *said;

	unseen_bytes = 0;
	allocator_truth_stop(fx->pid, &run, HI_REQUEST_COPY, &figures);
	allocator_figures_note("profiler", &figures);
	allocator_figures_expect(&figures);
	said = strstr(figures.checks, "; ");
	HI_ASSERT_MSG(said, "%s", figures.checks);
	HI_ASSERT_EQ(unseen_bytes, strtoull(said + 2, NULL, 10));
	HI_ASSERT(unseen_bytes > 0);
	hi_fixture_end(fx);
}
