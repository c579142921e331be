/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts the program of "-- PROG ARGS" and follows it to its end.
 *
 * The program is a child of this process, with the standard streams, signals and rights
 * of the caller, never more. It begins when its end is watched (attach/exit_watch.h): a
 * tracer follows it through execs and holds it where it exits, until the last image was
 * made. That is no stop: signals are handed on at once. For `record`, `alloc` and `bio` it
 * is also held at its start, until the probes are there (Note [The start of a program] in
 * attach/start_hold.h).
 *
 * Until its end was seen, ^C is the program's: the terminal sends it to both, a signal
 * that a process sends here is passed on. If this process is killed, the program runs on.
 */
#ifndef HI_CLI_RECORD_LAUNCH_H
#define HI_CLI_RECORD_LAUNCH_H

#include <signal.h>

#include "attach/exit_watch.h"
#include "session/options.h"

enum { HI_LAUNCH_SIGNALS = 4 };

/* As env(1) has them. */
enum { HI_LAUNCH_CANNOT_RUN = 126, HI_LAUNCH_NOT_FOUND = 127 };

struct hi_launch {
	pid_t pid, owner; /* owner: the parent of pid, which waits for it */
	int pidfd;
	struct hi_exit_watch watch;
	struct sigaction before[HI_LAUNCH_SIGNALS];
};

/* The disposition of SIGPIPE that this process was started with: the program's. */
void hi_launch_keep_sigpipe(void (*handler)(int));
/*
 * Starts argv (NULL at its end) by PATH. 0; otherwise nothing runs, the reason was
 * printed, and it is the exit status: 127 not found, 126 cannot be started or has rights
 * that it would lose, 3 cannot be traced.
 */
int hi_launch_start(struct hi_launch *ret, char *const *argv);
/* The same, and it is held where it has not allocated yet: hi_exit_watch_let_start(). */
int hi_launch_start_held(struct hi_launch *ret, char *const *argv);
/* Waits for the end. True: the program stands there, with its memory. */
bool hi_launch_await_end(struct hi_launch *launch);
/* Signals are this process's again. */
void hi_launch_release_signals(struct hi_launch *launch);
/* Waits until the program has exited. Returns its exit status, 128 + n for signal n; if
 * that is 0, own. In a fork: own, at once. */
int hi_launch_finish(struct hi_launch *launch, int own);

#endif
