/* SPDX-License-Identifier: BSD-2-Clause */
/* Stopping many threads: all of them, and every one runs on afterwards. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/stopping.h"

static const struct hi_stop_options plain = {.best_effort_priority = true};

static struct hi_fixture *start_threads(const char *kind, const char *n)
{
	struct hi_fixture *fx = hi_fixture_start("stop_threads", kind, n, NULL);

	hi_test_expect_line(fx, "ready");
	return fx;
}

HI_TEST_SCENARIO(attach_tracer, stops_64_busy_threads_and_all_run_on)
{
	struct hi_fixture *fx = start_threads("busy", "64");
	struct hi_target target = hi_test_target(fx->pid);
	struct hi_tracer_stop stop;
	struct hi_tracer *tracer;
	struct hi_error err;
	uint64_t resumed_ns;
	long long before;

	HI_ASSERT_OK(hi_tracer_start(&target, &plain, &tracer, &err), &err);
	HI_ASSERT_OK(hi_tracer_stop(tracer, &stop, &err), &err);
	HI_ASSERT_EQ(65, stop.n_threads);
	HI_ASSERT_EQ(fx->pid, stop.threads[0].tid);
	HI_ASSERT_STREQ("stop_threads", stop.threads[0].name);
	HI_ASSERT_EQ('t', hi_process_state(fx->pid));
	HI_ASSERT_OK(hi_tracer_resume(tracer, &resumed_ns, &err), &err);
	hi_tracer_destroy(tracer);
	before = hi_test_ask(fx, "count");
	hi_test_expect_free(fx->pid, "RS");
	HI_ASSERT(hi_test_ask(fx, "count") > before);
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
}
