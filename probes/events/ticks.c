/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/events/ticks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

/* A process may make threads faster than they are listed; later ones inherit. */
enum { OPENINGS_MAX = 64 };

static int open_timer_as(pid_t tid, uint64_t period_ns, bool only_threads)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = period_ns,
		.disabled = 1,
		.inherit = 1,
		/* Not the processes that it forks: since 5.13, before that the program
		 * checks it. */
		.inherit_thread = only_threads,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

/* A process may have more threads than files are allowed at first. */
static bool allow_more_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* -1: errno has the reason. */
static int open_timer(pid_t tid, uint64_t period_ns, int program)
{
	int fd = open_timer_as(tid, period_ns, true), why;

	if (fd < 0 && errno == EMFILE && allow_more_files())
		fd = open_timer_as(tid, period_ns, true);
	if (fd < 0 && errno == EINVAL)
		fd = open_timer_as(tid, period_ns, false);
	if (fd < 0)
		return -1;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) == 0 &&
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
		return fd;
	why = errno;
	close(fd);
	errno = why;
	return -1;
}

static bool has_timer_of(const struct hi_ticks *ticks, pid_t tid)
{
	for (size_t i = 0; i < ticks->events.count; i++)
		if (ticks->events.items[i].tid == tid)
			return true;
	return false;
}

static enum hi_status fail_timer(int error, struct hi_error *err)
{
	if (error != EPERM && error != EACCES)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "this kernel has no timers that run a program: %s",
			       strerror(error));
	return hi_fail(err, HI_CANNOT_ATTACH, 0, "perf_event_open needs CAP_PERFMON: %s",
		       strerror(error));
}

/* A thread that has ended has nothing to be missed. */
static enum hi_status add_timer(struct hi_ticks *ticks, pid_t tid, int program,
				uint64_t period_ns, struct hi_error *err)
{
	struct hi_tick_event event = {tid, open_timer(tid, period_ns, program)};
	int why = errno;

	if (event.fd < 0 && why != ESRCH && why != EMFILE && why != ENFILE)
		return fail_timer(why, err);
	ticks->missed += event.fd < 0 && why != ESRCH;
	if (hi_vector_push(&ticks->events, event))
		return HI_OK;
	if (event.fd >= 0)
		close(event.fd);
	return hi_fail_memory(err, "timers of threads");
}

static enum hi_status add_listed_threads(struct hi_ticks *ticks, pid_t pid, int program,
					 uint64_t period_ns, struct hi_error *err)
{
	HI_GUARD(closedir) DIR *dir = NULL;
	enum hi_status status = HI_OK;
	struct dirent *entry;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return hi_fail(err, HI_GONE, 0, "the target has exited");
	while (status == HI_OK && (entry = readdir(dir))) {
		pid_t tid = (pid_t)atoi(entry->d_name);

		if (isdigit((unsigned char)entry->d_name[0]) && !has_timer_of(ticks, tid))
			status = add_timer(ticks, tid, program, period_ns, err);
	}
	return status;
}

enum hi_status hi_ticks_open(struct hi_ticks *ticks, pid_t pid, int program,
			     uint64_t step_ns, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	size_t before;

	do {
		before = ticks->events.count;
		status = add_listed_threads(ticks, pid, program,
					    step_ns + ticks->openings, err);
		ticks->openings += ticks->events.count > before;
	} while (status == HI_OK && ticks->events.count > before &&
		 ticks->openings < OPENINGS_MAX);
	return status;
}

void hi_ticks_close(struct hi_ticks *ticks)
{
	for (size_t i = 0; i < ticks->events.count; i++) {
		int fd = ticks->events.items[i].fd;

		if (fd < 0)
			continue;
		/* Forked processes may have it, too. */
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		close(fd);
	}
	hi_vector_free(&ticks->events);
}
