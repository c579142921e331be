/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/packet.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

bool hi_packet_send(int socket, const void *bytes, size_t size, int fd)
{
	union control control = {};
	struct iovec io = {(void *)(uintptr_t)bytes, size};
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
	return n == (ssize_t)size;
}

bool hi_packet_receive(int socket, void *bytes, size_t size, int flags, int *fd_ret)
{
	union control control = {};
	struct iovec io = {bytes, size};
	struct msghdr message = {.msg_iov = &io,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	ssize_t n;

	do
		n = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	*fd_ret = -1;
	if (n == (ssize_t)size && CMSG_FIRSTHDR(&message))
		memcpy(fd_ret, CMSG_DATA(&control.header), sizeof(*fd_ret));
	return n == (ssize_t)size;
}
