/* SPDX-License-Identifier: BSD-2-Clause */
/* The limits of a process's memory, and how much of them is used. */
#ifndef HI_SESSION_PROCESS_LIMITS_H
#define HI_SESSION_PROCESS_LIMITS_H

#include <sys/types.h>

#include "report/parts/report_limit.h"

/*
 * Returns the limit with the least room: of the control group of the process and of those
 * above it (memory.max; memory.limit_in_bytes of version 1), of its address space
 * (RLIMIT_AS), or of the machine (MemAvailable). File pages that were not used lately count
 * as room. Reads files of /proc and /sys that everybody may read; those that cannot be
 * read have no limit. root: "", or a directory in the place of "/".
 */
struct hi_report_limit hi_process_limit(const char *root, pid_t pid);

#endif
