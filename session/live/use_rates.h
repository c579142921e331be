/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often functions of a target are called, before they get probes.
 *
 * Note [Rates are measured by hardware breakpoints]
 *
 * A probe of a function that is called all the time slows the program down until it is
 * taken away, which takes the kernel tens of milliseconds, and some seconds where probes
 * were opened a moment ago (Note [Anchors] in probes/probe_holder.c). A hardware
 * breakpoint of a perf event (probes/watchpoints.h) is gone within microseconds. A thread
 * has four: so some functions at a time are counted for WINDOW_NS, less where hits have
 * taken their share of the program's time, and more where it had no processor meanwhile.
 */
#ifndef HI_SESSION_LIVE_USE_RATES_H
#define HI_SESSION_LIVE_USE_RATES_H

#include "probes/watchpoints.h"

struct hi_use_rates {
	pid_t pid;
	struct hi_watchpoints *points; /* hi_watchpoints_open_code(); borrowed */
	uint64_t patience_ns; /* how much longer it may take where the target does not run
			       */
};

/* Calls a second: of what was not seen, half a call. */
uint64_t hi_use_rate(uint64_t calls, uint64_t ns);
/*
 * Measures the calls a second of the functions at these n addresses, of all threads. For
 * a function that is called very often it is a lower bound, which is far too often. n: 1
 * to HI_WATCHPOINTS_MAX. *cost_ns_ret: what that took of the target's time. Errors:
 * hi_watchpoints_set()'s.
 */
enum hi_status hi_use_rates_measure(struct hi_use_rates *r, const uint64_t *addresses,
				    unsigned n, uint64_t *rates_ret,
				    uint64_t *cost_ns_ret, struct hi_error *err);

#endif
