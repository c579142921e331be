/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trigger makes a waiting tracer stop the target: a probe. probes/ implements this;
 * attach/ does not use BPF. A trigger is set up in the inspector before the tracer is
 * forked; everything below runs in the tracer, where only the descriptors that fds()
 * names are still open and memory is a copy, unless it was mapped MAP_SHARED.
 *
 * From arm() on the first hit, by any thread of the target, sends that thread
 * HI_TRIGGER_SIGNAL, once. The signal is one that does nothing by default: a tracer that
 * is dead by then does no harm. A traced thread stops for it all the same, before its
 * next instruction (signal-delivery-stop). The signal is of the kernel (si_code
 * SI_KERNEL, as bpf_send_signal_thread has it, or POLL_IN or POLL_HUP, as a perf event
 * does), which distinguishes it from one of the program's own, and was_hit() is true
 * before it arrives.
 */
#ifndef HI_ATTACH_TRIGGER_H
#define HI_ATTACH_TRIGGER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HI_TRIGGER_SIGNAL SIGURG
#define HI_TRIGGER_MAX_FDS 4096

struct hi_trigger_hit {
	uint64_t time_ns; /* CLOCK_MONOTONIC of the hit; 0: not known */
	uint64_t pc;	  /* of the probed instruction; 0: not known */
	pid_t tid;	  /* in this process's pid namespace; 0: not known */
	/* No signal was sent, because the thread blocks it (it would stay pending and
	 * reach the program later). Only where the probe can see that. */
	bool unsent;
};

struct hi_trigger;

struct hi_trigger_ops {
	/* Descriptors that the tracer must keep; returns how many (<= max). */
	size_t (*fds)(struct hi_trigger *trigger, int *fds, size_t max);
	/* A thread was seized that was not there before (by its tid); for probes that
	 * are made thread by thread. Optional. */
	void (*add_thread)(struct hi_trigger *trigger, pid_t tid);
	void (*arm)(struct hi_trigger *trigger);
	/* Afterwards no signal is sent any more (one may be on its way). */
	void (*disarm)(struct hi_trigger *trigger);
	/* Was there a hit since arm()? Called often: without a system call where
	 * possible. A thread that blocks the signal hits without stopping. */
	bool (*was_hit)(struct hi_trigger *trigger, struct hi_trigger_hit *ret);
};

struct hi_trigger {
	const struct hi_trigger_ops *ops;
	/* Becomes readable at a hit; -1: nothing does. For threads that block the
	 * signal; among the fds. */
	int poll_fd;
	/* The probe cannot stop a thread at the instruction (no signal is sent): the
	 * tracer stops all threads as soon as it sees the hit. */
	bool near_only;
	/* Set by the tracer: a thread that is not traced makes no hit, where the probe
	 * can see that. The thread would receive the signal itself. */
	bool traced_only;
};

/* Place at which the hitting thread stopped. */
enum hi_hit_position {
	HI_HIT_NONE, /* there was no trigger */
	HI_HIT_AT,   /* the thread is at the probe */
	HI_HIT_NEAR, /* it ran on a little: it blocked the signal, or near_only */
};

struct hi_trigger_stop {
	enum hi_hit_position position;
	struct hi_trigger_hit hit;
	uint64_t waited_ns;
};

#endif
