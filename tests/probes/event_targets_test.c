/* SPDX-License-Identifier: BSD-2-Clause */
/* Allocation events of targets in containers and of those that end, and what is said
 * without rights. */
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/child.h"
#include "tests/support/fixture.h"
#include "tests/support/live_blocks.h"

struct followed {
	struct hi_target *target;
	struct hi_event_functions functions;
	struct hi_event_source *source;
	struct live_blocks *live;
};

static void end_following(struct followed *f)
{
	hi_event_source_close(f->source);
	hi_target_close(f->target);
	free(f->live);
	free(f);
}

static struct followed *find_in(pid_t pid)
{
	struct followed *f = calloc(1, sizeof(*f));
	struct hi_error err;

	HI_ASSERT(f);
	f->live = live_blocks_new();
	hi_test_defer(end_following, f);
	HI_ASSERT_OK(hi_target_open(pid, &f->target, &err), &err);
	HI_ASSERT_OK(hi_event_functions_find(f->target, &f->functions, &err), &err);
	return f;
}

static struct followed *follow(pid_t pid)
{
	const struct hi_event_source_options options = {};
	struct followed *f = find_in(pid);
	struct hi_error err;

	HI_ASSERT_OK(hi_event_source_open(f->target, &f->functions, &options, &f->source,
					  &err),
		     &err);
	HI_ASSERT_OK(hi_event_source_start(f->source, &err), &err);
	return f;
}

static void go_once(struct hi_fixture *fx, struct followed *f)
{
	struct hi_event_sink sink = live_blocks_sink(f->live);
	struct hi_error err;

	hi_fixture_tell(fx, "go 1000");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	HI_ASSERT_OK(hi_event_source_drain(f->source, &sink, &err), &err);
}

/* ---- containers ---- */

static bool is_thread_of(pid_t pid, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%u", (int)pid, tid);
	return access(path, F_OK) == 0;
}

HI_TEST_ROOT(event_targets, in_a_container_have_thread_ids_of_ours)
{
	char *argv[] = {(char *)(uintptr_t) "unshare",
			(char *)(uintptr_t) "--pid",
			(char *)(uintptr_t) "--fork",
			(char *)(uintptr_t) "--kill-child",
			(char *)(uintptr_t)HI_FIXTURE_DIR "/alloc_events",
			NULL};
	struct hi_fixture *fx = hi_fixture_startv("/usr/bin/unshare", argv);
	struct followed *f;
	pid_t pid;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	pid = hi_child_first(fx->pid);
	f = follow(pid);
	HI_ASSERT(f->target->other_pid_ns);
	go_once(fx, f);
	HI_ASSERT_EQ(8, f->live->n_tids);
	for (size_t i = 0; i < f->live->n_tids; i++)
		HI_ASSERT_MSG(is_thread_of(pid, f->live->tids[i]), "thread %u",
			      f->live->tids[i]);
}

/* The same tests where process 1 is another one: the program then sees ids of the
 * target's namespace, which may be another one than this. */
HI_TEST_ROOT(event_targets, are_followed_from_a_container)
{
	static const char command[] =
		"unshare --pid --fork --kill-child --mount-proc " HI_BINARY_DIR
		"/tests/probes_tests --gtest_filter='event_targets.in_a*:"
		"event_source.sees_what_is_live:event_source.does_not*' 2>&1";
	char line[512];
	bool passed = false;
	FILE *pipe = popen(command, "r");

	HI_ASSERT(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		passed |= strstr(line, "PASSED  ] 3 tests") != NULL;
		if (strstr(line, "Failure") || strstr(line, "expected"))
			hi_test_note("%s", line);
	}
	HI_ASSERT(pclose(pipe) == 0 && passed);
}

/* ---- the end ---- */

HI_TEST_ROOT(event_targets, that_exit_are_said_to_be_gone)
{
	struct hi_fixture *fx = hi_fixture_start("alloc_events", NULL);
	struct hi_event_sink sink;
	struct followed *f;
	struct hi_error err;
	size_t seen;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	f = follow(fx->pid);
	sink = live_blocks_sink(f->live);
	hi_fixture_tell(fx, "go 500");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	kill(fx->pid, SIGKILL);
	hi_fixture_end(fx);
	/* What it did before is still there. */
	HI_ASSERT_OK(hi_event_source_poll(f->source, 1000, &sink, &err), &err);
	seen = f->live->allocs;
	HI_ASSERT(seen > 500);
	HI_ASSERT_EQ(HI_GONE, hi_event_source_poll(f->source, 1000, &sink, &err));
	HI_ASSERT_OK(hi_event_source_drain(f->source, &sink, &err), &err);
	HI_ASSERT_EQ(seen, f->live->allocs);
}

HI_TEST_ROOT(event_targets, have_a_page_for_returns_once_they_were_hit)
{
	struct hi_fixture *fx = hi_fixture_start("alloc_events", NULL);
	struct hi_range page = {};
	struct followed *f;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	f = follow(fx->pid);
	HI_ASSERT(!hi_event_return_page(fx->pid, &page));
	go_once(fx, f);
	HI_ASSERT(hi_event_return_page(fx->pid, &page));
	HI_ASSERT_EQ(sysconf(_SC_PAGESIZE), page.end - page.start);
}

/* ---- rights ---- */

static struct __user_cap_data_struct all_caps[2];

static void restore_all_caps(void *unused)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};

	(void)unused;
	syscall(SYS_capset, &head, all_caps);
}

static void drop_all_caps(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2];

	HI_ASSERT(syscall(SYS_capget, &head, all_caps) == 0);
	memcpy(none, all_caps, sizeof(none));
	none[0].effective = none[1].effective = 0;
	hi_test_defer(restore_all_caps, NULL);
	HI_ASSERT(syscall(SYS_capset, &head, none) == 0);
}

HI_TEST_ROOT(event_targets, cannot_be_followed_without_rights)
{
	const struct hi_event_source_options options = {};
	struct hi_fixture *fx = hi_fixture_start("alloc_events", NULL);
	struct followed *f;
	struct hi_error err;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	f = find_in(fx->pid);
	drop_all_caps();
	HI_ASSERT_EQ(HI_CANNOT_ATTACH, hi_event_source_open(f->target, &f->functions,
							    &options, &f->source, &err));
	HI_ASSERT_MSG(strstr(err.text, "CAP_BPF"), "%s", err.text);
}
