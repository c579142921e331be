/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A list of events in few bytes, as a file keeps it: blocks of HI_EVENT_BLOCK events, of
 * which the last may have fewer. Differences begin anew with each block, so that a block
 * is read by itself. docs/SNAPSHOT_FORMAT.md has the bytes.
 */
#ifndef HI_CENSUS_EVENTS_EVENT_LIST_H
#define HI_CENSUS_EVENTS_EVENT_LIST_H

#include "base/error.h"
#include "census/event.h"

/* struct hi_event with numbers of a recording for what is 64 bits there. */
struct hi_kept_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t addr, size, old;
	uint32_t context; /* 0: no stack */
	uint32_t thread;  /* an index: the list's owner has the thread ids */
	uint16_t kind;	  /* enum hi_event_kind without HI_EVENT_STACK */
	uint8_t source, flags;
};

enum {
	HI_EVENT_BLOCK = 4096,
	HI_EVENT_HEADER = 8,	  /* bytes before a block: u32 bytes, u32 events */
	HI_EVENT_LEAST_BYTES = 3, /* of an event */
	HI_EVENT_MOST_BYTES = 53,
};

/* ---- writing ---- */

/* The block that is being written; zero-initialised is an empty one. */
struct hi_event_block {
	uint32_t count; /* at most HI_EVENT_BLOCK */
	uint32_t size;	/* of the events' bytes, without the header */
	struct hi_kept_event last;
	uint8_t bytes[HI_EVENT_HEADER + HI_EVENT_BLOCK * HI_EVENT_MOST_BYTES];
};
/* Adds an event to a block that is not full, and sets the header. False: it would take
 * the block, with its header, above `most` bytes; the block is as it was. */
bool hi_event_block_add(struct hi_event_block *block, const struct hi_kept_event *event,
			uint64_t most);
static inline uint64_t hi_event_block_size(const struct hi_event_block *block)
{
	return block->count ? HI_EVENT_HEADER + (uint64_t)block->size : 0;
}

/* ---- reading ---- */

/* Ranges of numbers; an event that names another context or thread is damage. */
struct hi_event_bounds {
	uint32_t n_threads, n_contexts;
};
struct hi_event_list {
	const uint8_t *bytes; /* borrowed */
	uint64_t *blocks;     /* where each one begins, and the end */
	uint64_t n_blocks, count;
	struct hi_event_bounds bounds;
};
/* Checks where the blocks are. *ret: hi_event_list_free(), also of an error. HI_BAD_DATA:
 * the text names the fault; HI_NO_MEMORY. */
enum hi_status hi_event_list_open(const void *bytes, uint64_t size,
				  const struct hi_event_bounds *bounds,
				  struct hi_event_list *ret, struct hi_error *err);
void hi_event_list_free(struct hi_event_list *list);
/* The events of a block: number i of the list is in block i / HI_EVENT_BLOCK.
 * HI_BAD_DATA. */
enum hi_status hi_event_list_read(const struct hi_event_list *list, uint64_t block,
				  struct hi_kept_event events[HI_EVENT_BLOCK],
				  uint32_t *n_ret, struct hi_error *err);

#endif
