/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * musl's heaps of live programs, dynamic and static, against the table that
 * allocator_shim.c keeps in the same process: 0 missing, 0 extra, sizes as asked for.
 */
#include "tests/harness.h"
#include "tests/support/allocator_truth.h"

/* A struct dso of the shim, and arrays of those of program and shim. */
enum { OF_THE_LINKER = 4 };

static void compare(const char *what, const struct allocator_run *run)
{
	struct allocator_figures figures = {};
	struct hi_fixture *fx = allocator_churn_start(run);

	allocator_truth_stop(fx->pid, run, HI_REQUEST_COPY, &figures);
	allocator_churn_tell(fx, "round", "ready");
	allocator_truth_stop(fx->pid, run, HI_REQUEST_FORK, &figures);
	allocator_churn_tell(fx, "load", "loaded");
	for (int i = 0; i < 4; i++)
		allocator_truth_stop(fx->pid, run, HI_REQUEST_COPY, &figures);
	allocator_figures_note(what, &figures);
	HI_ASSERT(figures.known <= (run->is_known ? OF_THE_LINKER * figures.stops : 0));
	allocator_figures_expect(&figures);
}

HI_TEST_SCENARIO(musl, static_program_has_the_blocks_of_the_shim)
{
	static const struct allocator_run run = {.program = "allocator_churn_musl_static",
						 .arguments = {"3", "20000"},
						 .shim = "",
						 .parts = "musl"};

	compare("static", &run);
}

HI_TEST_SCENARIO(musl, dynamic_program_has_the_blocks_of_the_shim)
{
	static const struct allocator_run run = {
		.program = "allocator_churn_musl_dynamic",
		.arguments = {"3", "20000"},
		.shim = "liballocator_shim_musl.so",
		.parts = "musl",
		.is_known = allocator_truth_is_musl_loader};

	compare("dynamic", &run);
}
