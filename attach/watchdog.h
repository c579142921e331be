/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that ends the tracer when the pause budget has run out, or when
 * the inspector has died and the tracer does not end by itself. The kernel frees every
 * thread of a tracer that dies.
 */
#ifndef HI_ATTACH_WATCHDOG_H
#define HI_ATTACH_WATCHDOG_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/trigger.h"

struct hi_watchdog_request {
	int timer;		    /* timerfd; the tracer arms and disarms it */
	int tracer;		    /* pidfd */
	pid_t tracer_pid;	    /* of the same process, to look at its state */
	int inspector;		    /* pidfd */
	_Atomic uint32_t *fired;    /* in shared memory: set to 1 before the kill */
	int priority;		    /* SCHED_FIFO, where permitted; 0: none */
	struct hi_trigger *trigger; /* NULL: none. Its descriptors are kept open */
};

/*
 * Runs in a fork of the inspector. Ends when the tracer has ended, and not before: to
 * close the last descriptor of a probe takes the kernel some 50 ms, and a process that
 * dies closes its descriptors before it lets its tracees go.
 */
_Noreturn void hi_watchdog_run(const struct hi_watchdog_request *request);

#endif
