/* SPDX-License-Identifier: BSD-2-Clause */
/* The CPU time and the memory of a process. */
#ifndef HI_SESSION_PROCESS_USE_H
#define HI_SESSION_PROCESS_USE_H

#include <stdint.h>
#include <sys/types.h>

struct hi_timestamp {
	/* CPU time of all threads of the process since it began, those that have
	 * ended too; UINT64_MAX: it is gone. Being stopped costs it nothing. */
	uint64_t cpu_ns;
	uint64_t wall_ns; /* CLOCK_MONOTONIC */
};

/* Reads the clocks of a process and of the system; never fails. */
struct hi_timestamp hi_timestamp_now(pid_t pid);
/* For hi_process_anonymous_bytes(); -1: there is no such process. Another user may read
 * it, even where /proc hides processes. */
int hi_process_open_status(pid_t pid);
/* Resident memory that no file backs (RssAnon); UINT64_MAX: unknown. */
uint64_t hi_process_anonymous_bytes(int status_fd);

#endif
