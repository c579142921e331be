/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/touch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/cleanup.h"

enum { MOST_TOKEN = 64 };

static int connect_to_loopback(unsigned port)
{
	static const struct timeval limit = {.tv_sec = 2};
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	HI_GUARD(close) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) != 0 ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		return -1;
	return hi_take_fd(fd);
}

bool hi_server_touch(const char *url)
{
	static const char wanted[] = "HTTP/1.1 204";
	char token[MOST_TOKEN + 1], request[256], answer[sizeof(wanted)] = "";
	unsigned port;
	HI_GUARD(close) int fd = -1;
	int n;

	if (sscanf(url, "http://127.0.0.1:%5u/%64[0-9a-f]/", &port, token) != 2)
		return false;
	fd = connect_to_loopback(port);
	n = snprintf(request, sizeof(request),
		     "GET /%s/" HI_TOUCH_ADDRESS " HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
		     "Connection: close\r\n\r\n",
		     token, port);
	return fd >= 0 && send(fd, request, (size_t)n, MSG_NOSIGNAL) == n &&
	       recv(fd, answer, sizeof(wanted) - 1, MSG_WAITALL) == sizeof(wanted) - 1 &&
	       strcmp(answer, wanted) == 0;
}
