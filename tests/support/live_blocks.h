/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The blocks that are live by allocation events, by a simple table: what tests compare
 * with what a fixture says. Independent of census/.
 */
#ifndef HI_TESTS_SUPPORT_LIVE_BLOCKS_H
#define HI_TESTS_SUPPORT_LIVE_BLOCKS_H

#include "probes/events/event_source.h"

enum { LIVE_BLOCKS_MAX = 1 << 18, LIVE_STACKS_MAX = 1 << 16, LIVE_THREADS_MAX = 64 };

struct live_blocks {
	struct live_block {
		uint64_t addr, size; /* addr 0: free */
	} blocks[LIVE_BLOCKS_MAX];
	struct live_resize {  /* a realloc under way; addr 0: of an unknown block */
		uint32_t tid; /* 0: none */
		struct live_block old;
	} resized[LIVE_THREADS_MAX];
	uint64_t stacks[LIVE_STACKS_MAX]; /* hashes; 0: free */
	struct hi_event_stack last_stack;
	uint32_t tids[LIVE_THREADS_MAX]; /* the first ones */
	size_t n_tids;
	bool is_sampled; /* set by the caller: only some allocations make events */
	size_t live, allocs, frees, begun, ended, failed, lost, lost_records;
	size_t unknown_frees; /* of blocks that are not in the table */
	size_t twice;	      /* given out while live */
	size_t backwards;     /* earlier than the event before it, by over a second */
	uint64_t last_time;
};

/* The caller frees it with free(). */
struct live_blocks *live_blocks_new(void);
struct hi_event_sink live_blocks_sink(struct live_blocks *live);
/* NULL: not live. */
struct live_block *live_blocks_find(struct live_blocks *live, uint64_t addr);
bool live_blocks_has_stack(const struct live_blocks *live, uint64_t stack);

#endif
