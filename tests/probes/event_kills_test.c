/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An inspector that is killed while it opens, follows or closes, alone or with all its
 * processes, leaves no probe and no thread that does not go on.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/uprobe.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/live_blocks.h"
#include "tests/support/probe_leaks.h"

/* Each perf event takes its time to be closed. */
enum { KILLS = 16, KILLS_BY_PERF = 4, KILLS_OF_ALL = 6, LONGEST_US = 250000 };

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

struct kills {
	struct hi_fixture *fx;
	struct hi_target *target;
	struct hi_event_functions functions;
	uint8_t texts[HI_BPF_EVENT_FUNCTIONS][PROBE_TEXT];
	char name[16]; /* of the processes that are killed */
	size_t leaks;
};

static void start_target(struct kills *k, const char *fixture)
{
	struct hi_error err;

	k->fx = hi_fixture_start(fixture, NULL);
	hi_fixture_read_until(k->fx, "ready", NULL, NULL);
	HI_ASSERT_OK(hi_target_open(k->fx->pid, &k->target, &err), &err);
	hi_test_defer(hi_target_close, k->target);
	HI_ASSERT_OK(hi_event_functions_find(k->target, &k->functions, &err), &err);
	for (size_t i = 0; i < k->functions.count; i++)
		probe_text_read(k->fx->pid, k->functions.items[i].site.address,
				k->texts[i]);
	snprintf(k->name, sizeof(k->name), "hi-%d", (int)getpid());
	k->leaks = probe_leaks_count(k->name);
	srand(1);
}

static void expect_kills_leave_nothing(open_fn *open, int kills)
{
	struct kills k;

	start_target(&k, "alloc_events");
	for (int i = 0; i < kills; i++) {
		pid_t owner = start_recorder(open, k.name, k.target, &k.functions);
		int status;

		hi_fixture_tell(k.fx, "go 3000");
		usleep((unsigned)rand() % LONGEST_US);
		kill(owner, SIGKILL);
		HI_ASSERT(waitpid(owner, &status, 0) == owner && WIFSIGNALED(status));
		hi_fixture_read_until(k.fx, "done", NULL, NULL);
		expect_whole_text(k.fx, &k.functions, k.texts);
	}
	HI_ASSERT_EQ(k.leaks, probe_leaks_count(k.name));
}

/* Kills the owner and its processes when the first breakpoint has come: others are just
 * being set. A kill of the one that does it makes a line in the kernel's log (Note
 * [Anchors] in probes/probe_holder.c). */
static void kill_at_breakpoint(const struct kills *k, pid_t owner)
{
	const uint64_t first = k->functions.items[0].site.address;
	size_t n = 0;
	pid_t family[PROBE_FAMILY];
	uint8_t now[PROBE_TEXT];

	for (int i = 0;; i++) {
		if (i % 64 == 0) {
			HI_ASSERT_MSG(hi_process_state(owner) != 'Z', "it cannot open");
			n = probe_family_find(owner, family);
		}
		probe_text_read(k->fx->pid, first, now);
		if (n > 1 && memcmp(now, k->texts[0], PROBE_TEXT) != 0)
			break;
	}
	probe_family_kill(family, n);
}

HI_TEST_ROOT_ALONE(event_kills, killed_owner_leaves_no_link)
{
	expect_kills_leave_nothing(hi_event_source_open, KILLS);
}

HI_TEST_ROOT_ALONE(event_kills, killed_owner_leaves_no_perf_event)
{
	expect_kills_leave_nothing(hi_event_source_open_by_perf, KILLS_BY_PERF);
}

HI_TEST_ROOT_ALONE(event_kills, killed_owner_leaves_nothing_as_on_old_kernels)
{
	expect_kills_leave_nothing(hi_event_source_open_as_on_old_kernels, KILLS_BY_PERF);
}

static enum hi_status open_windows_of_kills(const struct hi_target *target,
					    const struct hi_event_functions *functions,
					    const struct hi_event_source_options *options,
					    struct hi_event_source **ret,
					    struct hi_error *err)
{
	struct hi_event_source_options o = *options;

	o.windows = (struct hi_event_schedule){20000000, 30000000, 1 << 20, 0};
	return hi_event_source_open(target, functions, &o, ret, err);
}

HI_TEST_ROOT_ALONE(event_kills, killed_owner_leaves_no_window)
{
	expect_kills_leave_nothing(open_windows_of_kills, KILLS);
}

/* A recording of all that becomes dear. */
static enum hi_status open_and_go_over(const struct hi_target *target,
				       const struct hi_event_functions *functions,
				       const struct hi_event_source_options *options,
				       struct hi_event_source **ret, struct hi_error *err)
{
	const struct hi_event_schedule schedule = {20000000, 30000000, 1 << 20, 0};
	enum hi_status status =
		hi_event_source_open(target, functions, options, ret, err);

	if (status == HI_OK)
		status = hi_event_source_start(*ret, err);
	if (status != HI_OK)
		return status;
	hi_event_source_stop(*ret);
	return hi_event_source_use_windows(*ret, &schedule, err);
}

HI_TEST_ROOT_ALONE(event_kills, killed_owner_leaves_nothing_as_it_goes_over_to_windows)
{
	expect_kills_leave_nothing(open_and_go_over, KILLS);
}

/* Another process of the same file has a probe on each function, which is no reason for
 * one in the target. */
static void probe_beside(const struct kills *k, const char *file)
{
	struct hi_fixture *other = hi_fixture_start(file, NULL);
	struct hi_target *target;
	struct hi_error err;

	hi_fixture_read_until(other, "ready", NULL, NULL);
	HI_ASSERT_OK(hi_target_open(other->pid, &target, &err), &err);
	hi_test_defer(hi_target_close, target);
	for (size_t i = 0; i < k->functions.count; i++) {
		struct hi_probe_site site = k->functions.items[i].site;
		struct perf_event_attr attr = {.sample_period = 1};
		struct hi_uprobe uprobe;
		int fd; /* until the test ends */

		HI_ASSERT_OK(hi_uprobe_prepare(target, &site, &uprobe, &err), &err);
		HI_ASSERT_OK(hi_uprobe_open(&uprobe, target, 0, &attr, &fd, &err), &err);
		hi_uprobe_release(&uprobe);
	}
}

static void expect_kills_of_all_leave_no_link(open_fn *open, bool beside)
{
	const char *file = probe_own_copy("alloc_events_static");
	struct kills k;

	start_target(&k, file);
	if (beside)
		probe_beside(&k, file);
	for (int i = 0; i < KILLS_OF_ALL; i++) {
		kill_at_breakpoint(&k,
				   start_recorder(open, k.name, k.target, &k.functions));
		expect_whole_text(k.fx, &k.functions, k.texts);
	}
	hi_test_note("%zu records of probes leaked", probe_leaks_count(k.name) - k.leaks);
}

HI_TEST_ROOT_ALONE(event_kills, killing_all_processes_at_once_leaves_no_link)
{
	expect_kills_of_all_leave_no_link(hi_event_source_open, false);
}

HI_TEST_ROOT_ALONE(event_kills, killing_all_processes_of_a_window_leaves_no_link)
{
	expect_kills_of_all_leave_no_link(open_windows_of_kills, false);
}

HI_TEST_ROOT_ALONE(event_kills, killing_all_processes_beside_another_user_leaves_no_link)
{
	expect_kills_of_all_leave_no_link(hi_event_source_open, true);
}
