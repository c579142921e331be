/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/series/pace.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/number.h"

#define SPARING_SHARE 0.03   /* of all processors, where none is idle */
#define PLAIN_SHARE 0.5	     /* of one */
#define IDLE_ENOUGH 0.5	     /* processors: a census has one for most of its time */
#define LEAST_NS 50000000ull /* of idle time: ticks of /proc/stat are 10 ms */
#define GAP_NS 60000000ull   /* between two censuses, in which it is measured */
#define AGE_NS HI_NS_PER_S   /* after which a measurement is made again */
#define MOST_REST_NS (600 * HI_NS_PER_S)

static uint64_t read_idle_ns(void)
{
	uint64_t user, nice, system, idle = 0, io_wait = 0;
	FILE *file = fopen("/proc/stat", "re");

	if (!file)
		return 0;
	if (fscanf(file, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
		   &user, &nice, &system, &idle, &io_wait) != 5)
		idle = io_wait = 0;
	fclose(file);
	return (idle + io_wait) * (HI_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

static uint64_t time_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * HI_NS_PER_S + (uint64_t)time->tv_usec * 1000;
}

/* With its processes that have ended. */
static uint64_t read_own_ns(void)
{
	static const int of[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
	struct rusage usage;
	uint64_t sum = 0;

	for (unsigned i = 0; i < 2; i++)
		if (getrusage(of[i], &usage) == 0)
			sum += time_ns(&usage.ru_utime) + time_ns(&usage.ru_stime);
	return sum;
}

void hi_pace_start(struct hi_pace *ret, bool spares_target)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned processors = n > 0 ? (unsigned)n : 1;

	*ret = (struct hi_pace){.processors = processors,
				.share = spares_target ? SPARING_SHARE * processors
						       : PLAIN_SHARE,
				.measures_each = spares_target,
				.ended_ns = hi_clock_ns(),
				.idle_ns = read_idle_ns()};
}

void hi_pace_begin_census(struct hi_pace *pace)
{
	uint64_t time = hi_clock_ns() - pace->ended_ns, idle = read_idle_ns();

	pace->own_ns = read_own_ns();
	if (time < LEAST_NS || !idle || idle < pace->idle_ns)
		return; /* as it was */
	pace->idle = (double)(idle - pace->idle_ns) / (double)time;
	pace->is_known = true;
	pace->measured_ns = hi_clock_ns();
}

bool hi_pace_is_machine_busy(const struct hi_pace *pace)
{
	return pace->is_known && pace->idle < IDLE_ENOUGH;
}

unsigned hi_pace_threads(const struct hi_pace *pace, unsigned most)
{
	unsigned idle = (unsigned)(pace->idle + IDLE_ENOUGH);

	if (!pace->is_known)
		return most;
	if (most == 0)
		most = pace->processors;
	return idle < 1 ? 1 : idle < most ? idle : most;
}

uint64_t hi_pace_rest_ns(double idle, double share, uint64_t spent_ns)
{
	double rest = (double)spent_ns / share;

	if (idle >= IDLE_ENOUGH)
		return 0;
	return rest < (double)MOST_REST_NS ? (uint64_t)rest : MOST_REST_NS;
}

/* Until when the machine is left alone so that its idle time can be seen. Censuses that
 * follow each other closely would leave no such time. */
static uint64_t measuring_until_ns(const struct hi_pace *pace)
{
	bool is_old = pace->ended_ns >= pace->measured_ns + AGE_NS;

	return pace->ended_ns + (pace->measures_each || is_old ? GAP_NS : 0);
}

uint64_t hi_pace_end_census(struct hi_pace *pace, uint64_t began_ns)
{
	uint64_t rests_until = 0;

	pace->spent_ns = read_own_ns() - pace->own_ns;
	pace->ended_ns = hi_clock_ns();
	pace->idle_ns = read_idle_ns();
	if (pace->is_known)
		rests_until = began_ns +
			      hi_pace_rest_ns(pace->idle, pace->share, pace->spent_ns);
	return hi_max(rests_until, measuring_until_ns(pace));
}
