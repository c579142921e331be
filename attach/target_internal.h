/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of target.h that stay in attach/. */
#ifndef HI_ATTACH_TARGET_INTERNAL_H
#define HI_ATTACH_TARGET_INTERNAL_H

#include "attach/procfs.h"

struct hi_target;

/* Opened before the stop. All belong to the address space at that time: after an exec
 * they read as empty. */
struct hi_target_private {
	/*
	 * The process or thread that shows the address space in /proc: the target's pid,
	 * or a live thread where the main thread has exited. See Note [Main threads that
	 * have exited] in target.c.
	 */
	pid_t proc_pid;
	int mem_fd;	/* /proc/PID/mem */
	int pagemap_fd; /* -1: not permitted */
	int maps_fd;
	int root_fd; /* /proc/PID/root; -1: not permitted */
	/* Some anonymous memory is another process's too, by a fork; or not known. */
	bool shares_anonymous;
};

/* The inputs of the kernel's checks. See target_permission.c. */
struct hi_permission {
	pid_t pid;
	char name[32];
	unsigned uid[3], gid[3]; /* of the target: real, effective, saved */
	unsigned own_uid, own_gid;
	uint64_t caps;	   /* permitted ones of the target */
	uint64_t own_caps; /* effective ones of this process */
	int yama_scope;	   /* 0 where there is no Yama */
	bool not_dumpable;
	bool other_user_ns;
	bool is_descendant;
	int os_errno; /* errno of opening /proc/PID/mem */
};

/* Fills err (HI_CANNOT_ATTACH) with the first check that refuses. */
enum hi_status hi_permission_explain(const struct hi_permission *facts,
				     struct hi_error *err);
/* Collects the facts, then the same. */
enum hi_status hi_permission_refused(pid_t pid, int os_errno, struct hi_error *err);
/* Is this /proc/self/status one of the pid namespace of process own? "": there is none.
 */
enum hi_status hi_proc_explain(const char *status, pid_t own, struct hi_error *err);
/* HI_CANNOT_ATTACH unless the process exists, is alive and may be inspected. */
enum hi_status hi_target_check(pid_t pid, struct hi_error *err);
/* Fills err when a file of its /proc could not be read, by errno (0: it could not be
 * parsed). HI_OS for reasons in this process, as too many open files, else HI_GONE. */
enum hi_status hi_target_vanished(pid_t pid, struct hi_error *err);
/* 32-bit or another machine, by the first bytes of the executable: HI_CANNOT_ATTACH.
 * HI_OK if it is unknown. */
enum hi_status hi_machine_check(pid_t pid, const void *bytes, size_t size,
				struct hi_error *err);
/* The same for the executable of a running process. */
enum hi_status hi_target_check_machine(pid_t pid, struct hi_error *err);
/* Is /proc/PID/ns/name another one than this process's? False if it is unknown. */
bool hi_target_in_other_ns(pid_t pid, const char *name);
/* Sets target->started_as, by its arguments and the files that its root has. */
enum hi_status hi_target_find_start(struct hi_target *target, struct hi_error *err);
/* An empty one, without descriptors. *ret: closed by hi_target_close(). */
enum hi_status hi_target_create(pid_t pid, struct hi_target **ret, struct hi_error *err);
/* Fills target->children. */
enum hi_status hi_target_find_children(struct hi_target *target, struct hi_error *err);

#endif
