/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings of programs with each allocator: every block that was recorded, and is live
 * at the end, is a block that the walk of the heap finds, also where it was aligned, and
 * has room for what was asked for.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/allocator_truth.h"
#include "tests/support/json.h"
#include "tests/support/recording_run.h"

/* Returns what the recording says of itself. */
static json_t *record_churn(const struct allocator_run *run)
{
	struct hi_fixture *fx = allocator_churn_start(run);
	struct recording_run recording =
		recording_start(fx->pid, "--sample=all", "--json", NULL);
	struct hi_command *c;

	allocator_churn_tell(fx, "round", "ready");
	allocator_churn_tell(fx, "round", "ready");
	c = recording_end(&recording, SIGINT);
	hi_fixture_end(fx);
	return doc_at(doc_of(c), "recording");
}

static void expect_recorded(const char *what, const struct allocator_run *run)
{
	json_t *recording = record_churn(run);

	hi_test_note("%s: %lld allocations, %lld joined, %lld without a block, %lld too "
		     "large, %lld frees of unknown",
		     what, doc_number(recording, "allocations"),
		     doc_number(recording, "joined"),
		     doc_number(recording, "without_object"),
		     doc_number(recording, "too_large"),
		     doc_number(recording, "frees_of_unknown"));
	HI_ASSERT(doc_number(recording, "joined") > 500);
	HI_ASSERT_EQ(0, doc_number(recording, "lost"));
	HI_ASSERT_EQ(0, doc_number(recording, "missing"));
	HI_ASSERT_EQ(0, doc_number(recording, "without_object"));
	HI_ASSERT_EQ(0, doc_number(recording, "too_large"));
}

static void expect_recorded_with(const char *library)
{
	const struct allocator_run run = {.arguments = {"2", "2000", "7", "100000"},
					  .shim = "",
					  .preload = library};
	char path[128];

	snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/%s",
		 library ? library : "");
	if (access(path, R_OK) != 0)
		HI_SKIP("this library is not installed");
	expect_recorded(library ? library : "glibc", &run);
}

HI_TEST_ROOT(record_allocators, blocks_of_glibc_are_in_its_heap)
{
	expect_recorded_with(NULL);
}

HI_TEST_ROOT(record_allocators, blocks_of_jemalloc_are_in_its_heap)
{
	expect_recorded_with("libjemalloc.so.2");
}

HI_TEST_ROOT(record_allocators, blocks_of_tcmalloc_are_in_its_heap)
{
	expect_recorded_with("libtcmalloc_minimal.so.4");
}

HI_TEST_ROOT(record_allocators, blocks_of_mimalloc_are_in_its_heap)
{
	expect_recorded_with("libmimalloc.so.2.0");
}

static void expect_recorded_musl(const char *program)
{
	const struct allocator_run run = {.program = program,
					  .arguments = {"2", "2000", "7", "100000"},
					  .shim = ""};
	char path[256];

	snprintf(path, sizeof(path), HI_FIXTURE_DIR "/%s", program);
	if (access(path, X_OK) != 0)
		HI_SKIP("no musl-gcc");
	expect_recorded(program, &run);
}

HI_TEST_ROOT(record_allocators, blocks_of_musl_are_in_its_heap)
{
	expect_recorded_musl("allocator_churn_musl_dynamic");
}

HI_TEST_ROOT(record_allocators, blocks_of_a_static_musl_are_in_its_heap)
{
	expect_recorded_musl("allocator_churn_musl_static");
}
