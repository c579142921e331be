/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walk of each allocator against the table of a shim in the same process: blocks of
 * two threads at rest, copied and by fork. The long trials are in the slow suite.
 */
#include <string.h>

#include "tests/harness.h"
#include "tests/support/allocator_truth.h"

static void compare_at_rest(const char *what, const struct allocator_run *run)
{
	struct allocator_figures figures = {};
	struct hi_fixture *fx = allocator_churn_start(run);

	allocator_truth_stop(fx->pid, run, HI_REQUEST_COPY, &figures);
	allocator_churn_tell(fx, "round", "ready");
	allocator_truth_stop(fx->pid, run, HI_REQUEST_FORK, &figures);
	allocator_figures_note(what, &figures);
	HI_ASSERT(figures.known <= 8);
	HI_ASSERT_EQ(0, figures.in_calls);
	/* A static program has one malloc. */
	if (run->program && strstr(run->program, "_static"))
		HI_ASSERT_MSG(strcmp(figures.name, run->parts) == 0, "%s", figures.name);
	allocator_figures_expect(&figures);
}

/* Objects that tcmalloc makes of its own class by its own operator new, which the shim
 * does not see where both are in one object file: a table of virtual functions first. */
static bool is_tcmalloc_object(const struct hi_image *image, const struct hi_block *block)
{
	const struct hi_mapping *m;
	struct hi_error quiet;
	uint64_t word;

	if (block->usable > 16 ||
	    hi_memory_read_u64(image->memory, block->addr, &word, &quiet) != HI_OK)
		return false;
	m = hi_image_mapping_at(image, word);
	return m && m->kind == HI_MAPPING_FILE;
}

static bool is_in_registry(const char *name)
{
	for (size_t i = 0; hi_allocators[i]; i++)
		if (strncmp(hi_allocators[i]->name, name, strlen(name)) == 0)
			return true;
	hi_test_note("no walker of %s", name);
	return false;
}

#define QUICK_TRIAL(NAME, ...)                                                           \
	HI_TEST_SCENARIO(allocator_truth, NAME)                                          \
	{                                                                                \
		static const struct allocator_run run = {.arguments = {"2", "20000"},    \
							 __VA_ARGS__};                   \
		if (is_in_registry(run.parts))                                           \
			compare_at_rest(#NAME, &run);                                    \
	}

QUICK_TRIAL(glibc, .parts = "glibc")
QUICK_TRIAL(glibc_static, .program = "allocator_churn_glibc_static", .shim = "",
	    .parts = "glibc")
QUICK_TRIAL(jemalloc, .preload = "libjemalloc.so.2", .parts = "jemalloc")
QUICK_TRIAL(jemalloc_static, .program = "allocator_churn_jemalloc_static", .shim = "",
	    .parts = "jemalloc")
QUICK_TRIAL(jemalloc_inside, .program = "allocator_churn_jemalloc_inside", .shim = "",
	    .parts = "jemalloc")
QUICK_TRIAL(tcmalloc_minimal, .preload = "libtcmalloc_minimal.so.4", .parts = "tcmalloc")
QUICK_TRIAL(tcmalloc_full, .preload = "libtcmalloc.so.4", .parts = "tcmalloc")
QUICK_TRIAL(tcmalloc_static, .program = "allocator_churn_tcmalloc_minimal_static",
	    .shim = "", .parts = "tcmalloc", .is_known = is_tcmalloc_object)
QUICK_TRIAL(tcmalloc_inside, .program = "allocator_churn_tcmalloc_minimal_inside",
	    .shim = "", .parts = "tcmalloc", .is_known = is_tcmalloc_object)
QUICK_TRIAL(mimalloc, .preload = "libmimalloc.so.2.0", .parts = "mimalloc")
QUICK_TRIAL(musl_dynamic, .program = "allocator_churn_musl_dynamic",
	    .shim = "liballocator_shim_musl.so", .parts = "musl",
	    .is_known = allocator_truth_is_musl_loader)
QUICK_TRIAL(musl_static, .program = "allocator_churn_musl_static", .shim = "",
	    .parts = "musl")
