/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processes that make pages, as the server sees them. Each is a fork that answers one
 * request at a time. One starts at once; another one is started when a request has waited
 * for a while. One that crashes, or takes too long for a page, is ended; its request gets
 * a page about it, and the next request starts a new one.
 */
#ifndef HI_SERVER_WORKERS_H
#define HI_SERVER_WORKERS_H

#include <poll.h>

#include "base/error.h"
#include "server/answer.h"

enum { HI_WORKERS_MOST = 8, HI_WORKERS_DESCRIPTORS = 2 * HI_WORKERS_MOST };

struct hi_workers_options {
	unsigned most;	      /* processes, up to HI_WORKERS_MOST */
	uint64_t limit_ns;    /* for a page */
	uint64_t patience_ns; /* a request waits that long for the process that is busy */
	uint64_t idle_ns;     /* after that only one process is kept */
	size_t most_bytes;    /* of a page */
	size_t most_waiting;  /* requests */
	const char *base;     /* "/TOKEN/" */
	/* In the fork: makes pages. It has no descriptors but 0 to 2 and the socket.
	 * Returns the exit status. */
	int (*run)(void *arg, int socket, const char *base);
	/* A request is answered. answer: keep it; NULL: out of memory. */
	void (*done)(void *arg, const char *address, struct hi_answer *answer);
	void *run_arg, *done_arg;
};

struct hi_workers;

enum hi_status hi_workers_open(const struct hi_workers_options *options,
			       struct hi_workers **ret, struct hi_error *err);
/* Starts a process if there is none. */
void hi_workers_prepare(struct hi_workers *w);
/* Has the page of an address made, unless that is asked for already. HI_LIMIT: too many
 * requests wait. HI_NO_MEMORY. */
enum hi_status hi_workers_ask(struct hi_workers *w, const char *address,
			      struct hi_error *err);
/* Ends all processes; what they were asked is asked again. */
void hi_workers_restart(struct hi_workers *w);
/* Fills in the descriptors to wait for. Returns their number. */
size_t hi_workers_poll(const struct hi_workers *w,
		       struct pollfd fds[HI_WORKERS_DESCRIPTORS]);
/* When to work at the latest, by hi_clock_ns(). */
uint64_t hi_workers_deadline(const struct hi_workers *w);
/* Sends, receives, starts and ends what is due. Never blocks. */
void hi_workers_work(struct hi_workers *w);
/* Ends all processes. Pending requests are dropped without a reply. NULL is fine. */
void hi_workers_close(struct hi_workers *w);

#endif
