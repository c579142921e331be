/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads whose system call a stop made to start anew, and which sleep in it since:
 * what one stop of a target leaves to the next one, so that a stop each second does not
 * keep a time-out of ten from ever running out. Written by the tracer, held by the
 * inspector. See Note [Time-outs that start anew] in sleepers.c.
 */
#ifndef HI_ATTACH_RESTARTED_SLEEPS_H
#define HI_ATTACH_RESTARTED_SLEEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/error.h"

/* A call that was made to start anew so often in a row is not interrupted again. */
#define HI_SLEEPERS_RESTARTS 2

struct hi_sleeper {
	pid_t tid; /* 0: none */
	unsigned restarts;
	uint64_t switches; /* hi_thread_is_asleep, when it slept again */
	struct user_regs_struct regs;
};

struct hi_sleepers;

/* Empty; in memory that forked processes share. */
enum hi_status hi_sleepers_create(struct hi_sleepers **ret, struct hi_error *err);
/* Frees the table. NULL is fine. */
void hi_sleepers_destroy(struct hi_sleepers *sleepers);

/*
 * The slot of thread tid. It may hold another thread: several share a slot, and the last
 * one written is in it.
 */
struct hi_sleeper *hi_sleepers_slot(struct hi_sleepers *sleepers, pid_t tid);
/*
 * How often the call of thread tid was made to start anew, if it has not run since it was
 * put there; else 0. NULL sleepers: 0.
 */
unsigned hi_sleepers_restarts(struct hi_sleepers *sleepers, pid_t pid, pid_t tid);
/* The thread sleeps as it did when it was put there. */
bool hi_sleeper_is_asleep(const struct hi_sleeper *sleeper, pid_t pid);

#endif
