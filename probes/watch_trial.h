/* SPDX-License-Identifier: BSD-2-Clause */
/* A process of our own that reads and writes words, to try watchpoints on. */
#ifndef HI_PROBES_WATCH_TRIAL_H
#define HI_PROBES_WATCH_TRIAL_H

#include <sys/types.h>

#include "base/error.h"

/* Accesses of each word. */
enum { HI_WATCH_TRIAL_READS = 250, HI_WATCH_TRIAL_WRITES = 25 };
enum { HI_WATCH_TRIAL_HITS = HI_WATCH_TRIAL_READS + HI_WATCH_TRIAL_WRITES };

struct hi_watch_trial {
	pid_t pid;
	int pidfd, socket;
	unsigned n;
};
/* Starts it, with n words (at most 8). In any case hi_watch_trial_end() comes after it.
 * HI_OS, HI_TIMEOUT. */
enum hi_status hi_watch_trial_start(struct hi_watch_trial *ret, unsigned n,
				    struct hi_error *err);
/* The address of a word there. */
uint64_t hi_watch_trial_word(const struct hi_watch_trial *trial, unsigned i);
/* Has the words accessed; *took_ns: the processor's time for that. HI_TIMEOUT;
 * HI_UNSUPPORTED: the process was killed by SIGTRAP. */
enum hi_status hi_watch_trial_run(struct hi_watch_trial *trial, uint64_t *took_ns,
				  struct hi_error *err);
void hi_watch_trial_end(struct hi_watch_trial *trial);

#endif
