/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last moments of a process that is not traced: when it executed another program, and
 * where its threads stood when it ended. probes/ implements this by BPF programs on
 * events of the scheduler; attach/ does not use BPF.
 */
#ifndef HI_ATTACH_EXIT_LOG_H
#define HI_ATTACH_EXIT_LOG_H

#include "attach/image.h"

struct hi_exit_log;

/* Nothing here makes the process wait. The first two are called from forks, too. */
struct hi_exit_log_ops {
	/* Since the log was opened. */
	uint32_t (*execs)(const struct hi_exit_log *log);
	/* When the first of them was (CLOCK_MONOTONIC); 0: there was none. */
	uint64_t (*exec_ns)(const struct hi_exit_log *log);
	/*
	 * After its end: all threads that lived until then, the leader first, with the
	 * registers of user mode. *ret: freed by the caller; *signal_ret: that ended it,
	 * or 0. HI_NOT_FOUND: they are not all known; HI_NO_MEMORY.
	 */
	enum hi_status (*threads)(const struct hi_exit_log *log, struct hi_thread **ret,
				  size_t *n_ret, int *signal_ret, struct hi_error *err);
	void (*close)(struct hi_exit_log *log);
};

struct hi_exit_log {
	const struct hi_exit_log_ops *ops;
};

#endif
