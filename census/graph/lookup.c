/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From an address to the object that contains it.
 *
 * Note [Lookup by rank]
 *
 * The id of an object is its rank in address order, so a table that counts
 * objects answers "which object is at this address" without storing a single
 * address: one entry covers 64 granules (the alignment of objects), one bit
 * a granule is set if an object starts there, and `rank` is the number of
 * objects that start before the entry. The id of the last object that starts
 * at or before a granule is rank + popcount(bits up to it) - 1. That is one
 * cache line a question, 16 bytes per KiB of heap, and no search.
 *
 * An entry that no object touches stays all zero and its page untouched:
 * rank 0 without a start bit means "nothing here". That is also right for the
 * entries before the very first object. An entry in the middle of a large
 * object has no bits but its rank, so that the object before it is found.
 * (Rank - 1 may name an object of another region; its end is then at or below
 * this region's start, and the test against its size fails.)
 *
 * A region of one object (an mmapped chunk) gets one entry with a granule so
 * wide that it covers the object.
 *
 * Note [Blocks of words]
 *
 * hi_objects_find_many() works on blocks of words in three stages, each one block later
 * than the one before it, so that the cache misses of a whole block are under way at
 * once:
 *	aim      region and entry of each word; prefetch the entry
 *	resolve  candidate object by rank; for interior words prefetch its columns
 *	confirm  does the word lie inside its candidate? append the hit
 */
#include "base/search.h"
#include "census/graph/objects_internal.h"

/* popcount and wide vectors where the processor has them. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(HI_SANITIZED)
#define HI_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define HI_CLONES
#endif
#define HI_INLINE static inline __attribute__((always_inline))

enum { BLOCK = 64 };
#define UNKNOWN_OFFSET UINT64_MAX /* the start is not in the same entry */

struct aimed {
	uint64_t addr, offset; /* from the region's start */
	const struct hi_lookup_entry *entry;
	uint32_t index;
	uint32_t shift;
};

struct candidate {
	uint64_t addr;
	uint64_t offset; /* of addr in the object */
	hi_node id;
	uint32_t index;
};

HI_INLINE const struct hi_lookup_region *region_of(const struct hi_objects *o,
						   uint64_t addr)
{
	const uint64_t *starts = o->priv->region_starts, *base = starts;

	for (uint32_t n = o->n_regions; n > 1;) {
		uint32_t half = n / 2;

		base += base[half] <= addr ? half : 0;
		n -= half;
	}
	return &o->regions[base - starts];
}

HI_INLINE bool region_has(const struct hi_lookup_region *r, uint64_t addr)
{
	return addr - r->start < r->end - r->start;
}

/* The last object that starts at or before the address, if any. */
HI_INLINE bool resolve(const struct aimed *a, struct candidate *c)
{
	uint64_t granule = a->offset >> a->shift;
	unsigned in_entry = granule & 63;
	uint64_t starts = a->entry->starts & ((2ull << in_entry) - 1);
	unsigned bit = 63u - (unsigned)__builtin_clzll(starts | 1);

	c->addr = a->addr;
	c->index = a->index;
	c->id = a->entry->rank + (hi_node)__builtin_popcountll(starts) - 1;
	c->offset = starts ? a->offset - ((granule - in_entry + bit) << a->shift)
			   : UNKNOWN_OFFSET;
	return starts || a->entry->rank;
}

/* c->offset becomes known. */
HI_INLINE bool confirm(const struct hi_objects *o, struct candidate *c)
{
	uint32_t usable;

	if (c->offset == 0)
		return true;
	if (c->offset == UNKNOWN_OFFSET)
		c->offset = c->addr - hi_objects_address(o, c->id);
	usable = o->usable_low[c->id];
	if (usable == UINT32_MAX)
		return c->offset < hi_objects_usable(o, c->id);
	return c->offset < usable;
}

/* Finds, in a table without lookup entries, the last object at or before the address. */
static hi_node find_by_search(const struct hi_objects *o, uint64_t addr,
			      uint64_t *offset_ret)
{
	hi_node low = hi_search(i, o->count, hi_objects_address(o, i) <= addr);

	if (!low)
		return HI_NODE_NONE;
	addr -= hi_objects_address(o, low - 1);
	if (addr && addr >= hi_objects_usable(o, low - 1))
		return HI_NODE_NONE;
	if (offset_ret)
		*offset_ret = addr;
	return low - 1;
}

hi_node hi_objects_find(const struct hi_objects *o, uint64_t addr, uint64_t *offset_ret)
{
	const struct hi_lookup_region *r;
	struct candidate c;
	struct aimed a;

	if (addr - o->low >= o->high - o->low)
		return HI_NODE_NONE;
	if (!o->n_regions)
		return find_by_search(o, addr, offset_ret);
	r = region_of(o, addr);
	if (!region_has(r, addr))
		return HI_NODE_NONE;
	a = (struct aimed){.addr = addr, .offset = addr - r->start, .shift = r->shift};
	a.entry = &r->entries[a.offset >> r->shift >> 6];
	if (!resolve(&a, &c) || !confirm(o, &c))
		return HI_NODE_NONE;
	if (offset_ret)
		*offset_ret = c.offset;
	return c.id;
}

struct pipeline {
	const struct hi_objects *objects;
	const struct hi_lookup_region *last; /* the region that hit last */
	struct aimed aimed[BLOCK];
	struct candidate candidates[BLOCK];
	unsigned n_aimed, n_candidates;
};

HI_INLINE void stage_aim(struct pipeline *p, const uint64_t *words, size_t from,
			 size_t to)
{
	const struct hi_objects *o = p->objects;
	const struct hi_lookup_region *r = p->last;
	uint64_t low = o->low, span = o->high - low;
	unsigned n = 0;

	for (size_t i = from; i < to; i++) {
		uint64_t addr = words[i];
		struct aimed *a = &p->aimed[n];

		if (addr - low >= span)
			continue;
		if (!region_has(r, addr)) {
			r = region_of(o, addr);
			if (!region_has(r, addr))
				continue;
		}
		a->addr = addr;
		a->offset = addr - r->start;
		a->shift = r->shift;
		a->index = (uint32_t)i;
		a->entry = &r->entries[a->offset >> r->shift >> 6];
		__builtin_prefetch(a->entry);
		n++;
	}
	p->last = r;
	p->n_aimed = n;
}

HI_INLINE void stage_resolve(struct pipeline *p)
{
	const struct hi_objects *o = p->objects;
	unsigned n = 0;

	for (unsigned i = 0; i < p->n_aimed; i++) {
		struct candidate *c = &p->candidates[n];

		if (!resolve(&p->aimed[i], c))
			continue;
		n++;
		if (c->offset == 0)
			continue;
		__builtin_prefetch(&o->usable_low[c->id]);
		if (c->offset == UNKNOWN_OFFSET)
			__builtin_prefetch(&o->address_low[c->id]);
	}
	p->n_candidates = n;
}

HI_INLINE size_t stage_confirm(struct pipeline *p, struct hi_hit *hits, size_t n_hits)
{
	for (unsigned i = 0; i < p->n_candidates; i++) {
		struct candidate *c = &p->candidates[i];

		if (!confirm(p->objects, c))
			continue;
		hits[n_hits++] = (struct hi_hit){c->index, c->id, c->offset != 0};
	}
	return n_hits;
}

HI_CLONES
size_t hi_objects_find_many(const struct hi_objects *objects, const uint64_t *words,
			    size_t n, struct hi_hit *hits)
{
	struct pipeline p;
	size_t n_hits = 0;

	if (objects->n_regions == 0)
		return 0;
	p.objects = objects;
	p.last = objects->regions;
	p.n_aimed = p.n_candidates = 0;
	for (size_t from = 0; from < n || p.n_aimed || p.n_candidates;) {
		size_t to = from + BLOCK < n ? from + BLOCK : n;

		n_hits = stage_confirm(&p, hits, n_hits);
		stage_resolve(&p);
		stage_aim(&p, words, from, to);
		from = to;
	}
	return n_hits;
}
