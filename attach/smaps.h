/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes of a mapping that only /proc/PID/smaps shows: its VmFlags, two letters each
 * (Linux, fs/proc/task_mmu.c: show_smap_vma_flags). The kernel walks all page tables for
 * it (10 ms per GiB), so it is read only where it is needed. Internal to attach/.
 */
#ifndef HI_ATTACH_SMAPS_H
#define HI_ATTACH_SMAPS_H

#include "attach/page_runs.h"

/* Appends the mappings that have the flag ("um", "wf", "dc"), in order; nothing
 * where smaps cannot be opened. */
enum hi_status hi_smaps_find(pid_t pid, const char *flag, struct hi_page_runs *runs,
			     struct hi_error *err);

struct hi_smaps_size {
	uint64_t start, end;
	uint64_t resident, swapped; /* pages; UINT64_MAX: not known by this */
};
struct hi_smaps_sizes HI_VECTOR(struct hi_smaps_size);

/* Pages of each mapping, in order; pages of zeros are not counted. None if smaps cannot
 * be opened. Former contents of sizes are overwritten. */
enum hi_status hi_smaps_read_sizes(pid_t pid, struct hi_smaps_sizes *sizes,
				   struct hi_error *err);
/* The same from the text of smaps, which is changed. */
enum hi_status hi_smaps_parse_sizes(char *text, struct hi_smaps_sizes *sizes,
				    struct hi_error *err);

#endif
