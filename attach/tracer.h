/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tracer process and its watchdog, as seen by the inspector. Internal to
 * attach/: stop.c drives it.
 */
#ifndef HI_ATTACH_TRACER_H
#define HI_ATTACH_TRACER_H

#include "attach/stop_options.h"
#include "attach/target.h"
#include "base/cleanup.h"

struct hi_tracer;

struct hi_tracer_stop {
	/* Owned by the tracer until its destroy. [0] is the leader; one that has
	 * exited while other threads live has zero registers. */
	struct hi_thread *threads;
	size_t n_threads;
	uint64_t stopped_ns; /* CLOCK_MONOTONIC when the first thread stopped */
	uint32_t threads_in_allocator;
	uint32_t avoid_rounds; /* in which threads ran on to leave it */
	struct hi_trigger_stop trigger;
};

struct hi_tracer_child {
	pid_t pid; /* in the pid namespace of this process; its /proc files are readable
		    */
	pid_t tid; /* of the thread that made the call */
};

/*
 * Forks tracer and watchdog; nothing is stopped yet. The tracer ends with the
 * thread that calls this. options' pointers must live until the call returns
 * (what they point at is part of the fork).
 */
enum hi_status hi_tracer_start(const struct hi_target *target,
			       const struct hi_stop_options *options,
			       struct hi_tracer **ret, struct hi_error *err);
/*
 * Seizes and stops every thread, outside the allocator. With a trigger: seizes
 * all, arms it and waits for the hit; until then the target runs, and the tracer
 * does nothing but hand on its signals and seize the threads that it makes.
 * HI_MISSED when options.timeout_ns is over, with nothing stopped.
 */
enum hi_status hi_tracer_stop(struct hi_tracer *tracer, struct hi_tracer_stop *ret,
			      struct hi_error *err);
/* The same in two steps. In between the socket polls readable when there is an answer. */
enum hi_status hi_tracer_begin_stop(struct hi_tracer *tracer, struct hi_error *err);
enum hi_status hi_tracer_end_stop(struct hi_tracer *tracer, struct hi_tracer_stop *ret,
				  struct hi_error *err);
int hi_tracer_socket(const struct hi_tracer *tracer);
/* Its trigger is waited for, and all threads are seized. */
bool hi_tracer_is_waiting(const struct hi_tracer *tracer);
/* After the start: HI_OK, or what hi_tracer_fork would fail with, known already. */
enum hi_status hi_tracer_can_fork(const struct hi_tracer *tracer, struct hi_error *err);
/*
 * Between stop and resume: a copy-on-write child of the target (fork.h). HI_UNSUPPORTED:
 * it cannot be forked, err->text is the reason; the target is still stopped and may be
 * copied. The child lives until end_child or destroy, or until the target exits or execs;
 * the tracer lives as long as it.
 */
enum hi_status hi_tracer_fork(struct hi_tracer *tracer, struct hi_tracer_child *ret,
			      struct hi_error *err);
/* NULL or no child: nothing happens. After the resume. */
void hi_tracer_end_child(struct hi_tracer *tracer);
/* The same in another process, which has a duplicate of the tracer's socket; does not
 * wait for it. The tracer takes nothing else from there. */
void hi_tracer_ask_to_end_child(int socket);
/*
 * After the resume: a thread that was left asleep ran while the memory was copied (or
 * before the child was made), so that the copy is inconsistent.
 */
bool hi_tracer_is_torn(const struct hi_tracer *tracer);
/* Detaches all; *resumed_ns_ret is CLOCK_MONOTONIC after the last one.
 * HI_TIMEOUT if the watchdog was faster, HI_GONE if the target exited or exec'ed
 * during the stop. */
enum hi_status hi_tracer_resume(struct hi_tracer *tracer, uint64_t *resumed_ns_ret,
				struct hi_error *err);
/* Polls readable when the tracer has ended, and with it the stop; -1 before the
 * start. Stays the tracer's. */
int hi_tracer_fd(const struct hi_tracer *tracer);
/* Ends the tracer alone, and so lets the target go at once; destroy it later. */
void hi_tracer_let_go(struct hi_tracer *tracer);
/* Ends both processes and reaps them; resumes first if still stopped. */
void hi_tracer_destroy(struct hi_tracer *tracer);
HI_DEFINE_GUARD(struct hi_tracer *, hi_tracer_destroy)

#endif
