/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `heapinspect record` beside a test: started, at work, ended.
 *
 *	struct recording_run run = recording_start(fx->pid, "-o", file, NULL);
 *	hi_fixture_tell(fx, "go");
 *	struct hi_command *c = recording_end(&run, SIGINT);
 */
#ifndef HI_TESTS_SUPPORT_RECORDING_RUN_H
#define HI_TESTS_SUPPORT_RECORDING_RUN_H

#include "tests/support/command.h"

struct recording_run {
	pid_t pid;	  /* of heapinspect */
	int out, err;	  /* read ends */
	char begun[4096]; /* on stderr, as far as it was awaited */
};

/* Starts it on a process with more arguments up to NULL; without --sample among them, all
 * allocations are recorded; and returns when it records.
 * Killed and reaped when the test ends. Fails the test if it ends before. */
struct recording_run recording_start(pid_t target, ...) __attribute__((sentinel));
/* Until it has printed the text on stderr so many times. */
void recording_await(struct recording_run *run, const char *text, size_t times);
/* Sends it the signal (0: none) and waits, at most 60 s. Freed when the test ends. */
struct hi_command *recording_end(struct recording_run *run, int number);

#endif
