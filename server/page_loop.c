/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/page_loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "server/channel.h"
#include "server/error_page.h"

struct page_loop {
	int socket;
	const char *base;
	uint64_t growth;
	const struct hi_page_ops *ops;
	void *pages; /* NULL: they could not be opened */
	struct hi_error open_error;
	bool is_warm;
	uint64_t warm_size; /* bytes, when it had become warm */
};

static bool receive_all(int socket, void *bytes, size_t size)
{
	char *at = bytes;

	while (size) {
		ssize_t n = recv(socket, at, size, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

static bool send_all(int socket, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t n = send(socket, at, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

/* Bytes of memory that is this process's own, without files; 0: unknown. */
static uint64_t measure_own_memory(void)
{
	HI_GUARD(close) int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	unsigned long long resident, shared;
	char text[128] = "";

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 ||
	    sscanf(text, "%*u %llu %llu", &resident, &shared) != 2 || shared > resident)
		return 0;
	return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool has_grown_too_much(const struct page_loop *l)
{
	return l->is_warm && measure_own_memory() > l->warm_size + l->growth;
}

static bool request_waits(const struct page_loop *l)
{
	struct pollfd at = {.fd = l->socket, .events = POLLIN};

	return poll(&at, 1, 0) == 1;
}

static void warm_up_pages(struct page_loop *l)
{
	while (!l->is_warm && !request_waits(l)) {
		if (l->pages && l->ops->warm_up(l->pages))
			continue;
		l->is_warm = true;
		l->warm_size = measure_own_memory();
	}
}

/* *ret: free() it. */
static bool receive_address(struct page_loop *l, char **ret)
{
	struct hi_channel_request request;
	char *address;

	if (!receive_all(l->socket, &request, sizeof(request)) ||
	    request.magic != HI_CHANNEL_MAGIC || request.size > HI_CHANNEL_ADDRESS)
		return false;
	address = hi_calloc(1, request.size + 1);
	if (!address || !receive_all(l->socket, address, request.size)) {
		free(address);
		return false;
	}
	*ret = address;
	return true;
}

static bool send_page(struct page_loop *l, const struct hi_page_answer *a,
		      const char *body, size_t size, bool is_last)
{
	struct hi_channel_answer answer = {.magic = HI_CHANNEL_MAGIC,
					   .code = a->code,
					   .type_size = (uint32_t)strlen(a->type),
					   .is_last = is_last,
					   .size = size};

	return send_all(l->socket, &answer, sizeof(answer)) &&
	       send_all(l->socket, a->type, answer.type_size) &&
	       send_all(l->socket, body, size);
}

/* The last answer: memory is free again in another process. */
static void send_page_error(struct page_loop *l, const struct hi_error *err)
{
	struct hi_answer *page =
		hi_error_page(500, l->base, "The page was not made: %s.", err->text);
	struct hi_page_answer answer = {.code = 500};

	if (!page)
		return;
	answer.type = page->type;
	(void)send_page(l, &answer, page->body, page->size, true);
	hi_answer_release(page);
}

/* False: the process should end. */
static bool answer_page_request(struct page_loop *l, const char *address)
{
	HI_GUARD(free) char *body = NULL;
	size_t size = 0;
	struct hi_page_answer answer = {.code = 500, .type = "text/plain"};
	struct hi_error err = l->open_error;
	FILE *out = l->pages ? open_memstream(&body, &size) : NULL;
	enum hi_status status;
	bool failed, is_last;

	if (!l->pages || !out) {
		if (l->pages)
			(void)hi_fail_memory(&err, "page");
		send_page_error(l, &err);
		return false;
	}
	status = l->ops->write(l->pages, address, l->base, out, &answer, &err);
	failed = ferror(out);
	failed |= fclose(out) != 0;
	if (status == HI_OK && failed)
		status = hi_fail_memory(&err, "page");
	if (status != HI_OK) {
		send_page_error(l, &err);
		return false;
	}
	is_last = has_grown_too_much(l);
	return send_page(l, &answer, body, size, is_last) && !is_last;
}

void hi_page_loop(int socket, const char *base, uint64_t growth,
		  const struct hi_page_ops *ops, void *arg)
{
	struct page_loop l = {
		.socket = socket, .base = base, .growth = growth, .ops = ops};
	bool goes_on = true;

	if (ops->open(arg, &l.pages, &l.open_error) != HI_OK)
		l.pages = NULL;
	while (goes_on) {
		HI_GUARD(free) char *address = NULL;

		warm_up_pages(&l);
		goes_on =
			receive_address(&l, &address) && answer_page_request(&l, address);
	}
	if (l.pages)
		ops->close(l.pages);
}
