/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What only /proc/PID/smaps says of a mapping: its VmFlags, two letters each
 * (Linux, fs/proc/task_mmu.c: show_smap_vma_flags). The kernel walks all page
 * tables for it (10 ms a GiB): asked only where something hints at it. Internal
 * to attach/.
 */
#ifndef HI_ATTACH_SMAPS_H
#define HI_ATTACH_SMAPS_H

#include "attach/pagemap.h"

/* Appends the mappings that have the flag ("um", "wf", "dc"), in order; nothing
 * where smaps cannot be opened. */
enum hi_status hi_smaps_find(pid_t pid, const char *flag, struct hi_page_runs *runs,
			     struct hi_error *err);

#endif
