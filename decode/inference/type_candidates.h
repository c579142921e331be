/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A set of (object, layout): candidates that were followed although the object had
 * another type already. Thread-safe; small, because such objects are few.
 */
#ifndef HI_DECODE_INFERENCE_TYPE_CANDIDATES_H
#define HI_DECODE_INFERENCE_TYPE_CANDIDATES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { HI_TYPE_CANDIDATE_SHARDS = 64 };
/* The layout in the set was followed with the evidence "shape" alone. */
#define HI_TYPE_CANDIDATE_WEAK (1u << 31)

struct hi_type_candidates {
	struct hi_type_candidate_shard {
		pthread_mutex_t lock;
		uint64_t *keys; /* open addressing; 0: empty */
		uint32_t size, used;
	} shards[HI_TYPE_CANDIDATE_SHARDS];
	_Atomic uint64_t count;
	_Atomic bool no_memory;
};

/* Makes an empty set. Threads may add to it at the same time. */
void hi_type_candidates_init(struct hi_type_candidates *set);
/* Frees its memory. */
void hi_type_candidates_deinit(struct hi_type_candidates *set);
/* True if it is new. False, and set->no_memory, when out of memory. */
bool hi_type_candidates_add(struct hi_type_candidates *set, uint32_t object,
			    uint32_t layout);
/* Is it in the set? No thread adds to it. */
bool hi_type_candidates_has(const struct hi_type_candidates *set, uint32_t object,
			    uint32_t layout);
/* Adds the object's first candidate, which is not counted. */
void hi_type_candidates_add_first(struct hi_type_candidates *set, uint32_t object,
				  uint32_t layout);

#endif
