/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First steps of the tracer, the watchdog and the probe holder after fork(): they become
 * small processes that share with the inspector only memory and the descriptors that they
 * need.
 */
#ifndef HI_ATTACH_CHILD_H
#define HI_ATTACH_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Signals that ask a process to end are ignored: these processes end with the one that
 * started them, and in the middle of their work the target would notice it. The rest
 * are as usual and none is blocked. hi_child_settle does this too.
 */
void hi_child_set_signals(void);

/*
 * Moves the process to a session of its own (no Ctrl-C, Ctrl-Z or SIGHUP of the
 * terminal); stdin, stdout and stderr become /dev/null, every descriptor from 3 up that
 * is not in keep is closed (-1 in keep: none). name: at most 15 bytes.
 */
void hi_child_settle(const char *name, const int *keep, size_t n_keep);

/*
 * Waits at most limit_ms milliseconds for the child pid to end, and reaps it. pidfd: of
 * pid, or -1. False: it has not ended; init will reap it.
 */
bool hi_child_reap(pid_t pid, int pidfd, unsigned limit_ms);

/* Sets SCHED_FIFO with this priority (1 is the lowest), or SCHED_OTHER for 0. Does
 * nothing where it is not permitted. */
void hi_child_set_priority(int priority);

#endif
