/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Budget of watchpoints]
 *
 * A hit takes a trap of some microseconds in the target, so that a loop over a watched
 * word runs a hundred times slower. An account has the time that hits may take: it gains
 * PERCENT of the time that passes, at most ACCOUNT_NS, and pays for each hit that is
 * seen. When it is empty, what was hit most is ended; as long as it is empty no
 * watchpoint is set. So a loop is slowed for some LOOK_NS, and then not before that time
 * was gained again.
 */
#include "session/live/watch_evidence.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "attach/child.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "session/live/keeper_messages.h"

enum { PERCENT = 2, LOOK_NS = 5000000, ACCOUNT_NS = 5000000, LOOK_SHARE = 50 };
enum { HELD_FDS = HI_STOP_HOOK_FDS / 2 }; /* that the hook takes at most */

struct slot {
	bool is_set;
	bool stood;	 /* at the last stop it was set */
	uint64_t seen;	 /* hits that are paid */
	uint64_t before; /* of them, until the last look before the stop */
	uint64_t base;	 /* hits until the last stop */
	uint64_t ended;	 /* hits before it that are to be taken */
};

/* Written by the hook. */
struct stop_counts {
	atomic_bool has_stopped, is_complete;
	bool is_known[HI_WATCHPOINTS_MAX];
	uint64_t hits[HI_WATCHPOINTS_MAX];
};

struct hi_watch_evidence {
	struct hi_watchpoints *watchpoints;
	unsigned n;
	pthread_t thread;
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	bool has_thread, over;
	struct stop_counts *at_stop; /* shared with the tracer process */
	struct hi_stop_hook hook;
	struct slot slots[HI_WATCHPOINTS_MAX];
	uint64_t waiting[HI_WATCHPOINTS_MAX]; /* addresses that will be set */
	bool waits;
	int64_t account_ns;
	uint64_t looked_ns; /* when */
	struct hi_watch_counts counts;
	struct hi_error missing;
	const struct hi_keeper_client *served_by; /* NULL: all is of this process */
	struct received {
		uint64_t hits[HI_WATCHPOINTS_MAX];
		bool stood[HI_WATCHPOINTS_MAX];
	} received;
};

HI_DEFINE_GUARD(struct hi_watch_evidence *, hi_watch_evidence_close)

/* ---- the account; locked ---- */

static void gain_time(struct hi_watch_evidence *e)
{
	uint64_t now = hi_clock_ns();

	e->account_ns += (int64_t)((now - e->looked_ns) / 100 * PERCENT);
	if (e->account_ns > ACCOUNT_NS)
		e->account_ns = ACCOUNT_NS;
	e->looked_ns = now;
}

/* Returns the hits since the last time. */
static uint64_t pay_hits(struct hi_watch_evidence *e, unsigned i)
{
	uint64_t hits = hi_watchpoints_hits(e->watchpoints, i);
	uint64_t more = hits - e->slots[i].seen;

	e->slots[i].seen = hits;
	e->counts.hits += more;
	e->account_ns -= (int64_t)(more * e->counts.hit_ns);
	return more;
}

static void end_hottest(struct hi_watch_evidence *e, const uint64_t *more)
{
	unsigned hottest = 0;

	for (unsigned i = 1; i < e->n; i++)
		if (more[i] > more[hottest])
			hottest = i;
	/* Each of those that were hit about as often would be next. */
	for (unsigned i = 0; i < e->n; i++)
		if (more[i] && more[i] >= more[hottest] / 2) {
			hi_watchpoints_end(e->watchpoints, i);
			e->slots[i].is_set = false;
			e->counts.moved_on++;
		}
}

static void set_waiting(struct hi_watch_evidence *e)
{
	e->waits = false;
	if (hi_watchpoints_set(e->watchpoints, e->waiting, &e->missing) != HI_OK)
		return;
	e->missing = (struct hi_error){};
	for (unsigned i = 0; i < e->n; i++)
		e->slots[i].is_set = e->waiting[i] != 0;
}

