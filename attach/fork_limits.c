/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reasons against a fork. Checked beforehand where a failed clone() would be noticed, or
 * where it would not fail but do harm. For everything else clone() itself fails.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/fork_internal.h"
#include "attach/free_memory.h"
#include "attach/procfs.h"
#include "base/text.h"

/*
 * The share of the target's writable memory that has to be free: it writes to a part of
 * it in the seconds that the child lives, and when memory runs out all the same the child
 * is killed first (oom_score_adj 1000). Page tables take 1/512.
 */
#define WRITTEN_SHARE 4
#define PAGE_TABLE_SHARE 512
#define NEEDED_PIDS 2

#define STATUS_SIZE 8192
#define MAX_FDS 100000
#define EVENT_FORK 2u /* UFFD_FEATURE_EVENT_FORK, linux/userfaultfd.h */

static enum hi_status check_fork_memory(const char *who, uint64_t writable,
					struct hi_error *err)
{
	uint64_t need = writable / WRITTEN_SHARE + writable / PAGE_TABLE_SHARE;
	uint64_t left = hi_memory_available_to("/proc", who, "/sys/fs/cgroup");
	char left_text[24], writable_text[24];

	if (left >= need)
		return HI_OK;
	return hi_fail(
		err, HI_UNSUPPORTED, 0,
		"only %s of memory are free for copied pages, and it may write to %s",
		hi_text_bytes(left_text, left), hi_text_bytes(writable_text, writable));
}

/* Its children would be the first ones of another pid namespace. */
static bool has_other_children_ns(const char *directory)
{
	char path[96], own[64] = "", children[64] = "";

	snprintf(path, sizeof(path), "%s/ns/pid", directory);
	if (readlink(path, own, sizeof(own) - 1) < 0)
		return false;
	snprintf(path, sizeof(path), "%s/ns/pid_for_children", directory);
	if (readlink(path, children, sizeof(children) - 1) < 0)
		return errno == ENOENT; /* made, without a process yet */
	return strcmp(own, children) != 0;
}

static enum hi_status check_status(const char *status, struct hi_error *err)
{
	const char *features = hi_proc_field(status, "x86_Thread_features");
	const char *state = hi_proc_field(status, "State");
	const char *seccomp = hi_proc_field(status, "Seccomp");
	const char *end = features ? strchr(features, '\n') : NULL;
	const char *found = features ? strstr(features, "shstk") : NULL;

	if (found && (!end || found < end))
		return hi_fail(err, HI_UNSUPPORTED, 0, "it has a shadow stack");
	if (state && *state == 'T')
		return hi_fail(err, HI_UNSUPPORTED, 0, HI_FORK_STOPPED);
	if (seccomp && *seccomp == '1')
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "it is in strict seccomp mode and may not clone");
	if (hi_fork_is_init(status))
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "it is process 1 of its pid namespace, and the copy would "
			       "become its child");
	return HI_OK;
}

static enum hi_status check_proc_directory(const char *directory, char *status_text,
					   struct hi_error *err)
{
	char path[96];
	size_t n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/status", directory);
	file = fopen(path, "re");
	if (file) {
		n = fread(status_text, 1, STATUS_SIZE - 1, file);
		fclose(file);
	}
	status_text[n] = 0;
	if (!n)
		return hi_fail(err, HI_GONE, 0, "it has exited");
	if (has_other_children_ns(directory))
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "its children live in another pid namespace than itself");
	return check_status(status_text, err);
}

/* "API:\taa:FEATURES:..." of a userfaultfd, in hex (fs/userfaultfd.c). */
static bool reports_forks(pid_t pid, const char *fd)
{
	char name[64], text[1024], *api;

	snprintf(name, sizeof(name), "fdinfo/%.16s", fd);
	if (!hi_proc_read_small(pid, name, text, sizeof(text), NULL))
		return false;
	api = strstr(text, "API:\t");
	api = api ? strchr(api + 5, ':') : NULL;
	return api && (strtoul(api + 1, NULL, 16) & EVENT_FORK);
}

/*
 * A clone() of memory that such a userfaultfd watches ends when its handler has read the
 * event. The handler may be a stopped thread of the target.
 */
static bool watches_forks(pid_t pid)
{
	char path[64], link[64];
	struct dirent *entry;
	bool found = false;
	DIR *dir;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && !found && n++ < MAX_FDS && (entry = readdir(dir))) {
		ssize_t size =
			readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

		link[size > 0 ? size : 0] = 0;
		found = strcmp(link, "anon_inode:[userfaultfd]") == 0 &&
			reports_forks(pid, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

enum hi_status hi_fork_check_process(pid_t pid, uint64_t writable, struct hi_error *err)
{
	char directory[64], status_text[STATUS_SIZE], who[16];
	enum hi_status status;

	snprintf(who, sizeof(who), "%d", (int)pid);
	snprintf(directory, sizeof(directory), "/proc/%d", (int)pid);
	status = check_proc_directory(directory, status_text, err);
	if (status != HI_OK)
		return status;
	if (hi_pids_available_to("/proc", who, "/sys/fs/cgroup") < NEEDED_PIDS)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "its control group may have no more processes (pids.max)");
	if (watches_forks(pid))
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "one of its userfaultfds reports forks, and the fork "
			       "might wait for its handler for ever");
	status = hi_fork_check_reaper(pid, err);
	return status == HI_OK ? check_fork_memory(who, writable, err) : status;
}

enum hi_status hi_fork_check_thread(pid_t pid, pid_t tid, bool *filtered_ret,
				    struct hi_error *err)
{
	char directory[64], status_text[STATUS_SIZE];
	enum hi_status status;
	const char *seccomp;

	snprintf(directory, sizeof(directory), "/proc/%d/task/%d", (int)pid, (int)tid);
	status = check_proc_directory(directory, status_text, err);
	if (status != HI_OK)
		return status;
	seccomp = hi_proc_field(status_text, "Seccomp");
	*filtered_ret = seccomp && *seccomp == '2';
	return HI_OK;
}

enum hi_status hi_fork_refused(long error, struct hi_error *err)
{
	if (error == EAGAIN)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "clone was refused: it may have no more processes "
			       "(ulimit -u, pids.max)");
	if (error == ENOMEM)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "clone was refused: no memory, or vm.overcommit_memory "
			       "forbids it");
	if (error >= 512) /* ERESTARTSYS and the like */
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "clone was interrupted repeatedly: another process stops "
			       "and continues it");
	return hi_fail(err, HI_UNSUPPORTED, 0, "clone was refused: %s",
		       strerror((int)error));
}
