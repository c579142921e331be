/* SPDX-License-Identifier: BSD-2-Clause */
/* How much memory we may still take. */
#ifndef HI_ATTACH_AVAILABLE_H
#define HI_ATTACH_AVAILABLE_H

#include <stdint.h>

/*
 * The least of MemAvailable and what every memory cgroup above us leaves (its
 * limit less what it uses, file cache that can be dropped not counted).
 * UINT64_MAX if nothing is known. `proc` and `cgroup` are "/proc" and
 * "/sys/fs/cgroup"; tests give others.
 */
uint64_t hi_memory_available(const char *proc, const char *cgroup);
/* The same for another process; who is its pid as text. */
uint64_t hi_memory_available_to(const char *proc, const char *who, const char *cgroup);
/* How many processes more its groups allow (pids.max). UINT64_MAX: nothing is known. */
uint64_t hi_pids_available_to(const char *proc, const char *who, const char *cgroup);

#endif
