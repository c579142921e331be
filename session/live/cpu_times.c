/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/cpu_times.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "base/cleanup.h"
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

/* False: it has ended, or there are no statistics. */
static bool add_run_times_of_thread(pid_t pid, const char *tid, struct hi_run_times *sum)
{
	HI_GUARD(fclose) FILE *file = NULL;
	uint64_t ran = 0, waited = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/schedstat", (int)pid, tid);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%" SCNu64 " %" SCNu64, &ran, &waited) != 2)
		return false;
	sum->ran_ns += ran;
	sum->waited_ns += waited;
	return true;
}

bool hi_run_times_read(pid_t pid, struct hi_run_times *ret)
{
	HI_GUARD(closedir) DIR *threads = NULL;
	struct hi_run_times sum = {};
	struct dirent *thread;
	bool found = false;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	threads = opendir(path);
	while (threads && (thread = readdir(threads)))
		if (thread->d_name[0] != '.')
			found |= add_run_times_of_thread(pid, thread->d_name, &sum);
	if (found)
		*ret = sum;
	return found;
}
