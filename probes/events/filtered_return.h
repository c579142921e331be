/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a process with a seccomp filter survives probes at returns. */
#ifndef HI_PROBES_EVENTS_FILTERED_RETURN_H
#define HI_PROBES_EVENTS_FILTERED_RETURN_H

#include <sys/types.h>

#include "base/error.h"

/* Has any thread of the process a seccomp filter, or strict mode? */
bool hi_process_is_filtered(pid_t pid);
/*
 * Tries it on a process of its own: see Note [Returns that are filtered] in
 * filtered_return.c. return_program: loaded, for links of uprobe_multi or for perf
 * events. HI_UNSUPPORTED: on this kernel it would die. *link_ret: for the caller to
 * close.
 */
enum hi_status hi_filtered_return_check(int return_program, bool by_perf, int *link_ret,
					struct hi_error *err);

#endif
