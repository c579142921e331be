/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/use_rates.h"

#include <time.h>

#include "base/clock.h"

enum { WINDOW_NS = 20000000, STEP_NS = 1000000, SHARE_NS = 1000000 };

uint64_t hi_use_rate(uint64_t calls, uint64_t ns)
{
	return (uint64_t)(((double)calls + 0.5) * HI_NS_PER_S / (double)(ns + 1));
}

/* Removes probes that used up their budget. Returns how many remain. */
static unsigned look_at_rates(struct hi_watchpoints *points, unsigned n, bool *is_over,
			      uint64_t start_ns, uint64_t *rates)
{
	unsigned left = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t hits = hi_watchpoints_hits(points, i);

		if (is_over[i])
			continue;
		rates[i] = hi_use_rate(hits, hi_clock_ns() - start_ns);
		is_over[i] = hits * hi_watchpoints_hit_ns(points) >= SHARE_NS;
		if (is_over[i])
			hi_watchpoints_end(points, i);
		left += !is_over[i];
	}
	return left;
}

/* 0: not known. */
static uint64_t processor_time_of(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return (uint64_t)time.tv_sec * HI_NS_PER_S + (uint64_t)time.tv_nsec;
}

/* Is it to be looked at longer? It sleeps, or waits for a processor. */
static bool is_waited_for(struct hi_use_rates *r, uint64_t ran_ns)
{
	if (r->patience_ns < STEP_NS || processor_time_of(r->pid) != ran_ns)
		return false;
	r->patience_ns -= STEP_NS;
	return true;
}

enum hi_status hi_use_rates_measure(struct hi_use_rates *r, const uint64_t *addresses,
				    unsigned n, uint64_t *rates_ret,
				    uint64_t *cost_ns_ret, struct hi_error *err)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	uint64_t places[HI_WATCHPOINTS_MAX] = {}, start_ns, end_ns, ran_ns;
	struct hi_watchpoints *points = r->points;
	bool is_over[HI_WATCHPOINTS_MAX] = {};
	enum hi_status status;

	for (unsigned i = 0; i < n; i++)
		places[i] = addresses[i];
	status = hi_watchpoints_set(points, places, err);
	start_ns = hi_clock_ns();
	end_ns = start_ns + WINDOW_NS;
	ran_ns = processor_time_of(r->pid);
	while (status == HI_OK &&
	       look_at_rates(points, n, is_over, start_ns, rates_ret) &&
	       (hi_clock_ns() < end_ns || is_waited_for(r, ran_ns)))
		nanosleep(&step, NULL);
	*cost_ns_ret = 0;
	for (unsigned i = 0; i < n; i++) {
		hi_watchpoints_end(points, i);
		*cost_ns_ret +=
			hi_watchpoints_hits(points, i) * hi_watchpoints_hit_ns(points);
	}
	return status;
}
