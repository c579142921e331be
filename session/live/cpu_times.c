/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/cpu_times.h"

#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"

static uint64_t ns_of_timespec(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * HI_NS_PER_S + (uint64_t)t->tv_nsec;
}

static uint64_t ns_of_timeval(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * HI_NS_PER_S + (uint64_t)t->tv_usec * 1000;
}

void hi_cpu_times_read(pid_t pid, struct hi_cpu_times *ret)
{
	struct rusage children;
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &time) == 0)
		ret->target_ns = ns_of_timespec(&time);
	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 &&
	    getrusage(RUSAGE_CHILDREN, &children) == 0)
		ret->tool_ns = ns_of_timespec(&time) + ns_of_timeval(&children.ru_utime) +
			       ns_of_timeval(&children.ru_stime);
}
