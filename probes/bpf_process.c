/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/bpf_process.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

enum {
	INITIAL_PID_NS = 0xEFFFFFFC, /* its inode: PROC_PID_INIT_INO of linux/proc_ns.h */
	TASKS_MAX = 1 << 16,
};

/* The last number of "NStgid:"; pid where there is none. */
static pid_t innermost_tgid(pid_t pid)
{
	HI_GUARD(fclose) FILE *file = NULL;
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *last = strrchr(line, '\t');

		if (strncmp(line, "NStgid:", 7) == 0 && last)
			return (pid_t)atoi(last);
	}
	return pid;
}

enum hi_status hi_bpf_process_find(pid_t pid, struct hi_bpf_process *ret,
				   struct hi_error *err)
{
	struct stat own, other;
	char path[64];

	*ret = (struct hi_bpf_process){.tgid = (uint32_t)pid};
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	if (stat("/proc/self/ns/pid", &own) != 0)
		return hi_fail_errno(err, "/proc/self/ns/pid");
	if (own.st_ino == INITIAL_PID_NS)
		return HI_OK;
	if (stat(path, &other) != 0)
		return hi_fail_errno(err, "%s", path);
	ret->ns_device = other.st_dev;
	ret->ns_inode = other.st_ino;
	ret->tgid = (uint32_t)innermost_tgid(pid);
	ret->has_foreign_tids = other.st_ino != own.st_ino;
	return HI_OK;
}

pid_t hi_bpf_process_tid(pid_t pid, pid_t tid)
{
	HI_GUARD(closedir) DIR *dir = NULL;
	struct dirent *entry;
	char path[96], line[256];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	for (int i = 0; dir && i < TASKS_MAX && (entry = readdir(dir)); i++) {
		HI_GUARD(fclose) FILE *file = NULL;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/status", (int)pid,
			 entry->d_name);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file)) {
			const char *last = strrchr(line, '\t');

			if (strncmp(line, "NSpid:", 6) == 0 && last && atoi(last) == tid)
				return (pid_t)atoi(entry->d_name);
		}
	}
	return 0;
}

bool hi_bpf_process_has_no_main_thread(pid_t pid)
{
	HI_GUARD(fclose) FILE *file = NULL;
	char path[64], line[512], *paren;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		return false;
	paren = strrchr(line, ')');
	return paren && strncmp(paren, ") Z", 3) == 0;
}
