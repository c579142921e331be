/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/held_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/child.h"
#include "tests/support/fixture.h"

enum { MOST_ARGUMENTS = 32 };

void hi_held_run_end(struct hi_held_run *run)
{
	if (run->pid)
		kill(run->pid, SIGKILL);
	if (run->pid)
		waitpid(run->pid, NULL, 0);
	run->pid = 0;
}

static void end_held_run(struct hi_held_run *run)
{
	hi_held_run_end(run);
	close(run->out);
	close(run->err);
	free(run);
}

static int make_held_pipe(bool full, int *write_end)
{
	static const char bytes[HI_HELD_PIPE];
	int ends[2];

	HI_ASSERT(pipe2(ends, O_CLOEXEC) == 0);
	HI_ASSERT_EQ(HI_HELD_PIPE, fcntl(ends[1], F_SETPIPE_SZ, HI_HELD_PIPE));
	if (full)
		HI_ASSERT_EQ(HI_HELD_PIPE, write(ends[1], bytes, HI_HELD_PIPE));
	*write_end = ends[1];
	return ends[0];
}

struct hi_held_run *hi_held_run_start(bool full_out, bool full_err,
				      const char *const arguments[])
{
	struct hi_held_run *run = calloc(1, sizeof(*run));
	static char program[] = HI_BINARY_DIR "/heapinspect";
	char *argv[MOST_ARGUMENTS] = {program};
	int out, err;

	HI_ASSERT(run);
	for (size_t i = 0; arguments[i] && i + 2 < MOST_ARGUMENTS; i++)
		argv[i + 1] = (char *)(uintptr_t)arguments[i];
	run->out = make_held_pipe(full_out, &out);
	run->err = make_held_pipe(full_err, &err);
	run->pid = fork();
	if (run->pid == 0) {
		hi_child_signals();
		dup2(out, 1);
		dup2(err, 2);
		for (int fd = 3; fd < 256; fd++)
			close(fd);
		execv(argv[0], argv);
		_exit(127);
	}
	hi_test_defer(end_held_run, run);
	close(out);
	close(err);
	return run;
}

/* ---- who writes ---- */

/* /proc/PID/syscall: its number and its arguments. */
static bool is_writing_to(pid_t pid, int descriptor)
{
	unsigned long long first = ~0ull;
	long number = -1;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fscanf(file, "%ld %llx", &number, &first) != 2)
		number = -1;
	fclose(file);
	return (number == SYS_write || number == SYS_writev) &&
	       first == (unsigned)descriptor;
}

static bool is_below(pid_t pid, pid_t top)
{
	for (int i = 0; pid > 1 && pid != top && i < 16; i++)
		pid = (pid_t)hi_process_status(pid, "PPid");
	return pid == top;
}

static pid_t find_writer(pid_t top, int descriptor)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	HI_ASSERT(proc);
	while (!found && (entry = readdir(proc)) != NULL) {
		pid_t pid = atoi(entry->d_name);

		if (pid > 0 && is_below(pid, top) && is_writing_to(pid, descriptor))
			found = pid;
	}
	closedir(proc);
	return found;
}

pid_t hi_held_run_writer(const struct hi_held_run *run, int descriptor)
{
	siginfo_t end = {};
	pid_t found;

	for (;;) {
		found = find_writer(run->pid, descriptor);
		if (found)
			return found;
		HI_ASSERT(waitid(P_PID, (id_t)run->pid, &end,
				 WEXITED | WNOHANG | WNOWAIT) == 0);
		HI_ASSERT_MSG(end.si_pid == 0, "it has ended with %d", end.si_status);
		usleep(2000);
	}
}
