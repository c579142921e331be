/* SPDX-License-Identifier: BSD-2-Clause */
/* A target that a cgroup has frozen: what it is, is said, and it stays frozen. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/freezer.h"
#include "tests/harness.h"
#include "tests/support/stopping.h"
#include "tests/support/waiting.h"

#define SECOND 1000000000ull

struct group {
	char mount[256], dir[512];
	bool second; /* version 2 */
	bool is_there;
};

/* Where a hierarchy that can freeze is mounted; false: nowhere. */
static bool find_mount(bool second, char mount[256])
{
	FILE *file = fopen("/proc/mounts", "r");
	char line[1024], type[32], options[512];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%*s %255s %31s %511s", mount, type, options) == 3 &&
			(second ? strcmp(type, "cgroup2") == 0
				: strcmp(type, "cgroup") == 0 &&
					  strstr(options, "freezer"));
	if (file)
		fclose(file);
	return found;
}

static bool put(const char *dir, const char *name, const char *text)
{
	char path[1024];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return done;
}

static void freeze(const struct group *group, bool on)
{
	if (group->second)
		HI_ASSERT(put(group->dir, "cgroup.freeze", on ? "1" : "0"));
	else
		HI_ASSERT(put(group->dir, "freezer.state", on ? "FROZEN" : "THAWED"));
}

static void remove_group(const struct group *group)
{
	(void)put(group->dir, group->second ? "cgroup.freeze" : "freezer.state",
		  group->second ? "0" : "THAWED");
	for (int i = 0; i < 1000 && rmdir(group->dir) < 0; i++)
		hi_test_sleep_us(5000); /* until what was in it has ended */
}

static void make_group(struct group *group, bool second)
{
	*group = (struct group){.second = second};
	if (!find_mount(second, group->mount))
		return;
	snprintf(group->dir, sizeof(group->dir), "%s/hi-test-%d", group->mount,
		 (int)getpid());
	if (mkdir(group->dir, 0700) < 0)
		return;
	hi_test_defer(remove_group, group);
	group->is_there = true;
}

static struct hi_fixture *start_in(const struct group *group)
{
	struct hi_fixture *fx = hi_fixture_start("stop_threads", "busy", "4", NULL);
	char pid[32];

	hi_test_expect_line(fx, "ready");
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	HI_ASSERT(put(group->dir, "cgroup.procs", pid));
	return fx;
}

static void await_frozen(pid_t pid)
{
	char name[256];

	for (int i = 0; i < 1000 && !hi_freezer_holds(pid, name, sizeof(name)); i++)
		hi_test_sleep_us(5000);
	HI_ASSERT(hi_freezer_holds(pid, name, sizeof(name)));
	hi_test_sleep_us(50000);
}

static void expect_wait_times_out(pid_t pid, const char *name)
{
	struct hi_mock_trigger *mock = hi_mock_trigger_create();
	struct hi_waiting waiting = hi_waiting_start(mock, pid, SECOND / 5);
	struct hi_waiting_result result = hi_waiting_end(&waiting);

	HI_ASSERT_MSG(result.status == HI_MISSED, "%s", result.text);
	HI_ASSERT_MSG(strstr(result.text, name), "%s", result.text);
}

/* Version 1 lets nobody stop it; with version 2 a stop works. */
static void expect_plain_stop(const struct group *group, pid_t pid, const char *name)
{
	const struct hi_stop_options options = {
		.max_pause_ns = group->second ? HI_TEST_PATIENCE_NS : SECOND / 5};
	struct hi_target target = hi_test_target(pid);
	struct hi_tracer *tracer = NULL;
	struct hi_tracer_stop stop = {};
	struct hi_error err = {};
	enum hi_status status = hi_tracer_start(&target, &options, &tracer, &err);

	if (status == HI_OK)
		status = hi_tracer_stop(tracer, &stop, &err);
	hi_tracer_destroy(tracer);
	HI_ASSERT_MSG(status == (group->second ? HI_OK : HI_TIMEOUT), "%s", err.text);
	HI_ASSERT_MSG(group->second || strstr(err.text, name), "%s", err.text);
}

static void expect_frozen_stays_so(bool second)
{
	static struct group group; /* until the test is over */
	struct hi_fixture *fx;
	char name[300];
	long long before;

	make_group(&group, second);
	if (!group.is_there)
		HI_SKIP("no cgroup of this version");
	fx = start_in(&group);
	before = hi_test_ask(fx, "count");
	freeze(&group, true);
	await_frozen(fx->pid);
	snprintf(name, sizeof(name), "frozen (cgroup freezer /hi-test-%d)",
		 (int)getpid());
	expect_wait_times_out(fx->pid, name);
	expect_plain_stop(&group, fx->pid, name);
	await_frozen(fx->pid);
	HI_ASSERT_EQ(0, hi_process_status(fx->pid, "TracerPid"));
	freeze(&group, false);
	/* It is scheduled again at some time. */
	for (int i = 0; i < 5000 && hi_test_ask(fx, "count") <= before; i++)
		hi_test_sleep_us(1000);
	HI_ASSERT(hi_test_ask(fx, "count") > before);
	hi_test_expect_free(fx->pid, "RS");
	hi_fixture_end(fx);
}

HI_TEST_ROOT(attach_freezer, a_target_frozen_by_version_1_is_named)
{
	char mount[256];

	if (!find_mount(false, mount) && find_mount(true, mount))
		return; /* version 2 alone: there is nothing to be frozen by */
	expect_frozen_stays_so(false);
}

HI_TEST_ROOT(attach_freezer, a_target_frozen_by_version_2_is_named)
{
	expect_frozen_stays_so(true);
}

HI_TEST(attach_freezer, this_process_is_not_frozen)
{
	char name[64], text[300];

	HI_ASSERT(!hi_freezer_holds(getpid(), name, sizeof(name)));
	HI_ASSERT_STREQ("", hi_freezer_explain(getpid(), text, sizeof(text)));
}
