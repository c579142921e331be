/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/process_use.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t read_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t) != 0)
		return UINT64_MAX;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A small file of /proc as a string; false: it is not there. */
static bool read_proc(pid_t pid, const char *name, char *out, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, out, size - 1);
	close(fd);
	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* utime + stime, fields 14 and 15, in ticks: coarser, but a zombie has them too. */
static uint64_t read_stat(pid_t pid)
{
	unsigned long long utime, stime;
	char text[1024];
	const char *s;
	long ticks = sysconf(_SC_CLK_TCK);

	/* The name is the target's own: it may hold anything but ends at the last ')'. */
	if (ticks <= 0 || !read_proc(pid, "stat", text, sizeof(text)) ||
	    !(s = strrchr(text, ')')) ||
	    sscanf(s + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
		   &utime, &stime) != 2)
		return UINT64_MAX;
	return (utime + stime) * (1000000000ull / (unsigned long long)ticks);
}

struct hi_timestamp hi_timestamp_now(pid_t pid)
{
	struct hi_timestamp now = {.cpu_ns = UINT64_MAX,
				   .wall_ns = read_ns(CLOCK_MONOTONIC)};
	clockid_t clock;

	/* The same sum as in /proc/PID/stat, but in nanoseconds. */
	if (clock_getcpuclockid(pid, &clock) == 0)
		now.cpu_ns = read_ns(clock);
	if (now.cpu_ns == UINT64_MAX)
		now.cpu_ns = read_stat(pid);
	return now;
}

int hi_process_open_status(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

uint64_t hi_process_anonymous_bytes(int status_fd)
{
	char text[4096];
	ssize_t n = pread(status_fd, text, sizeof(text) - 1, 0);
	const char *s;

	text[n > 0 ? n : 0] = '\0';
	if (!(s = strstr(text, "\nRssAnon:")))
		return UINT64_MAX;
	return strtoull(s + 9, NULL, 10) << 10;
}
