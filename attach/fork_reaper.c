/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [The parent of the orphan]
 *
 * The snapshot child goes to the nearest subreaper above the target, which has asked for
 * orphans, or else to process 1 of the pid namespace. That of the machine reaps all
 * orphans. In a container it is often the service itself. A service that never waits for
 * unknown children would keep a zombie, and PostgreSQL takes the end of an unknown child
 * by a signal for a crash of one of its own. So in a container it must be a program that
 * is known to reap.
 */
#include "attach/fork_internal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/procfs.h"
#include "base/cleanup.h"

#define STATUS_SIZE 8192
#define MAX_PROCESSES 1000000
#define INITIAL_PID_NS "pid:[4026531836]" /* PROC_PID_INIT_INO, linux/proc_ns.h */

/* The last number of "NSpid:\t812\t1". */
bool hi_fork_is_init(const char *status)
{
	const char *field = hi_proc_field(status, "NSpid");
	size_t length = field ? strcspn(field, "\n") : 0;

	while (length && field[length - 1] >= '0' && field[length - 1] <= '9')
		length--;
	return field && strtol(field + length, NULL, 10) == 1;
}

static bool is_known_reaper(const char *name)
{
	static const char *const names[] = {
		"systemd",   "init",	    "tini",	   "tini-static", "docker-init",
		"dumb-init", "pause",	    "catatonit",   "s6-svscan",	  "runit",
		"bwrap",     "podman-init", "openrc-init", "sysbox-init",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool read_pid_ns(const char *pid, char *out, size_t size)
{
	char path[96];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%.20s/ns/pid", pid);
	n = readlink(path, out, size - 1);
	out[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* Is pid process 1 of that namespace? Then its name. */
static bool is_its_init(const char *pid, const char *ns, char name[32])
{
	char other[64], text[STATUS_SIZE];
	const char *field;

	if (!read_pid_ns(pid, other, sizeof(other)) || strcmp(ns, other) != 0)
		return false;
	if (!hi_proc_read_small((pid_t)strtol(pid, NULL, 10), "status", text,
				sizeof(text), NULL) ||
	    !hi_fork_is_init(text))
		return false;
	field = hi_proc_field(text, "Name");
	snprintf(name, 32, "%.*s", field ? (int)strcspn(field, "\n") : 0,
		 field ? field : "");
	return true;
}

static bool find_init(const char *ns, char name[32])
{
	DIR *proc HI_GUARD(closedir) = opendir("/proc");
	struct dirent *entry;

	for (long i = 0; proc && i < MAX_PROCESSES && (entry = readdir(proc)); i++)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    is_its_init(entry->d_name, ns, name))
			return true;
	return false;
}

enum hi_status hi_fork_check_reaper(pid_t pid, struct hi_error *err)
{
	char ns[64], who[16], name[32] = "its state cannot be read";

	snprintf(who, sizeof(who), "%d", (int)pid);
	if (!read_pid_ns(who, ns, sizeof(ns)) || strcmp(ns, INITIAL_PID_NS) == 0 ||
	    (find_init(ns, name) && is_known_reaper(name)))
		return HI_OK;
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "process 1 of its pid namespace (%s) would inherit the copy, and "
		       "is not known to reap children that it did not start",
		       name);
}
