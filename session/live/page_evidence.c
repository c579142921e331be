/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/page_evidence.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/packet.h"

struct hi_page_evidence {
	struct hi_stop_observer observer; /* first */
	struct hi_target *target;
	struct hi_page_watch *watch;
	uint64_t stops;
	bool is_prepared;
	struct hi_error missing; /* HI_OK: nothing is missing */
	bool is_served;
	struct hi_page_states received; /* of the process that is_served names */
};

HI_DEFINE_GUARD(struct hi_page_evidence *, hi_page_evidence_close)

void hi_page_evidence_close(struct hi_page_evidence *e)
{
	/* Else all is the other process's. */
	if (!e || e->is_served)
		return;
	hi_page_watch_close(e->watch);
	hi_target_close(e->target);
	free(e);
}

/* The hook is that of probes/pages.h. */
static void prepare_pages(struct hi_stop_observer *observer, struct hi_inspection *in,
			  struct hi_stop_options *stop)
{
	struct hi_page_evidence *e = (struct hi_page_evidence *)observer;

	(void)in;
	if (!stop)
		return;
	e->missing = (struct hi_error){};
	e->is_prepared = hi_page_watch_prepare(e->watch, stop, &e->missing) == HI_OK;
}

static void take_pages(struct hi_stop_observer *observer)
{
	struct hi_page_evidence *e = (struct hi_page_evidence *)observer;
	struct hi_error why = {};

	/* A wait for a place that ended without a stop has changed nothing. */
	e->stops += hi_page_watch_has_read(e->watch);
	if (hi_page_watch_take(e->watch, &why) != HI_OK && e->is_prepared)
		e->missing = why;
}

uint64_t hi_page_evidence_stops(const struct hi_page_evidence *e)
{
	return e->stops;
}

const char *hi_page_evidence_missing(const struct hi_page_evidence *e)
{
	return e->missing.status == HI_OK ? NULL : e->missing.text;
}

bool hi_page_evidence_is_idle(const struct hi_page_evidence *e, uint64_t start,
			      uint64_t end)
{
	const struct hi_page_states *states =
		e->is_served ? &e->received : hi_page_watch_states(e->watch);

	return hi_page_states_of_range(states, start, end) == HI_PAGE_UNREFERENCED;
}

/* ---- of another process ---- */

/* A heap of 16 TiB has so many. */
#define TABLES_MOST ((size_t)8 << 20)

struct sent_pages {
	uint64_t stops;
	struct hi_error missing;
};

static void have_pages_served(struct hi_stop_observer *observer,
			      const struct hi_keeper_client *client)
{
	(void)client;
	((struct hi_page_evidence *)observer)->is_served = true;
}

static bool send_pages(struct hi_stop_observer *observer, int socket)
{
	const struct hi_page_evidence *e = (struct hi_page_evidence *)observer;
	const struct hi_page_states *states = hi_page_watch_states(e->watch);
	const struct sent_pages head = {e->stops, e->missing};

	return hi_packet_send(socket, &head, sizeof(head), -1) &&
	       hi_packet_send_bytes(socket, states->addresses.items,
				    states->addresses.count *
					    sizeof(*states->addresses.items)) &&
	       hi_packet_send_bytes(socket, states->bits.items,
				    states->bits.count * sizeof(*states->bits.items)) &&
	       hi_packet_send_bytes(socket, states->untouched.items,
				    states->untouched.count *
					    sizeof(*states->untouched.items));
}

#define RECEIVE_VECTOR(socket, vector)                                                   \
	({                                                                               \
		void *items_ = NULL;                                                     \
		size_t n_ = 0;                                                           \
		bool is_there_ = hi_packet_receive_bytes(                                \
			socket, TABLES_MOST * sizeof(*(vector)->items), &items_, &n_);   \
		hi_vector_free(vector);                                                  \
		(vector)->items = items_;                                                \
		(vector)->count = (vector)->capacity = n_ / sizeof(*(vector)->items);    \
		is_there_;                                                               \
	})

static enum hi_status receive_pages(struct hi_stop_observer *observer, int socket,
				    struct hi_error *err)
{
	struct hi_page_evidence *e = (struct hi_page_evidence *)observer;
	struct sent_pages head;
	int fd = -1;
	bool is_there;

	is_there = hi_packet_receive(socket, &head, sizeof(head), 0, &fd) &&
		   RECEIVE_VECTOR(socket, &e->received.addresses) &&
		   RECEIVE_VECTOR(socket, &e->received.bits) &&
		   RECEIVE_VECTOR(socket, &e->received.untouched);
	hi_close_fd(fd);
	if (!is_there)
		return hi_fail(err, HI_GONE, 0, "pages of the target: no answer");
	e->stops = head.stops;
	e->missing = head.missing;
	return HI_OK;
}

/* ---- opening ---- */

static void close_page_observer(struct hi_stop_observer *observer)
{
	hi_page_evidence_close((struct hi_page_evidence *)observer);
}

static const struct hi_stop_observer_ops page_observer_ops = {
	.name = "pages",
	.before_stop = prepare_pages,
	.after_stop = take_pages,
	.be_served = have_pages_served,
	.send = send_pages,
	.receive = receive_pages,
	.close = close_page_observer,
};

struct hi_stop_observer *hi_page_evidence_observer(struct hi_page_evidence *e)
{
	return e ? &e->observer : NULL;
}

enum hi_status hi_page_evidence_open(pid_t pid, struct hi_page_evidence **ret,
				     struct hi_error *err)
{
	HI_GUARD(hi_page_evidence_close)
	struct hi_page_evidence *e = hi_calloc(1, sizeof(*e));
	enum hi_status status;

	if (!e)
		return hi_fail_memory(err, "pages of the target");
	e->observer.ops = &page_observer_ops;
	status = hi_target_open(pid, &e->target, err);
	if (status == HI_OK)
		status = hi_page_watch_open(e->target, &e->watch, err);
	if (status == HI_OK)
		*ret = hi_take(e);
	return status;
}
