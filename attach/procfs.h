/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of /proc/PID, read whole and parsed. See proc(5). */
#ifndef HI_ATTACH_PROCFS_H
#define HI_ATTACH_PROCFS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* /proc/PID/name for reading; -1 with errno. */
int hi_proc_open(pid_t pid, const char *name);
/*
 * All of it from its beginning, NUL-terminated. *text may hold a block from an
 * earlier call (of *capacity bytes), which is used again. At most 1 GiB.
 */
enum hi_status hi_proc_read(int fd, char **text, size_t *capacity, size_t *size_ret,
			    struct hi_error *err);
/* The first size-1 bytes of /proc/PID/name, terminated; false with errno. */
bool hi_proc_read_small(pid_t pid, const char *name, char *text, size_t size,
			size_t *size_ret);

struct hi_proc_stat {
	char name[32]; /* hostile */
	char state;    /* R S D T t Z X */
	pid_t ppid;
	uint32_t flags;
	uint64_t n_threads, start_time; /* clock ticks since boot */
	int exit_signal;		/* that its end sends the parent; 0: none */
};
#define HI_PROC_KERNEL_THREAD 0x00200000u /* PF_KTHREAD, linux/sched.h */

/* False if there is no such process, or its stat line cannot be parsed. */
bool hi_proc_stat(pid_t pid, struct hi_proc_stat *ret);
/* The same from the text of a stat file, text[0, n). False: it cannot be parsed. */
bool hi_proc_parse_stat(const char *text, size_t n, struct hi_proc_stat *ret);
/* Calls fn for each process that there is. */
void hi_proc_each(void (*fn)(pid_t pid, const struct hi_proc_stat *stat, void *arg),
		  void *arg);
/* "Key: value" lines of status or smaps_rollup: returns the text after the colon and
 * blanks; NULL if the key is not there. */
const char *hi_proc_field(const char *text, const char *key);
/* Such a field in kB, as bytes; otherwise `missing`. */
uint64_t hi_proc_field_bytes(const char *text, const char *key, uint64_t missing);
/*
 * /proc/PID/smaps_rollup; false if it is not permitted or the process is too
 * large: the kernel walks every page with the target's mmap lock held (10 ms a
 * GiB), and what then maps memory in the target waits.
 */
bool hi_proc_read_rollup(pid_t pid, char *text, size_t size);

#endif
