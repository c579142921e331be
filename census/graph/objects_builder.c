/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From batches of blocks to the sealed object table. Start bits are set as
 * objects come, so that neither addresses nor a sort are needed; ranks and the
 * address column follow at the seal, region by region, and each region's own
 * columns are given back as soon as they are copied.
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/graph/objects_internal.h"

#define MAX_SHIFT 12

struct size_by_rank { /* usable size that needs 64 bits */
	uint32_t rank;
	uint64_t usable;
};

struct region {
	uint64_t start, end; /* start is aligned to the granule */
	uint64_t next;	     /* objects must start here or later */
	uint64_t first;	     /* address of the first object */
	struct hi_entry_block block;
	uint32_t *usable; /* UINT32_MAX: in large */
	uint8_t *flags;
	uint32_t count, capacity;
	unsigned shift;
	struct HI_VECTOR(struct size_by_rank) large;
};

/*
 * Regions live in blocks that never move (block k has FIRST_BLOCK << k), since
 * one may be opened while other threads fill theirs.
 */
enum { FIRST_BLOCK_SHIFT = 4, MAX_BLOCKS = 28 };

struct hi_objects_builder {
	struct region *blocks[MAX_BLOCKS];
	unsigned n_regions;
	struct HI_VECTOR(uint32_t) order; /* region indices by start */
	uint32_t overhead[4];
	pthread_mutex_t lock; /* n_regions, order, making of blocks */
};

static inline unsigned block_of(unsigned index)
{
	return 31u - __builtin_clz((index >> FIRST_BLOCK_SHIFT) + 1);
}

static inline struct region *region_at(const struct hi_objects_builder *b, unsigned index)
{
	unsigned k = block_of(index);

	return &b->blocks[k][index - (((1u << k) - 1) << FIRST_BLOCK_SHIFT)];
}

enum hi_status hi_objects_builder_create(struct hi_objects_builder **ret,
					 struct hi_error *err)
{
	struct hi_objects_builder *b = hi_calloc(1, sizeof(*b));

	if (!b)
		return hi_fail_memory(err, "object table");
	if (pthread_mutex_init(&b->lock, NULL) != 0) {
		free(b);
		return hi_fail_memory(err, "object table");
	}
	*ret = b;
	return HI_OK;
}

static void region_free_columns(struct region *r)
{
	free(r->usable);
	free(r->flags);
	r->usable = NULL;
	r->flags = NULL;
	hi_vector_free(&r->large);
}

