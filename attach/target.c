/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/maps.h"
#include "attach/target_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"

#define MAX_PATH_SIZE 65536u

/*
 * Note [Main threads that have exited]
 *
 * main() may end by pthread_exit() while other threads go on. The process is then shown
 * as a zombie, and files of /proc/PID about its memory are empty, since they show the
 * main thread. But /proc has a directory for each thread too (which it does not list),
 * and its files are complete. The main thread stays the first of the image's threads,
 * with registers of zero.
 */

enum hi_status hi_target_create(pid_t pid, struct hi_target **ret, struct hi_error *err)
{
	struct hi_target *target = hi_calloc(1, sizeof(*target));
	struct hi_target_private *priv = hi_calloc(1, sizeof(*priv));

	if (!target || !priv) {
		free(target);
		free(priv);
		return hi_fail_memory(err, "target");
	}
	*priv = (struct hi_target_private){pid, -1, -1, -1, -1, true};
	target->pid = pid;
	target->pidfd = -1;
	target->priv = priv;
	*ret = target;
	return HI_OK;
}

static enum hi_status open_target_pidfd(struct hi_target *target, struct hi_error *err)
{
	target->pidfd = (int)syscall(SYS_pidfd_open, target->pid, 0);
	if (target->pidfd >= 0)
		return HI_OK;
	if (errno != ESRCH)
		return hi_fail_errno(err, "pidfd_open of process %d", (int)target->pid);
	return hi_fail(err, HI_GONE, 0, "process %d has exited", (int)target->pid);
}

/* Opening mem is the kernel's own test: the same check as PTRACE_ATTACH. */
static enum hi_status open_target_files(struct hi_target *target, struct hi_error *err)
{
	struct hi_target_private *priv = target->priv;

	priv->mem_fd = hi_proc_open(priv->proc_pid, "mem");
	if (priv->mem_fd < 0 && (errno == EACCES || errno == EPERM))
		return hi_permission_refused(target->pid, errno, err);
	if (priv->mem_fd < 0 && (errno == ENOENT || errno == ESRCH))
		return hi_fail(err, HI_GONE, 0, "process %d has exited",
			       (int)target->pid);
	if (priv->mem_fd < 0)
		return hi_fail_errno(err, "/proc/%d/mem", (int)target->pid);
	priv->maps_fd = hi_proc_open(priv->proc_pid, "maps");
	if (priv->maps_fd < 0)
		return hi_fail_errno(err, "/proc/%d/maps", (int)target->pid);
	priv->pagemap_fd = hi_proc_open(priv->proc_pid, "pagemap");
	if (priv->pagemap_fd < 0 && errno == EMFILE)
		return hi_fail_errno(err, "/proc/%d/pagemap", (int)target->pid);
	priv->root_fd = hi_proc_open(priv->proc_pid, "root");
	return HI_OK;
}

/* /proc links are no longer than a page or so, but the path is the target's. */
static enum hi_status read_exe(struct hi_target *target, struct hi_error *err)
{
	static const char deleted[] = " (deleted)";
	char *text HI_GUARD(free) = hi_alloc(MAX_PATH_SIZE);
	size_t tail = sizeof(deleted) - 1, length;
	char link[64];
	ssize_t n;

	if (!text)
		return hi_fail_memory(err, "path of the executable");
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)target->priv->proc_pid);
	n = readlink(link, text, MAX_PATH_SIZE - 1);
	length = n > 0 ? (size_t)n : 0;
	text[length] = 0;
	if (length > tail && strcmp(text + length - tail, deleted) == 0) {
		text[length - tail] = 0;
		target->exe_deleted = true;
	}
	target->exe = hi_strdup(text);
	return target->exe ? HI_OK : hi_fail_memory(err, "path of the executable");
}

static void read_owners(struct hi_target *target, const char *status)
{
	const char *ids = hi_proc_field(status, "Uid");
	unsigned real, effective;
	char link[64];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)target->priv->proc_pid);
	target->user = ids && sscanf(ids, "%u %u", &real, &effective) == 2 ? effective
									   : (uid_t)-1;
	target->exe_owner = stat(link, &st) == 0 ? st.st_uid : (uid_t)-1;
}

/* A title that the process gave itself is as good; an empty one is of a process that
 * ends, or that has overwritten it. */
static enum hi_status read_command_line(struct hi_target *target, struct hi_error *err)
{
	struct hi_command_line *line = &target->command_line;

	/* One byte more, to see that there is more. */
	line->bytes = hi_alloc(HI_COMMAND_LINE_MAX + 2);
	if (!line->bytes)
		return hi_fail_memory(err, "command line");
	if (!hi_proc_read_small(target->priv->proc_pid, "cmdline", line->bytes,
				HI_COMMAND_LINE_MAX + 2, &line->size))
		line->size = 0;
	line->is_cut = line->size > HI_COMMAND_LINE_MAX;
	if (line->is_cut)
		line->size = HI_COMMAND_LINE_MAX;
	return HI_OK;
}

