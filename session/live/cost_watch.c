/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/cost_watch.h"

#include "base/clock.h"
#include "session/live/cpu_times.h"

enum { DEAR_LOOKS = 3 };
static const uint64_t watch_period_ns = 2 * HI_NS_PER_S;

/* Since the last look; a malloc and its free are two calls. */
static struct hi_allocation_rate rate_since(const struct hi_cost_watch *then,
					    const struct hi_cost_watch *now)
{
	return (struct hi_allocation_rate){
		.allocations = (now->calls - then->calls) / 2,
		.time_ns = now->looked_ns - then->looked_ns,
		.cpu_ns = now->cpu.target_ns - then->cpu.target_ns,
		.waited_ns = now->run.waited_ns > then->run.waited_ns
				     ? now->run.waited_ns - then->run.waited_ns
				     : 0};
}

bool hi_cost_watch_look(struct hi_cost_watch *watch, struct hi_recorder *recorder,
			pid_t pid, struct hi_whole_cost *ret)
{
	struct hi_cost_watch now = *watch;
	struct hi_allocation_rate rate;

	now.looked_ns = hi_clock_ns();
	if (now.looked_ns - watch->looked_ns < watch_period_ns)
		return false;
	now.calls = hi_recorder_calls(recorder);
	hi_cpu_times_read(pid, &now.cpu);
	(void)hi_run_times_read(pid, &now.run);
	rate = rate_since(watch, &now);
	*ret = hi_whole_cost(&rate, true);
	now.n_dear = watch->looked_ns && ret->is_at_least_twice ? watch->n_dear + 1 : 0;
	*watch = now;
	return now.n_dear >= DEAR_LOOKS;
}
