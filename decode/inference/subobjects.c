/* SPDX-License-Identifier: BSD-2-Clause */
/* The set of candidates, and the new table that is made from them. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/inference/subobjects_internal.h"

/* Candidates beyond these are a hostile target's: as many as objects, and more. */
enum { CANDIDATES_PER_OBJECT = 4, MIN_CANDIDATES = 16 << 20 };

/* Bits that tell what one candidate was found by. */
#define EVIDENCE ((uint64_t)7 << HI_KEY_EVIDENCE_SHIFT | HI_KEY_SLOT)

enum hi_status hi_subobjects_create(const struct hi_image *image,
				    struct hi_modules *modules,
				    const struct hi_allocator *allocator,
				    const struct hi_objects *objects,
				    struct hi_subobjects **ret, struct hi_error *err)
{
	HI_GUARD(hi_subobjects_destroy)
	struct hi_subobjects *c = hi_calloc(1, sizeof(*c));
	enum hi_status status;

	if (!c)
		return hi_fail_memory(err, "subobjects");
	for (unsigned i = 0; i < HI_SUBOBJECT_SHARDS; i++)
		pthread_mutex_init(&c->shards[i].lock, NULL);
	c->max_candidates =
		(uint64_t)objects->count * CANDIDATES_PER_OBJECT + MIN_CANDIDATES;
	status = hi_subobjects_find_ranges(c, image, modules, allocator, objects, err);
	if (status == HI_OK)
		*ret = hi_take(c);
	return status;
}

void hi_subobjects_destroy(struct hi_subobjects *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < HI_SUBOBJECT_SHARDS; i++) {
		free(c->shards[i].candidates);
		pthread_mutex_destroy(&c->shards[i].lock);
	}
	hi_vector_free(&c->ranges);
	hi_vector_free(&c->outside);
	hi_vector_free(&c->statics);
	free(c);
}

/* ---- the set ---- */

static uint64_t hash_candidate(const struct hi_subobject_candidate *candidate)
{
	uint64_t h = (candidate->at * 0x9e3779b97f4a7c15ull) ^
		     ((candidate->key & ~EVIDENCE) * 0xd6e8feb86659fd93ull);

	h ^= h >> 32;
	h *= 0xff51afd7ed558ccdull;
	return h ^ h >> 29;
}

static bool is_same_candidate(const struct hi_subobject_candidate *a,
			      const struct hi_subobject_candidate *b)
{
	return a->at == b->at && ((a->key ^ b->key) & ~EVIDENCE) == 0;
}

static struct hi_subobject_candidate *
candidate_slot_of(struct hi_subobject_candidate *candidates, uint32_t size,
		  const struct hi_subobject_candidate *candidate)
{
	return &candidates[hi_probe(
		i, size, hash_candidate(candidate) / HI_SUBOBJECT_SHARDS,
		!candidates[i].at || is_same_candidate(&candidates[i], candidate))];
}

static bool grow_candidate_shard(struct hi_subobject_shard *shard)
{
	uint32_t size = shard->size ? shard->size * 2 : 64;
	struct hi_subobject_candidate *candidates =
		size > shard->size ? hi_calloc(size, sizeof(*candidates)) : NULL;

	if (!candidates)
		return false;
	for (uint32_t i = 0; i < shard->size; i++)
		if (shard->candidates[i].at)
			*candidate_slot_of(candidates, size, &shard->candidates[i]) =
				shard->candidates[i];
	free(shard->candidates);
	shard->candidates = candidates;
	shard->size = size;
	return true;
}

/* Was it only inferred, and is known now? Note [Weak candidates] in infer_block.c. */
static bool is_better_subobject(uint64_t key, uint64_t old)
{
	uint64_t weak = (uint64_t)HI_EVIDENCE_SHAPE << HI_KEY_EVIDENCE_SHIFT;

	return (key & EVIDENCE) > weak && (old & EVIDENCE) <= weak;
}

static bool add_to_shard(struct hi_subobject_shard *shard,
			 const struct hi_subobject_candidate *candidate, bool *better_ret,
			 bool *no_memory_ret)
{
	struct hi_subobject_candidate *slot;

	if (shard->used >= shard->size / 4 * 3 && !grow_candidate_shard(shard)) {
		*no_memory_ret = true;
		return false;
	}
	slot = candidate_slot_of(shard->candidates, shard->size, candidate);
	if (slot->at) {
		uint64_t is_slot = (candidate->key | slot->key) & HI_KEY_SLOT;

		*better_ret = is_better_subobject(candidate->key, slot->key);
		if ((candidate->key & EVIDENCE) > (slot->key & EVIDENCE))
			slot->key = candidate->key;
		slot->key |= is_slot;
		return false;
	}
	*slot = *candidate;
	shard->used++;
	return true;
}

