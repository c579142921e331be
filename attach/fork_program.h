/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames that are written below the red zone of the thread that is to call clone(). They
 * let the thread and the children finish by themselves. See Note [A call that finishes by
 * itself] in fork.c.
 */
#ifndef HI_ATTACH_FORK_PROGRAM_H
#define HI_ATTACH_FORK_PROGRAM_H

#include "attach/gadgets.h"
#include "attach/seccomp_filter.h"
#include "attach/signal_frame.h"

#define HI_RED_ZONE 128u
#define HI_FORK_PROGRAM_MAX (HI_XSTATE_MAX + 2048u)
#define HI_FORK_CALLS 7

/* The thread as it was found. */
struct hi_fork_origin {
	struct user_regs_struct regs;
	uint64_t mask; /* with which user code goes on */
	struct hi_xstate xstate;
};

struct hi_fork_program {
	const struct hi_gadget *call, *restorer;
	/* Address of the frames, as a stack pointer for a call that is to return into
	 * them. */
	uint64_t origin; /* back to where the thread was */
	uint64_t wait;	 /* wait4 for the child, then origin */
	uint64_t child;	 /* what an orphaned child does: clone, then exit */
	uint64_t exit;	 /* exit_group */
	uint64_t answer; /* an int: is it a subreaper? */
	uint64_t start;	 /* lowest address */
	size_t size;
	unsigned char bytes[HI_FORK_PROGRAM_MAX];
	unsigned char
		saved[HI_FORK_PROGRAM_MAX]; /* what was there: the caller's to fill */
};

/* How many bytes it takes below the red zone, alignment included. */
size_t hi_fork_program_room(const struct hi_fork_origin *origin);
/* Fills in everything but saved[]. */
void hi_fork_program_build(struct hi_fork_program *program,
			   const struct hi_fork_origin *origin,
			   const struct hi_gadget *call,
			   const struct hi_gadget *restorer);

/* Registers with which a thread makes one of its calls, and goes on into a frame.
 * The first two are the thread's, the third is the child's. */
void hi_fork_call_prctl(const struct hi_fork_program *program,
			const struct user_regs_struct *base,
			struct user_regs_struct *ret);
/* The thread's clone() of the first child. */
void hi_fork_call_clone(const struct hi_fork_program *program,
			const struct user_regs_struct *base,
			struct user_regs_struct *ret);
/* For a child that has ended already: it does not sleep. */
void hi_fork_call_wait(const struct hi_fork_program *program,
		       const struct user_regs_struct *base, pid_t pid,
		       struct user_regs_struct *ret);
/* The first child's clone() of the snapshot child. */
void hi_fork_call_snapshot_child(const struct hi_fork_program *program,
				 const struct user_regs_struct *base,
				 struct user_regs_struct *ret);
/* All calls that may be made, for the filters. */
void hi_fork_program_calls(const struct hi_fork_program *program,
			   struct hi_filtered_call ret[HI_FORK_CALLS]);

#endif
