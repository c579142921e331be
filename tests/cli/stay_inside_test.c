/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread that cannot be got out of an allocator: said, counted, and waited for no
 * longer than needed. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/workshop.h"

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

	HI_ASSERT_EQ(1, doc_number(doc, "snapshot.threads_in_allocator"));
	hi_test_note("%s: paused %.1f ms", kind,
		     (double)doc_number(doc, "snapshot.pause_ns") / 1e6);
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

static long long inside_of_core(const char *directory, pid_t pid)
{
	char core[128];
	struct hi_command *c;
	json_t *doc;

	workshop_run("gcore -o core %d >/dev/null 2>&1", (int)pid);
	snprintf(core, sizeof(core), "%s/core.%d", directory, (int)pid);
	c = hi_heapinspect("--json", "--all", "--core", core);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, 0, NULL);
	HI_ASSERT(doc);
	hi_test_defer(free_json, doc);
	return doc_number(doc, "snapshot.threads_in_allocator");
}

HI_TEST_SCENARIO(stay_inside, a_thread_inside_is_said_of_a_core_too)
{
	struct hi_fixture *fx = start_with("libjemalloc.so.2", "jemalloc");
	const char *directory = workshop_open();

	HI_ASSERT_EQ(1, inside_of_core(directory, fx->pid));
	fx = hi_fixture_start("glibc_blocks", "1", "100", NULL);
	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT_EQ(0, inside_of_core(directory, fx->pid));
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
	HI_ASSERT_EQ(0, doc_number(doc, "snapshot.threads_in_allocator"));
	hi_fixture_end(fx);
}
