/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a target is stopped and read: what callers of stop.h set, and what the parts of
 * a stop (tracer, avoidance of the allocator, copy) read.
 */
#ifndef HI_ATTACH_STOP_OPTIONS_H
#define HI_ATTACH_STOP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "attach/stop_hook.h"
#include "attach/trigger.h"

struct hi_exit_watch;
struct hi_sleepers;

struct hi_range {
	uint64_t start, end; /* [start, end) */
};

/* For a program that is to be held at its start; see Note [The start of a program] in
 * start_hold.h. */
enum hi_start_state {
	HI_START_NONE,
	HI_START_WANTED, /* after the next exec */
	HI_START_STANDS,
	HI_START_GOES,
};

enum hi_snapshot_request {
	HI_REQUEST_AUTO, /* fork where enough is writable that it pays, else copy */
	HI_REQUEST_COPY,
	HI_REQUEST_FORK, /* falls back to copy; image->stats.not_forked is the reason */
};

struct hi_stop_options {
	enum hi_snapshot_request snapshot;
	/* Memory that the image of a forked child may take; 0: what is free. A larger
	 * one is read in place, block by block. */
	uint64_t max_image;
	/* NULL: stop at once. Borrowed. */
	struct hi_trigger *trigger;
	uint64_t timeout_ns; /* for the trigger; 0: wait for ever */
	/* When it polls readable, waiting for the trigger ends with HI_TIMEOUT; 0:
	 * none. */
	int interrupt_fd;
	/* Code in which no thread may be stopped: the allocator's text (sorted).
	 * A thread whose pc, or a word among the first 128 above its sp, lies in
	 * here is let run alone and stopped again, max_tries times in all. */
	const struct hi_range *avoid;
	size_t n_avoid;
	unsigned max_tries; /* 0: 200 */
	/*
	 * Optional exact check, called inside the tracer process (a fork, so it has no
	 * effect on the caller; all descriptors are closed): is this stopped thread
	 * really inside? `stack` holds stack_size bytes (at most 16 KiB) from regs->rsp.
	 * Called when the tries run out, and before that for a thread that stays asleep.
	 * It runs during the pause, so it must be quick.
	 */
	bool (*is_inside)(void *arg, const struct user_regs_struct *regs,
			  const void *stack, size_t stack_size);
	void *is_inside_arg;
	const struct hi_stop_hook *hook; /* NULL: none. Borrowed. */
	uint64_t max_pause_ns;		 /* 0: 1 s */
	bool with_swap;			 /* copy swapped pages too */
	/* The image can be sent (image_send.h). Private memory of a forked child is then
	 * not read here, but by the process that receives the image. */
	bool sendable;
	unsigned threads;	   /* copying threads; 0: hi_parallel_threads() */
	bool best_effort_priority; /* raise to SCHED_FIFO for the stop if permitted */
	/* From earlier stops of this target, for a series; NULL: a single stop. Borrowed.
	 */
	struct hi_sleepers *sleepers;
	/* The same: in how many more stops no fork is tried, after one that did not end
	 * within the pause budget. 0 at first. */
	uint32_t *fork_rest;
	/* The watch of a process whose end is watched (exit_watch.h): not during the
	 * stop. If the process is at its end, this is the stop. NULL: none. Borrowed. */
	struct hi_exit_watch *exit_watch;
	/* Not 0: the trigger is the end of the process, which is held there no longer
	 * than this. Set by exit_watch.c only. */
	uint64_t exit_hold_ns;
	/* Time of an exec meanwhile (CLOCK_MONOTONIC); shared with the tracer. Set by
	 * exit_watch.c only. NULL: not wanted. */
	uint64_t *exec_ns;
	/* An enum hi_start_state, shared with the tracer. Set by exit_watch.c only. NULL:
	 * none. */
	uint32_t *start;
};

/* The pause budget of these options, in nanoseconds. */
static inline uint64_t hi_stop_budget_ns(const struct hi_stop_options *options)
{
	return options->max_pause_ns ? options->max_pause_ns : 1000000000ull;
}

#endif
