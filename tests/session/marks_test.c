/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks that meet a series which begins. */
#include "session/mark_socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/workshop.h"

enum { TARGET = 4242 };

/* The socket of a series of this process that is bound, and does not listen yet. */
static int bind_socket(char path[200])
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	HI_ASSERT(fd >= 0);
	snprintf(path, 200, "%s/heapinspect", getenv("XDG_RUNTIME_DIR"));
	HI_ASSERT_EQ(0, mkdir(path, 0700));
	snprintf(path, 200, "%s/heapinspect/%d.%d", getenv("XDG_RUNTIME_DIR"), TARGET,
		 (int)getpid());
	HI_ASSERT(snprintf(address.sun_path, sizeof(address.sun_path), "%s", path) <
		  (int)sizeof(address.sun_path));
	HI_ASSERT_EQ(0, bind(fd, (const struct sockaddr *)&address, sizeof(address)));
	return fd;
}

HI_TEST(marks, mark_leaves_the_socket_of_a_series_that_begins)
{
	unsigned reached = 0;
	struct hi_error err;
	char path[200];
	int fd;

	HI_ASSERT_EQ(0, setenv("XDG_RUNTIME_DIR", workshop_open(), 1));
	fd = bind_socket(path);
	HI_ASSERT_EQ(HI_NOT_FOUND,
		     hi_marks_send(TARGET, HI_MARK_PLAIN, "text", &reached, &err));
	HI_ASSERT_EQ(0, access(path, F_OK));
	close(fd);
}
