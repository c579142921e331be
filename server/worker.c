/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fork.h"

enum { MOST_TYPE = HI_ANSWER_TYPE - 1, SOCKET = 3 };

/* ---- the fork ---- */

static void reset_worker_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		if (number != SIGKILL && number != SIGSTOP)
			(void)signal(number, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Connections of the server that stayed open here would never end for their clients, and
 * its lock would be held by two. */
static bool keep_one_descriptor(int socket)
{
	return (socket == SOCKET || dup3(socket, SOCKET, O_CLOEXEC) == SOCKET) &&
	       close_range(SOCKET + 1, ~0u, 0) == 0;
}

/* It ends with the server, and what a terminal sends to the server is not for it. */
_Noreturn static void run_worker(pid_t server, int socket,
				 int (*run)(void *arg, int socket, const char *base),
				 void *arg, const char *base)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != server || !keep_one_descriptor(socket))
		_exit(1);
	(void)setpgid(0, 0);
	reset_worker_signals();
	_exit(run(arg, SOCKET, base));
}

static int open_worker_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

enum hi_status hi_worker_start(struct hi_worker *w,
			       int (*run)(void *arg, int socket, const char *base),
			       void *arg, const char *base, struct hi_error *err)
{
	pid_t server = getpid();
	int ends[2];

	*w = (struct hi_worker){.pidfd = -1, .socket = -1, .end_by_ns = UINT64_MAX};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return hi_fail_errno(err, "start the page process: socketpair");
	w->pid = hi_fork();
	if (w->pid == 0)
		run_worker(server, ends[1], run, arg, base);
	close(ends[1]);
	w->socket = ends[0];
	if (w->pid > 0)
		w->pidfd = open_worker_pidfd(w->pid);
	w->since_ns = hi_clock_ns();
	if (w->pid > 0 && w->pidfd >= 0)
		return HI_OK;
	(void)hi_fail_errno(err, "start the page process: %s",
			    w->pid > 0 ? "pidfd_open" : "fork");
	hi_worker_end(w);
	return HI_OS;
}

/* ---- requests ---- */

enum hi_status hi_worker_ask(struct hi_worker *w, char *address, uint64_t limit_ns,
			     struct hi_error *err)
{
	struct hi_channel_request request = {.magic = HI_CHANNEL_MAGIC,
					     .size = (uint32_t)strlen(address)};

	w->out_size = sizeof(request) + request.size;
	w->out = hi_alloc(w->out_size);
	if (!w->out)
		return hi_fail_memory(err, "request");
	memcpy(w->out, &request, sizeof(request));
	memcpy(w->out + sizeof(request), address, request.size);
	w->sent = w->head_size = w->type_size = w->body_size = 0;
	w->address = address;
	w->since_ns = hi_clock_ns();
	w->end_by_ns = w->since_ns + limit_ns;
	return HI_OK;
}

void hi_worker_forget(struct hi_worker *w)
{
	free(hi_take(w->out));
	free(hi_take(w->address));
	hi_answer_release(hi_take(w->answer));
	w->out_size = w->sent = 0;
	w->is_again = false;
	w->since_ns = hi_clock_ns();
	w->end_by_ns = UINT64_MAX;
}

static bool send_request_part(struct hi_worker *w)
{
	ssize_t n;

	if (w->sent == w->out_size)
		return true;
	n = send(w->socket, w->out + w->sent, w->out_size - w->sent,
		 MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n > 0)
		w->sent += (size_t)n;
	return n > 0 || errno == EAGAIN || errno == EINTR;
}

/* Hostile. */
static bool is_possible_answer(const struct hi_channel_answer *head, size_t most_bytes)
{
	return head->magic == HI_CHANNEL_MAGIC && head->code >= 200 && head->code < 600 &&
	       head->type_size && head->type_size <= MOST_TYPE &&
	       head->size <= most_bytes;
}

/* It goes into a header. */
static bool is_content_type(const char *type)
{
	for (; *type; type++)
		if (*type < ' ' || *type > '~')
			return false;
	return true;
}

/* Returns the place of the next bytes; *size_ret: how many; 0: the answer is complete.
 * NULL: there is no memory, or it is no answer. */
static char *find_place(struct hi_worker *w, size_t most_bytes, size_t **count_ret,
			size_t *size_ret)
{
	if (w->head_size < sizeof(w->head)) {
		*count_ret = &w->head_size;
		*size_ret = sizeof(w->head) - w->head_size;
		return (char *)&w->head + w->head_size;
	}
	if (!w->answer) {
		if (!is_possible_answer(&w->head, most_bytes))
			return NULL;
		w->answer = hi_answer_create(w->head.code, "", w->head.size);
		if (!w->answer)
			return NULL;
	}
	if (w->type_size < w->head.type_size) {
		*count_ret = &w->type_size;
		*size_ret = w->head.type_size - w->type_size;
		return w->answer->type + w->type_size;
	}
	*count_ret = &w->body_size;
	*size_ret = w->answer->size - w->body_size;
	return w->answer->body + w->body_size;
}

enum hi_worker_event hi_worker_exchange(struct hi_worker *w, size_t most_bytes)
{
	if (!send_request_part(w))
		return HI_WORKER_CLOSED;
	for (;;) {
		size_t *count = NULL, size = 0;
		char *place = find_place(w, most_bytes, &count, &size);
		ssize_t n;

		w->is_bad = !place || (!w->address && w->head_size);
		if (w->is_bad)
			return HI_WORKER_CLOSED;
		if (!size) {
			w->is_bad = !is_content_type(w->answer->type);
			w->is_last = w->head.is_last != 0;
			return w->is_bad ? HI_WORKER_CLOSED : HI_WORKER_ANSWERED;
		}
		n = recv(w->socket, place, size, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return HI_WORKER_WAITS;
		if (n <= 0)
			return HI_WORKER_CLOSED;
		*count += (size_t)n;
	}
}

/* ---- the end ---- */

static void close_worker(struct hi_worker *w)
{
	hi_close_fd(hi_take_fd(w->socket));
	hi_close_fd(hi_take_fd(w->pidfd));
	w->pid = 0;
}

bool hi_worker_has_ended(struct hi_worker *w, int *wait_status_ret)
{
	if (waitpid(w->pid, wait_status_ret, WNOHANG) != w->pid)
		return false;
	close_worker(w);
	return true;
}

void hi_worker_end(struct hi_worker *w)
{
	int status;

	if (w->pid > 0) {
		(void)kill(w->pid, SIGKILL);
		while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	hi_worker_forget(w);
	close_worker(w);
}
