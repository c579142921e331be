/* SPDX-License-Identifier: BSD-2-Clause */
/* Declarations that subobjects.c, subobjects_ranges.c and subobjects_resolve.c share. */
#ifndef HI_DECODE_INFERENCE_SUBOBJECTS_INTERNAL_H
#define HI_DECODE_INFERENCE_SUBOBJECTS_INTERNAL_H

#include <pthread.h>

#include "base/vector.h"
#include "decode/inference/subobjects.h"
#include "decode/inference/type_key.h"

enum { HI_SUBOBJECT_SHARDS = 64, HI_SUBOBJECT_SIZE_BITS = 43 };

/*
 * at: address / 8 in the low 53 bits, the size's bits from 32 on above them.
 * key: the type column's key, the size's low 32 bits above it. All but the
 * evidence is what a candidate is known by. at 0: empty.
 */
struct hi_subobject_candidate {
	uint64_t at, key;
};
/* In the key of a candidate: it conflicts with another one. The bit is free, since these
 * keys are not settled. */
#define HI_SUBOBJECT_CONFLICT ((uint64_t)HI_KEY_SETTLED)

static inline uint64_t
hi_subobject_candidate_addr(const struct hi_subobject_candidate *candidate)
{
	return candidate->at << 11 >> 8;
}

static inline uint64_t
hi_subobject_candidate_size(const struct hi_subobject_candidate *candidate)
{
	return candidate->at >> 53 << 32 | candidate->key >> 32;
}

static inline uint64_t
hi_subobject_candidate_end(const struct hi_subobject_candidate *candidate)
{
	return hi_subobject_candidate_addr(candidate) +
	       hi_subobject_candidate_size(candidate);
}

struct hi_subobject_ranges HI_VECTOR(struct hi_range);

struct hi_subobjects {
	struct hi_subobject_shard {
		pthread_mutex_t lock;
		struct hi_subobject_candidate *candidates; /* open addressing */
		uint32_t size, used;
	} shards[HI_SUBOBJECT_SHARDS];
	uint64_t max_candidates;
	_Atomic uint64_t count;
	_Atomic bool no_memory, at_limit;
	struct hi_subobject_ranges ranges;  /* sorted, disjoint */
	struct hi_subobject_ranges outside; /* after finish */
	struct hi_subobject_ranges statics; /* of `ranges`: static storage; sorted */
};

/* subobjects_ranges.c */
enum hi_status hi_subobjects_find_ranges(struct hi_subobjects *c,
					 const struct hi_image *image,
					 struct hi_modules *modules,
					 const struct hi_allocator *allocator,
					 const struct hi_objects *objects,
					 struct hi_error *err);

/* subobjects.c: moves all candidates into an array of its own (free()), sorted by
 * address, those of one address in any order. */
enum hi_status hi_subobjects_take_candidates(struct hi_subobjects *c,
					     struct hi_subobject_candidate **ret,
					     size_t *n_ret, struct hi_error *err);

/* subobjects_resolve.c: those of candidates[n] (sorted by address) that are split off,
 * sorted and disjoint, to the front of the array; the number of them. Sets
 * HI_SUBOBJECT_CONFLICT in the keys of those that won against others. */
enum hi_status hi_subobjects_resolve(struct hi_layouts *layouts,
				     struct hi_subobject_candidate *candidates, size_t n,
				     size_t *n_ret, struct hi_subobject_stats *stats,
				     struct hi_error *err);

#endif
