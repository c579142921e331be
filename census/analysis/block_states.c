/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/block_states.h"

static const struct {
	const char *key, *label, *text;
} states[HI_BLOCK_STATES] = {
	[HI_BLOCK_LIVE] = {"live", "live objects", "live"},
	[HI_BLOCK_INTERNAL] = {"internal", "the allocator's own",
			       "the allocator's or libc's own block"},
	[HI_BLOCK_FREE_TCACHE] = {"free_tcache", "thread caches",
				  "free, in a thread cache"},
	[HI_BLOCK_FREE_FASTBIN] = {"free_fastbin", "fast bins", "free, in a fast bin"},
	[HI_BLOCK_FREE_BIN] = {"free_bin", "bins", "free, in a bin"},
	[HI_BLOCK_FREE_TOP] = {"free_top", "top", "free, the top of its arena"},
	[HI_BLOCK_FREE_SLOT] = {"free_slot", "slots of slabs", "free, a slot of a slab"},
	[HI_BLOCK_FREE_TRANSFER] = {"free_transfer", "transfer caches",
				    "free, in a transfer cache"},
	[HI_BLOCK_FREE_DEFERRED] = {"free_deferred", "freed by other threads",
				    "free, by another thread than its owner"},
	[HI_BLOCK_FREE_QUARANTINE] = {"free_quarantine", "quarantine",
				      "free, in quarantine"},
	[HI_BLOCK_FREE_UNUSED] = {"free_unused", "slots never used",
				  "free, a slot that was never used"},
	[HI_BLOCK_FREE_SPAN] = {"free_span", "free pages", "free, whole pages"},
	[HI_BLOCK_FREE_DIRTY] = {"free_dirty", "dirty pages",
				 "free, dirty pages of an arena"},
	[HI_BLOCK_FREE_MUZZY] = {"free_muzzy", "pages given back lazily",
				 "free, pages given back lazily"},
	[HI_BLOCK_FREE_RETAINED] = {"free_retained", "retained addresses",
				    "free, given back to the kernel"},
	[HI_BLOCK_METADATA] = {"metadata", "metadata", "the allocator's metadata"},
};

const char *hi_block_state_key(enum hi_block_state state)
{
	return states[state].key;
}

const char *hi_block_state_label(enum hi_block_state state)
{
	return states[state].label;
}

const char *hi_block_state_text(enum hi_block_state state)
{
	return states[state].text;
}
