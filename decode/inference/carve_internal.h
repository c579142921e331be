/* SPDX-License-Identifier: BSD-2-Clause */
/* What carve.c, carve_ranges.c and carve_resolve.c share. */
#ifndef HI_DECODE_INFERENCE_CARVE_INTERNAL_H
#define HI_DECODE_INFERENCE_CARVE_INTERNAL_H

#include <pthread.h>

#include "base/vector.h"
#include "decode/inference/carve.h"
#include "decode/inference/typing_state.h"

enum { HI_CLAIM_SHARDS = 64, HI_CLAIM_SIZE_BITS = 43 };

/*
 * at: address / 8 in the low 53 bits, the size's bits from 32 on above them.
 * key: the type column's key, the size's low 32 bits above it. All but the
 * evidence is what a claim is known by. at 0: empty.
 */
struct hi_claim {
	uint64_t at, key;
};
/* Another claim disagreed. Says nothing else in a claim: its key is unsettled. */
#define HI_CLAIM_CONFLICT ((uint64_t)HI_KEY_SETTLED)

static inline uint64_t hi_claim_addr(const struct hi_claim *claim)
{
	return claim->at << 11 >> 8;
}

static inline uint64_t hi_claim_size(const struct hi_claim *claim)
{
	return claim->at >> 53 << 32 | claim->key >> 32;
}

static inline uint64_t hi_claim_end(const struct hi_claim *claim)
{
	return hi_claim_addr(claim) + hi_claim_size(claim);
}

struct hi_carve_ranges HI_VECTOR(struct hi_range);

struct hi_carving {
	struct hi_claim_shard {
		pthread_mutex_t lock;
		struct hi_claim *claims; /* open addressing */
		uint32_t size, used;
	} shards[HI_CLAIM_SHARDS];
	uint64_t max_claims;
	_Atomic uint64_t count;
	_Atomic bool no_memory, at_limit;
	struct hi_carve_ranges ranges;	/* sorted, disjoint */
	struct hi_carve_ranges outside; /* after finish */
};

/* carve_ranges.c */
enum hi_status hi_carve_find_ranges(struct hi_carving *c, const struct hi_image *image,
				    const struct hi_allocator *allocator,
				    const struct hi_objects *objects,
				    struct hi_error *err);

/* carve.c: moves all claims into an array of its own (free()), sorted by address,
 * those of one address in any order. */
enum hi_status hi_carve_take_claims(struct hi_carving *c, struct hi_claim **ret,
				    size_t *n_ret, struct hi_error *err);

/* carve_resolve.c: those of claims[n] (sorted by address) that are carved, sorted and
 * disjoint, to the front of the array; the number of them. Sets HI_CLAIM_CONFLICT
 * in the keys of those that won against others. */
enum hi_status hi_carve_resolve(struct hi_layouts *layouts, struct hi_claim *claims,
				size_t n, size_t *n_ret, struct hi_carving_stats *stats,
				struct hi_error *err);

#endif
