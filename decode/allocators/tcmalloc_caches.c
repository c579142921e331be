/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks that are free although their span counts them as used: in the transfer caches of
 * the central lists, and in the caches of threads. A list that breaks leaves it unknown
 * how many blocks of its class are live: the class is damaged, and not counted.
 */
#include "decode/allocators/tcmalloc.h"

#include "base/alloc.h"

static void damage_class(struct hi_tcmalloc *t, uint32_t i, uint64_t addr,
			 const char *what)
{
	t->classes[i].damaged = true;
	hi_allocator_note_damage(&t->base, addr, "blocks of %lu bytes: %s",
				 t->classes[i].size, what);
}

/* A list of n blocks from `block` on; how many were good. *ret: behind the last. */
static uint64_t mark_list(struct hi_tcmalloc *t, uint32_t size_class, uint64_t n,
			  enum hi_block_state state, uint64_t *block)
{
	for (uint64_t i = 0; i < n; i++) {
		uint32_t id, slot;

		if (!hi_tcmalloc_slot_at(t, *block, size_class, &id, &slot))
			return i;
		if (id != HI_TCMALLOC_DAMAGED_SPAN - 1) {
			if (hi_slabs_state(&t->slabs, id, slot) != HI_BLOCK_LIVE)
				return i;
			hi_slabs_set_state(&t->slabs, id, slot, state);
		}
		if (!hi_tcmalloc_next_block(t, *block, block))
			return i;
	}
	return n;
}

/* ---- central lists ---- */

static void mark_transfers(struct hi_tcmalloc *t, uint32_t i, uint64_t central,
			   uint32_t used)
{
	const struct hi_tcmalloc_layout *l = t->layout;
	struct hi_tcmalloc_class *c = &t->classes[i];

	for (uint32_t k = 0; k < used; k++) {
		uint64_t at = central + l->slots + k * 16, block = 0, tail = 0;

		if (!hi_window_u64(&t->map, at, &block) ||
		    !hi_window_u64(&t->map, at + 8, &tail) ||
		    mark_list(t, i, c->moves, HI_BLOCK_FREE_TRANSFER, &block) !=
			    c->moves ||
		    block) {
			damage_class(t, i, block ? block : at,
				     "a list of the transfer cache breaks");
			return;
		}
	}
}

struct central_words {
	uint64_t n_spans, n_free;
	uint32_t lock, used, cache_size, max_cache_size; /* the last three: slots */
};

static bool read_central(struct hi_tcmalloc *t, uint64_t central,
			 struct central_words *ret)
{
	const struct hi_tcmalloc_layout *l = t->layout;

	return hi_window_u32(&t->map, central, &ret->lock) &&
	       hi_window_u64(&t->map, central + l->num_spans, &ret->n_spans) &&
	       hi_window_u64(&t->map, central + l->counter, &ret->n_free) &&
	       hi_window_u32(&t->map, central + l->used_slots, &ret->used) &&
	       hi_window_u32(&t->map, central + l->used_slots + 4, &ret->cache_size) &&
	       hi_window_u32(&t->map, central + l->used_slots + 8, &ret->max_cache_size);
}

static bool has_sound_slots(const struct hi_tcmalloc *t, const struct central_words *w)
{
	return w->used <= w->cache_size && w->cache_size <= w->max_cache_size &&
	       w->max_cache_size && w->max_cache_size <= t->layout->n_slots;
}

/* Does what the central list of class i counts agree with what was seen? */
static enum hi_status check_central(struct hi_tcmalloc *t, uint32_t i, unsigned *wrong,
				    struct hi_error *err)
{
	uint64_t at = t->where.central + i * (uint64_t)t->layout->central_stride;
	struct hi_tcmalloc_class *c = &t->classes[i];
	struct central_words w = {};

