/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Observers of stops: work that a command does around each stop that makes an image of
 * its target. The run (session/run.h) lists them; code that stops the target calls the
 * list and has no name of any observer.
 *
 * One stop, of the inspection `in`:
 *
 *	before_stop   in the order of the list, when nothing but the stop is left to do
 *	at_stop       in the opposite order, while all threads stand
 *	after_stop    in the opposite order
 *	census        in order, when the image is there
 *	end_census    in the opposite order, when `in` is closed
 *
 * When something fails:
 *
 *	before_stop, at_stop, after_stop return nothing: an observer that cannot do its
 *	work keeps the reason, and has no evidence of this period. The stop is made.
 *	The stop itself: after_stop and end_census are called, census is not.
 *	census: its error is that of the inspection. Observers after it are not called;
 *	end_census is called for all.
 *
 * A series may have its target stopped by another process (series/keeper.h). The list is
 * then in both. The keeper calls all of the above, and `send` with the image. This
 * process, after be_served, calls before_stop without a stop, `receive`, census and
 * end_census. Requests of an observer to its twin are `serve`.
 *
 * To add an observer: a struct that begins with struct hi_stop_observer, and a const
 * table of operations, of which each but name and close may be NULL; a line with
 * hi_stop_observers_add() where the command opens it; its row in the list of
 * tests/session/stop_observers_test.c.
 */
#ifndef HI_SESSION_STOP_OBSERVER_H
#define HI_SESSION_STOP_OBSERVER_H

#include "attach/stop_options.h"
#include "base/error.h"

struct hi_inspection;
struct hi_keeper_answer;
struct hi_keeper_client;
struct hi_stop_observer;

struct hi_stop_observer_ops {
	const char *name;
	/* May change the stop, and set fds and n_fds of the hook for at_stop. stop NULL:
	 * another process makes it. */
	void (*before_stop)(struct hi_stop_observer *self, struct hi_inspection *in,
			    struct hi_stop_options *stop);
	/* See struct hi_stop_hook: called in the tracer process, or with moment NULL in
	 * the inspector, if the target is stopped at its exit. */
	void (*at_stop)(struct hi_stop_observer *self,
			const struct hi_stop_moment *moment);
	void (*after_stop)(struct hi_stop_observer *self);
	/* Takes the period that the stop of in->image has ended. */
	enum hi_status (*census)(struct hi_stop_observer *self, struct hi_inspection *in,
				 struct hi_error *err);
	void (*end_census)(struct hi_stop_observer *self);
	/* Instead of a stop where the target is gone: makes in->image and in->stop.target
	 * of what the observer has. HI_NOT_FOUND: it has nothing, or the target is there.
	 */
	enum hi_status (*replace_stop)(struct hi_stop_observer *self,
				       struct hi_inspection *in, struct hi_error *err);

	/* In a fork without rights: the other process has the stops from now on. */
	void (*be_served)(struct hi_stop_observer *self,
			  const struct hi_keeper_client *client);
	/* After a stop, to that fork and there. False: the other end is closed. HI_GONE,
	 * HI_NO_MEMORY. */
	bool (*send)(struct hi_stop_observer *self, int socket);
	enum hi_status (*receive)(struct hi_stop_observer *self, int socket,
				  struct hi_error *err);
	/* Does what the fork asks for: `detail`, and bytes that follow on the socket, are
	 * hostile. False: they are no request of it. */
	bool (*serve)(struct hi_stop_observer *self, uint32_t detail, int socket,
		      struct hi_keeper_answer *answer);

	void (*close)(struct hi_stop_observer *self);
};

/* Zero-initialised with ops is one that was not added yet. */
struct hi_stop_observer {
	const struct hi_stop_observer_ops *ops;
	struct hi_stop_hook hook; /* of at_stop */
	uint32_t number;	  /* in the list, for requests to the keeper */
};

enum { HI_STOP_OBSERVERS_MAX = 8 };

/* Zero-initialised is empty. Borrows the observers. */
struct hi_stop_observers {
	struct hi_stop_observer *items[HI_STOP_OBSERVERS_MAX];
	uint32_t count;
};

/* NULL is fine: nothing is added. At most HI_STOP_OBSERVERS_MAX. */
void hi_stop_observers_add(struct hi_stop_observers *list,
			   struct hi_stop_observer *observer);
/* The last one is in the list no longer; NULL is fine. */
void hi_stop_observers_remove(struct hi_stop_observers *list,
			      const struct hi_stop_observer *last);
/* Closes all of them, the last one first. */
void hi_stop_observers_close(struct hi_stop_observers *list);

void hi_stop_observers_before(const struct hi_stop_observers *list,
			      struct hi_inspection *in, struct hi_stop_options *stop);
void hi_stop_observers_after(const struct hi_stop_observers *list);
enum hi_status hi_stop_observers_census(const struct hi_stop_observers *list,
					struct hi_inspection *in, struct hi_error *err);
void hi_stop_observers_end_census(const struct hi_stop_observers *list);
/* By the first one that can. HI_NOT_FOUND: none can. */
enum hi_status hi_stop_observers_replace(const struct hi_stop_observers *list,
					 struct hi_inspection *in, struct hi_error *err);
void hi_stop_observers_be_served(const struct hi_stop_observers *list,
				 const struct hi_keeper_client *client);
bool hi_stop_observers_send(const struct hi_stop_observers *list, int socket);
enum hi_status hi_stop_observers_receive(const struct hi_stop_observers *list, int socket,
					 struct hi_error *err);
/* number is hostile, too. */
bool hi_stop_observers_serve(const struct hi_stop_observers *list, uint32_t number,
			     uint32_t detail, int socket,
			     struct hi_keeper_answer *answer);

#endif
