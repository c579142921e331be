/* SPDX-License-Identifier: BSD-2-Clause */
/* mimalloc in live processes: Debian's library, preloaded. */
#include <string.h>

#include "tests/harness.h"
#include "tests/support/allocator_truth.h"
#include "tests/support/command.h"

HI_TEST_SCENARIO(mimalloc_scenario, the_library_has_the_blocks_of_the_shim)
{
	static const struct allocator_run run = {.preload = "libmimalloc.so.2.0",
						 .arguments = {"3", "20000"},
						 .parts = "mimalloc"};
	struct allocator_figures figures = {};
	struct hi_fixture *fx = allocator_churn_start(&run);

	allocator_truth_stop(fx->pid, &run, HI_REQUEST_COPY, &figures);
	allocator_churn_tell(fx, "round", "ready");
	allocator_truth_stop(fx->pid, &run, HI_REQUEST_FORK, &figures);
	allocator_figures_note("mimalloc", &figures);
	HI_ASSERT_EQ(0, figures.in_calls);
	HI_ASSERT(strcmp(figures.version, "2.0.9") == 0);
	HI_ASSERT(strstr(figures.checks, "free lists"));
	allocator_figures_expect(&figures);
}
