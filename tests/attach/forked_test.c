/* SPDX-License-Identifier: BSD-2-Clause */
/* Which processes count as children that a process has forked. */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/forked.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"

enum { FOUND = 16 };

static void kill_child(void *arg)
{
	pid_t pid = (pid_t)(intptr_t)arg;

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static pid_t fork_sleeper(void)
{
	pid_t pid = fork();

	HI_ASSERT(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	hi_test_defer(kill_child, (void *)(intptr_t)pid);
	return pid;
}

static size_t count_forked(pid_t parent, pid_t child)
{
	struct hi_forked_process found[FOUND];
	size_t n = hi_forked_find(&parent, 1, found, FOUND), ret = 0;

	for (size_t i = 0; i < n; i++) {
		HI_ASSERT_EQ(parent, found[i].parent);
		HI_ASSERT(found[i].start_time > 0);
		ret += found[i].pid == child;
	}
	return ret;
}

HI_TEST_SCENARIO(forked, forked_lists_the_living_children)
{
	pid_t child = fork_sleeper(), other = fork_sleeper();
	siginfo_t info;

	HI_ASSERT_EQ(1, count_forked(getpid(), child));
	HI_ASSERT_EQ(1, count_forked(getpid(), other));
	HI_ASSERT_EQ(0, count_forked(child, other));
	kill(child, SIGKILL);
	HI_ASSERT_EQ(0, waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT));
	HI_ASSERT_EQ(0, count_forked(getpid(), child));
	HI_ASSERT_EQ(1, count_forked(getpid(), other));
}

/* An image of the heap is made by a fork of the target, whose end sends no signal. */
HI_TEST_SCENARIO(forked, images_of_the_heap_are_not_listed)
{
	pid_t child = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);

	HI_ASSERT(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	HI_ASSERT_EQ(getpid(), (pid_t)hi_process_status(child, "PPid"));
	HI_ASSERT_EQ(0, count_forked(getpid(), child));
	kill(child, SIGKILL);
	HI_ASSERT_EQ(child, waitpid(child, NULL, __WALL));
}
