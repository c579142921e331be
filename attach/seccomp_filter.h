/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results of the seccomp filters of a thread for a system call: the filters are read and
 * evaluated here, so that nothing is tried that kills or confuses the target. Classic BPF
 * in the subset of seccomp(2); kernel/seccomp.c.
 */
#ifndef HI_ATTACH_SECCOMP_FILTER_H
#define HI_ATTACH_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/types.h>

#include "base/error.h"

/* A call as the kernel would describe it to the filters. */
struct hi_filtered_call {
	const char *name; /* for err->text */
	struct seccomp_data data;
};

/*
 * The action (SECCOMP_RET_ACTION_FULL bits) of one filter; SECCOMP_RET_KILL_PROCESS
 * if it is no valid program. Never reads outside of code[0, n) and data; ends, for
 * jumps go forward only.
 */
uint32_t hi_seccomp_run(const struct sock_filter *code, size_t n,
			const struct seccomp_data *data);
/*
 * Checks whether every filter of the stopped, traced thread tid allows all n_calls calls.
 * HI_UNSUPPORTED: one is refused, and err->text names it, or the filters cannot be read.
 */
enum hi_status hi_seccomp_check(pid_t tid, const struct hi_filtered_call *calls,
				size_t n_calls, struct hi_error *err);

#endif