	if (!read_central(t, at, &w) || !has_sound_slots(t, &w))
		return hi_fail(err, HI_BAD_DATA, at,
			       "central lists: that of %lu bytes uses %u of %u slots, at "
			       "most %u",
			       c->size, w.used, w.cache_size, w.max_cache_size);
	if (w.n_spans != c->n_spans || w.n_free != c->n_free) {
		++*wrong;
		c->damaged = true;
		hi_allocator_note_damage(
			&t->base, at,
			"blocks of %lu bytes: %lu spans and %lu free blocks, the "
			"central list counts %lu and %lu",
			c->size, c->n_spans, c->n_free, w.n_spans, w.n_free);
	} else if (w.lock) {
		damage_class(t, i, at, "a thread works on the central list");
	}
	mark_transfers(t, i, at, w.used);
	return HI_OK;
}

static enum hi_status check_centrals(struct hi_tcmalloc *t, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	unsigned wrong = 0, used = 0, broken = 0;

	for (uint32_t i = 1; i < t->n_classes && status == HI_OK; i++) {
		status = check_central(t, i, &wrong, err);
		used += t->classes[i].n_spans > 0;
		broken += t->classes[i].damaged;
	}
	if (status == HI_OK && broken > used / 4 + 1)
		return hi_fail(err, HI_BAD_DATA, t->where.central,
			       "central lists: %u of %u classes, %u of them by their "
			       "counters, disagree with their spans",
			       broken, used, wrong);
	return status;
}

/* ---- thread caches ---- */

/* Marks the blocks that one cache holds of class i, and adds their bytes. */
static void mark_cache_list(struct hi_tcmalloc *t, uint32_t i, uint64_t list,
			    int64_t *bytes)
{
	struct hi_tcmalloc_class *c = &t->classes[i];
	uint64_t block = 0;
	uint32_t length = 0;

	if (!hi_window_u64(&t->spans, list, &block) ||
	    !hi_window_u32(&t->spans, list + t->layout->list_length, &length))
		return;
	*bytes += (int64_t)(length * c->size);
	if (length == 0 && block == 0)
		return;
	if (mark_list(t, i, length, HI_BLOCK_FREE_TCACHE, &block) != length || block)
		damage_class(t, i, block ? block : list,
			     "the list of a thread's cache breaks");
}

/* *wrong counts caches whose size_ is another than that of their lists. */
static void mark_cache(struct hi_tcmalloc *t, uint64_t cache, unsigned *wrong)
{
	const struct hi_tcmalloc_layout *l = t->layout;
	int64_t bytes = 0;
	uint32_t size = 0;

	for (uint32_t i = 1; i < t->n_classes; i++)
		mark_cache_list(t, i, cache + l->lists + i * l->list_stride, &bytes);
	(void)hi_window_u32(&t->spans, cache + l->cache_size, &size);
	if ((int32_t)size == bytes)
		return;
	++*wrong;
	hi_allocator_note_damage(
		&t->base, cache,
		"a thread's cache counts %d bytes, and its lists have %ld", (int32_t)size,
		bytes);
}

/* Entries of a transfer cache that are no longer in use lead to blocks that were given
 * out since: no references of the program. */
static void own_central_lists(struct hi_tcmalloc *t)
{
	t->own.start = t->where.central;
	t->own.end =
		t->where.central + t->n_classes * (uint64_t)t->layout->central_stride;
	t->base.own = &t->own;
	t->base.n_own = 1;
}

enum hi_status hi_tcmalloc_mark_cached(struct hi_tcmalloc *t, struct hi_error *err)
{
	enum hi_status status = check_centrals(t, err);
	unsigned wrong = 0, used = 0, broken = 0;

	if (status != HI_OK)
		return status;
	own_central_lists(t);
	for (size_t i = 0; i < t->where.caches.count; i++)
		mark_cache(t, t->where.caches.items[i], &wrong);
	for (uint32_t i = 1; i < t->n_classes; i++) {
		used += t->classes[i].n_spans > 0;
		broken += t->classes[i].damaged;
	}
	if (broken > used / 4 + 1)
		return hi_fail(err, HI_BAD_DATA, 0,
			       "thread caches: lists of %u of %u classes break", broken,
			       used);
	if (wrong > t->where.caches.count / 4 + 1)
		return hi_fail(err, HI_BAD_DATA, 0,
			       "thread caches: %u of %zu have another size than counted",
			       wrong, t->where.caches.count);
	return HI_OK;
}
