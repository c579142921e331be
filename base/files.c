/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/packet.h"

/* Rights belong to the process, and so does this. Written once, before there are
 * threads. */
static int served_by = -1;

void hi_files_use(int socket)
{
	served_by = socket;
}

bool hi_files_are_served(void)
{
	return served_by >= 0;
}

int hi_files_ask(enum hi_files_operation operation, const char *name, const char *other,
		 char *text_ret)
{
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	struct hi_files_request request = {.operation = operation};
	struct hi_files_answer answer;
	int fd = -1;
	bool done;

	if (strlen(name) >= sizeof(request.name) ||
	    strlen(other) >= sizeof(request.other)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	snprintf(request.name, sizeof(request.name), "%s", name);
	snprintf(request.other, sizeof(request.other), "%s", other);
	pthread_mutex_lock(&one_at_a_time);
	done = hi_packet_send(served_by, &request, sizeof(request), -1) &&
	       hi_packet_receive(served_by, &answer, sizeof(answer), 0, &fd);
	pthread_mutex_unlock(&one_at_a_time);
	errno = done ? answer.error : EIO;
	if (done && text_ret)
		memcpy(text_ret, answer.text, sizeof(answer.text));
	return fd;
}

static int open_or_ask(const char *path, int flags, enum hi_files_operation operation)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);

	if (fd >= 0 || !hi_files_are_served() || (errno != EACCES && errno != EPERM))
		return fd;
	return hi_files_ask(operation, path, "", NULL);
}

int hi_files_open(const char *path)
{
	return open_or_ask(path, O_NONBLOCK, HI_FILES_OPEN);
}

int hi_files_open_stream(const char *path)
{
	return open_or_ask(path, 0, HI_FILES_OPEN_STREAM);
}

bool hi_files_receive(int socket, struct hi_files_request *ret)
{
	int fd;

	if (!hi_packet_receive(socket, ret, sizeof(*ret), 0, &fd))
		return false;
	if (fd >= 0)
		close(fd); /* a request has none */
	ret->name[sizeof(ret->name) - 1] = 0;
	ret->other[sizeof(ret->other) - 1] = 0;
	return true;
}

bool hi_files_answer(int socket, const struct hi_files_answer *answer, int fd)
{
	return hi_packet_send(socket, answer, sizeof(*answer), fd);
}
