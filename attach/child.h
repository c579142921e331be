/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tracer and the watchdog do first after fork(): become small
 * processes of their own that share nothing with the inspector but memory and
 * the descriptors that they need.
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
 * Own session (no Ctrl-C, Ctrl-Z or SIGHUP of ours); stdin, stdout and stderr become
 * /dev/null, every descriptor from 3 up that is not in keep is closed (-1 in keep: none).
 * name: at most 15 bytes.
 */
void hi_child_settle(const char *name, const int *keep, size_t n_keep);

/*
 * Waits, at most so long, for the end of a child of ours and reaps it. pidfd: of pid, or
 * -1. False: it has not ended; init reaps it one day.
 */
bool hi_child_reap(pid_t pid, int pidfd, unsigned limit_ms);

/* SCHED_FIFO with this priority (1 is the lowest), or 0: as everybody. Quietly
 * does nothing where it is not permitted. */
void hi_child_set_priority(int priority);

#endif
