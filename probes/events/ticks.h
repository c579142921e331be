/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of time of a process: a timer of CPU time for each of its threads, by perf
 * events, each of which runs a BPF program. They are file descriptors of this process,
 * and nothing of them is in the target.
 */
#ifndef HI_PROBES_EVENTS_TICKS_H
#define HI_PROBES_EVENTS_TICKS_H

#include <sys/types.h>

#include "base/error.h"
#include "base/vector.h"

struct hi_tick_event {
	pid_t tid;
	int fd; /* -1: the thread has none */
};
struct hi_ticks {
	struct HI_VECTOR(struct hi_tick_event) events;
	uint32_t openings; /* listings of threads that had new ones */
	uint32_t missed;   /* threads without a timer, and their later threads */
};

/* Into how many steps of a timer the time between two samples is divided, of a
 * millisecond or more each; see Note [Threads that are short] in events.bpf.c. 0 of 0. */
static inline uint32_t hi_ticks_steps(uint64_t scan_ns)
{
	uint64_t ms = scan_ns / 1000000;

	return !scan_ns ? 0 : ms < 1 ? 1 : ms > 10 ? 10 : (uint32_t)ms;
}

/*
 * Opens a timer for each thread, which those that it makes later inherit, and starts
 * them. Threads are listed until a listing has no new one, since threads come meanwhile;
 * the timers of the n-th listing (from 0) have the period step_ns + n, by which the
 * program distinguishes them. program: a file descriptor. ticks is empty, and
 * hi_ticks_close()d also on failure. HI_CANNOT_ATTACH, HI_UNSUPPORTED: the kernel refuses
 * them; HI_GONE; HI_NO_MEMORY.
 */
enum hi_status hi_ticks_open(struct hi_ticks *ticks, pid_t pid, int program,
			     uint64_t step_ns, struct hi_error *err);
/* Stops the timers, also those that were inherited; nothing of an empty one. */
void hi_ticks_close(struct hi_ticks *ticks);

#endif
