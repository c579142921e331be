/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * States of a block in its allocator. Each state has a name for JSON and one for people:
 * the rows of ledger and waste. An allocator has some of them (hi_allocator_ops.states).
 * To add one: a line here and one in block_states.c.
 */
#ifndef HI_CENSUS_ANALYSIS_BLOCK_STATES_H
#define HI_CENSUS_ANALYSIS_BLOCK_STATES_H

#include <stdint.h>

enum hi_block_state {
	HI_BLOCK_LIVE,
	HI_BLOCK_INTERNAL, /* live, but the allocator's or libc's own */
	/* Free memory. Snapshot files have the first four by number. */
	HI_BLOCK_FREE_TCACHE, /* in the cache of a thread */
	HI_BLOCK_FREE_FASTBIN,
	HI_BLOCK_FREE_BIN, /* small, large, unsorted bins */
	HI_BLOCK_FREE_TOP,
	HI_BLOCK_FREE_SLOT,	  /* a slot of a slab */
	HI_BLOCK_FREE_TRANSFER,	  /* between the caches of threads and the slabs */
	HI_BLOCK_FREE_DEFERRED,	  /* freed by a thread that does not own the slab */
	HI_BLOCK_FREE_QUARANTINE, /* held back to catch uses after the free */
	HI_BLOCK_FREE_UNUSED,	  /* slots that were never given to the program */
	HI_BLOCK_FREE_SPAN,	  /* pages in no slab and no block */
	HI_BLOCK_FREE_DIRTY,	  /* the same, waiting to be given back to the kernel */
	HI_BLOCK_FREE_MUZZY,	  /* given back by MADV_FREE */
	HI_BLOCK_FREE_RETAINED,	  /* given back; the addresses are kept */
	HI_BLOCK_METADATA,	  /* the allocator's own memory, in no block */
	HI_BLOCK_STATES,
	HI_BLOCK_FREE_FIRST = HI_BLOCK_FREE_TCACHE,
	HI_BLOCK_FREE_LAST = HI_BLOCK_FREE_RETAINED,
};
enum {
	HI_FREE_KINDS = HI_BLOCK_FREE_LAST - HI_BLOCK_FREE_FIRST + 1,
};

/* One bit of hi_allocator_ops.states. */
static inline uint32_t hi_block_state_bit(enum hi_block_state state)
{
	return 1u << state;
}
static inline int hi_block_state_is_free(enum hi_block_state state)
{
	return state >= HI_BLOCK_FREE_FIRST && state <= HI_BLOCK_FREE_LAST;
}
/* "free_tcache". */
const char *hi_block_state_key(enum hi_block_state state);
/* "thread caches": the label of a row. */
const char *hi_block_state_label(enum hi_block_state state);
/* "free, in a thread cache": of one block. */
const char *hi_block_state_text(enum hi_block_state state);

#endif
