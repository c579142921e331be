/* SPDX-License-Identifier: BSD-2-Clause */
/* The walk of the BPF programs (probes/bpf/unwind_walk.h) over any memory. */
#ifndef HI_PROBES_EVENTS_UNWIND_WALK_H
#define HI_PROBES_EVENTS_UNWIND_WALK_H

#include "probes/events/unwind_tables.h"

struct hi_unwind_memory {
	bool (*read)(void *arg, uint64_t addr,
		     uint64_t *word_ret); /* false: unreadable */
	void *arg;
};

struct hi_unwind_start {
	uint64_t rip, rsp, rbp;
	bool is_return; /* rip is after a call */
};

/* Return addresses, innermost first, at most max; the first is start->rip. *cut_ret:
 * outer ones are missing. tables may be hostile. */
size_t hi_unwind_walk(const struct hi_unwind_tables *tables,
		      const struct hi_unwind_memory *memory,
		      const struct hi_unwind_start *start, uint64_t *ret, size_t max,
		      bool *cut_ret);

#endif
