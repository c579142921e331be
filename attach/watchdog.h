/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that ends the tracer when the pause budget has run out, or when
 * the inspector has died. The kernel frees every thread of a tracer that dies.
 */
#ifndef HI_ATTACH_WATCHDOG_H
#define HI_ATTACH_WATCHDOG_H

#include <stdatomic.h>
#include <stdint.h>

struct hi_watchdog_duty {
	int timer;		 /* timerfd; the tracer arms and disarms it */
	int tracer;		 /* pidfd */
	int inspector;		 /* pidfd */
	_Atomic uint32_t *fired; /* in shared memory: set to 1 before the kill */
	int priority;		 /* SCHED_FIFO, where permitted; 0: none */
};

/* Runs in a fork of the inspector. Ends when the tracer has ended. */
_Noreturn void hi_watchdog_run(const struct hi_watchdog_duty *duty);

#endif
