/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An inspector that is killed while it opens, follows or closes leaves no probe and no
 * thread that does not go on.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/live_blocks.h"
#include "tests/support/probe_leaks.h"

/* Each perf event takes its time to be closed. */
enum { KILLS = 40, KILLS_BY_PERF = 10, LONGEST_US = 250000 };

typedef enum hi_status open_fn(const struct hi_target *target,
			       const struct hi_event_functions *functions,
			       const struct hi_event_source_options *options,
			       struct hi_event_source **ret, struct hi_error *err);

/* Until it is killed; exits if it cannot. */
static pid_t start_recorder(open_fn *open, const char *name, struct hi_target *target,
			    const struct hi_event_functions *functions)
{
	const struct hi_event_source_options options = {.ring_size = 1 << 20};
	struct hi_event_sink sink = live_blocks_sink(live_blocks_new());
	struct hi_event_source *source;
	pid_t pid = fork();

	HI_ASSERT(pid >= 0);
	if (pid) {
		free(sink.arg);
		return pid;
	}
	prctl(PR_SET_NAME, name);
	while (open(target, functions, &options, &source, NULL) == HI_OK &&
	       hi_event_source_start(source, NULL) == HI_OK &&
	       hi_event_source_poll(source, 20, &sink, NULL) == HI_OK)
		hi_event_source_close(source);
	_exit(1);
}

static void expect_whole_text(struct hi_fixture *fx,
			      const struct hi_event_functions *functions,
			      uint8_t (*texts)[PROBE_TEXT])
{
	for (size_t i = 0; i < functions->count; i++)
		probe_text_expect(fx->pid, functions->items[i].site.address, texts[i]);
}

static void close_the_target(void *target)
{
	hi_target_close(target);
}

static void expect_kills_leave_nothing(open_fn *open, int kills)
{
	struct hi_fixture *fx = hi_fixture_start("alloc_events", NULL);
	uint8_t texts[HI_BPF_EVENT_FUNCTIONS][PROBE_TEXT];
	struct hi_event_functions functions;
	struct hi_target *target;
	struct hi_error err;
	char name[16];
	size_t leaks;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT_OK(hi_target_open(fx->pid, &target, &err), &err);
	hi_test_defer(close_the_target, target);
	HI_ASSERT_OK(hi_event_functions_find(target, &functions, &err), &err);
	for (size_t i = 0; i < functions.count; i++)
		probe_text_read(fx->pid, functions.items[i].site.address, texts[i]);
	snprintf(name, sizeof(name), "hi-%d", (int)getpid());
	leaks = probe_leaks_count(name);
	srand(1);
	for (int i = 0; i < kills; i++) {
		pid_t owner = start_recorder(open, name, target, &functions);
		int status;

		hi_fixture_tell(fx, "go 3000");
		usleep((unsigned)rand() % LONGEST_US);
		kill(owner, SIGKILL);
		HI_ASSERT(waitpid(owner, &status, 0) == owner && WIFSIGNALED(status));
		hi_fixture_read_until(fx, "done", NULL, NULL);
		expect_whole_text(fx, &functions, texts);
	}
	HI_ASSERT_EQ(leaks, probe_leaks_count(name));
}

HI_TEST_ROOT(event_kills, leave_no_link)
{
	expect_kills_leave_nothing(hi_event_source_open, KILLS);
}

HI_TEST_ROOT(event_kills, leave_no_perf_event)
{
	expect_kills_leave_nothing(hi_event_source_open_by_perf, KILLS_BY_PERF);
}
