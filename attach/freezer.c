/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Version 1 keeps "freezer.state" in a hierarchy of its own, and its tasks sleep
 * uninterruptibly: no signal and no ptrace stop reaches them (kernel:
 * cgroup-v1/freezer-subsystem.rst). Version 2 has "frozen 1" in cgroup.events;
 * such a task can be stopped by ptrace, but runs no instruction (cgroup-v2.rst).
 */
#include "attach/freezer.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/procfs.h"
#include "attach/thread_stat.h"

#define PATH_SIZE 4096
#define MAX_LINES 65536
#define MAX_THREADS 64 /* checked at most */

struct mount {
	char root[PATH_SIZE], point[PATH_SIZE];
};

/* Is word one of a list that is divided by commas? */
static bool has_listed_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
		if ((at == list || at[-1] == ',') &&
		    (!at[n] || at[n] == ',' || at[n] == '\n'))
			return true;
	return false;
}

/* "36 35 98:0 /root /point rw - type source super,options" (proc(5)). */
static bool parse_mount(const char *line, bool second, struct mount *ret)
{
	const char *tail = strstr(line, " - ");
	char type[32], options[1024];

	if (!tail || sscanf(tail, " - %31s %*s %1023s", type, options) != 2)
		return false;
	if (second ? strcmp(type, "cgroup2") != 0
		   : strcmp(type, "cgroup") != 0 || !has_listed_word(options, "freezer"))
		return false;
	return sscanf(line, "%*d %*d %*s %4095s %4095s", ret->root, ret->point) == 2;
}

static bool find_mount(bool second, struct mount *ret)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[3 * PATH_SIZE];
	bool found = false;

	for (int i = 0; file && !found && i < MAX_LINES; i++) {
		if (!fgets(line, sizeof(line), file))
			break;
		found = parse_mount(line, second, ret);
	}
	if (file)
		fclose(file);
	return found;
}

/* Does a file of the cgroup hold this text? A path outside the mount is not seen. */
static bool cgroup_file_contains(bool second, const char *path, const char *name,
				 const char *text)
{
	static struct mount mount; /* of a process of one thread */
	char file_name[2 * PATH_SIZE + 64], content[512] = "";
	size_t n;
	FILE *file;

	if (!find_mount(second, &mount))
		return false;
	n = strlen(mount.root);
	if (n > 1 && strncmp(path, mount.root, n) == 0)
		path += n;
	snprintf(file_name, sizeof(file_name), "%s%s/%s", mount.point, path, name);
	file = fopen(file_name, "re");
	if (!file)
		return false;
	n = fread(content, 1, sizeof(content) - 1, file);
	fclose(file);
	content[n] = 0;
	return strstr(content, text);
}

/* A line of /proc/PID/cgroup, "ID:CONTROLLERS:/path"; of version 2 "0::/path". */
static bool is_freezing(char *line, char *name, size_t size)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;
	bool second;

	if (!path)
		return false;
	*path++ = 0;
	path[strcspn(path, "\n")] = 0;
	controllers++;
	second = !*controllers;
	if (second ? !cgroup_file_contains(true, path, "cgroup.events", "frozen 1")
		   : !has_listed_word(controllers, "freezer") ||
			     !cgroup_file_contains(false, path, "freezer.state", "FR"))
		return false; /* FREEZING or FROZEN; else THAWED */
	snprintf(name, size, "%s", path);
	return true;
}

/* Returns whether it sleeps in the freezer of the kernel, if that may be read. */
static bool sleeps_frozen(pid_t pid)
{
	char text[128];

	return hi_proc_read_small(pid, "wchan", text, sizeof(text), NULL) &&
	       (strstr(text, "refrigerator") || strstr(text, "freezer_trap"));
}

bool hi_freezer_holds(pid_t pid, char *name, size_t size)
{
	char path[64], line[PATH_SIZE + 64];
	bool found = false;
	FILE *file;

	name[0] = 0;
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	file = fopen(path, "re");
	for (int i = 0; file && !found && i < MAX_LINES; i++) {
		if (!fgets(line, sizeof(line), file))
			break;
		found = is_freezing(line, name, size);
	}
	if (file)
		fclose(file);
	return found || sleeps_frozen(pid);
}

static bool all_uninterruptible(pid_t pid)
{
	char path[64];
	struct dirent *entry;
	int n = 0, asleep = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && n < MAX_THREADS && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		n++;
		asleep += hi_thread_state(pid, tid) == 'D';
	}
	if (dir)
		closedir(dir);
	return n && n == asleep;
}

const char *hi_freezer_explain(pid_t pid, char *text, size_t size)
{
	char name[256];

	text[0] = 0;
	if (hi_freezer_holds(pid, name, sizeof(name)))
		snprintf(text, size, "; it is frozen (cgroup freezer%s%s)",
			 name[0] ? " " : "", name);
	else if (all_uninterruptible(pid))
		snprintf(text, size, "; it is in an uninterruptible sleep");
	return text;
}
