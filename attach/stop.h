/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stop, copy, resume. The only room that holds a ptrace. The tracer is a
 * process of its own (only the thread that traces may detach), the watchdog
 * another one in its own session: when the budget runs out it kills the
 * tracer, whose death frees the target. Whatever dies, the target runs on in
 * the state that it was in before (a group-stopped one stays stopped).
 *
 * A large target is not copied while it stands: it is made to fork (fork.h), and
 * the child is read when the target runs again.
 *
 * We never: SIGSTOP, single-step, set debug registers, write breakpoints,
 * EXITKILL the target.
 */
#ifndef HI_ATTACH_STOP_H
#define HI_ATTACH_STOP_H

#include "attach/target.h"
#include "attach/trigger.h"

struct hi_sleepers;

struct hi_range {
	uint64_t start, end; /* [start, end) */
};

enum hi_snapshot_wish {
	HI_WISH_AUTO, /* fork where enough is writable that it pays, else copy */
	HI_WISH_COPY,
	HI_WISH_FORK, /* falls back to copy where it cannot be; image->stats says why */
};

struct hi_stop_options {
	enum hi_snapshot_wish snapshot;
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

/*
 * The image of target, with the pause measured, at the trigger if there is one:
 * HI_MISSED when timeout_ns is over first, with nothing stopped. HI_GONE if it exits or
 * execs meanwhile; HI_TIMEOUT if the pause was longer than the budget, whoever noticed it
 * first: the watchdog that ended it, the tracer that gave up, or the clock when all was
 * over and well (the target runs on, and there is no image); HI_NO_MEMORY before anything
 * is stopped if the image would not fit into the free memory, HI_CANNOT_ATTACH with the
 * refusing check.
 */
enum hi_status hi_stop_and_copy(struct hi_target *target,
				const struct hi_stop_options *options,
				struct hi_image **ret, struct hi_error *err);

#endif
