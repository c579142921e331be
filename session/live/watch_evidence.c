/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Budget of watchpoints]
 *
 * A hit takes a trap of some microseconds in the target, so that a loop over a watched
 * word runs a hundred times slower. When the account (Note [Budget of probes] in
 * probe_account.h) is empty, the watchpoints that were hit most are ended; as long as it
 * is empty none is set.
 */
#include "session/live/watch_evidence.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "session/live/keeper_messages.h"
#include "session/live/probe_account.h"

enum { HELD_FDS = HI_STOP_HOOK_FDS / 2 }; /* that the hook takes at most */

/* Requests to the keeper. */
enum { COUNT_WATCH, SET_WATCH };

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
	struct hi_probe_account account; /* first; its lock is of all that follows n */
	struct hi_watchpoints *watchpoints;
	unsigned n;
	struct stop_counts *at_stop; /* shared with the tracer process */
	struct slot slots[HI_WATCHPOINTS_MAX];
	uint64_t waiting[HI_WATCHPOINTS_MAX]; /* addresses that will be set */
	bool waits;
	struct hi_watch_counts counts;
	struct received {
		uint64_t hits[HI_WATCHPOINTS_MAX];
		bool stood[HI_WATCHPOINTS_MAX];
	} received;
};

HI_DEFINE_GUARD(struct hi_watch_evidence *, hi_watch_evidence_close)

/* ---- the account; locked ---- */

/* Returns the hits since the last time. */
static uint64_t pay_hits(struct hi_watch_evidence *e, unsigned i)
{
	uint64_t hits = hi_watchpoints_hits(e->watchpoints, i);
	uint64_t more = hits - e->slots[i].seen;

	e->slots[i].seen = hits;
	e->counts.hits += more;
	e->account.left_ns -= (int64_t)(more * e->counts.hit_ns);
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
	if (hi_watchpoints_set(e->watchpoints, e->waiting, &e->account.missing) != HI_OK)
		return;
	e->account.missing = (struct hi_error){};
	for (unsigned i = 0; i < e->n; i++)
		e->slots[i].is_set = e->waiting[i] != 0;
}

static void look_at_hits(struct hi_watch_evidence *e)
{
	uint64_t more[HI_WATCHPOINTS_MAX] = {};

	hi_probe_account_gain(&e->account);
	for (unsigned i = 0; i < e->n; i++)
		if (e->slots[i].is_set)
			more[i] = pay_hits(e, i);
	if (!atomic_load(&e->at_stop->has_stopped))
		for (unsigned i = 0; i < e->n; i++)
			e->slots[i].before = e->slots[i].seen;
	if (e->account.left_ns < 0)
		end_hottest(e, more);
	else if (e->waits)
		set_waiting(e);
}

static void look_at_watchpoints(struct hi_probe_account *account)
{
	look_at_hits((struct hi_watch_evidence *)account);
}

static const struct hi_probe_account_request account_of_watchpoints = {
	.name = "watchpoints",
	.most_ns = 5000000,
	.look_share = 50, /* of many threads the counts take long to read */
	.look = look_at_watchpoints};

/* ---- stops ---- */

/* In the tracer process: a fork, in which no other thread runs, and any may have the
 * lock. */
static void count_in_tracer(struct hi_watch_evidence *e)
{
	for (unsigned i = 0; i < e->n; i++)
		e->at_stop->is_known[i] =
			hi_watchpoints_take_held(e->watchpoints, i, &e->at_stop->hits[i]);
}

/* In the inspector; the target stands at its end. */
static void count_at_exit(struct hi_watch_evidence *e)
{
	pthread_mutex_lock(&e->account.lock);
	for (unsigned i = 0; i < e->n; i++) {
		e->at_stop->is_known[i] = e->slots[i].is_set;
		e->at_stop->hits[i] = hi_watchpoints_hits(e->watchpoints, i);
	}
	pthread_mutex_unlock(&e->account.lock);
}

