/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a recording of all allocations has become dear (sample_choice.h) since it began.
 */
#ifndef HI_SESSION_LIVE_COST_WATCH_H
#define HI_SESSION_LIVE_COST_WATCH_H

#include "session/live/cpu_times.h"
#include "session/live/recorder.h"

/* Zeros at first. */
struct hi_cost_watch {
	uint64_t looked_ns, calls; /* at the last look */
	struct hi_cpu_times cpu;
	struct hi_run_times run;
	unsigned n_dear; /* looks in a row */
};
/*
 * Looks at the cost every two seconds; call it often. True: it is at least twice what is
 * dear, now and at the looks before, so that it is no peak: *ret is the cost. pid: the
 * target.
 */
bool hi_cost_watch_look(struct hi_cost_watch *watch, struct hi_recorder *recorder,
			pid_t pid, struct hi_whole_cost *ret);

#endif
