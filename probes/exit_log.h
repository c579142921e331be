/* SPDX-License-Identifier: BSD-2-Clause */
/* The log of attach/exit_log.h by BPF programs (bpf/exits.bpf.c). */
#ifndef HI_PROBES_EXIT_LOG_H
#define HI_PROBES_EXIT_LOG_H

#include "attach/exit_log.h"

/* Opens that of process pid, which has n_threads by now. *ret: ops->close().
 * HI_UNSUPPORTED: this kernel cannot; HI_CANNOT_ATTACH: a right is missing; HI_OS. */
enum hi_status hi_exit_log_open(pid_t pid, size_t n_threads, struct hi_exit_log **ret,
				struct hi_error *err);

#endif