bool hi_subobjects_add(struct hi_subobjects *c, uint64_t addr, uint64_t size,
		       uint32_t key)
{
	struct hi_subobject_candidate candidate = {addr >> 3 | size >> 32 << 53,
						   (size & UINT32_MAX) << 32 |
							   (key & ~HI_KEY_SETTLED)};
	struct hi_subobject_shard *shard =
		&c->shards[hash_candidate(&candidate) % HI_SUBOBJECT_SHARDS];
	bool added, better = false, no_memory = false;

	if (!addr || (addr & 7) || addr >> 56 || size < 8 ||
	    size >> HI_SUBOBJECT_SIZE_BITS || (key & HI_KEY_LAYOUT) < HI_LAYOUT_FIRST ||
	    hi_subobjects_failed(c))
		return false;
	pthread_mutex_lock(&shard->lock);
	added = add_to_shard(shard, &candidate, &better, &no_memory);
	pthread_mutex_unlock(&shard->lock);
	if (no_memory)
		atomic_store(&c->no_memory, true);
	if (added && atomic_fetch_add(&c->count, 1) >= c->max_candidates) {
		atomic_store(&c->at_limit, true);
		return false;
	}
	return added || better;
}

bool hi_subobjects_failed(const struct hi_subobjects *c)
{
	return atomic_load_explicit(&c->no_memory, memory_order_relaxed) ||
	       atomic_load_explicit(&c->at_limit, memory_order_relaxed);
}

bool hi_subobjects_at_limit(const struct hi_subobjects *c)
{
	return atomic_load(&c->at_limit);
}

size_t hi_subobjects_count(const struct hi_subobjects *c)
{
	return atomic_load(&c->count);
}

/* ---- sorting ---- */

enum { DIGIT = 11, DIGITS = 1 << DIGIT, PASSES = 5 };

/* By address: 53 bits of it. Each pass is left out when all have that digit. */
static void sort_candidates(struct hi_subobject_candidate **candidates,
			    struct hi_subobject_candidate **scratch, size_t n)
{
	_Static_assert(DIGIT * PASSES >= 53, "all of the address");

	for (unsigned pass = 0; pass < PASSES; pass++) {
		unsigned shift = pass * DIGIT, bits = 53 - shift;
		uint64_t mask = bits < DIGIT ? (1u << bits) - 1 : DIGITS - 1;
		size_t at[DIGITS] = {}, sum = 0, largest = 0;

		for (size_t i = 0; i < n; i++)
			at[(*candidates)[i].at >> shift & mask]++;
		for (unsigned d = 0; d < DIGITS; d++) {
			size_t count = at[d];

			largest = count > largest ? count : largest;
			at[d] = sum;
			sum += count;
		}
		if (largest == n)
			continue;
		for (size_t i = 0; i < n; i++)
			(*scratch)[at[(*candidates)[i].at >> shift & mask]++] =
				(*candidates)[i];
		struct hi_subobject_candidate *sorted = *scratch;
		*scratch = *candidates;
		*candidates = sorted;
	}
}

enum hi_status hi_subobjects_take_candidates(struct hi_subobjects *c,
					     struct hi_subobject_candidate **ret,
					     size_t *n_ret, struct hi_error *err)
{
	size_t n = hi_subobjects_count(c), taken = 0;
	HI_GUARD(free)
	struct hi_subobject_candidate *candidates = hi_alloc(n * sizeof(*candidates));
	HI_GUARD(free) struct hi_subobject_candidate *scratch = NULL;

	if (!candidates)
		return hi_fail_memory(err, "subobjects");
	for (unsigned s = 0; s < HI_SUBOBJECT_SHARDS; s++) {
		struct hi_subobject_shard *shard = &c->shards[s];

		for (uint32_t i = 0; i < shard->size; i++)
			if (shard->candidates[i].at)
				candidates[taken++] = shard->candidates[i];
		free(shard->candidates);
		shard->candidates = NULL;
		shard->size = shard->used = 0;
	}
	scratch = hi_alloc(n * sizeof(*scratch));
	if (!scratch)
		return hi_fail_memory(err, "subobjects");
	sort_candidates(&candidates, &scratch, n);
	*n_ret = n;
	*ret = hi_take(candidates);
	return HI_OK;
}

