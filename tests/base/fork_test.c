/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors that a child does not get. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fork.h"
#include "tests/harness.h"

enum { PIPES = 40 };

/* Does a child have the pipe's end, and the number? */
static int look_in_child(int fd)
{
	pid_t child = hi_fork();
	int status;

	if (child == 0)
		_exit((write(fd, "x", 1) == 1 && lseek(fd, 0, SEEK_CUR) < 0 ? 1 : 0) |
		      (fcntl(fd, F_GETFD) >= 0 ? 2 : 0));
	HI_ASSERT(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status);
}

HI_TEST(forks, withhold_descriptors_until_they_are_inherited)
{
	int ends[PIPES][2];

	for (int i = 0; i < PIPES; i++) {
		HI_ASSERT_EQ(0, pipe(ends[i]));
		hi_fork_withhold(ends[i][1]);
	}
	for (int i = 0; i < PIPES; i++)
		HI_ASSERT_EQ(2, look_in_child(ends[i][1]));
	for (int i = 0; i < PIPES; i += 2)
		hi_fork_inherit(ends[i][1]);
	for (int i = 0; i < PIPES; i++)
		HI_ASSERT_EQ(i % 2 ? 2 : 3, look_in_child(ends[i][1]));
}

/* The last writer is in the parent, though a child lives on. */
HI_TEST(forks, withheld_descriptors_are_closed_in_the_child)
{
	int ends[2], ending[2];
	pid_t child;
	char byte;

	HI_ASSERT(pipe(ends) == 0 && pipe(ending) == 0);
	hi_fork_withhold(ends[1]);
	child = hi_fork();
	if (child == 0) {
		close(ending[1]);
		_exit(read(ending[0], &byte, 1) != 0);
	}
	hi_fork_inherit(ends[1]);
	close(ends[1]);
	HI_ASSERT_EQ(0, read(ends[0], &byte, 1));
	close(ending[1]);
	HI_ASSERT_EQ(child, waitpid(child, NULL, 0));
}