static void count_at_stop(struct hi_stop_observer *observer,
			  const struct hi_stop_moment *moment)
{
	struct hi_watch_evidence *e = (struct hi_watch_evidence *)observer;

	atomic_store(&e->at_stop->has_stopped, true);
	if (moment)
		count_in_tracer(e);
	else
		count_at_exit(e);
	atomic_store(&e->at_stop->is_complete, true);
}

static void hold_watchpoints(struct hi_watch_evidence *e)
{
	struct hi_stop_hook *hook = &e->account.observer.hook;

	if (hi_watchpoints_hold(e->watchpoints, &hook->fds, &hook->n_fds, NULL) ==
		    HI_OK &&
	    hook->n_fds <= HELD_FDS)
		return;
	hi_watchpoints_release(e->watchpoints);
	hook->fds = NULL;
	hook->n_fds = 0;
}

static void prepare_watch(struct hi_stop_observer *observer, struct hi_inspection *in,
			  struct hi_stop_options *stop)
{
	struct hi_watch_evidence *e = (struct hi_watch_evidence *)observer;

	(void)in;
	if (!stop)
		return;
	pthread_mutex_lock(&e->account.lock);
	atomic_store(&e->at_stop->has_stopped, false);
	atomic_store(&e->at_stop->is_complete, false);
	hold_watchpoints(e);
	look_at_hits(e);
	pthread_mutex_unlock(&e->account.lock);
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

static void end_watch_period(struct hi_stop_observer *observer)
{
	struct hi_watch_evidence *e = (struct hi_watch_evidence *)observer;

	pthread_mutex_lock(&e->account.lock);
	look_at_hits(e);
	for (unsigned i = 0; atomic_load(&e->at_stop->has_stopped) && i < e->n; i++)
		end_slot_period(e, i);
	hi_watchpoints_release(e->watchpoints);
	pthread_mutex_unlock(&e->account.lock);
}

uint64_t hi_watch_evidence_take(struct hi_watch_evidence *e, unsigned i)
{
	uint64_t hits;

	if (!e)
		return 0;
	if (e->account.served_by) {
		hits = e->received.hits[i];
		e->received.hits[i] = 0;
		return hits;
	}
	pthread_mutex_lock(&e->account.lock);
	hits = e->slots[i].ended;
	e->slots[i].ended = 0;
	pthread_mutex_unlock(&e->account.lock);
	return hits;
}

bool hi_watch_evidence_stood(struct hi_watch_evidence *e, unsigned i)
{
	bool stood;

	if (!e)
		return false;
	if (e->account.served_by)
		return e->received.stood[i];
	pthread_mutex_lock(&e->account.lock);
	stood = e->slots[i].stood;
	pthread_mutex_unlock(&e->account.lock);
	return stood;
}

bool hi_watch_evidence_set(struct hi_watch_evidence *e,
			   const struct hi_watch_place *places)
{
	bool is_set;

	if (!e)
		return true;
	if (e->account.served_by)
		return hi_probe_account_ask(&e->account, SET_WATCH, places,
					    e->n * sizeof(*places));
	pthread_mutex_lock(&e->account.lock);
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
	if (e->account.left_ns < 0)
		e->counts.waited++;
	else
		set_waiting(e);
	is_set = e->account.missing.status == HI_OK;
	pthread_mutex_unlock(&e->account.lock);
	return is_set;
}

/* ---- what there is to tell ---- */

unsigned hi_watch_evidence_slots(const struct hi_watch_evidence *e)
{
	return e->n;
}

static void ask_for_counts(struct hi_watch_evidence *e)
{
	hi_probe_account_ask_counts(&e->account, COUNT_WATCH, &e->counts,
				    sizeof(e->counts));
}

struct hi_watch_counts hi_watch_evidence_counts(struct hi_watch_evidence *e)
{
	struct hi_watch_counts counts;

