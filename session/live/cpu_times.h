/* SPDX-License-Identifier: BSD-2-Clause */
/* Processor time of a recording: the target's time, and the time of this program. Its
 * probes work in the target's time. */
#ifndef HI_SESSION_LIVE_CPU_TIMES_H
#define HI_SESSION_LIVE_CPU_TIMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Nanoseconds of CPU time. */
struct hi_cpu_times {
	uint64_t target_ns; /* of all its threads, also of those that have ended */
	uint64_t tool_ns;   /* of this process, and of its children that have ended */
};
/* Sums over the target's threads that live: how long they have run, and how long they
 * waited for a processor that others had. */
struct hi_run_times {
	uint64_t ran_ns, waited_ns;
};
/* False, and unchanged: the kernel does not tell (no scheduler statistics), or the process
 * has gone. */
bool hi_run_times_read(pid_t pid, struct hi_run_times *ret);
/* Since they began; target_ns stays as it is where it is not known any more. */
void hi_cpu_times_read(pid_t pid, struct hi_cpu_times *ret);

#endif
