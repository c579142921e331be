/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A set of (object, layout): opinions that were followed although the object had
 * another one already. Thread-safe; small, because such objects are few.
 */
#ifndef HI_DECODE_INFERENCE_OPINIONS_H
#define HI_DECODE_INFERENCE_OPINIONS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { HI_OPINION_SHARDS = 64 };

struct hi_opinions {
	struct hi_opinion_shard {
		pthread_mutex_t lock;
		uint64_t *keys; /* open addressing; 0: empty */
		uint32_t size, used;
	} shards[HI_OPINION_SHARDS];
	_Atomic uint64_t count;
	_Atomic bool no_memory;
};

void hi_opinions_init(struct hi_opinions *set);
void hi_opinions_deinit(struct hi_opinions *set);
/* True if it was not there yet. False, and set->no_memory, when out of memory. */
bool hi_opinions_add(struct hi_opinions *set, uint32_t object, uint32_t layout);
/* The same for one that is not counted: the object's first. */
void hi_opinions_add_first(struct hi_opinions *set, uint32_t object, uint32_t layout);

#endif
