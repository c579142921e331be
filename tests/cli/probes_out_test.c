/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a command that had probes in its target has ended, the target's text is what its
 * files have: at once, and soon after the death of the whole process group.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/portrait.h"
#include "tests/support/probe_leaks.h"

enum { WAIT_US = 2000, WAITS = 30000 };

static struct hi_fixture *start_service(char pid[16])
{
	struct hi_fixture *fx = hi_fixture_start("storm_service", "8", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, 16, "%d", (int)fx->pid);
	return fx;
}

/* ---- a command that ends by itself ---- */

static void expect_out_at_end_with(int exit_code, const char *const *words)
{
	char pid[16];
	struct hi_fixture *fx = start_service(pid);
	const char *const more[] = {"--pid", pid, NULL};
	struct hi_command *c = hi_heapinspect_words(words, more);

	hi_text_expect_whole(fx->pid);
	HI_ASSERT_MSG(c->exit_code == exit_code, "%s", c->err);
}

static void expect_out_at_end(const char *const *words)
{
	expect_out_at_end_with(0, words);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

HI_TEST_ROOT(probes_out, at_the_end_of_a_recording)
{
	expect_out_at_end(WORDS("record", "--for", "100ms", "--sample", "all"));
}

HI_TEST_ROOT(probes_out, at_the_end_of_a_space_profile)
{
	expect_out_at_end(WORDS("alloc", "--for", "200ms"));
}

HI_TEST_ROOT(probes_out, at_the_end_of_uses)
{
	expect_out_at_end(WORDS("bio", "--uses", "--for", "1s"));
}

HI_TEST_ROOT(probes_out, at_the_end_of_a_series)
{
	expect_out_at_end(WORDS("census", "--at", "storm_tick", "--every", "100ms",
				"--for", "500ms"));
}

HI_TEST_ROOT(probes_out, at_the_end_of_a_census)
{
	expect_out_at_end(WORDS("census", "--at", "storm_use_a"));
}

HI_TEST_ROOT(probes_out, at_the_end_of_a_wait_in_vain)
{
	expect_out_at_end_with(124, WORDS("census", "--at", "storm_use_a if $1 == 1",
					  "--timeout", "300ms"));
}

/* ---- one that is killed with its group ---- */

static pid_t start_group(const char *const *words, const char *pid)
{
	char line[256] = "exec " HI_BINARY_DIR "/heapinspect";
	size_t used = strlen(line);
	pid_t group;

	for (size_t i = 0; words[i]; i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, " '%s'",
					 words[i]);
	snprintf(line + used, sizeof(line) - used, " --pid %s", pid);
	group = fork();
	if (group == 0) {
		setpgid(0, 0);
		execl("/bin/sh", "sh", "-c", line, NULL);
		_exit(127);
	}
	HI_ASSERT(group > 0);
	return group;
}

static void await_changed(pid_t pid, size_t wanted)
{
	for (int i = 0; (hi_text_changed(pid) > 0) != (wanted > 0); i++) {
		HI_ASSERT(i < WAITS);
		usleep(WAIT_US);
	}
}

static void expect_out_after_kill(const char *const *words)
{
	char pid[16];
	struct hi_fixture *fx = start_service(pid);
	size_t leaks = probe_leaks_count("heapinspect");
	pid_t group = start_group(words, pid);
	int status;

	await_changed(fx->pid, 1);
	HI_ASSERT_EQ(0, kill(-group, SIGKILL));
	HI_ASSERT(waitpid(group, &status, 0) == group && WIFSIGNALED(status));
	await_changed(fx->pid, 0);
	HI_ASSERT_EQ(leaks, probe_leaks_count("heapinspect"));
}

/* As Ctrl-C does it, when the recording just begins. */
HI_TEST_ROOT(probes_out, when_the_group_of_a_recording_is_interrupted)
{
	char pid[16];
	struct hi_fixture *fx = start_service(pid);
	pid_t group = start_group(WORDS("record", "--sample", "all"), pid);
	int status;

	await_changed(fx->pid, 1);
	HI_ASSERT_EQ(0, kill(-group, SIGINT));
	HI_ASSERT(waitpid(group, &status, 0) == group);
	hi_text_expect_whole(fx->pid);
}

HI_TEST_ROOT_ALONE(probes_out, when_the_group_of_a_recording_is_killed)
{
	expect_out_after_kill(WORDS("record", "--for", "10s", "--sample", "all"));
}

HI_TEST_ROOT_ALONE(probes_out, when_the_group_of_uses_is_killed)
{
	expect_out_after_kill(WORDS("bio", "--uses", "--for", "10s"));
}

HI_TEST_ROOT_ALONE(probes_out, when_the_group_of_a_wait_is_killed)
{
	expect_out_after_kill(WORDS("census", "--at", "storm_use_a if $1 == 1"));
}
