/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The account of probes that take time of the target, and the thread that looks at what
 * they have taken: the common part of watch_evidence.h and use_evidence.h, whose structs
 * begin with one.
 *
 * Note [Budget of probes]
 *
 * An account has the time that hits of probes may take. It gains HI_PROBE_PERCENT of the
 * time that passes, at most `most_ns`, and pays for each hit that is seen. Its thread
 * looks at the hits every 5 ms; the owner takes probes away when the account is empty,
 * and sets none until what it owes was gained again. So a loop that hits a probe is
 * slowed for some milliseconds, and then not before that time has passed.
 */
#ifndef HI_SESSION_LIVE_PROBE_ACCOUNT_H
#define HI_SESSION_LIVE_PROBE_ACCOUNT_H

#include <pthread.h>

#include "session/stop_observer.h"

enum { HI_PROBE_PERCENT = 2 }; /* of a processor */

struct hi_probe_account;
struct hi_probe_account_request {
	const char *name; /* "watchpoints", for errors */
	int64_t most_ns;
	/* The thread waits for so many times as long as its last look took, and 5 ms. */
	unsigned look_share;
	/* Locked: looks at the hits, and pays for them. */
	void (*look)(struct hi_probe_account *account);
};

struct hi_probe_account {
	struct hi_stop_observer observer;
	const struct hi_probe_account_request *request;
	pthread_mutex_t lock; /* of what follows, and of what the owner adds */
	pthread_cond_t changed;
	pthread_t thread;
	bool has_lock, has_thread, over;
	int64_t left_ns;	 /* the owner takes away what hits have cost */
	uint64_t looked_ns;	 /* when it gained last (CLOCK_MONOTONIC) */
	struct hi_error missing; /* why there are no probes; HI_OK: there are */
	const struct hi_keeper_client *served_by; /* NULL: all is of this process */
};

/* Fills the account, of which all but ops is zero, and starts no thread yet. The request
 * is borrowed until the close. */
void hi_probe_account_open(struct hi_probe_account *account,
			   const struct hi_probe_account_request *request);
/* Starts the thread, which calls look from now on. HI_OS. */
enum hi_status hi_probe_account_start(struct hi_probe_account *account,
				      struct hi_error *err);
/* Ends the thread. Fine where the account was not opened. */
void hi_probe_account_close(struct hi_probe_account *account);

/* Locked: adds what was gained since the last time. */
void hi_probe_account_gain(struct hi_probe_account *account);

/* Served: asks the keeper for something, with bytes if there are some (n of them), and
 * gives its answer to the observer there (hi_stop_observer_ops.serve). True: it was done.
 */
bool hi_probe_account_ask(const struct hi_probe_account *account, uint32_t detail,
			  const void *bytes, size_t n);
/* Served: asks it for its counts (size bytes) and for what is missing, which are kept
 * where there is no answer. */
void hi_probe_account_ask_counts(struct hi_probe_account *account, uint32_t detail,
				 void *counts, size_t size);
/* In the keeper: the answer to that. */
void hi_probe_account_answer(struct hi_probe_account *account, const void *counts,
			     size_t size, struct hi_keeper_answer *answer);
/* In the keeper: receives exactly n bytes that a request comes with; free *ret. */
bool hi_probe_account_receive(int socket, size_t n, void **ret);
/* Copies why there are no probes; "": there are. */
void hi_probe_account_missing(struct hi_probe_account *account, char out[240]);

#endif
