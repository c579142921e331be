/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/harness.h"

enum { MOST_HEAD = 64 << 10 };

static void close_connection(void *fd)
{
	close((int)(intptr_t)fd);
}

struct http_url http_url_parse(const char *url)
{
	struct http_url ret = {};

	HI_ASSERT_MSG(sscanf(url, "http://127.0.0.1:%u%60s", &ret.port, ret.base) == 2,
		      "no URL: %s", url);
	HI_ASSERT_EQ(34, strlen(ret.base));
	return ret;
}

int http_try_connect(unsigned port)
{
	static const struct timeval limit = {.tv_sec = 60};
	static const int yes = 1;
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	HI_ASSERT(fd >= 0);
	hi_test_defer(close_connection, (void *)(intptr_t)fd);
	HI_ASSERT(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0);
	HI_ASSERT(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0);
	HI_ASSERT(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)) == 0);
	return connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ? fd : -1;
}

int http_connect(unsigned port)
{
	int fd = http_try_connect(port);

	HI_ASSERT_MSG(fd >= 0, "nobody listens on port %u", port);
	return fd;
}

bool http_send(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t n = send(fd, at, size, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

bool http_sendf(int fd, const char *fmt, ...)
{
	char text[4096];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	HI_ASSERT(n >= 0 && (size_t)n < sizeof(text));
	return http_send(fd, text, (size_t)n);
}

const char *http_header(const struct http_answer *answer, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = answer->head; (line = strstr(line, "\r\n"));) {
		line += 2;
		if (strncasecmp(line, name, n) == 0 && line[n] == ':') {
			char *value = strndup(line + n + 2, strcspn(line + n + 2, "\r"));

			HI_ASSERT(value);
			hi_test_defer(free, value);
			return value;
		}
	}
	return NULL;
}

/* Byte by byte, so that a second answer on the connection stays there. */
static bool receive_head(int fd, char *head)
{
	for (size_t n = 0; n < MOST_HEAD; n++) {
		if (recv(fd, head + n, 1, 0) != 1)
			return false;
		head[n + 1] = 0;
		if (n >= 3 && strcmp(head + n - 3, "\r\n\r\n") == 0)
			return true;
	}
	return false;
}

struct http_answer http_receive(int fd, bool is_head)
{
	struct http_answer answer = {};
	const char *length;

	answer.head = calloc(1, MOST_HEAD + 1);
	HI_ASSERT(answer.head);
	hi_test_defer(free, answer.head);
	if (!receive_head(fd, answer.head))
		return answer;
	HI_ASSERT_EQ(1, sscanf(answer.head, "HTTP/1.1 %d", &answer.code));
	length = http_header(&answer, "Content-Length");
	answer.size = length && !is_head ? strtoul(length, NULL, 10) : 0;
	answer.body = calloc(1, answer.size + 1);
	HI_ASSERT(answer.body);
	hi_test_defer(free, answer.body);
	if (answer.code == 304)
		answer.size = 0;
	if (answer.size &&
	    recv(fd, answer.body, answer.size, MSG_WAITALL) != (ssize_t)answer.size)
		answer.code = 0;
	return answer;
}

struct http_answer http_ask(struct http_url url, const char *method, const char *address,
			    const char *headers)
{
	int fd = http_connect(url.port);

	HI_ASSERT(http_sendf(fd, "%s %s%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%s\r\n",
			     method, url.base, address, url.port, headers));
	return http_receive(fd, strcmp(method, "HEAD") == 0);
}

struct http_answer http_get(struct http_url url, const char *address)
{
	return http_ask(url, "GET", address, "");
}