/* By a smaps_rollup; Pss_Anon since Linux 5.3. A little may be shared by chance. */
static bool has_shared_anonymous(const char *rollup)
{
	uint64_t all = hi_proc_field_bytes(rollup, "Anonymous", 0);
	uint64_t own = hi_proc_field_bytes(rollup, "Pss_Anon", 0);

	return own < all - all / 64;
}

static enum hi_status read_target_sizes(struct hi_target *target, struct hi_error *err)
{
	pid_t proc_pid = target->priv->proc_pid;
	struct hi_proc_stat stat;
	char text[8192];

	errno = 0;
	if (!hi_proc_stat(target->pid, &stat) ||
	    !hi_proc_read_small(proc_pid, "status", text, sizeof(text), NULL))
		return hi_target_vanished(target->pid, err);
	memcpy(target->name, stat.name, sizeof(target->name));
	target->start_time = stat.start_time;
	target->n_threads = stat.n_threads;
	read_owners(target, text);
	target->rss = hi_proc_field_bytes(text, "VmRSS", UINT64_MAX);
	target->swap = hi_proc_field_bytes(text, "VmSwap", 0);
	target->pss = UINT64_MAX;
	target->priv->shares_anonymous = true;
	if (hi_proc_read_rollup(proc_pid, text, sizeof(text))) {
		target->rss = hi_proc_field_bytes(text, "Rss", target->rss);
		target->pss = hi_proc_field_bytes(text, "Pss", UINT64_MAX);
		target->swap = hi_proc_field_bytes(text, "Swap", target->swap);
		target->priv->shares_anonymous = has_shared_anonymous(text);
	}
	return HI_OK;
}

static enum hi_status read_mappings(struct hi_target *target, struct hi_error *err)
{
	char *text HI_GUARD(free) = NULL;
	size_t capacity = 0, n = 0;
	enum hi_status status;

	status = hi_proc_read(target->priv->maps_fd, &text, &capacity, &n, err);
	if (status == HI_OK && n == 0)
		status = hi_fail(err, HI_GONE, 0, "process %d has exited",
				 (int)target->pid);
	if (status == HI_OK)
		status = hi_maps_parse(text, n, &target->mappings, &target->n_mappings,
				       err);
	return status;
}

static enum hi_status read_target_facts(struct hi_target *target, struct hi_error *err)
{
	pid_t pid = target->priv->proc_pid;
	enum hi_status status = read_exe(target, err);

	if (status == HI_OK)
		status = read_command_line(target, err);
	if (status == HI_OK)
		status = hi_target_find_start(target, err);
	if (status == HI_OK)
		status = read_target_sizes(target, err);
	if (status == HI_OK)
		status = read_mappings(target, err);
	if (status == HI_OK)
		status = hi_target_find_children(target, err);
	if (status != HI_OK)
		return status;
	target->other_mount_ns = hi_target_in_other_ns(pid, "mnt");
	target->other_pid_ns = hi_target_in_other_ns(pid, "pid");
	target->other_user_ns = hi_target_in_other_ns(pid, "user");
	if (!hi_target_is_alive(target))
		return hi_fail(err, HI_GONE, 0, "process %d has exited",
			       (int)target->pid);
	return HI_OK;
}

/* The pidfd comes first: once it is held, the pid cannot become another's. */
enum hi_status hi_target_open(pid_t pid, struct hi_target **ret, struct hi_error *err)
{
	struct hi_target *target = NULL;
	enum hi_status status = hi_target_check_proc(err);

	if (status == HI_OK)
		status = hi_target_check(pid, err);
	if (status != HI_OK)
		return status;
	status = hi_target_create(pid, &target, err);
	if (status != HI_OK)
		return status;
	status = open_target_pidfd(target, err);
	if (status == HI_OK)
		status = hi_target_check(pid, err);
	target->priv->proc_pid = hi_target_live_thread(pid);
	if (status == HI_OK)
		status = open_target_files(target, err);
	if (status == HI_OK)
		status = hi_target_check_machine(target->priv->proc_pid, err);
	if (status == HI_OK)
		status = read_target_facts(target, err);
	if (status != HI_OK) {
		hi_target_close(target);
		return status;
	}
	*ret = target;
	return HI_OK;
}

bool hi_target_is_alive(const struct hi_target *target)
{
	struct pollfd fd = {.fd = target->pidfd, .events = POLLIN};

	return poll(&fd, 1, 0) == 0;
}

void hi_target_release(struct hi_target *target)
{
	struct hi_target_private *priv = target->priv;
	int *const fds[] = {&target->pidfd, &priv->mem_fd, &priv->pagemap_fd,
			    &priv->maps_fd, &priv->root_fd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
		hi_close_fd(*fds[i]);
		*fds[i] = -1;
	}
}

void hi_target_close(struct hi_target *target)
{
	if (!target)
		return;
	hi_target_release(target);
	hi_mappings_free(target->mappings, target->n_mappings);
	free(target->children);
	free(target->exe);
	free(target->started_as);
	hi_command_line_free(&target->command_line);
	free(target->priv);
	free(target);
}
