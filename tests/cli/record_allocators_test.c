/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings of programs with each allocator: every block that was recorded, and is live
 * at the end, is a block that the walk of the heap finds, also where it was aligned, and
 * has room for what was asked for.
 */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/allocator_truth.h"
#include "tests/support/recording_run.h"

static void free_recorded_document(void *json)
{
	json_decref(json);
}

static long long recorded_number(const json_t *doc, const char *key)
{
	const json_t *n = json_object_get(json_object_get(doc, "recording"), key);

	HI_ASSERT_MSG(json_is_integer(n), "no number recording.%s", key);
	return json_integer_value(n);
}

static json_t *record_churn(const struct allocator_run *run)
{
	struct hi_fixture *fx = allocator_churn_start(run);
	struct recording_run recording =
		recording_start(fx->pid, "--sample=all", "--json", NULL);
	struct hi_command *c;
	json_t *doc;

	allocator_churn_tell(fx, "round", "ready");
	allocator_churn_tell(fx, "round", "ready");
	c = recording_end(&recording, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	hi_fixture_end(fx);
	doc = json_loads(c->out, JSON_REJECT_DUPLICATES, NULL);
	HI_ASSERT(doc != NULL);
	hi_test_defer(free_recorded_document, doc);
	return doc;
}

static void expect_recorded(const char *what, const struct allocator_run *run)
{
	json_t *doc = record_churn(run);

	hi_test_note(
		"%s: %lld allocations, %lld joined, %lld without a block, %lld too "
		"large, %lld frees of unknown",
		what, recorded_number(doc, "allocations"), recorded_number(doc, "joined"),
		recorded_number(doc, "without_object"), recorded_number(doc, "too_large"),
		recorded_number(doc, "frees_of_unknown"));
	HI_ASSERT(recorded_number(doc, "joined") > 500);
	HI_ASSERT_EQ(0, recorded_number(doc, "lost"));
	HI_ASSERT_EQ(0, recorded_number(doc, "missing"));
	HI_ASSERT_EQ(0, recorded_number(doc, "without_object"));
	HI_ASSERT_EQ(0, recorded_number(doc, "too_large"));
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
