/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "server/error_page.h"
#include "server/server_internal.h"

#define PAGE_LIMIT_NS (30 * HI_NS_PER_S)
#define CLIENT_LIMIT_NS (120 * HI_NS_PER_S)
#define PATIENCE_NS (HI_NS_PER_S / 4)
#define WORKER_IDLE_NS (60 * HI_NS_PER_S)
#define END_NS HI_NS_PER_S		/* for the last answers */
#define ASK_AGAIN_NS (HI_NS_PER_S / 20) /* somebody is about to ask */
/* A client that has just come may still send the token. */
#define NEW_NS (HI_NS_PER_S / 2)
enum { WORKERS = 2, MOST_PAGE = 64 << 20, CACHE = 64 << 20, BACKLOG = 1024 };

HI_DEFINE_GUARD(struct hi_server *, hi_server_close)

/* ---- opening ---- */

static enum hi_status listen_on_loopback(struct hi_server *s, int *ret,
					 struct hi_error *err)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)s->options.port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	static const int yes = 1;
	HI_GUARD(close)
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* A port whose connections have ended just now is free. */
	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0 ||
	    listen(fd, BACKLOG) != 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &size) != 0)
		return errno == EADDRINUSE
			       ? hi_fail(err, HI_OS, 0,
					 "port %u is in use by another process; give "
					 "another --port, or none",
					 s->options.port)
			       : hi_fail_errno(err, "listen on 127.0.0.1, port %u",
					       s->options.port);
	s->port = ntohs(at.sin_port);
	*ret = hi_take_fd(fd);
	return HI_OK;
}

/* The address stays as the client has sent it. */
static size_t leave_escaped(void *arg, struct MHD_Connection *connection, char *text)
{
	(void)arg;
	(void)connection;
	return strlen(text);
}

static enum hi_status start_daemon(struct hi_server *s, struct hi_error *err)
{
	HI_GUARD(close) int fd = -1;
	enum hi_status status = listen_on_loopback(s, &fd, err);
	const union MHD_DaemonInfo *info;

	if (status != HI_OK)
		return status;
	s->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
		hi_exchange_handle, s, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_NOTIFY_CONNECTION, hi_client_notify, s,
		MHD_OPTION_URI_LOG_CALLBACK, hi_exchange_begin, s,
		MHD_OPTION_NOTIFY_COMPLETED, hi_exchange_end, s,
		MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HI_SERVER_MEMORY,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)HI_SERVER_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HI_SERVER_IDLE_S,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	if (!s->daemon)
		return hi_fail_errno(err, "start the server");
	(void)hi_take_fd(fd); /* the daemon's now */
	info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return hi_fail(err, HI_UNSUPPORTED, 0, "libmicrohttpd has no epoll");
	s->epoll = info->epoll_fd;
	return HI_OK;
}

/* Signals that are ignored (nohup) stay so. */
static enum hi_status take_end_signals(struct hi_server *s, struct hi_error *err)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
	struct sigaction action;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (sigaction(numbers[i], NULL, &action) == 0 &&
		    action.sa_handler != SIG_IGN)
			sigaddset(&set, numbers[i]);
	(void)signal(SIGPIPE, SIG_IGN);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0 || sigprocmask(SIG_BLOCK, &set, &s->signals_before) != 0)
		return hi_fail_errno(err, "signals of the server");
	s->has_signals = true;
	return HI_OK;
}

static enum hi_status open_workers(struct hi_server *s, struct hi_error *err)
{
	const struct hi_server_options *o = &s->options;
	struct hi_workers_options options = {
		.most = WORKERS,
		.limit_ns = o->page_limit_ns ? o->page_limit_ns : PAGE_LIMIT_NS,
		.patience_ns = PATIENCE_NS,
		.idle_ns = WORKER_IDLE_NS,
		.most_bytes = MOST_PAGE,
		.most_waiting = HI_SERVER_WAITING,
		.base = s->base,
		.run = o->run_pages,
		.run_arg = o->arg,
		.done = hi_exchange_page_done,
		.done_arg = s};

	return hi_workers_open(&options, &s->workers, err);
}

enum hi_status hi_server_open(const struct hi_server_options *options,
			      struct hi_server **ret, struct hi_error *err)
{
	HI_GUARD(hi_server_close) struct hi_server *s = hi_calloc(1, sizeof(*s));
	enum hi_status status;

	if (!s)
		return hi_fail_memory(err, "server");
	s->options = *options;
	if (!s->options.client_limit_ns)
		s->options.client_limit_ns = CLIENT_LIMIT_NS;
	s->signals = -1;
	s->cache.most = CACHE;
	status = hi_token_make(s->token, err);
	snprintf(s->base, sizeof(s->base), "/%s/", s->token);
	if (status == HI_OK)
		status = open_workers(s, err);
	if (status == HI_OK)
		status = start_daemon(s, err);
	if (status == HI_OK)
		status = take_end_signals(s, err);
	if (status != HI_OK)
		return status;
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u%s", s->port, s->base);
	hi_workers_prepare(s->workers);
	*ret = hi_take(s);
	return HI_OK;
}

const char *hi_server_url(const struct hi_server *server)
{
	return server->url;
}