static void look_at_hits(struct hi_watch_evidence *e)
{
	uint64_t more[HI_WATCHPOINTS_MAX] = {};

	gain_time(e);
	for (unsigned i = 0; i < e->n; i++)
		if (e->slots[i].is_set)
			more[i] = pay_hits(e, i);
	if (!atomic_load(&e->at_stop->has_stopped))
		for (unsigned i = 0; i < e->n; i++)
			e->slots[i].before = e->slots[i].seen;
	if (e->account_ns < 0)
		end_hottest(e, more);
	else if (e->waits)
		set_waiting(e);
}

static void wait_to_look(struct hi_watch_evidence *e, uint64_t ns)
{
	struct timespec until = hi_timespec(hi_clock_ns() + ns);

	pthread_cond_clockwait(&e->changed, &e->lock, CLOCK_MONOTONIC, &until);
}

static void *look_at_times(void *arg)
{
	struct hi_watch_evidence *e = arg;
	uint64_t start, took_ns = 0;

	/* Where it looks late, a loop is slowed for longer. */
	hi_child_set_priority(1);
	pthread_mutex_lock(&e->lock);
	while (!e->over) {
		/* Of many threads the counts take long to read. */
		wait_to_look(e, LOOK_NS + took_ns * LOOK_SHARE);
		start = hi_clock_ns();
		if (!e->over)
			look_at_hits(e);
		took_ns = hi_clock_ns() - start;
	}
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

/* ---- stops ---- */

/* In the tracer process: a fork, in which no other thread runs, and any may have the
 * lock. */
static void count_at_stop(void *arg, const struct hi_stop_moment *moment)
{
	struct hi_watch_evidence *e = arg;
	struct stop_counts *at_stop = e->at_stop;

	(void)moment;
	atomic_store(&at_stop->has_stopped, true);
	for (unsigned i = 0; i < e->n; i++)
		at_stop->is_known[i] =
			hi_watchpoints_take_held(e->watchpoints, i, &at_stop->hits[i]);
	atomic_store(&at_stop->is_complete, true);
}

/* In the inspector; the target stands at its end. */
static void count_at_exit(void *arg)
{
	struct hi_watch_evidence *e = arg;

	pthread_mutex_lock(&e->lock);
	for (unsigned i = 0; i < e->n; i++) {
		e->at_stop->is_known[i] = e->slots[i].is_set;
		e->at_stop->hits[i] = hi_watchpoints_hits(e->watchpoints, i);
	}
	atomic_store(&e->at_stop->has_stopped, true);
	atomic_store(&e->at_stop->is_complete, true);
	pthread_mutex_unlock(&e->lock);
}

static void prepare_hook(struct hi_watch_evidence *e, struct hi_stop_options *stop)
{
	const int *fds = NULL;
	size_t n = 0;

	if (hi_watchpoints_hold(e->watchpoints, &fds, &n, NULL) == HI_OK &&
	    n > HELD_FDS) {
		hi_watchpoints_release(e->watchpoints);
		fds = NULL;
		n = 0;
	}
	e->hook = (struct hi_stop_hook){.run = count_at_stop,
					.at_exit = count_at_exit,
					.arg = e,
					.fds = fds,
					.n_fds = n,
					.next = e->hook.next};
	hi_stop_hook_add(&stop->hook, &e->hook);
}

void hi_watch_evidence_before_stop(struct hi_watch_evidence *e,
				   struct hi_stop_options *stop)
{
	if (!e)
		return;
	pthread_mutex_lock(&e->lock);
	atomic_store(&e->at_stop->has_stopped, false);
	atomic_store(&e->at_stop->is_complete, false);
	prepare_hook(e, stop);
	look_at_hits(e);
	pthread_mutex_unlock(&e->lock);
}

/* Hits until the stop are taken; the next period has those after it. */
static void end_slot_period(struct hi_watch_evidence *e, unsigned i)
{
	struct slot *slot = &e->slots[i];
	const bool is_known =
		atomic_load(&e->at_stop->is_complete) && e->at_stop->is_known[i];
	const uint64_t hits = is_known ? e->at_stop->hits[i] : slot->before;

	if (hits > slot->base)
		slot->ended += hits - slot->base;
	if (hits > slot->seen)
		slot->seen = hits; /* it was ended meanwhile */
	slot->base = is_known ? hits : slot->seen;
	slot->stood = slot->is_set;
}

void hi_watch_evidence_after_stop(struct hi_watch_evidence *e)
{
	if (!e)
		return;
	pthread_mutex_lock(&e->lock);
	look_at_hits(e);
	for (unsigned i = 0; atomic_load(&e->at_stop->has_stopped) && i < e->n; i++)
		end_slot_period(e, i);
	hi_watchpoints_release(e->watchpoints);
	pthread_mutex_unlock(&e->lock);
}

uint64_t hi_watch_evidence_take(struct hi_watch_evidence *e, unsigned i)
{
	uint64_t hits;

	if (!e)
		return 0;
	if (e->served_by) {
		hits = e->received.hits[i];
		e->received.hits[i] = 0;
		return hits;
	}
	pthread_mutex_lock(&e->lock);
	hits = e->slots[i].ended;
	e->slots[i].ended = 0;
	pthread_mutex_unlock(&e->lock);
	return hits;
}

bool hi_watch_evidence_stood(struct hi_watch_evidence *e, unsigned i)
{
	bool stood;

	if (!e)
		return false;
	if (e->served_by)
		return e->received.stood[i];
	pthread_mutex_lock(&e->lock);
	stood = e->slots[i].stood;
	pthread_mutex_unlock(&e->lock);
	return stood;
}

static bool ask_to_set(const struct hi_watch_evidence *e,
		       const struct hi_watch_place *places)
{
	const struct hi_keeper_request request = {.operation = HI_KEEPER_WATCH_SET};
	struct hi_keeper_answer answer;

	return hi_keeper_ask(e->served_by, &request, places, e->n * sizeof(*places),
			     &answer) &&
	       answer.is_done;
}

bool hi_watch_evidence_set(struct hi_watch_evidence *e,
			   const struct hi_watch_place *places)
{
	bool is_set;

	if (!e)
		return true;
	if (e->served_by)
		return ask_to_set(e, places);
	pthread_mutex_lock(&e->lock);
	look_at_hits(e);
	for (unsigned i = 0; i < e->n; i++) {
		struct slot *slot = &e->slots[i];

		slot->ended = places[i].goes_on ? slot->seen - slot->base : 0;
		slot->seen = slot->before = slot->base = 0;
		slot->is_set = slot->stood = false;
		hi_watchpoints_end(e->watchpoints, i);
		e->waiting[i] = places[i].address;
	}
	e->waits = true;
	if (e->account_ns < 0)
		e->counts.waited++;
	else
		set_waiting(e);
	is_set = e->missing.status == HI_OK;
	pthread_mutex_unlock(&e->lock);
	return is_set;
}

/* ---- what there is to tell ---- */

unsigned hi_watch_evidence_slots(const struct hi_watch_evidence *e)
{
	return e->n;
}

/* Both in one. */
static void ask_for_counts(struct hi_watch_evidence *e)
{
	const struct hi_keeper_request request = {.operation = HI_KEEPER_WATCH_COUNTS};
	struct hi_keeper_answer answer;

	if (!hi_keeper_ask(e->served_by, &request, NULL, 0, &answer))
		return;
	memcpy(&e->counts, answer.counts, sizeof(e->counts));
	e->missing = answer.error;
}

struct hi_watch_counts hi_watch_evidence_counts(struct hi_watch_evidence *e)
{
	struct hi_watch_counts counts;

	if (e->served_by)
		ask_for_counts(e);
	if (e->served_by)
		return e->counts;
	pthread_mutex_lock(&e->lock);
	counts = e->counts;
	pthread_mutex_unlock(&e->lock);
	return counts;
}

void hi_watch_evidence_missing(struct hi_watch_evidence *e, char out[240])
{
	if (e->served_by) {
		ask_for_counts(e);
		memcpy(out, e->missing.text, sizeof(e->missing.text));
		return;
	}
	pthread_mutex_lock(&e->lock);
	memcpy(out, e->missing.text, sizeof(e->missing.text));
	pthread_mutex_unlock(&e->lock);
}

/* ---- of another process ---- */

void hi_watch_evidence_be_served(struct hi_watch_evidence *e,
				 const struct hi_keeper_client *client)
{
	if (e)
		e->served_by = client;
}

bool hi_watch_evidence_send(struct hi_watch_evidence *e, int socket)
{
	struct received sent = {};

	for (unsigned i = 0; e && i < e->n; i++) {
		sent.hits[i] = hi_watch_evidence_take(e, i);
		sent.stood[i] = hi_watch_evidence_stood(e, i);
	}
	return !e || hi_packet_send(socket, &sent, sizeof(sent), -1);
}

enum hi_status hi_watch_evidence_receive(struct hi_watch_evidence *e, int socket,
					 struct hi_error *err)
{
	int fd = -1;
	bool is_there = !e || hi_packet_receive(socket, &e->received, sizeof(e->received),
						0, &fd);

	hi_close_fd(fd);
	return is_there ? HI_OK
			: hi_fail(err, HI_GONE, 0, "watchpoints: there is no answer");
}

/* ---- open and close ---- */

static enum hi_status start_looking(struct hi_watch_evidence *e, struct hi_error *err)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	/* Signals are for the first thread. */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&e->thread, NULL, look_at_times, e);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return hi_fail(err, HI_OS, 0, "a thread for watchpoints: %s",
			       strerror(error));
	e->has_thread = true;
	return HI_OK;
}

