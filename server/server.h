/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server of pages on 127.0.0.1, by libmicrohttpd.
 *
 * Note [The server]
 *
 * The server is the process with the rights of the user. It reads requests, keeps answers
 * and is independent of heaps. Pages are made by processes without rights (workers.h),
 * which it forks; they are of no use to an attacker who takes them over, and when one
 * crashes or hangs, the server answers with a page about it.
 *
 * It answers requests that have the token in their URL and a name of this machine as
 * Host (request.h). All other requests get an answer without any data.
 *
 * It has one thread. A request whose page is not in the cache is suspended until the page
 * is made; the others go on. The costs of a client are limited: bytes of a request,
 * connections, time of a connection, pages that are waited for.
 */
#ifndef HI_SERVER_SERVER_H
#define HI_SERVER_SERVER_H

#include "base/error.h"

enum { HI_SERVER_URL = 128 };

struct hi_server_options {
	unsigned port;		  /* 0: any that is free */
	uint64_t timeout_ns;	  /* it ends after that time without requests */
	uint64_t page_limit_ns;	  /* for a page; 0: 30 s */
	uint64_t client_limit_ns; /* for a request and its answer; 0: 2 min */
	const char *policy;	  /* Content-Security-Policy */
	/* In a fork: makes pages (page_loop.h), returns the exit status. */
	int (*run_pages)(void *arg, int socket, const char *base);
	/* Before a request is answered: has what is shown changed since? Then it is read
	 * again. NULL: it does not change. */
	bool (*has_changed)(void *arg);
	/* May the server end, as nothing was asked for for so long? NULL: yes. */
	bool (*may_end)(void *arg);
	void *arg;
};

struct hi_server;

/* A time-out as text: "30 min", "1.50 s". Returns out. */
char *hi_server_timeout_text(char out[24], uint64_t ns);

/* Listens. *ret: hi_server_close(). HI_OS, also where the port is in use. */
enum hi_status hi_server_open(const struct hi_server_options *options,
			      struct hi_server **ret, struct hi_error *err);
/* "http://127.0.0.1:PORT/TOKEN/"; the server's. */
const char *hi_server_url(const struct hi_server *server);
/* Answers requests until one is "quit", nothing was asked for for the time-out, or a
 * signal (SIGHUP, SIGINT, SIGTERM) ends it. HI_OS: it cannot go on. */
enum hi_status hi_server_run(struct hi_server *server, struct hi_error *err);
/* NULL is fine. */
void hi_server_close(struct hi_server *server);

#endif
