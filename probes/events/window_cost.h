/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many hits a window may have.
 *
 * Note [The cost of a window]
 *
 * A target with one thread can lose no more in a window than its length, but one with
 * many loses that much in each. So a window is bounded by its cost in CPU time of all
 * threads: hits, each a trap and the program at it, and the late ones, which reach
 * breakpoints after the end, a trap each. All of that is measured in each window: traps
 * at a site of the holder, programs by themselves, and hits by counting. The next window
 * may have as many hits as cost what is allowed, by the mean of the last windows. The
 * first one has none before it, and is bounded by what a hit costs on a slow machine.
 */
#ifndef HI_PROBES_EVENTS_WINDOW_COST_H
#define HI_PROBES_EVENTS_WINDOW_COST_H

#include "probes/events/window_holder.h"

/* Sums over the last windows, the newer ones with more weight. */
struct hi_window_costs {
	uint64_t n, hits, late_hits, program_ns, entry_ns;
};

void hi_window_costs_add(struct hi_window_costs *costs,
			 const struct hi_event_window *window);
/* The mean trap of so many hits, of which some are returns; the measured cost of either
 * kind, 0: not known. */
double hi_window_trap_ns(uint64_t hits, uint64_t returns, double entry_ns,
			 double return_ns);
/* How many hits cost so much, if a trap takes trap_ns (0: not known); at least 1. */
uint64_t hi_window_budget(const struct hi_window_costs *costs, double trap_ns,
			  uint64_t cost_ns);

#endif