void hi_objects_builder_destroy(struct hi_objects_builder *b)
{
	if (!b)
		return;
	for (unsigned i = 0; i < b->n_regions; i++) {
		region_free_columns(region_at(b, i));
		hi_entry_block_free(&region_at(b, i)->block);
	}
	for (unsigned k = 0; k < MAX_BLOCKS; k++)
		free(b->blocks[k]);
	hi_vector_free(&b->order);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

void hi_objects_builder_overhead(struct hi_objects_builder *b, unsigned klass,
				 uint32_t bytes)
{
	assert(klass < 4);
	b->overhead[klass] = bytes;
}

/* Position in `order` of the first region that starts at or after start. */
static size_t order_position(const struct hi_objects_builder *b, uint64_t start)
{
	size_t low = 0, high = b->order.count;

	/* Regions mostly come in address order. */
	if (high && region_at(b, b->order.items[high - 1])->start < start)
		return high;
	low = hi_search_from(i, low, high,
			     region_at(b, b->order.items[i])->start < start);
	return low;
}

static bool region_overlaps(const struct hi_objects_builder *b, size_t at, uint64_t start,
			    uint64_t end)
{
	if (at > 0 && region_at(b, b->order.items[at - 1])->end > start)
		return true;
	return at < b->order.count && region_at(b, b->order.items[at])->start < end;
}

static enum hi_status region_open(struct hi_objects_builder *b, uint64_t start,
				  struct region *region, unsigned *index_ret,
				  struct hi_error *err)
{
	size_t at = order_position(b, start);
	unsigned k = block_of(b->n_regions);

	if (region_overlaps(b, at, start, region->end))
		return hi_fail(err, HI_BAD_DATA, start, "object table: regions overlap");
	if (k >= MAX_BLOCKS)
		return hi_fail(err, HI_LIMIT, 0, "object table: too many regions");
	if (!b->blocks[k])
		b->blocks[k] = hi_calloc(1u << k << FIRST_BLOCK_SHIFT, sizeof(*region));
	if (!b->blocks[k] || !hi_vector_reserve(&b->order, b->order.count + 1) ||
	    !hi_entry_block_alloc(&region->block,
				  ((region->end - region->start - 1) >> region->shift) +
					  1))
		return hi_fail_memory(err, "object table");
	memmove(b->order.items + at + 1, b->order.items + at,
		(b->order.count - at) * sizeof(*b->order.items));
	b->order.items[at] = b->n_regions;
	b->order.count++;
	*region_at(b, b->n_regions) = *region;
	*index_ret = b->n_regions++;
	return HI_OK;
}

enum hi_status hi_objects_builder_region(struct hi_objects_builder *b, uint64_t start,
					 uint64_t end, unsigned align_shift,
					 unsigned *region_ret, struct hi_error *err)
{
	uint64_t mask = (1ull << align_shift) - 1;
	uint64_t aligned = (start + mask) & ~mask;
	struct region region = {
		.start = aligned, .end = end, .next = aligned, .shift = align_shift};
	enum hi_status status;

	assert(align_shift <= MAX_SHIFT);
	if (start >= end || aligned < start || aligned >= end)
		return hi_fail(err, HI_BAD_DATA, start,
			       "object table: a region without room");
	pthread_mutex_lock(&b->lock);
	status = region_open(b, start, &region, region_ret, err);
	pthread_mutex_unlock(&b->lock);
	return status;
}

static bool region_grow(struct region *r)
{
	uint32_t wanted = r->capacity ? r->capacity + r->capacity / 2 : 2;
	uint32_t *usable;
	uint8_t *flags;

	if (wanted < r->capacity)
		return false;
	usable = hi_realloc_array(r->usable, wanted, sizeof(*usable));
	if (!usable)
		return false;
	r->usable = usable;
	flags = hi_realloc_array(r->flags, wanted, sizeof(*flags));
	if (!flags)
		return false;
	r->flags = flags;
	r->capacity = wanted;
	return true;
}

static enum hi_status refuse_object(const struct region *r, uint64_t addr,
				    struct hi_error *err)
{
	const char *why = "reaches beyond its region";

	if (addr < r->start || addr >= r->end)
		why = "lies outside its region";
	else if (addr < r->next)
		why = "overlaps the one before it or is out of order";
	else if (addr & ((1ull << r->shift) - 1))
		why = "is not aligned";
	return hi_fail(err, HI_BAD_DATA, addr, "object table: object %s", why);
}

enum hi_status hi_objects_builder_add(struct hi_objects_builder *b, unsigned region,
				      uint64_t addr, uint64_t usable, uint8_t flags,
				      struct hi_error *err)
{
	struct region *r = region_at(b, region);
	uint64_t granule = (addr - r->start) >> r->shift;

	if (addr < r->next || addr >= r->end || usable > r->end - addr ||
	    (addr & ((1ull << r->shift) - 1)))
		return refuse_object(r, addr, err);
	if (r->count == r->capacity && !region_grow(r))
		return hi_fail_memory(err, "object table");
	if (usable >= UINT32_MAX &&
	    !hi_vector_push(&r->large, ((struct size_by_rank){r->count, usable})))
		return hi_fail_memory(err, "object table");
	if (r->count == 0)
		r->first = addr;
	r->usable[r->count] = usable < UINT32_MAX ? (uint32_t)usable : UINT32_MAX;
	r->flags[r->count] = flags;
	r->count++;
	r->block.entries[granule / 64].starts |= 1ull << (granule & 63);
	r->next = addr + (usable ? usable : 1);
	return HI_OK;
}

/* ---- sealing ---- */

struct sealer {
	struct hi_objects *objects;
	hi_node next_id;
	uint32_t n_single;
	size_t next_large; /* in the region at hand */
};

static uint64_t next_usable_of_region(struct sealer *s, const struct region *r,
				      uint32_t rank)
{
	if (r->usable[rank] != UINT32_MAX)
		return r->usable[rank];
	while (r->large.items[s->next_large].rank < rank)
		s->next_large++;
	return r->large.items[s->next_large].usable;
}

static bool seal_address(struct sealer *s, uint64_t addr)
{
	struct hi_objects_private *priv = s->objects->priv;
	size_t n = priv->windows.count;

	if (n == 0 || addr - priv->windows.items[n - 1].base > UINT32_MAX) {
		if (!hi_vector_push(&priv->windows,
				    ((struct hi_address_window){addr, s->next_id})))
			return false;
		n++;
	}
	s->objects->address_low[s->next_id++] =
		(uint32_t)(addr - priv->windows.items[n - 1].base);
	return true;
}

/* Ranks and addresses of a region of several objects. */
static bool seal_entries(struct sealer *s, struct region *r,
			 struct hi_lookup_entry *entries)
{
	unsigned span = r->shift + 6;
	uint64_t last = (r->next - 1 - r->start) >> span, covered = 0;
	uint32_t rank = 0;

	s->next_large = 0;
	for (uint64_t i = (r->first - r->start) >> span; i <= last; i++) {
		struct hi_lookup_entry *entry = &entries[i];
		uint64_t base = r->start + (i << span), bits = entry->starts;

		if (bits || base < covered)
			entry->rank = s->next_id;
		for (; bits; bits &= bits - 1) {
			uint64_t at = (uint64_t)__builtin_ctzll(bits) << r->shift;

			if (!seal_address(s, base + at))
				return false;
			covered = base + at + next_usable_of_region(s, r, rank++);
		}
	}
	assert(rank == r->count);
	return true;
}

/* See Note [Lookup by rank]: one entry for one object. */
static bool seal_single(struct sealer *s, struct region *r,
			struct hi_lookup_region *lookup)
{
	struct hi_lookup_entry *entry = &s->objects->priv->single[s->n_single++];
	uint64_t size = r->next - r->first;

	hi_entry_block_free(&r->block);
	*lookup = (struct hi_lookup_region){r->first, r->next, entry, 0};
	while ((size - 1) >> lookup->shift >= 64)
		lookup->shift++;
	*entry = (struct hi_lookup_entry){.starts = 1, .rank = s->next_id};
	return seal_address(s, r->first);
}

static bool seal_region(struct sealer *s, struct region *r)
{
	struct hi_objects *o = s->objects;
	struct hi_lookup_region *lookup = &o->priv->regions[o->n_regions];
	hi_node first = s->next_id;
	bool ok;

	for (size_t i = 0; i < r->large.count; i++) {
		struct hi_large_object large = {first + r->large.items[i].rank,
						r->large.items[i].usable};

		if (!hi_vector_push(&o->priv->large, large))
			return false;
	}
	if (r->count == 1) {
		ok = seal_single(s, r, lookup);
	} else {
		struct hi_lookup_entry *entries = r->block.entries;

		if (!hi_vector_push(&o->priv->blocks, r->block))
			return false;
		r->block = (struct hi_entry_block){}; /* owned by the table now */
		*lookup = (struct hi_lookup_region){r->start, r->end, entries, r->shift};
		ok = seal_entries(s, r, entries);
	}
	if (!ok)
		return false;
	o->priv->region_starts[o->n_regions++] = lookup->start;
	memcpy(o->usable_low + first, r->usable, (size_t)r->count * 4);
	memcpy(o->flags + first, r->flags, r->count);
	if (first == 0)
		o->low = r->first;
	o->high = r->next;
	region_free_columns(r);
	return true;
}

/* An empty table with room for everything in b. */
static enum hi_status objects_alloc(const struct hi_objects_builder *b,
				    struct hi_objects **ret, struct hi_error *err)
{
	HI_GUARD(hi_objects_destroy) struct hi_objects *o = hi_calloc(1, sizeof(*o));
	uint64_t count = 0;
	uint32_t singles = 0;

	for (unsigned i = 0; i < b->n_regions; i++) {
		count += region_at(b, i)->count;
		singles += region_at(b, i)->count == 1;
	}
	if (!o || !(o->priv = hi_calloc(1, sizeof(*o->priv))))
		return hi_fail_memory(err, "object table");
	if (count >= HI_NODE_NONE)
		return hi_fail(err, HI_LIMIT, 0, "object table: more than 4 G objects");
	o->count = (hi_node)count;
	o->address_low = hi_pages_alloc(count * 4);
	o->usable_low = hi_pages_alloc(count * 4);
	o->type = hi_pages_alloc(count * 4);
	o->flags = hi_pages_alloc(count);
	o->priv->regions = hi_calloc(b->n_regions, sizeof(*o->priv->regions));
	o->priv->region_starts = hi_calloc(b->n_regions, 8);
	o->priv->single = hi_calloc(singles, sizeof(*o->priv->single));
	if (!o->address_low || !o->usable_low || !o->type || !o->flags ||
	    !o->priv->regions || !o->priv->region_starts || !o->priv->single)
		return hi_fail_memory(err, "object table");
	memcpy(o->overhead, b->overhead, sizeof(o->overhead));
	*ret = hi_take(o);
	return HI_OK;
}

enum hi_status hi_objects_seal(struct hi_objects_builder *b, struct hi_objects **ret,
			       struct hi_error *err)
{
	HI_GUARD(hi_objects_builder_destroy) struct hi_objects_builder *owned = b;
	HI_GUARD(hi_objects_destroy) struct hi_objects *o = NULL;
	struct sealer s = {};
	enum hi_status status = objects_alloc(b, &o, err);

	if (status != HI_OK)
		return status;
	s.objects = o;
	for (size_t i = 0; i < b->order.count; i++) {
		struct region *r = region_at(b, b->order.items[i]);

		if (r->count && !seal_region(&s, r))
			return hi_fail_memory(err, "object table");
	}
	if (!hi_vector_push(&o->priv->windows,
			    ((struct hi_address_window){UINT64_MAX, o->count})))
		return hi_fail_memory(err, "object table");
	o->windows = o->priv->windows.items;
	o->n_windows = (uint32_t)o->priv->windows.count - 1;
	o->regions = o->priv->regions;
	*ret = hi_take(o);
	return HI_OK;
}