/* ---- where subobjects may be ---- */

struct placing {
	const struct hi_subobjects *subobjects;
	const struct hi_objects *old;
	const struct hi_subobject_places *places;
	hi_node id;		   /* the block at hand, or HI_NODE_NONE */
	uint64_t block, block_end; /* the block or range at hand */
	uint64_t start, end;	   /* where in it */
	uint64_t taken;		   /* by the block's own type */
};

/* The block or range that contains addr. An address in neither is a range of one word, in
 * which nothing may be. */
static void find_enclosing_range(struct placing *p, uint64_t addr)
{
	const struct hi_objects *o = p->old;
	uint64_t offset = 0, usable;
	hi_node id = hi_objects_find(o, addr, &offset);

	p->start = p->end = 0;
	p->taken = UINT64_MAX;
	p->id = id;
	p->block = addr;
	p->block_end = addr + 8;
	if (id == HI_NODE_NONE) {
		if (!hi_subobjects_range(p->subobjects, addr, &p->start, &p->end))
			return;
		p->block = p->start;
		p->block_end = p->end;
		return;
	}
	usable = hi_objects_usable(o, id);
	p->block = addr - offset;
	p->block_end = p->block + usable;
	if (o->flags[id] & HI_OBJECT_INTERNAL)
		return;
	p->taken = p->places->extent(p->places->arg, id);
	p->end = p->block_end;
	p->start = p->taken < usable ? p->block + p->taken : p->end;
}

/* The first slot of a pool: the block's own type is the slot's, and not that of all bytes
 * up to the next object. */
static bool is_first_slot(const struct placing *p, uint64_t addr, uint64_t size)
{
	return addr == p->block && p->start < p->end && size >= p->taken;
}

static bool may_be_in_block(const struct placing *p,
			    const struct hi_subobject_candidate *candidate)
{
	uint64_t size = hi_subobject_candidate_size(candidate);

	if (p->id == HI_NODE_NONE)
		return true;
	if (!p->places->may_be)
		return hi_subobjects_may_be_pool(hi_objects_usable(p->old, p->id), size);
	return p->places->may_be(p->places->arg, hi_subobject_candidate_addr(candidate),
				 p->id, candidate->key & HI_KEY_LAYOUT, size);
}

static bool is_placed(const struct placing *p,
		      const struct hi_subobject_candidate *candidate)
{
	uint64_t addr = hi_subobject_candidate_addr(candidate);
	uint64_t size = hi_subobject_candidate_size(candidate);

	return (is_first_slot(p, addr, size) || (addr >= p->start && addr < p->end)) &&
	       size <= p->end - addr && may_be_in_block(p, candidate);
}

static void look_at_candidates(const struct placing *p,
			       const struct hi_subobject_candidate *candidates, size_t n)
{
	uint64_t block = 0, end = 0, offset = 0;
	hi_node id = HI_NODE_NONE;

	for (size_t i = 0; i < n; i++) {
		uint64_t addr = hi_subobject_candidate_addr(&candidates[i]);

		if (id == HI_NODE_NONE || addr < block || addr >= end) {
			id = hi_objects_find(p->old, addr, &offset);
			block = addr - offset;
			end = id == HI_NODE_NONE ? 0
						 : block + hi_objects_usable(p->old, id);
		}
		if (id != HI_NODE_NONE)
			p->places->look(p->places->arg, addr, id,
					(uint32_t)candidates[i].key);
	}
}

/* Keeps the candidates that lie where they may; returns how many. */
static size_t keep_placed_candidates(struct placing *p,
				     struct hi_subobject_candidate *candidates, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t addr = hi_subobject_candidate_addr(&candidates[i]);

		if (addr < p->block || addr >= p->block_end)
			find_enclosing_range(p, addr);
		if (is_placed(p, &candidates[i]))
			candidates[kept++] = candidates[i];
	}
	return kept;
}

/* ---- the table ---- */

static bool add_outside(struct hi_subobjects *c, uint64_t start, uint64_t end)
{
	struct hi_range *last =
		c->outside.count ? &c->outside.items[c->outside.count - 1] : NULL;

	end = (end + 7) & ~(uint64_t)7; /* whole words */
	if (last && last->end >= start) {
		last->end = end;
		return true;
	}
	return hi_vector_push(&c->outside, ((struct hi_range){start, end}));
}

static bool is_static(const struct hi_subobjects *c, uint64_t addr)
{
	size_t low = hi_search(i, c->statics.count, c->statics.items[i].end <= addr);

	return low < c->statics.count && addr >= c->statics.items[low].start;
}

