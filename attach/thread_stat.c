/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/thread_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXITING 4 /* PF_EXITING, include/linux/sched.h */

/* Reads a small file of /proc; returns its length, terminated, 0 on failure. */
static size_t read_small(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		n = 0;
	buf[n] = 0;
	return (size_t)n;
}

/* Field n (3 and up) of a thread's stat; NULL if there is no such thread. */
static const char *stat_field(pid_t pid, pid_t tid, int n, char *text, size_t size)
{
	char path[64], *at;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	if (!read_small(path, text, size))
		return NULL;
	at = strrchr(text, ')'); /* the name may hold anything */
	for (int field = 2; at && field < n; field++)
		at = strchr(at + 1, ' ');
	return at ? at + 1 : NULL;
}

char hi_thread_state(pid_t pid, pid_t tid)
{
	char text[1024];
	const char *state = stat_field(pid, tid, 3, text, sizeof(text));

	return state ? *state : 0;
}

int hi_thread_cpu(pid_t pid, pid_t tid)
{
	char text[1024];
	const char *cpu = stat_field(pid, tid, 39, text, sizeof(text));

	return cpu ? (int)strtol(cpu, NULL, 10) : -1;
}

void hi_thread_name(pid_t pid, pid_t tid, char name[16])
{
	char path[64], text[32];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	n = read_small(path, text, sizeof(text));
	if (n && text[n - 1] == '\n')
		n--;
	if (n > 15)
		n = 15;
	memcpy(name, text, n);
	name[n] = 0;
}

pid_t hi_thread_tracer(pid_t pid, pid_t tid)
{
	char path[64], text[2048], *at;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	if (!read_small(path, text, sizeof(text)))
		return 0;
	at = strstr(text, "\nTracerPid:");
	return at ? (pid_t)strtol(at + 11, NULL, 10) : 0;
}

/* Returns the text after `key` ("\nName:") in /proc/PID/task/TID/status; NULL: no such
 * key. */
static const char *status_field(pid_t pid, pid_t tid, const char *key, char *text,
				size_t size)
{
	char path[64], *at;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	at = read_small(path, text, size) ? strstr(text, key) : NULL;
	return at ? at + strlen(key) : NULL;
}

bool hi_thread_is_filtered(pid_t pid, pid_t tid)
{
	char text[4096];
	const char *mode = status_field(pid, tid, "\nSeccomp:", text, sizeof(text));

	return !mode || strtol(mode, NULL, 10) != 0;
}

bool hi_thread_is_asleep(pid_t pid, pid_t tid, uint64_t *switches_ret)
{
	char text[4096];
	const char *own =
		status_field(pid, tid, "\nvoluntary_ctxt_switches:", text, sizeof(text));
	const char *lost = own ? strstr(own, "\nnonvoluntary_ctxt_switches:") : NULL;
	const char *state = strstr(text, "\nState:\t");

	if (!lost || !state || state[8] != 'S')
		return false;
	*switches_ret = strtoull(own, NULL, 10) + strtoull(lost + 28, NULL, 10);
	return true;
}

bool hi_thread_is_exiting(pid_t pid, pid_t tid)
{
	char text[1024];
	const char *flags = stat_field(pid, tid, 9, text, sizeof(text));

	return !flags || (strtoul(flags, NULL, 10) & EXITING);
}
