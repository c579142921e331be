/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/mock_pages.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/channel.h"
#include "server/page_loop.h"
#include "server/server.h"
#include "tests/harness.h"

enum { GROWTH = 16 << 20, HUGE_PAGE = 65 << 20 };

struct mock_pages {
	unsigned made;
	int socket;
};

static enum hi_status open_mock_pages(void *arg, void **ret, struct hi_error *err)
{
	struct mock_pages *pages = calloc(1, sizeof(*pages));

	(void)err;
	if (!pages)
		abort();
	pages->socket = *(int *)arg;
	*ret = pages;
	return HI_OK;
}

static void put_many(FILE *out, size_t size)
{
	static const char line[] =
		"0123456789abcdef0123456789abcdef0123456789abcdef012345678901234";

	for (size_t n = 0; n < size; n += sizeof(line))
		fprintf(out, "%s\n", line);
}

static void grow_too_much(void)
{
	char *bytes = malloc(2 * GROWTH);

	if (!bytes)
		abort();
	for (size_t i = 0; i < 2 * GROWTH; i += 4096)
		((volatile char *)bytes)[i] = 1;
}

static void send_nonsense(struct mock_pages *pages, const char *address)
{
	static const char bytes[] = "this is no answer, it is forty bytes long";
	struct hi_channel_answer head = {
		.magic = HI_CHANNEL_MAGIC, .code = 200, .type_size = 4000, .size = 1};

	if (strcmp(address, "nonsense") == 0)
		(void)send(pages->socket, bytes, sizeof(bytes), MSG_NOSIGNAL);
	else
		(void)send(pages->socket, &head, sizeof(head), MSG_NOSIGNAL);
}

static void misbehave(struct mock_pages *pages, const char *address)
{
	unsigned ms;

	if (strcmp(address, "crash") == 0)
		(void)raise(SIGSEGV);
	if (strcmp(address, "hang") == 0)
		for (;;)
			pause();
	if (strcmp(address, "exit") == 0)
		_exit(3);
	if (strcmp(address, "grow") == 0)
		grow_too_much();
	if (strcmp(address, "nonsense") == 0 || strcmp(address, "header") == 0)
		send_nonsense(pages, address);
	if (sscanf(address, "slow/%u", &ms) == 1)
		hi_clock_pause_ns(ms * 1000000ull);
}

static enum hi_status write_mock_page(void *arg, const char *address, const char *base,
				      FILE *out, struct hi_page_answer *ret,
				      struct hi_error *err)
{
	struct mock_pages *pages = arg;

	pages->made++;
	misbehave(pages, address);
	*ret = (struct hi_page_answer){200, "text/html; charset=utf-8"};
	if (strcmp(address, "memory") == 0)
		return hi_fail_memory(err, "<mock> & page");
	if (strcmp(address, "type") == 0)
		ret->type = "text/html\r\nX-Mock: 1";
	if (strcmp(address, "asset.css") == 0)
		ret->type = "text/css";
	if (strcmp(address, "none") == 0)
		ret->code = 404;
	if (strncmp(address, "pid/", 4) == 0)
		fprintf(out, "%d", (int)getpid());
	else if (strcmp(address, "big") == 0)
		put_many(out, MOCK_BIG);
	else if (strcmp(address, "wide") == 0)
		put_many(out, 16 * MOCK_BIG);
	else if (strcmp(address, "huge") == 0)
		put_many(out, HUGE_PAGE);
	else if (strncmp(address, "count/", 6) == 0)
		fprintf(out, "%u", pages->made);
	else
		fprintf(out, "%s of %s", address, base);
	return HI_OK;
}

static bool warm_up_mock_pages(void *pages)
{
	(void)pages;
	return false;
}

static void close_mock_pages(void *pages)
{
	free(pages);
}

static int run_mock_pages(void *arg, int socket, const char *base)
{
	static const struct hi_page_ops ops = {open_mock_pages, write_mock_page,
					       warm_up_mock_pages, close_mock_pages};

	(void)arg;
	hi_page_loop(socket, base, GROWTH, &ops, &socket);
	return 0;
}

/* ---- the server ---- */

_Noreturn static void run_mock_server(const struct hi_server_options *options, int out)
{
	struct hi_server *server = NULL;
	struct hi_error err;
	enum hi_status status;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	status = hi_server_open(options, &server, &err);
	if (status != HI_OK) {
		fprintf(stderr, "mock server: %s\n", err.text);
		_exit(1);
	}
	dprintf(out, "%s\n", hi_server_url(server));
	close(out);
	status = hi_server_run(server, &err);
	hi_server_close(server);
	_exit(status != HI_OK);
}

static void end_mock_server(void *arg)
{
	pid_t pid = (pid_t)(intptr_t)arg;

	/* Unless it was reaped. */
	if (waitpid(pid, NULL, WNOHANG) == 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

struct mock_server mock_server_start(uint64_t timeout_ns, uint64_t page_limit_ns,
				     uint64_t client_limit_ns)
{
	struct hi_server_options options = {.timeout_ns = timeout_ns ? timeout_ns
								     : 600 * HI_NS_PER_S,
					    .page_limit_ns = page_limit_ns,
					    .client_limit_ns = client_limit_ns,
					    .policy = "default-src 'none'",
					    .run_pages = run_mock_pages};
	struct mock_server server;
	char url[128] = "";
	int ends[2];

	HI_ASSERT(pipe(ends) == 0);
	(void)fflush(NULL);
	server.pid = fork();
	if (server.pid == 0) {
		close(ends[0]);
		run_mock_server(&options, ends[1]);
	}
	HI_ASSERT(server.pid > 0);
	hi_test_defer(end_mock_server, (void *)(intptr_t)server.pid);
	close(ends[1]);
	HI_ASSERT(read(ends[0], url, sizeof(url) - 1) > 0);
	close(ends[0]);
	server.url = http_url_parse(url);
	return server;
}

int mock_server_await_end(struct mock_server *server)
{
	int status;

	for (unsigned i = 0; i < 6000; i++) {
		if (waitpid(server->pid, &status, WNOHANG) == server->pid)
			return status;
		hi_clock_pause_ns(10000000);
	}
	HI_ASSERT_MSG(false, "the server has not ended");
	return -1;
}