/* Objects that are in no old block. */
static enum hi_status find_outside(struct hi_subobjects *c,
				   const struct hi_subobject_candidate *candidates,
				   size_t n, struct hi_subobject_stats *stats,
				   struct hi_error *err)
{
	uint64_t start = 0, end = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t addr = hi_subobject_candidate_addr(&candidates[i]);

		stats->count++;
		stats->bytes += hi_subobject_candidate_size(&candidates[i]);
		if ((addr < start || addr >= end) &&
		    !hi_subobjects_range(c, addr, &start, &end))
			continue;
		if (is_static(c, addr))
			continue;
		stats->outside++;
		if (!add_outside(c, addr, hi_subobject_candidate_end(&candidates[i])))
			return hi_fail_memory(err, "subobjects");
	}
	return HI_OK;
}

static void count_remainder(const struct hi_objects *objects,
			    const struct hi_pools *pools,
			    struct hi_subobject_stats *stats)
{
	stats->pools = pools->count;
	for (uint32_t w = 0; w <= objects->count / 64; w++)
		for (uint64_t bits = pools->is_remainder[w]; bits; bits &= bits - 1)
			stats->remainder_bytes += hi_objects_usable(
				objects, w * 64 + (hi_node)__builtin_ctzll(bits));
}

static enum hi_status make_table(const struct hi_objects *old,
				 const struct hi_subobject_candidate *candidates,
				 size_t n, struct hi_objects **ret,
				 struct hi_pools *pools_ret, struct hi_error *err)
{
	HI_GUARD(free)
	struct hi_subobject *subobjects = hi_alloc(n * sizeof(*subobjects));

	if (!subobjects)
		return hi_fail_memory(err, "subobjects");
	for (size_t i = 0; i < n; i++)
		subobjects[i] = (struct hi_subobject){
			.addr = hi_subobject_candidate_addr(&candidates[i]),
			.size = hi_subobject_candidate_size(&candidates[i]),
			.type = (uint32_t)(candidates[i].key &
					   ~(HI_SUBOBJECT_CONFLICT | HI_KEY_SLOT)),
			.is_slot = candidates[i].key & HI_KEY_SLOT,
			.flags = (uint8_t)(candidates[i].key & HI_SUBOBJECT_CONFLICT
						   ? HI_OBJECT_CONFLICT
						   : 0)};
	return hi_objects_split(old, subobjects, n, ret, pools_ret, err);
}

enum hi_status hi_subobjects_split(struct hi_subobjects *c, struct hi_layouts *layouts,
				   const struct hi_objects *old,
				   const struct hi_subobject_places *places,
				   struct hi_objects **ret, struct hi_pools *pools_ret,
				   struct hi_subobject_stats *stats_ret,
				   struct hi_error *err)
{
	HI_GUARD(free) struct hi_subobject_candidate *candidates = NULL;
	struct placing placing = {.subobjects = c, .old = old, .places = places};
	struct hi_subobject_stats stats = {.candidates = hi_subobjects_count(c),
					   .at_limit = hi_subobjects_at_limit(c)};
	struct hi_objects *table = NULL;
	struct hi_pools pools = {};
	enum hi_status status = HI_OK;
	size_t n = 0, placed = 0;

	if (atomic_load(&c->no_memory))
		return hi_fail_memory(err, "subobjects");
	if (stats.candidates && !stats.at_limit)
		status = hi_subobjects_take_candidates(c, &candidates, &n, err);
	if (status == HI_OK && places->look)
		look_at_candidates(&placing, candidates, n);
	if (status == HI_OK && n) {
		placed = keep_placed_candidates(&placing, candidates, n);
		stats.misplaced = n - placed;
		status = hi_subobjects_resolve(layouts, candidates, placed, &n, &stats,
					       err);
		if (status == HI_OK && hi_layouts_failed(layouts))
			status = hi_fail_memory(err, "types");
	}
	if (status == HI_OK)
		status = find_outside(c, candidates, n, &stats, err);
	if (status == HI_OK && n)
		status = make_table(old, candidates, n, &table, &pools, err);
	if (status != HI_OK)
		return status;
	if (table)
		count_remainder(table, &pools, &stats);
	*ret = table;
	*pools_ret = pools;
	*stats_ret = stats;
	return HI_OK;
}

size_t hi_subobjects_outside(const struct hi_subobjects *c, const struct hi_range **ret)
{
	*ret = c->outside.items;
	return c->outside.count;
}
