/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a stop lands: with no thread amid an operation of the allocator, so that its
 * heap is whole, and at the probe, not somewhere behind it.
 *
 * HI_TORN=N for N stops (24).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cli/summary.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/interrupted.h"
#include "tests/support/json.h"
#include "tests/support/stopping.h"

static json_t *inspect(const char *const *words)
{
	int fd = memfd_create("report", MFD_CLOEXEC), status;
	json_t *doc;

	HI_ASSERT(fd >= 0);
	status = hi_inspector_wait(hi_inspector_start(words, fd));
	HI_ASSERT_MSG(status == 0, "wait status 0x%x", (unsigned)status);
	lseek(fd, 0, SEEK_SET);
	doc = json_loadfd(fd, 0, NULL);
	close(fd);
	HI_ASSERT(doc);
	return doc;
}

/* Every block is found, or it is said where the chain of them breaks. */
static void check_whole(json_t *doc, unsigned round)
{
	char *warnings =
		json_dumps(json_object_get(json_object_get(doc, "snapshot"), "warnings"),
			   JSON_COMPACT);

	HI_ASSERT_MSG(doc_number(doc, "allocator.damaged") == 0 &&
			      doc_number(doc, "allocator.skipped") == 0 &&
			      doc_number(doc, "snapshot.threads_in_allocator") == 0,
		      "stop %u: damaged %lld, skipped %lld, inside %lld: %s", round,
		      doc_number(doc, "allocator.damaged"),
		      doc_number(doc, "allocator.skipped"),
		      doc_number(doc, "snapshot.threads_in_allocator"), warnings);
	HI_ASSERT(doc_number(doc, "objects.live") > 100);
	check_ledger(doc);
	free(warnings);
}

static void stop_amid_allocations(const char *snapshot, const char *at)
{
	struct hi_fixture *fx = hi_fixture_start("survive_malloc", NULL);
	unsigned rounds = hi_test_rounds("HI_TORN", 24) / (at ? 2 : 1);
	const char *words[16] = {
		"--pid",      NULL,	"--json",	    "--max-pause=10s",
		"--snapshot", snapshot, at ? "--at" : NULL, at,
		NULL};
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	words[1] = pid;
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	hi_traces_watch(fx->pid);
	for (unsigned i = 0; i < rounds; i++) {
		json_t *doc = inspect(words);

		check_whole(doc, i);
		json_decref(doc);
	}
	hi_traces_expect_none(fx->pid, "RSD");
	HI_ASSERT_EQ(0, hi_fixture_end(fx));
}

HI_TEST_SLOW(torn, eight_threads_that_allocate_are_never_copied_amid_it)
{
	stop_amid_allocations("copy", NULL);
}

HI_TEST_SLOW(torn, eight_threads_that_allocate_are_never_forked_amid_it)
{
	stop_amid_allocations("fork", NULL);
}

HI_TEST_SLOW(torn, at_a_function_the_other_threads_are_brought_out_too)
{
	stop_amid_allocations("fork", "survive_round");
	stop_amid_allocations("copy", "survive_round");
}
