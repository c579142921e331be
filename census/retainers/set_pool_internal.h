/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The private part of a pool: sets while they are computed. A `ref` is an index into the
 * nodes; equal sets have equal refs. Refs are valid until the next hi_set_pool_trim(),
 * numbers (set_pool.h) as long as the pool.
 *
 * Note [Sets as tries]
 *
 * Identities get a dense index in the order in which they are first used, so that
 * neighbours in the graph are neighbours here. A set is a binary trie over index / 64,
 * with 64 bits per leaf and without nodes that have one child. Every node is stored once.
 * So a set has only one shape, sets share common parts, and two sets are equal if their
 * refs are.
 *
 * The key of a node is the middle of the interval that it covers, in steps of half a
 * leaf: that of a leaf is 2 * (index / 64) + 1, and a branch whose lowest bit is m covers
 * [key - m, key + m); its left child has what is below the key. So the lowest bit of a
 * key distinguishes a leaf from a branch and gives the width of the branch.
 *
 * Unions are stored in a table that forgets: a lost one is computed again.
 */
#ifndef HI_CENSUS_RETAINERS_SET_POOL_INTERNAL_H
#define HI_CENSUS_RETAINERS_SET_POOL_INTERNAL_H

#include "base/table.h"
#include "base/vector.h"
#include "census/retainers/set_pool.h"

struct hi_set_node {
	uint32_t key;
	uint32_t count; /* members */
	union {
		uint64_t bits; /* leaf */
		uint32_t child[2];
	};
};
struct hi_set_memo { /* a < b; 0: empty */
	uint32_t a, b, result;
};
struct hi_set_pool {
	struct HI_VECTOR(struct hi_set_node) nodes; /* [0] and [1] are no sets */
	uint32_t *slots;			    /* refs by content; 0: empty */
	size_t n_slots;				    /* a power of two > 2 * nodes */
	struct hi_set_memo *memo;
	size_t n_memo, memo_misses;
	struct HI_VECTOR(uint32_t) identities; /* by index */
	struct hi_table indices;	       /* identity -> index */
	struct HI_VECTOR(uint32_t) refs;       /* by number; [0] and [1] unused */
	struct hi_table numbers;	       /* ref -> number */
};
enum { HI_SET_REF_BITS = 30, HI_SET_REF_MAX = (1 << HI_SET_REF_BITS) - 1 };

/* All that return refs: HI_SET_NONE when out of memory. */
uint32_t hi_set_singleton(struct hi_set_pool *pool, uint32_t identity);
uint32_t hi_set_unite(struct hi_set_pool *pool, uint32_t a, uint32_t b);
/* Returns the node with this content, made if it is new. bits is not 0. The intervals
 * of a and b are disjoint. */
uint32_t hi_set_leaf(struct hi_set_pool *pool, uint32_t key, uint64_t bits);
uint32_t hi_set_branch_above(struct hi_set_pool *pool, uint32_t a, uint32_t b);

static inline size_t hi_set_memo_index(const struct hi_set_pool *p, uint32_t a,
				       uint32_t b)
{
	uint64_t h = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15;

	return (size_t)(h >> 32) & (p->n_memo - 1);
}

/* HI_SET_MANY where there are more members than max. Neither is HI_SET_NONE. */
static inline uint32_t hi_set_union(struct hi_set_pool *p, uint32_t a, uint32_t b,
				    uint32_t max)
{
	uint32_t low = a < b ? a : b, high = a < b ? b : a, ref;
	const struct hi_set_memo *m;

	if (low == high || low == HI_SET_MANY)
		return low;
	m = &p->memo[hi_set_memo_index(p, low, high)];
	ref = m->a == low && m->b == high ? m->result : hi_set_unite(p, low, high);
	return p->nodes.items[ref].count > max ? HI_SET_MANY : ref;
}

/* A number for each ref that has none, in this order: all of them, or false. */
bool hi_set_pool_number(struct hi_set_pool *pool, const uint32_t *refs, size_t n);
/* HI_SET_NONE if it has none. */
uint32_t hi_set_number(const struct hi_set_pool *pool, uint32_t ref);
/* Members of a ref, in no order; returns how many. */
uint32_t hi_set_list(const struct hi_set_pool *pool, uint32_t ref, uint32_t *ret);
bool hi_set_ref_has(const struct hi_set_pool *pool, uint32_t ref, uint32_t index);
/* Forgets the sets that have no number, and with them all refs. On failure
 * nothing has changed. */
bool hi_set_pool_trim(struct hi_set_pool *pool);

#endif