	if (e->account.served_by)
		ask_for_counts(e);
	if (e->account.served_by)
		return e->counts;
	pthread_mutex_lock(&e->account.lock);
	counts = e->counts;
	pthread_mutex_unlock(&e->account.lock);
	return counts;
}

void hi_watch_evidence_missing(struct hi_watch_evidence *e, char out[240])
{
	if (e->account.served_by)
		ask_for_counts(e);
	hi_probe_account_missing(&e->account, out);
}

/* ---- of another process ---- */

static void have_watch_served(struct hi_stop_observer *observer,
			      const struct hi_keeper_client *client)
{
	((struct hi_watch_evidence *)observer)->account.served_by = client;
}

static bool send_watch(struct hi_stop_observer *observer, int socket)
{
	struct hi_watch_evidence *e = (struct hi_watch_evidence *)observer;
	struct received sent = {};

	for (unsigned i = 0; i < e->n; i++) {
		sent.hits[i] = hi_watch_evidence_take(e, i);
		sent.stood[i] = hi_watch_evidence_stood(e, i);
	}
	return hi_packet_send(socket, &sent, sizeof(sent), -1);
}

static enum hi_status receive_watch(struct hi_stop_observer *observer, int socket,
				    struct hi_error *err)
{
	struct hi_watch_evidence *e = (struct hi_watch_evidence *)observer;
	int fd = -1;
	bool is_there =
		hi_packet_receive(socket, &e->received, sizeof(e->received), 0, &fd);

	hi_close_fd(fd);
	return is_there ? HI_OK
			: hi_fail(err, HI_GONE, 0, "watchpoints: there is no answer");
}

static bool serve_watch(struct hi_stop_observer *observer, uint32_t detail, int socket,
			struct hi_keeper_answer *answer)
{
	struct hi_watch_evidence *e = (struct hi_watch_evidence *)observer;
	HI_GUARD(free) void *places = NULL;
	struct hi_watch_counts counts;

	_Static_assert(sizeof(counts) <= HI_KEEPER_COUNTS, "room");
	if (detail == COUNT_WATCH) {
		counts = hi_watch_evidence_counts(e);
		hi_probe_account_answer(&e->account, &counts, sizeof(counts), answer);
		return true;
	}
	if (detail != SET_WATCH ||
	    !hi_probe_account_receive(socket, e->n * sizeof(struct hi_watch_place),
				      &places))
		return false;
	answer->is_done = hi_watch_evidence_set(e, places);
	return true;
}

/* ---- open and close ---- */

static void close_watch(struct hi_stop_observer *observer)
{
	hi_watch_evidence_close((struct hi_watch_evidence *)observer);
}

static const struct hi_stop_observer_ops watch_observer_ops = {
	.name = "watchpoints",
	.before_stop = prepare_watch,
	.at_stop = count_at_stop,
	.after_stop = end_watch_period,
	.be_served = have_watch_served,
	.send = send_watch,
	.receive = receive_watch,
	.serve = serve_watch,
	.close = close_watch,
};

struct hi_stop_observer *hi_watch_evidence_observer(struct hi_watch_evidence *e)
{
	return e ? &e->account.observer : NULL;
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
	e->account.observer.ops = &watch_observer_ops;
	hi_probe_account_open(&e->account, &account_of_watchpoints);
	e->at_stop = map_stop_counts();
	if (!e->at_stop)
		return hi_fail_memory(err, "watchpoints");
	e->n = n;
	status = hi_watchpoints_open(pid, n, &e->watchpoints, err);
	if (status == HI_OK)
		e->counts.hit_ns = hi_watchpoints_hit_ns(e->watchpoints);
	if (status == HI_OK)
		status = hi_probe_account_start(&e->account, err);
	if (status == HI_OK)
		*ret = hi_take(e);
	return status;
}

void hi_watch_evidence_close(struct hi_watch_evidence *e)
{
	/* Else all is the other process's. */
	if (!e || e->account.served_by)
		return;
	hi_probe_account_close(&e->account);
	hi_watchpoints_close(e->watchpoints);
	if (e->at_stop)
		munmap(e->at_stop, sizeof(*e->at_stop));
	free(e);
}