/* ---- clients that take too long ---- */

/* libmicrohttpd sees the end of the connection, and closes it. */
static void end_client(struct hi_client *client)
{
	client->was_ended = true;
	(void)shutdown(client->fd, SHUT_RDWR);
}

static void end_slow_clients(struct hi_server *s, uint64_t now)
{
	for (struct hi_client *c = s->clients; c; c = c->next)
		if (!c->was_ended && now >= c->since_ns + s->options.client_limit_ns)
			end_client(c);
}

/* Clients without the token must not keep out those that have it. */
static void thin_crowd(struct hi_server *s, uint64_t now)
{
	size_t n = s->n_clients;

	while (n > HI_SERVER_CROWD) {
		struct hi_client *oldest = NULL;

		for (struct hi_client *c = s->clients; c; c = c->next) {
			if (c->was_ended || c->has_token || now < c->since_ns + NEW_NS)
				continue;
			if (!oldest || c->since_ns < oldest->since_ns)
				oldest = c;
		}
		if (!oldest)
			return;
		end_client(oldest);
		n--;
	}
}

/* When the next client may have to go. */
static uint64_t find_slowest(const struct hi_server *s)
{
	uint64_t first = UINT64_MAX;
	uint64_t limit =
		s->n_clients > HI_SERVER_CROWD ? NEW_NS : s->options.client_limit_ns;

	for (const struct hi_client *c = s->clients; c; c = c->next)
		if (!c->was_ended && c->since_ns < first &&
		    (limit != NEW_NS || !c->has_token))
			first = c->since_ns;
	return first == UINT64_MAX ? first : first + limit;
}

/* ---- the loop ---- */

static void end_when_idle(struct hi_server *s, uint64_t now)
{
	if (s->waiting || now < s->last_ns + s->options.timeout_ns)
		return;
	if (!s->options.may_end || s->options.may_end(s->options.arg))
		s->ends = true;
	else
		s->last_ns = now - s->options.timeout_ns + ASK_AGAIN_NS;
}

/* As poll(2) takes it. */
static int find_wait_ms(const struct hi_server *s)
{
	uint64_t now = hi_clock_ns(), until = s->last_ns + s->options.timeout_ns;
	uint64_t others[] = {hi_workers_deadline(s->workers), find_slowest(s)};
	MHD_UNSIGNED_LONG_LONG daemon_ms;
	uint64_t ms;

	if (s->has_work)
		return 0;
	if (s->waiting)
		until = UINT64_MAX;
	for (size_t i = 0; i < 2; i++)
		until = others[i] < until ? others[i] : until;
	ms = until > now ? (until - now + 999999) / 1000000 : 0;
	if (MHD_get_timeout(s->daemon, &daemon_ms) == MHD_YES && daemon_ms < ms)
		ms = daemon_ms;
	return ms < 3600000 ? (int)ms : 3600000;
}

static enum hi_status wait_for_something(struct hi_server *s, struct hi_error *err)
{
	struct pollfd fds[2 + HI_WORKERS_DESCRIPTORS] = {
		{.fd = s->signals, .events = POLLIN}, {.fd = s->epoll, .events = POLLIN}};
	struct signalfd_siginfo signal;
	nfds_t n = 2 + hi_workers_poll(s->workers, fds + 2);

	if (poll(fds, n, find_wait_ms(s)) < 0 && errno != EINTR)
		return hi_fail_errno(err, "wait for requests: poll");
	while (read(s->signals, &signal, sizeof(signal)) == sizeof(signal))
		s->ends = true;
	return HI_OK;
}

/* Sends answers that have begun to their end; requests that wait for a page get an
 * error. */
static void finish_last_answers(struct hi_server *s)
{
	uint64_t end = hi_clock_ns() + END_NS;
	struct hi_answer *answer = hi_error_page(503, NULL, "The server has ended.");

	close(MHD_quiesce_daemon(s->daemon));
	hi_exchange_answer_all(s, answer);
	hi_answer_release(answer);
	do {
		struct pollfd at = {.fd = s->epoll, .events = POLLIN};

		(void)MHD_run(s->daemon);
		hi_exchange_answer_all(s, NULL);
		(void)poll(&at, 1, 10);
	} while (s->n_exchanges && hi_clock_ns() < end);
}

enum hi_status hi_server_run(struct hi_server *s, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	s->last_ns = hi_clock_ns();
	while (!s->ends && status == HI_OK) {
		uint64_t now;

		status = wait_for_something(s, err);
		s->has_work = false;
		(void)MHD_run(s->daemon);
		hi_workers_work(s->workers);
		now = hi_clock_ns();
		end_slow_clients(s, now);
		thin_crowd(s, now);
		end_when_idle(s, now);
	}
	finish_last_answers(s);
	return status;
}

void hi_server_close(struct hi_server *s)
{
	if (!s)
		return;
	if (s->daemon) {
		hi_exchange_answer_all(s, NULL);
		MHD_stop_daemon(s->daemon);
	}
	hi_workers_close(s->workers);
	hi_cache_clear(&s->cache);
	hi_close_fd(s->signals);
	if (s->has_signals)
		(void)sigprocmask(SIG_SETMASK, &s->signals_before, NULL);
	free(s);
}
