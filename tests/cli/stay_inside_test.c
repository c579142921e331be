/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread that cannot be got out of an allocator: said, counted, and waited for no
 * longer than needed. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/cli/summary.h"
#include "tests/support/fixture.h"

static struct hi_fixture *start_with(const char *library, const char *kind)
{
	struct hi_fixture *fx;
	char path[128], env[] = "env", preload[160], ready[32],
			program[] = HI_FIXTURE_DIR "/stay_inside";
	char *argv[] = {env, preload, program, NULL};

	snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/%s", library);
	if (access(path, R_OK) != 0)
		HI_SKIP("this library is not installed");
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", path);
	snprintf(ready, sizeof(ready), "ready %s", kind);
	fx = hi_fixture_startv("/usr/bin/env", argv);
	hi_fixture_read_until(fx, ready, NULL, NULL);
	return fx;
}

static void expect_inside(const char *library, const char *kind)
{
	struct hi_fixture *fx = start_with(library, kind);
	json_t *doc = summary_with(fx->pid, NULL);
	struct hi_command *c;
	char pid[16];

	HI_ASSERT_EQ(1, number(doc, "snapshot", "threads_in_allocator"));
	hi_test_note("%s: paused %.1f ms", kind,
		     (double)number(doc, "snapshot", "pause_ns") / 1e6);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_heapinspect("--max-pause=30s", "--pid", pid);
	HI_ASSERT_MSG(strstr(c->out, "1 thread stopped inside the allocator (blocks in"),
		      "%s", c->out);
	hi_fixture_end(fx);
}

HI_TEST_SCENARIO(stay_inside, a_thread_inside_jemalloc_is_said)
{
	expect_inside("libjemalloc.so.2", "jemalloc");
}

HI_TEST_SCENARIO(stay_inside, a_thread_inside_tcmalloc_is_said)
{
	expect_inside("libtcmalloc_minimal.so.4", "tcmalloc");
}

HI_TEST_SCENARIO(stay_inside, a_thread_inside_mimalloc_is_said)
{
	expect_inside("libmimalloc.so.2.0", "mimalloc");
}

HI_TEST_SCENARIO(stay_inside, background_threads_of_jemalloc_are_not_inside)
{
	char env[] = "env", preload[] = "LD_PRELOAD=libjemalloc.so.2",
	     option[] = "MALLOC_CONF=background_thread:true", threads[] = "2",
	     program[] = HI_FIXTURE_DIR "/allocator_churn";
	char *argv[] = {env, preload, option, program, threads, NULL};
	struct hi_fixture *fx;
	json_t *doc;

	if (access("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", R_OK) != 0)
		HI_SKIP("this library is not installed");
	fx = hi_fixture_startv("/usr/bin/env", argv);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	doc = summary_with(fx->pid, NULL);
	HI_ASSERT_EQ(0, number(doc, "snapshot", "threads_in_allocator"));
	hi_fixture_end(fx);
}
