/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/probe_account.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach/child.h"
#include "base/clock.h"
#include "session/live/keeper_messages.h"

enum { LOOK_NS = 5000000 };

/* ---- the thread ---- */

static void *look_at_times(void *arg)
{
	struct hi_probe_account *a = arg;
	uint64_t took_ns = 0;

	/* When it looks late, a loop is slowed for longer. */
	hi_child_set_priority(1);
	pthread_mutex_lock(&a->lock);
	while (!a->over) {
		uint64_t wait_ns = LOOK_NS + took_ns * a->request->look_share, start_ns;
		struct timespec until = hi_timespec(hi_clock_ns() + wait_ns);

		pthread_cond_clockwait(&a->changed, &a->lock, CLOCK_MONOTONIC, &until);
		start_ns = hi_clock_ns();
		if (!a->over)
			a->request->look(a);
		took_ns = hi_clock_ns() - start_ns;
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

void hi_probe_account_open(struct hi_probe_account *a,
			   const struct hi_probe_account_request *request)
{
	a->request = request;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	a->has_lock = true;
	a->left_ns = request->most_ns;
	a->looked_ns = hi_clock_ns();
}

enum hi_status hi_probe_account_start(struct hi_probe_account *a, struct hi_error *err)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	/* Signals are for the first thread. */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&a->thread, NULL, look_at_times, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return hi_fail(err, HI_OS, 0, "a thread for %s: %s", a->request->name,
			       strerror(error));
	a->has_thread = true;
	return HI_OK;
}

void hi_probe_account_close(struct hi_probe_account *a)
{
	if (a->has_thread) {
		pthread_mutex_lock(&a->lock);
		a->over = true;
		pthread_cond_signal(&a->changed);
		pthread_mutex_unlock(&a->lock);
		pthread_join(a->thread, NULL);
	}
	if (a->has_lock) {
		pthread_mutex_destroy(&a->lock);
		pthread_cond_destroy(&a->changed);
	}
}

/* ---- the account ---- */

void hi_probe_account_gain(struct hi_probe_account *a)
{
	uint64_t now = hi_clock_ns();

	a->left_ns += (int64_t)((now - a->looked_ns) / 100 * HI_PROBE_PERCENT);
	if (a->left_ns > a->request->most_ns)
		a->left_ns = a->request->most_ns;
	a->looked_ns = now;
}

/* ---- of another process ---- */

static bool ask_twin(const struct hi_probe_account *a, uint32_t detail, const void *bytes,
		     size_t n, struct hi_keeper_answer *answer)
{
	const struct hi_keeper_request request = {.operation = HI_KEEPER_OBSERVER,
						  .observer = a->observer.number,
						  .detail = detail};

	return hi_keeper_ask(a->served_by, &request, bytes, n, answer);
}

bool hi_probe_account_ask(const struct hi_probe_account *a, uint32_t detail,
			  const void *bytes, size_t n)
{
	struct hi_keeper_answer answer;

	return ask_twin(a, detail, bytes, n, &answer) && answer.is_done;
}

void hi_probe_account_ask_counts(struct hi_probe_account *a, uint32_t detail,
				 void *counts, size_t size)
{
	struct hi_keeper_answer answer;

	if (!ask_twin(a, detail, NULL, 0, &answer))
		return;
	memcpy(counts, answer.counts, size);
	a->missing = answer.error;
}

void hi_probe_account_answer(struct hi_probe_account *a, const void *counts, size_t size,
			     struct hi_keeper_answer *answer)
{
	memcpy(answer->counts, counts, size);
	hi_probe_account_missing(a, answer->error.text);
}

bool hi_probe_account_receive(int socket, size_t n, void **ret)
{
	size_t n_received;

	if (!hi_packet_receive_bytes(socket, n, ret, &n_received))
		return false;
	if (n_received == n)
		return true;
	free(*ret);
	*ret = NULL;
	return false;
}

void hi_probe_account_missing(struct hi_probe_account *a, char out[240])
{
	/* A fork has no such thread, but may have a copy of the lock that was taken. */
	if (!a->served_by)
		pthread_mutex_lock(&a->lock);
	memcpy(out, a->missing.text, sizeof(a->missing.text));
	if (!a->served_by)
		pthread_mutex_unlock(&a->lock);
}
