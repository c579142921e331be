/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* As the rights are: the process's. Written once, before there are threads. */
static int served_by = -1;

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

void hi_files_use(int socket)
{
	served_by = socket;
}

bool hi_files_are_served(void)
{
	return served_by >= 0;
}

static bool send_request(const struct hi_files_request *request)
{
	ssize_t n;

	do
		n = send(served_by, request, sizeof(*request), MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == sizeof(*request);
}

static bool receive_answer(struct hi_files_answer *ret, int *fd_ret)
{
	union control control = {};
	struct iovec io = {ret, sizeof(*ret)};
	struct msghdr message = {.msg_iov = &io,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	ssize_t n;

	do
		n = recvmsg(served_by, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	*fd_ret = -1;
	if (n != sizeof(*ret))
		return false;
	if (CMSG_FIRSTHDR(&message))
		memcpy(fd_ret, CMSG_DATA(&control.header), sizeof(*fd_ret));
	return true;
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
	done = send_request(&request) && receive_answer(&answer, &fd);
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
	ssize_t n;

	do
		n = recv(socket, ret, sizeof(*ret), 0);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*ret))
		return false;
	ret->name[sizeof(ret->name) - 1] = 0;
	ret->other[sizeof(ret->other) - 1] = 0;
	return true;
}

bool hi_files_answer(int socket, const struct hi_files_answer *answer, int fd)
{
	union control control = {};
	struct iovec io = {(void *)(uintptr_t)answer, sizeof(*answer)};
	struct msghdr message = {.msg_iov = &io, .msg_iovlen = 1};
	ssize_t n;

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
						  .cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	do
		n = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == sizeof(*answer);
}