static struct stop_counts *map_stop_counts(void)
{
	void *memory = mmap(NULL, sizeof(struct stop_counts), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

enum hi_status hi_watch_evidence_open(pid_t pid, unsigned n,
				      struct hi_watch_evidence **ret,
				      struct hi_error *err)
{
	HI_GUARD(hi_watch_evidence_close)
	struct hi_watch_evidence *e = hi_calloc(1, sizeof(*e));
	enum hi_status status;

	if (!e)
		return hi_fail_memory(err, "watchpoints");
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->changed, NULL);
	e->at_stop = map_stop_counts();
	if (!e->at_stop)
		return hi_fail_memory(err, "watchpoints");
	e->n = n;
	e->looked_ns = hi_clock_ns();
	e->account_ns = ACCOUNT_NS;
	status = hi_watchpoints_open(pid, n, &e->watchpoints, err);
	if (status == HI_OK)
		e->counts.hit_ns = hi_watchpoints_hit_ns(e->watchpoints);
	if (status == HI_OK)
		status = start_looking(e, err);
	if (status == HI_OK)
		*ret = hi_take(e);
	return status;
}

void hi_watch_evidence_close(struct hi_watch_evidence *e)
{
	/* Else all is the other process's. */
	if (!e || e->served_by)
		return;
	if (e->has_thread) {
		pthread_mutex_lock(&e->lock);
		e->over = true;
		pthread_cond_signal(&e->changed);
		pthread_mutex_unlock(&e->lock);
		pthread_join(e->thread, NULL);
	}
	hi_watchpoints_close(e->watchpoints);
	if (e->at_stop)
		munmap(e->at_stop, sizeof(*e->at_stop));
	pthread_mutex_destroy(&e->lock);
	pthread_cond_destroy(&e->changed);
	free(e);
}
