/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcmalloc with options that change what its heap is made of, against the shim's table;
 * and two copies of it in one process.
 */
#include <string.h>

#include "tests/harness.h"
#include "tests/support/allocator_truth.h"

#define VARIANT(NAME, LIBRARY, ...)                                                      \
	HI_TEST_SCENARIO(tcmalloc_variants, NAME)                                        \
	{                                                                                \
		static const struct allocator_run run = {.arguments = {"4", "30000"},    \
							 .preload = LIBRARY,             \
							 .parts = "tcmalloc",            \
							 .environment = {__VA_ARGS__}};  \
		compare_tcmalloc(#NAME, &run);                                           \
	}

static void compare_tcmalloc(const char *what, const struct allocator_run *run)
{
	struct allocator_figures figures = {};
	struct hi_fixture *fx = allocator_churn_start(run);

	for (unsigned i = 0; i < 3; i++) {
		if (i)
			allocator_churn_tell(fx, "round", "ready");
		allocator_truth_stop(fx->pid, run,
				     i % 2 ? HI_REQUEST_FORK : HI_REQUEST_COPY, &figures);
	}
	allocator_figures_note(what, &figures);
	allocator_figures_expect(&figures);
}

VARIANT(sampled, "libtcmalloc.so.4", "TCMALLOC_SAMPLE_PARAMETER=20000")
VARIANT(profiler, "libtcmalloc_and_profiler.so.4", "TCMALLOC_SAMPLE_PARAMETER=100000")
VARIANT(quick_release, "libtcmalloc_minimal.so.4", "TCMALLOC_RELEASE_RATE=10",
	"TCMALLOC_AGGRESSIVE_DECOMMIT=1")
VARIANT(long_transfers, "libtcmalloc_minimal.so.4", "TCMALLOC_TRANSFER_NUM_OBJ=400",
	"TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES=600000")
VARIANT(no_program_break, "libtcmalloc_minimal.so.4", "TCMALLOC_SKIP_SBRK=1")
