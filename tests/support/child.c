/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/child.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"

void hi_child_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void kill_and_reap(void *pid)
{
	kill((pid_t)(intptr_t)pid, SIGKILL);
	waitpid((pid_t)(intptr_t)pid, NULL, 0);
}

void hi_child_kill_after(pid_t pid)
{
	hi_test_defer(kill_and_reap, (void *)(intptr_t)pid);
}

pid_t hi_child_first(pid_t parent)
{
	char path[64];
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent,
		 (int)parent);
	for (int i = 0; i < 30000; i++) {
		FILE *file = fopen(path, "re");
		bool found = file && fscanf(file, "%d", &child) == 1;

		if (file)
			fclose(file);
		if (found)
			return child;
		usleep(1000);
	}
	hi_test_fail(__FILE__, __LINE__, "%d has no child", (int)parent);
}
