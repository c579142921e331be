/* SPDX-License-Identifier: BSD-2-Clause */
/* A client of HTTP that sends what a test gives it, byte by byte. All of it ends with the
 * test. */
#ifndef HI_TESTS_SUPPORT_HTTP_H
#define HI_TESTS_SUPPORT_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct http_answer {
	int code;	   /* 0: the connection was closed without an answer */
	char *head, *body; /* terminated */
	size_t size;	   /* of the body */
};

/* "http://127.0.0.1:PORT/TOKEN/" */
struct http_url {
	unsigned port;
	char base[64]; /* "/TOKEN/" */
};
struct http_url http_url_parse(const char *url);

/* A connection; fails the test if there is none. */
int http_connect(unsigned port);
/* -1: there is none. */
int http_try_connect(unsigned port);
/* False: the other end has closed the connection. */
bool http_send(int fd, const void *bytes, size_t size);
bool http_sendf(int fd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* One answer, with its body unless it is one to HEAD; at most 60 s. */
struct http_answer http_receive(int fd, bool is_head);
/* Sends one request on a new connection and receives its answer. headers: lines with
 * "\r\n", beside Host; may be "". */
struct http_answer http_ask(struct http_url url, const char *method, const char *address,
			    const char *headers);
struct http_answer http_get(struct http_url url, const char *address);
/* The value of a header, until the test ends; NULL: it is not there. */
const char *http_header(const struct http_answer *answer, const char *name);

#endif
