/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread that cannot be got out of an allocator: said, counted, and waited for no
 * longer than needed. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/snapshots.h"
#include "tests/support/targets.h"

static struct hi_fixture *start_with(const char *library, const char *kind)
{
	struct hi_fixture *fx;
	char path[128], preload[160], ready[32];

	snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/%s", library);
	if (access(path, R_OK) != 0)
		HI_SKIP("this library is not installed");
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", path);
	snprintf(ready, sizeof(ready), "ready %s", kind);
	fx = hi_fixture_start("/usr/bin/env", preload, HI_FIXTURE_DIR "/stay_inside",
			      NULL);
	hi_fixture_read_until(fx, ready, NULL, NULL);
	return fx;
}

static void expect_inside(const char *library, const char *kind)
{
	struct hi_fixture *fx = start_with(library, kind);
	json_t *doc = summary_with(fx->pid, NULL);
	struct hi_command *c;
	char pid[16];

	HI_ASSERT_EQ(1, doc_number(doc, "snapshot.threads_in_allocator"));
	hi_test_note("%s: paused %.1f ms", kind,
		     (double)doc_number(doc, "snapshot.pause_ns") / 1e6);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_heapinspect("--max-pause=30s", "--pid", pid);
	HI_ASSERT_MSG(strstr(c->out, "1 thread stopped inside the allocator (blocks in"),
		      "%s", c->out);
	hi_fixture_end(fx);
}

HI_TEST_SCENARIO(stay_inside, thread_inside_jemalloc_is_reported)
{
	expect_inside("libjemalloc.so.2", "jemalloc");
}

HI_TEST_SCENARIO(stay_inside, thread_inside_tcmalloc_is_reported)
{
	expect_inside("libtcmalloc_minimal.so.4", "tcmalloc");
}

HI_TEST_SCENARIO(stay_inside, thread_inside_mimalloc_is_reported)
{
	expect_inside("libmimalloc.so.2.0", "mimalloc");
}

static long long inside_of_core(const struct hi_fixture *fx)
{
	const char *core = snapshot_core(fx, snapshot_directory());

	return doc_number(doc_of(hi_heapinspect("--json", "--all", "--core", core)),
			  "snapshot.threads_in_allocator");
}

HI_TEST_SCENARIO(stay_inside, thread_inside_malloc_is_reported_for_a_core)
{
	struct hi_fixture *fx = start_with("libjemalloc.so.2", "jemalloc");

	HI_ASSERT_EQ(1, inside_of_core(fx));
	HI_ASSERT_EQ(0,
		     inside_of_core(target_start("glibc_blocks", "1", "100", NULL)->fx));
}

HI_TEST_SCENARIO(stay_inside, background_threads_of_jemalloc_are_not_inside)
{
	struct target *t;

	if (access("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", R_OK) != 0)
		HI_SKIP("this library is not installed");
	t = target_start("/usr/bin/env", "LD_PRELOAD=libjemalloc.so.2",
			 "MALLOC_CONF=background_thread:true",
			 HI_FIXTURE_DIR "/allocator_churn", "2", NULL);
	HI_ASSERT_EQ(0, doc_number(target_ask(t, "--all", "--max-pause=30s"),
				   "snapshot.threads_in_allocator"));
}
