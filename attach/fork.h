/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The copy-on-write snapshot: makes one stopped thread call clone(), by a signal frame on
 * its own stack, so that a child of the target is left that holds the memory as it was
 * and never runs the target's code. Only the tracer process uses this, on a target of
 * which every thread is stopped.
 *
 * Whatever kills the tracer, at any instant: the thread returns by itself, through
 * rt_sigreturn, to where it was, and the child exits by itself. See Note [A call that
 * finishes by itself] in fork.c.
 */
#ifndef HI_ATTACH_FORK_H
#define HI_ATTACH_FORK_H

#include "attach/tracees.h"

struct hi_fork_options {
	int memory;	      /* /proc/PID/mem, read and write */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
};

struct hi_fork_child {
	pid_t pid; /* traced and stopped; ends with the tracer (EXITKILL) */
	pid_t tid; /* of the thread that made the call */
	int pidfd; /* -1: there is no child */
};

/* Looked up while the target runs: what the stop must not spend its time on. */
struct hi_fork_plan;

/*
 * Finds gadgets and checks limits, while the target runs; only /proc is read. writable:
 * resident bytes that may be copied on write. *ret: freed by hi_fork_plan_free().
 * HI_UNSUPPORTED: this target has to be copied; err->text is the reason ("no syscall
 * instruction was found in its libraries", ...). HI_GONE.
 */
enum hi_status hi_fork_prepare(pid_t pid, uint64_t writable, struct hi_fork_plan **ret,
			       struct hi_error *err);
/* Frees what hi_fork_prepare() returned. NULL is fine. */
void hi_fork_plan_free(struct hi_fork_plan *plan);

/*
 * All threads stand, outside of options->avoid. On success the target is as it was
 * before, registers, stack bytes, signal mask and pending signals included, and has one
 * more child that it cannot see (exit signal 0, reparented to its init). HI_UNSUPPORTED:
 * it cannot be forked, err->text is the reason, nothing was changed and it may be copied
 * instead. Another status: the stop has failed.
 */
enum hi_status hi_fork_make(struct hi_tracees *all, const struct hi_fork_plan *plan,
			    const struct hi_fork_options *options,
			    struct hi_fork_child *ret, struct hi_error *err);
/* Ends the child and reaps it. Works after the target was detached, and after its end. */
void hi_fork_end(struct hi_fork_child *child);

#endif
