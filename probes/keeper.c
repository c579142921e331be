/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/keeper.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/child.h"
#include "base/alloc.h"
#include "base/cleanup.h"

/*
 * Note [Nobody who may be killed opens or closes a probe]
 *
 * The kernel puts a breakpoint into the target, and takes it out, within the system
 * call that opens the first descriptor of a probe or closes the last. Both reach for a
 * page of the target, which fails with EINTR while a fatal signal is pending for the
 * caller (kernel/events/uprobes.c, mm/gup.c): "failed to unregister, leaking uprobe".
 * On 6.18 that came of 59 out of 400 kill -9 within the first 80 ms of heapinspect: the
 * calls wait for RCU, so that they take a good part of that time. What leaks is the
 * kernel's until it boots again; a close that fails leaves the breakpoint itself, which
 * costs the target a trap whenever it comes by.
 *
 * So heapinspect opens and closes no probe. The keeper does: in a session of its own,
 * where no terminal's signal reaches it, and with no reason for anybody to kill it, for
 * it does nothing and ends by itself, whatever became of heapinspect. Others may hold and
 * drop descriptors as they like, and die with them: they are neither first nor last. A
 * keeper that is killed while it sleeps closes on its way out, where nothing is pending
 * any more.
 */

struct answer {
	enum hi_status status;
	struct hi_error error;
};

/* ---- one answer, with one descriptor or none ---- */

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static bool send_answer(int socket, struct answer *answer, int fd)
{
	union control control = {};
	struct iovec io = {answer, sizeof(*answer)};
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

static enum hi_status take_answer(int socket, int *fd_ret, struct hi_error *err)
{
	struct answer answer;
	union control control = {};
	struct iovec io = {&answer, sizeof(answer)};
	struct msghdr message = {.msg_iov = &io,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	ssize_t n;

	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(answer))
		return hi_fail(err, HI_LIMIT, 0,
			       "the process that opens probes has died");
	if (answer.status != HI_OK) {
		if (err)
			*err = answer.error;
		return answer.status;
	}
	if (!CMSG_FIRSTHDR(&message))
		return hi_fail(err, HI_LIMIT, 0, "too many open files (ulimit -n)");
	memcpy(fd_ret, CMSG_DATA(&control.header), sizeof(*fd_ret));
	return HI_OK;
}

/* ---- the keeper ---- */

/* Until one fails or nobody listens. */
static void open_all(int socket, hi_keeper_open *open, void *arg, size_t n, int *fds)
{
	struct answer answer = {.status = HI_OK};
	bool is_told = true;

	for (size_t i = 0; i < n; i++)
		fds[i] = -1;
	for (size_t i = 0; i < n && is_told && answer.status == HI_OK; i++) {
		answer.status = open(arg, i, &fds[i], &answer.error);
		is_told = send_answer(socket, &answer, fds[i]);
	}
}

_Noreturn static void keep(int socket, hi_keeper_open *open, void *arg, size_t n,
			   int *kept)
{
	char byte;

	(void)setsid(); /* before anything is opened */
	open_all(socket, open, arg, n, kept);
	kept[n] = socket;
	hi_child_settle("hi-probes", kept, n + 1);
	while (read(socket, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

/* ---- the inspector ---- */

static enum hi_status take_all(const struct hi_keeper *keeper, size_t n, int *fds,
			       struct hi_error *err)
{
	enum hi_status status = HI_OK;
	size_t taken = 0;

	while (taken < n && status == HI_OK) {
		status = take_answer(keeper->socket, &fds[taken], err);
		taken += status == HI_OK;
	}
	for (size_t i = 0; i < taken && status != HI_OK; i++)
		close(fds[i]);
	return status;
}

enum hi_status hi_keeper_start(struct hi_keeper *keeper, hi_keeper_open *open, void *arg,
			       size_t n, int *fds, struct hi_error *err)
{
	HI_GUARD(free) int *kept = hi_calloc(n + 1, sizeof(*kept));
	int sockets[2];
	enum hi_status status;

	*keeper = HI_KEEPER_NONE;
	if (!kept)
		return hi_fail_memory(err, "probe");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
		return hi_fail_errno(err, "socketpair");
	keeper->pid = fork();
	if (keeper->pid == 0) {
		close(sockets[0]);
		keep(sockets[1], open, arg, n, kept);
	}
	close(sockets[1]);
	if (keeper->pid < 0) {
		close(sockets[0]);
		return hi_fail_errno(err, "cannot fork");
	}
	keeper->socket = sockets[0];
	status = take_all(keeper, n, fds, err);
	if (status != HI_OK)
		hi_keeper_end(keeper);
	return status;
}

void hi_keeper_end(struct hi_keeper *keeper)
{
	if (keeper->socket < 0)
		return;
	close(keeper->socket);
	while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*keeper = HI_KEEPER_NONE;
}
