/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A live process before it is stopped: whether it exists, whether it may be inspected,
 * what it is. Reads only /proc; never stops or changes anything.
 */
#ifndef HI_ATTACH_TARGET_H
#define HI_ATTACH_TARGET_H

#include "attach/image.h"
#include "base/cleanup.h"

struct hi_target_child {
	pid_t pid;
	char name[32]; /* hostile */
	uint64_t rss, pss,
		shared; /* bytes, from smaps_rollup; UINT64_MAX: not permitted */
};

struct hi_target {
	pid_t pid;
	int pidfd; /* polls readable when the target has exited */
	char *exe; /* readlink of /proc/PID/exe without " (deleted)"; hostile */
	/* The path by which it was started, if it is known to lead to exe: redis-server
	 * is a link to redis-check-rdb. Else exe. Hostile. */
	char *started_as;
	struct hi_command_line command_line; /* as it was when it was opened */
	bool exe_deleted;
	char name[32];
	uid_t user;	 /* effective; -1: unknown */
	uid_t exe_owner; /* of the file that it runs; -1: unknown */
	uint64_t
		start_time; /* clock ticks, field 22 of stat: distinguishes reused pids */
	uint64_t rss, pss, swap; /* bytes, smaps_rollup (VmRSS where not permitted) */
	size_t n_threads;
	bool other_mount_ns, other_pid_ns, other_user_ns;
	struct hi_mapping *mappings; /* when it was opened, before the stop */
	size_t n_mappings;
	struct hi_target_child *children; /* direct children, at most 64 */
	size_t n_children, n_children_total;
	struct hi_target_private *priv;
};

/*
 * Opens process pid. *ret: closed by hi_target_close(). HI_CANNOT_ATTACH: err->text names
 * the check that refused and what helps (no such pid, zombie, kernel thread, already
 * traced and the tracer, other user without CAP_SYS_PTRACE, Yama, not dumpable, 32-bit,
 * another architecture, this process itself). HI_GONE, HI_OS, HI_NO_MEMORY.
 */
enum hi_status hi_target_open(pid_t pid, struct hi_target **ret, struct hi_error *err);
/* HI_CANNOT_ATTACH where /proc is that of another pid namespace, in which a process has
 * another number than for system calls: hi_target_open() begins with it. */
enum hi_status hi_target_check_proc(struct hi_error *err);
/* Opens the file of a mapping of the running target: map_files, else the path inside
 * /proc/PID/root (RESOLVE_IN_ROOT) if device and inode agree, else /proc/PID/exe if they
 * do. HI_NOT_FOUND otherwise. */
enum hi_status hi_target_open_file(const struct hi_target *target,
				   const struct hi_mapping *mapping, int *fd_ret,
				   struct hi_error *err);
/* Is it the mapped file? fd: of a file by a path, O_PATH will do. See Note [Is it the
 * same file] in target_files.c. */
bool hi_mapping_is_of_file(const struct hi_mapping *mapping, int fd);
/* pid, or a thread of it that lives if its main thread has exited, for what /proc shows
 * of the address space; 0: none. */
pid_t hi_target_live_thread(pid_t pid);
/* False once the process has exited. */
bool hi_target_is_alive(const struct hi_target *target);
/* Closes its descriptors, among them its memory; everything else stays. For a forked
 * process that is to have no rights to it. */
void hi_target_release(struct hi_target *target);
/* Closes all descriptors and frees target. NULL is fine. */
void hi_target_close(struct hi_target *target);
HI_DEFINE_GUARD(struct hi_target *, hi_target_close)

#endif
