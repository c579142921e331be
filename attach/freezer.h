/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a process does not run, as text. Only /proc and cgroup files are read. */
#ifndef HI_ATTACH_FREEZER_H
#define HI_ATTACH_FREEZER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Is it frozen by a cgroup, version 1 or 2? name: of the cgroup, "" if it cannot be
 * found (a mount that this process does not see). */
bool hi_freezer_holds(pid_t pid, char *name, size_t size);

/*
 * Text to append to a message: "; it is frozen (cgroup freezer /batch)", "; it is in an
 * uninterruptible sleep" (all of its threads are), or "".
 */
const char *hi_freezer_explain(pid_t pid, char *text, size_t size);

#endif
