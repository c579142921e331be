/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A drawn timeline: threads of a made-up program allocate, reallocate and free, and each
 * step is the event that a source would report. The program knows what is live.
 *
 * A reallocation takes several steps, between which other threads go on: it begins, it
 * may give the old address back (which others may then get), it ends.
 */
#ifndef HI_TESTS_SUPPORT_TIMELINE_H
#define HI_TESTS_SUPPORT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "census/event.h"

enum { TIMELINE_SLOTS = 48, TIMELINE_THREADS = 5, TIMELINE_STACKS = 40 };

struct timeline_block {
	bool is_live, is_held; /* held: a reallocation has it in hand */
	uint64_t size, time_ns;
	uint64_t stack;
	uint32_t tid;
};
struct timeline_thread {
	bool reallocates, has_moved;
	int from, to; /* slots; -1 none */
	uint64_t size;
};
struct timeline {
	uint64_t random, time_ns;
	unsigned slots; /* that are in use, at most TIMELINE_SLOTS: few make reuse likely
			 */
	struct timeline_block blocks[TIMELINE_SLOTS];
	struct timeline_thread threads[TIMELINE_THREADS];
};

void timeline_init(struct timeline *timeline, uint64_t seed, unsigned slots);
/* The next event. */
struct hi_event timeline_next(struct timeline *timeline);
/* Addresses of slots, ascending, and back; -1: it is none. */
uint64_t timeline_address(int slot);
int timeline_slot(uint64_t address);
/* Stack number i, with outer frames that others have, too. Its hash is in the events. */
void timeline_stack(unsigned i, struct hi_event_stack *ret);
/* A number below n. */
uint32_t timeline_draw(uint64_t *state, uint32_t n);

#endif
