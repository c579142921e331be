/* SPDX-License-Identifier: BSD-2-Clause */
/* One process that makes pages: the server's end of its socket. */
#ifndef HI_SERVER_WORKER_H
#define HI_SERVER_WORKER_H

#include <sys/types.h>

#include "base/error.h"
#include "server/answer.h"
#include "server/channel.h"

struct hi_worker {
	pid_t pid;	    /* 0: there is no such process */
	int pidfd, socket;  /* socket -1: it is about to end */
	bool is_last;	    /* it ends after this answer */
	bool is_late;	    /* it was ended, as it took too long */
	bool is_bad;	    /* it was ended, as it has sent what is no answer */
	uint64_t since_ns;  /* begin of the request, or of having none */
	uint64_t end_by_ns; /* when it is killed; UINT64_MAX: never */
	char *address;	    /* that it makes the page of; NULL: idle */
	bool is_again;	    /* the request was another process's, which was killed */
	char *out;	    /* what is to be sent */
	size_t out_size, sent;
	struct hi_channel_answer head;
	size_t head_size, type_size, body_size; /* received */
	struct hi_answer *answer;
};

/* Forks; run() is as in struct hi_workers_options. HI_OS. */
enum hi_status hi_worker_start(struct hi_worker *w,
			       int (*run)(void *arg, int socket, const char *base),
			       void *arg, const char *base, struct hi_error *err);
/* Begins a request; takes address. HI_NO_MEMORY: address is the caller's still. */
enum hi_status hi_worker_ask(struct hi_worker *w, char *address, uint64_t limit_ns,
			     struct hi_error *err);

enum hi_worker_event {
	HI_WORKER_WAITS,
	HI_WORKER_ANSWERED, /* take w->answer and w->address */
	HI_WORKER_CLOSED    /* its end of the socket is closed, or it sends nonsense */
};
/* Sends and receives what is possible now. */
enum hi_worker_event hi_worker_exchange(struct hi_worker *w, size_t most_bytes);
/* Has it ended? Then *wait_status_ret is that of waitpid(2), and it has no pid. */
bool hi_worker_has_ended(struct hi_worker *w, int *wait_status_ret);
/* Kills it, waits for it and forgets all. */
void hi_worker_end(struct hi_worker *w);
/* Forgets the request. */
void hi_worker_forget(struct hi_worker *w);

#endif
