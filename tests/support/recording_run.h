/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `heapinspect record` or `bio` beside a test: started, at work, ended.
 *
 *	struct recording_run run = recording_start(fx->pid, "-o", file, NULL);
 *	hi_fixture_tell(fx, "go");
 *	struct hi_command *c = recording_end(&run, SIGINT);
 */
#ifndef HI_TESTS_SUPPORT_RECORDING_RUN_H
#define HI_TESTS_SUPPORT_RECORDING_RUN_H

#include <stdbool.h>

#include "tests/support/command.h"

/* Against hanging only: others may have the processors. */
enum { RECORDING_PATIENCE_MS = 300000 };

struct recording_run {
	pid_t pid;	     /* of heapinspect */
	int out, err;	     /* read ends */
	char begun[1 << 14]; /* on stderr, as far as it was read */
	size_t taken;	     /* of it, lines that recording_says() has gone past */
};

/* Starts it on a process with more arguments up to NULL; without --sample among them, all
 * allocations are recorded; and returns when it records.
 * Killed and reaped when the test ends. Fails the test if it ends before. */
struct recording_run recording_start(pid_t target, ...) __attribute__((sentinel));
/* Until it has printed the text on stderr so many times. */
void recording_await(struct recording_run *run, const char *text, size_t times);
/* The same with another command that records, without options of its own; returns when
 * it has said `begun`. */
struct recording_run recording_start_as(const char *command, const char *begun,
					pid_t target, const char *const *words);
/* Reads its stderr up to and with the next line that has the text. False: nothing has
 * come for so many milliseconds. Fails the test if it ends before. */
bool recording_says(struct recording_run *run, const char *text, int timeout_ms);
/* Until it has a file with this in its name open, as it has those of the target's code
 * that it has seen. */
void recording_await_code(const struct recording_run *run, const char *name);
/* Sends it the signal (0: none) and waits for its end. Freed when the test ends. */
struct hi_command *recording_end(struct recording_run *run, int number);

#endif
