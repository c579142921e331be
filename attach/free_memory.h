/* SPDX-License-Identifier: BSD-2-Clause */
/* How much memory this process or another one may still allocate. */
#ifndef HI_ATTACH_FREE_MEMORY_H
#define HI_ATTACH_FREE_MEMORY_H

#include <stdint.h>

/*
 * Returns the bytes that this process may still allocate: the minimum of MemAvailable and
 * of what each memory cgroup above it leaves (limit less usage, where droppable file
 * cache is not usage). UINT64_MAX: unknown. `proc` and `cgroup` are "/proc" and
 * "/sys/fs/cgroup", or copies of them in tests.
 */
uint64_t hi_memory_available(const char *proc, const char *cgroup);
/* The same for another process; pid is its process ID as text. */
uint64_t hi_memory_available_to(const char *proc, const char *who, const char *cgroup);
/* Returns how many more processes its cgroups allow (pids.max). UINT64_MAX: unknown. */
uint64_t hi_pids_available_to(const char *proc, const char *who, const char *cgroup);

#endif
