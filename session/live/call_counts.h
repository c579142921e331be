/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the calls of functions of a running process, by probes at their entries, from
 * the open until the last stop for a census.
 */
#ifndef HI_SESSION_LIVE_CALL_COUNTS_H
#define HI_SESSION_LIVE_CALL_COUNTS_H

#include "probes/call_sites.h"
#include "session/options.h"
#include "session/stop_observer.h"

struct hi_call_counts;
struct hi_call_count {
	const char *name;   /* demangled; hostile */
	const char *module; /* path of the file with its code; hostile */
	uint64_t calls;
};

/* Uses the target, verbose and no_sandbox of the options. *ret: hi_call_counts_close().
 * Errors as of hi_target_open(), hi_call_sites_find_in() and hi_use_probes_set(). */
enum hi_status hi_call_counts_open(const struct hi_options *options,
				   const struct hi_call_patterns *patterns,
				   struct hi_call_counts **ret, struct hi_error *err);
/* For hi_stop_observers_add(): the counts are taken while the target is stopped. NULL for
 * NULL. */
struct hi_stop_observer *hi_call_counts_observer(struct hi_call_counts *counts);
/* Takes the probes away, and returns their counts at the last stop, or without one the
 * present ones: *n_ret of them, most calls first, borrowed until the close. */
const struct hi_call_count *hi_call_counts_end(struct hi_call_counts *counts,
					       size_t *n_ret);
/* Returns the time that a count takes the target, in ns, as measured. */
uint64_t hi_call_counts_cost_ns(const struct hi_call_counts *counts);
void hi_call_counts_close(struct hi_call_counts *counts); /* NULL is fine */

#endif
