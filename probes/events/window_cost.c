/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/events/window_cost.h"

enum { WINDOWS_WEIGHED = 8 };
/* A trap and its program on a slow machine. */
static const double unknown_hit_ns = 2500;
/* Late hits take no more than that of what is allowed. */
static const double late_most = 0.75;

void hi_window_costs_add(struct hi_window_costs *costs,
			 const struct hi_event_window *window)
{
	if (costs->n == WINDOWS_WEIGHED)
		*costs = (struct hi_window_costs){
			costs->n / 2, costs->hits / 2, costs->late_hits / 2,
			costs->program_ns / 2, costs->entry_ns / 2};
	costs->n++;
	costs->hits += window->hits;
	costs->late_hits += window->late_hits;
	costs->program_ns += window->program_ns;
	costs->entry_ns += window->entry_ns;
}

double hi_window_trap_ns(uint64_t hits, uint64_t returns, double entry_ns,
			 double return_ns)
{
	if (!hits || returns > hits)
		return 0;
	return ((double)(hits - returns) * entry_ns + (double)returns * return_ns) /
	       (double)hits;
}

uint64_t hi_window_budget(const struct hi_window_costs *costs, double trap_ns,
			  uint64_t cost_ns)
{
	double allowed = (double)cost_ns, late, hit, n;

	if (!costs->hits || trap_ns <= 0) {
		n = allowed / unknown_hit_ns;
		return n < 1 ? 1 : (uint64_t)n;
	}
	late = (double)costs->late_hits / (double)costs->n * trap_ns;
	allowed -= late < late_most * allowed ? late : late_most * allowed;
	hit = trap_ns + (double)costs->program_ns / (double)costs->hits;
	n = allowed / hit;
	return n < 1 ? 1 : n < 1e9 ? (uint64_t)n : 1000000000;
}
