/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waiting for a trigger while the target runs. Only the tracer process uses this.
 */
#ifndef HI_ATTACH_WAIT_H
#define HI_ATTACH_WAIT_H

#include "attach/tracees.h"
#include "attach/trigger.h"

struct hi_wait {
	struct hi_tracees *tracees;
	struct hi_trigger *trigger;
	uint64_t timeout_ns; /* 0: for ever */
	bool at_exit;	     /* the end of the process is the hit; exec is none */
	uint64_t *exec_ns;   /* when the first one was; NULL: not wanted */
	uint32_t *start;     /* of start_hold.h; NULL: the program has begun */
	int inspector;	     /* its socket: the wait is over when it closes */
	int interrupt;	     /* over when it is readable; -1: none */
	uint64_t beat_ns;    /* beat is called at least so often */
	void (*beat)(void *arg);
	/* False: the threads stop so often that the tracer had a processor to itself, so
	 * that others are to come before it; true: no more, or the hit is there. */
	void (*set_urgent)(void *arg, bool on);
	void *arg;
};

/* With these the threads must have been seized (hi_tracees_seize). */
unsigned long hi_wait_ptrace_options(const struct hi_wait *wait);

/*
 * All threads are seized and run. Arms the trigger, waits for the hit and disarms it. On
 * success the thread that hit is about to stand, at the probe if the position is AT, and
 * all others have been interrupted: call hi_tracees_stop to wait for them, then
 * hi_wait_settle_hit. Otherwise nothing was stopped; to let the target go, end this
 * process: HI_MISSED, HI_TIMEOUT, HI_GONE (it has exited or exec'ed), HI_OS (the
 * inspector has ended, or nothing could be watched).
 */
enum hi_status hi_wait_for_hit(const struct hi_wait *wait, struct hi_trigger_stop *ret,
			       struct hi_error *err);
/*
 * All threads stand for the first time after the hit: marks the one that is at the probe,
 * and suppresses the signal where it is still on its way. The position may turn out to be
 * AT.
 */
enum hi_status hi_wait_settle_hit(struct hi_tracees *all, struct hi_trigger_stop *stop,
				  struct hi_error *err);

#endif
