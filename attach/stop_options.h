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

#include "attach/trigger.h"

struct hi_sleepers;

struct hi_range {
	uint64_t start, end; /* [start, end) */
};

enum hi_snapshot_request {
	HI_REQUEST_AUTO, /* fork where enough is writable that it pays, else copy */
	HI_REQUEST_COPY,
	HI_REQUEST_FORK, /* falls back to copy where it cannot be; image->stats says why
			  */
};

struct hi_stop_options {
	enum hi_snapshot_request snapshot;
	/* Memory that the image of a forked child may take; 0: what is free. A larger
	 * one is read in place, block by block. */
	uint64_t max_image;
	/* NULL: stop at once. Borrowed. */
	struct hi_trigger *trigger;
	uint64_t timeout_ns; /* for the trigger; 0: wait for ever */
	/* Readable: the waiting for the trigger is to end, with HI_TIMEOUT; 0: none. */
	int interrupt_fd;
	/* Code in which no thread may be stopped: the allocator's text (sorted).
	 * A thread whose pc, or a word among the first 128 above its sp, lies in
	 * here is let run alone and stopped again, max_tries times in all. */
	const struct hi_range *avoid;
	size_t n_avoid;
	unsigned max_tries; /* 0: 200 */
	/*
	 * Optional second opinion, called inside the tracer process (a fork of
	 * ours, so of no effect here; all descriptors are closed): is this stopped
	 * thread really inside? `stack` holds stack_size bytes (at most 16 KiB) from
	 * regs->rsp. Asked when the tries run out, and before that for a thread
	 * that sleeps on without moving. It is called in the pause: be quick.
	 */
	bool (*is_inside)(void *arg, const struct user_regs_struct *regs,
			  const void *stack, size_t stack_size);
	void *is_inside_arg;
	uint64_t max_pause_ns;	   /* 0: 1 s */
	bool with_swap;		   /* copy swapped pages too */
	unsigned threads;	   /* copying threads; 0: hi_parallel_threads() */
	bool best_effort_priority; /* raise to SCHED_FIFO for the stop if permitted */
	/* Of the stops of this target before; NULL: none, and none that follow. Borrowed.
	 */
	struct hi_sleepers *sleepers;
};

/* The pause budget of these options, in nanoseconds. */
static inline uint64_t hi_stop_budget_ns(const struct hi_stop_options *options)
{
	return options->max_pause_ns ? options->max_pause_ns : 1000000000ull;
}

#endif
