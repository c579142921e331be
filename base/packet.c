/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/packet.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/cleanup.h"

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

#define DESCRIPTORS_MAX 253 /* of one message: SCM_MAX_FD of the kernel */
union received_control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
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

/* All that came are open here: the first is for the caller, others are closed. Returns
 * how many there were. */
static size_t take_descriptors(struct msghdr *message, int *fd_ret)
{
	size_t count = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		size_t n = c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
					   c->cmsg_len >= CMSG_LEN(0)
				   ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int)
				   : 0;

		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			if (count++)
				hi_close_fd(fd);
			else
				*fd_ret = fd;
		}
	}
	return count;
}

bool hi_packet_receive(int socket, void *bytes, size_t size, int flags, int *fd_ret)
{
	union received_control control = {};
	struct iovec io = {bytes, size};
	struct msghdr message = {.msg_iov = &io,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	size_t n_descriptors;
	ssize_t n;

	*fd_ret = -1;
	do
		n = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return false;
	n_descriptors = take_descriptors(&message, fd_ret);
	/* One that is lost to the limit of open files is none that came. */
	if (n == (ssize_t)size && !(message.msg_flags & MSG_TRUNC) &&
	    (n_descriptors == 0 ||
	     (n_descriptors == 1 && !(message.msg_flags & MSG_CTRUNC))))
		return true;
	hi_close_fd(*fd_ret);
	*fd_ret = -1;
	return false;
}

/* ---- bytes ---- */

enum { PIECE = 32 << 10 };

static size_t size_of_piece(size_t left)
{
	return left < PIECE ? left : PIECE;
}

bool hi_packet_send_bytes(int socket, const void *bytes, size_t n)
{
	uint64_t size = n;
	bool is_sent = hi_packet_send(socket, &size, sizeof(size), -1);

	for (size_t at = 0; is_sent && at < n; at += PIECE)
		is_sent = hi_packet_send(socket, (const char *)bytes + at,
					 size_of_piece(n - at), -1);
	return is_sent;
}

/* A descriptor has no place here. */
static bool receive_piece(int socket, void *bytes, size_t size)
{
	int fd = -1;
	bool is_there = hi_packet_receive(socket, bytes, size, 0, &fd);

	hi_close_fd(fd);
	return is_there;
}

bool hi_packet_receive_bytes(int socket, size_t most, void **ret, size_t *n_ret)
{
	HI_GUARD(free) char *bytes = NULL;
	uint64_t size = 0;

	*ret = NULL;
	*n_ret = 0;
	if (!receive_piece(socket, &size, sizeof(size)) || size > most)
		return false;
	bytes = size ? hi_alloc(size) : NULL;
	if (size && !bytes)
		return false;
	for (size_t at = 0; at < size; at += PIECE)
		if (!receive_piece(socket, bytes + at, size_of_piece(size - at)))
			return false;
	*ret = hi_take(bytes);
	*n_ret = size;
	return true;
}
