/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walk of each allocator against the table of a shim in the same process: blocks of
 * two threads at rest, copied and by fork. The long trials are in the slow suite.
 */
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
	HI_ASSERT_EQ(0, figures.in_calls);
	allocator_figures_expect(&figures);
}

HI_TEST_SCENARIO(allocator_truth, glibc_has_the_blocks_of_the_shim)
{
	static const struct allocator_run run = {.arguments = {"2", "20000"},
						 .parts = "glibc"};

	compare_at_rest("glibc", &run);
}
