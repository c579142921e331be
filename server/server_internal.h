/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HI_SERVER_SERVER_INTERNAL_H
#define HI_SERVER_SERVER_INTERNAL_H

#include <microhttpd.h>
#include <signal.h>

#include "server/cache.h"
#include "server/server.h"
#include "server/token.h"
#include "server/workers.h"

enum {
	HI_SERVER_TARGET = 32000,    /* bytes of what a request asks for */
	HI_SERVER_MEMORY = 64 << 10, /* of a connection: its headers */
	HI_SERVER_BODY = 64 << 10,   /* of a request; it is not looked at */
	HI_SERVER_CONNECTIONS = 256,
	HI_SERVER_CROWD = 192,	 /* from there on those without the token have to go */
	HI_SERVER_IDLE_S = 30,	 /* of a connection on which nothing happens */
	HI_SERVER_WAITING = 200, /* pages that are waited for */
};

/* A client that is connected. */
struct hi_client {
	struct hi_client *next, *previous;
	int fd;
	bool has_token; /* one of its requests had it */
	bool was_ended;
	uint64_t since_ns; /* the end of its last request */
};

/* A request and its answer. */
struct hi_exchange {
	struct hi_server *server;
	struct hi_exchange *next, *previous; /* of those that wait for a page */
	struct MHD_Connection *connection;
	const char *method;
	char *target;	     /* what the first line asks for, of at most
			      * HI_SERVER_TARGET + 1 bytes */
	const char *address; /* in target; NULL: not known yet */
	size_t body;	     /* bytes */
	bool has_begun, waits, ends_server;
	struct hi_answer *answer; /* NULL: not known yet */
};

struct hi_server {
	struct hi_server_options options;
	unsigned port;
	char token[HI_TOKEN_TEXT], base[HI_TOKEN_TEXT + 2], url[HI_SERVER_URL];
	int signals; /* signalfd */
	sigset_t signals_before;
	bool has_signals;
	struct MHD_Daemon *daemon;
	int epoll; /* the daemon's */
	struct hi_workers *workers;
	struct hi_cache cache;
	struct hi_client *clients;
	size_t n_clients;
	struct hi_exchange *waiting;
	size_t n_exchanges; /* that have begun */
	uint64_t last_ns;   /* end of the last request with the token */
	/* A connection was resumed, or has ended, so that another one can be accepted:
	 * not every version of libmicrohttpd makes its epoll descriptor readable then. */
	bool has_work;
	bool ends;
};

/* ---- exchange.c: libmicrohttpd's callbacks, and what a request gets ---- */

void hi_client_notify(void *server, struct MHD_Connection *connection, void **context,
		      enum MHD_ConnectionNotificationCode code);
void *hi_exchange_begin(void *server, const char *target,
			struct MHD_Connection *connection);
enum MHD_Result hi_exchange_handle(void *server, struct MHD_Connection *connection,
				   const char *url, const char *method,
				   const char *version, const char *data,
				   size_t *data_size, void **exchange);
void hi_exchange_end(void *server, struct MHD_Connection *connection, void **exchange,
		     enum MHD_RequestTerminationCode code);
/* The page of an address is there: for all that wait for it. NULL: out of memory. */
void hi_exchange_page_done(void *server, const char *address, struct hi_answer *answer);
/* All that wait get this answer. */
void hi_exchange_answer_all(struct hi_server *s, struct hi_answer *answer);

/* ---- control.c: quit, restart, timeout/N, touch ---- */

/* False: the address is none of them. *ret: NULL: out of memory. */
bool hi_control_answer(struct hi_exchange *x, struct hi_answer **ret);
bool hi_control_is_one(const char *address);
/* Reads what is shown again. */
void hi_control_restart(struct hi_server *s);

/* ---- respond.c ---- */

/* Sends an answer with all headers. */
enum MHD_Result hi_respond(struct hi_exchange *x, struct hi_answer *answer);

#endif
