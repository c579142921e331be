/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run of heapinspect that is held where it prints: its standard output or error is a
 * pipe that is full. Ended when the test is over.
 */
#ifndef HI_TESTS_SUPPORT_HELD_RUN_H
#define HI_TESTS_SUPPORT_HELD_RUN_H

#include <stdbool.h>
#include <sys/types.h>

enum { HI_HELD_PIPE = 4096 }; /* bytes that the pipes take */

struct hi_held_run {
	pid_t pid;     /* 0: its end was waited for */
	pid_t decoder; /* for the test */
	int out, err;  /* read ends */
};

/* arguments: up to NULL, at most 30. */
struct hi_held_run *hi_held_run_start(bool full_out, bool full_err,
				      const char *const arguments[]);
/* Kills it, and waits for its end. */
void hi_held_run_end(struct hi_held_run *run);
/* Waits until it, or a process that it has started, is in write() to this descriptor, and
 * returns that process. Fails the test if it ends before. Needs root. */
pid_t hi_held_run_writer(const struct hi_held_run *run, int descriptor);

#endif
