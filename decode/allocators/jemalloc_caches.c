/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The caches of threads. Each arena lists those of its threads, and those that the
 * program made. A region in a cache is free, whatever the slab's bitmap says. The stacks
 * of a cache are a block that jemalloc allocates for itself.
 */
#include "decode/allocators/jemalloc.h"

#include <string.h>

enum {
	MAX_CACHES = 1 << 20,
	MAX_STACK = 1 << 16, /* bytes of one bin's */
	MAX_DAMAGED_SHARE = 16,
};
static const uint64_t JUNK = 0x7a7a7a7a7a7a7a7aull;

struct cache_walk {
	struct hi_jemalloc *j;
	struct hi_window window;
	uint64_t slow, cache, memory;
	uint32_t arena;
	uint64_t n_cached, n_wrong;
	uint64_t wrong_at, wrong;
};

static enum hi_status refuse_cache(const struct cache_walk *w, const char *what,
				   struct hi_error *err)
{
	return hi_fail(err, HI_BAD_DATA, w->slow, "arena %u: a thread cache: %s",
		       w->arena, what);
}

/* ---- a region ---- */

static bool is_in_damaged(const struct hi_jemalloc *j, uint64_t addr)
{
	for (size_t i = 0; i < j->damaged.count; i++)
		if (addr >= j->damaged.items[i].start && addr < j->damaged.items[i].end)
			return true;
	return false;
}

/* pointer, at `at` in the stack of this class. */
static void note_cached(struct cache_walk *w, uint64_t at, uint64_t pointer,
			uint32_t szind, enum hi_block_state state)
{
	struct hi_slabs *slabs = &w->j->slabs;
	uint32_t id, slot;
	uint64_t offset;

	w->n_cached++;
	if (is_in_damaged(w->j, pointer))
		return;
	if (!hi_slabs_find(slabs, pointer, &id, &slot, &offset) || slot == UINT32_MAX ||
	    offset || slabs->items.items[id].context != szind ||
	    hi_slabs_state(slabs, id, slot) == HI_BLOCK_FREE_TCACHE) {
		w->n_wrong++;
		w->wrong_at = at;
		w->wrong = pointer;
		return;
	}
	if (hi_slabs_state(slabs, id, slot) == HI_BLOCK_LIVE)
		hi_slabs_set_state(slabs, id, slot, state);
}

static bool note_stack(struct cache_walk *w, uint64_t at, uint64_t end, uint32_t szind,
		       enum hi_block_state state)
{
	for (; at < end; at += 8) {
		uint64_t pointer;

		if (!hi_window_u64(&w->window, at, &pointer))
			return false;
		note_cached(w, at, pointer, szind, state);
	}
	return true;
}

/* The block that holds addr is jemalloc's own. In 5.3.1 it may be metadata. */
static bool note_own_block(struct cache_walk *w, uint64_t addr)
{
	struct hi_slabs *slabs = &w->j->slabs;
	uint32_t id, slot;
	uint64_t offset;

	if (!hi_slabs_find(slabs, addr, &id, &slot, &offset) || slot == UINT32_MAX)
		return false;
	if (hi_slabs_state(slabs, id, slot) == HI_BLOCK_METADATA)
		return true;
	if (hi_slabs_state(slabs, id, slot) == HI_BLOCK_INTERNAL)
		return true;
	if (hi_slabs_state(slabs, id, slot) != HI_BLOCK_LIVE)
		return false;
	hi_slabs_set_state(slabs, id, slot, HI_BLOCK_INTERNAL);
	w->j->internal_known += slabs->items.items[id].usable;
	return true;
}

/* ---- 5.3: stacks side by side, their ends as 16 low bits ---- */

struct cache_bin {
	uint64_t head, end, full;
	uint32_t max; /* 0: not said */
};

static uint16_t load_half(const uint8_t *bytes, uint32_t offset)
{
	uint16_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

/* False: unreadable. */
static bool read_bin(struct cache_walk *w, uint32_t b, uint64_t low,
		     struct cache_bin *bin)
{
	const struct hi_jemalloc_layout *l = w->j->layout;
	const uint8_t *bytes = hi_window_at(
		&w->window, w->cache + l->cache_bins + (uint64_t)b * l->cached_bytes,
		l->cached_bytes);

	if (!bytes)
		return false;
	memcpy(&bin->head, bytes + l->cached_head, 8);
	bin->end = bin->head +
		   (uint16_t)(load_half(bytes, l->cached_empty) - (uint16_t)bin->head);
	bin->max = l->cached_max ? load_half(bytes, l->cached_max) : 0;
	if (l->cached_max)
		low = bin->end - bin->max * 8ull;
	bin->full = low + (uint16_t)(load_half(bytes, l->cached_full) - (uint16_t)low);
	return true;
}

/* 5.3.1: of a class that is not cached; the head is a word of the module's data. */
static bool is_bin_disabled(struct cache_walk *w, const struct cache_bin *bin)
{
	uint64_t word;

	return w->j->layout->cached_max &&
	       (bin->head < w->memory || bin->head - w->memory > 1 << 24) &&
	       hi_window_u64(&w->window, bin->head, &word) && word == JUNK;
}

/* Goes through one bin; *low is where its stack begins, then where it ends. */
static enum hi_status read_cache_stack(struct cache_walk *w, uint32_t b,
				       const struct cache_bin *bin, uint64_t *low,
				       struct hi_error *err)
{
	uint64_t from = bin->max ? bin->end - bin->max * 8ull : *low;

	if (bin->head % 8 || bin->head < from || bin->end - from > MAX_STACK ||
	    bin->full < from || bin->full > bin->head || from < *low)
		return refuse_cache(w, "its stacks are out of order", err);
	if (!note_stack(w, bin->head, bin->end, b, HI_BLOCK_FREE_TCACHE) ||
	    !note_stack(w, from, bin->full, b, HI_BLOCK_FREE_QUARANTINE))
		return refuse_cache(w, "a stack is not readable", err);
	*low = bin->end;
	return HI_OK;
}

static enum hi_status read_cache_stacks(struct cache_walk *w, struct hi_error *err)
{
	const struct hi_jemalloc_layout *l = w->j->layout;
	uint64_t low = w->memory + 8, word;
	uint32_t n = l->cache_n_bins;

	if (l->slow_n_bins && (!hi_window_u32(&w->window, w->slow + l->slow_n_bins, &n) ||
			       n > l->cache_n_bins || n < l->bins))
		return refuse_cache(w, "its number of bins is wrong", err);
	if (!hi_window_u64(&w->window, w->memory, &word) || word != JUNK)
		return refuse_cache(w, "no mark before its stacks", err);
	for (uint32_t b = 0; b < n; b++) {
		struct cache_bin bin;
		enum hi_status status;

		if (!read_bin(w, b, low, &bin))
			return refuse_cache(w, "a bin is not readable", err);
		if (!bin.head)
			break;
		if (is_bin_disabled(w, &bin))
			continue;
		status = read_cache_stack(w, b, &bin, &low, err);
		if (status != HI_OK)
			return status;
	}
	if (!hi_window_u64(&w->window, low, &word) || word != l->junk_after)
		return refuse_cache(w, "no mark behind its stacks", err);
	return HI_OK;
}

static enum hi_status read_new_cache(struct cache_walk *w, struct hi_error *err)
{
	const struct hi_jemalloc_layout *l = w->j->layout;
	uint64_t back, bins;

	if (!hi_window_u64(&w->window, w->slow + l->slow_memory, &w->memory) ||
	    !hi_window_u64(&w->window, w->slow + l->slow_cache, &w->cache) ||
	    !hi_window_u64(&w->window, w->slow + l->slow_bins, &bins) ||
	    !hi_window_u64(&w->window, w->cache, &back) || back != w->slow ||
	    bins != w->cache + l->cache_bins)
		return refuse_cache(w, "its two parts do not lead to each other", err);
	if (!note_own_block(w, w->memory))
		return refuse_cache(w, "its stacks are in no block", err);
	return read_cache_stacks(w, err);
}

/* ---- 5.2: stacks with counts ---- */

static enum hi_status read_counted_bin(struct cache_walk *w, uint64_t bin, uint32_t b,
				       struct hi_error *err)
{
	const struct hi_jemalloc_layout *l = w->j->layout;
	uint64_t end;
	uint32_t count;

	if (!hi_window_u64(&w->window, bin + l->cached_head, &end) ||
	    !hi_window_u32(&w->window, bin + l->cached_count, &count))
		return refuse_cache(w, "a bin is not readable", err);
	if (!end)
		return HI_OK;
	if (end % 8 || count > MAX_STACK / 8)
		return refuse_cache(w, "a count is wrong", err);
	if (!note_stack(w, end - 8ull * count, end, b, HI_BLOCK_FREE_TCACHE))
		return refuse_cache(w, "a stack is not readable", err);
	return HI_OK;
}

/* A thread has a ticker for each arena, in a block. A cache that the program made is in
 * no thread's data: what is before it leads to no block of jemalloc's. */
static void note_tickers(struct cache_walk *w)
{
	const struct hi_jemalloc_layout *l = w->j->layout;
	uint64_t thread = w->slow - l->thread_cache, arena, tickers;

	if (hi_window_u64(&w->window, thread + l->thread_arena, &arena) &&
	    arena == w->j->arenas.items[w->arena].addr &&
	    hi_window_u64(&w->window, thread + l->thread_tickers, &tickers) && tickers)
		(void)note_own_block(w, tickers);
}

/* The part that arenas list and the one with the bins are one. */
static enum hi_status read_old_cache(struct cache_walk *w, struct hi_error *err)
{
	const struct hi_jemalloc_layout *l = w->j->layout;
	uint64_t small, large, stack;
	enum hi_status status = HI_OK;

	w->cache = w->slow;
	if (!hi_window_u64(&w->window, w->slow + l->slow_bins, &small) ||
	    !hi_window_u64(&w->window, w->slow + l->slow_bins_large, &large) ||
	    small != w->cache + l->cache_bins || large != w->cache + l->cache_bins_large)
		return refuse_cache(w, "its bins are elsewhere", err);
	if (!hi_window_u64(&w->window, small + l->cached_head, &stack) ||
	    !note_own_block(w, stack - 8))
		return refuse_cache(w, "its stacks are in no block", err);
	note_tickers(w);
	for (uint32_t b = 0; b < l->cache_n_bins && status == HI_OK; b++) {
		uint64_t bin =
			b < l->bins ? small + (uint64_t)b * l->cached_bytes
				    : large + (uint64_t)(b - l->bins) * l->cached_bytes;

		status = read_counted_bin(w, bin, b, err);
	}
	return status;
}

/* ---- all of them ---- */

static enum hi_status read_cache(struct cache_walk *w, struct hi_error *err)
{
	const struct hi_jemalloc_layout *l = w->j->layout;
	uint64_t arena;

	w->j->n_caches++;
	if (!hi_window_u64(&w->window, w->slow + l->slow_arena, &arena) ||
	    arena != w->j->arenas.items[w->arena].addr)
		return refuse_cache(w, "its arena is another one", err);
	return l->slow_memory ? read_new_cache(w, err) : read_old_cache(w, err);
}

/* A ring without a head; the arena has its first. */
static enum hi_status read_cache_ring(struct cache_walk *w, uint64_t first,
				      struct hi_error *err)
{
	uint64_t link = w->j->layout->slow_link, next, prev;
	enum hi_status status;

	w->slow = first;
	while (w->j->n_caches < MAX_CACHES) {
		status = read_cache(w, err);
		if (status != HI_OK)
			return status;
		if (!hi_window_u64(&w->window, w->slow + link, &next) ||
		    !hi_window_u64(&w->window, next + link + 8, &prev) || prev != w->slow)
			return refuse_cache(w, "the next one does not lead back", err);
		if (next == first)
			return HI_OK;
		w->slow = next;
	}
	return refuse_cache(w, "their list has no end", err);
}

static enum hi_status check_cached(struct cache_walk *w, struct hi_error *err)
{
	if (!w->n_wrong)
		return HI_OK;
	if (w->n_wrong * MAX_DAMAGED_SHARE > w->n_cached)
		return hi_fail(err, HI_BAD_DATA, w->wrong_at,
			       "%lu of %lu cached pointers lead to no region of their "
			       "class",
			       w->n_wrong, w->n_cached);
	hi_allocator_note_damage(&w->j->base, w->wrong_at,
				 "%lu pointers in thread caches lead to no region of "
				 "their class, or twice to one: 0x%lx",
				 w->n_wrong, w->wrong);
	return HI_OK;
}

enum hi_status hi_jemalloc_read_caches(struct hi_jemalloc *j, struct hi_error *err)
{
	struct cache_walk w = {.j = j, .window.memory = j->image->memory};
	enum hi_status status = HI_OK;

	for (w.arena = 0; w.arena < j->arenas.count && status == HI_OK; w.arena++) {
		uint64_t addr = j->arenas.items[w.arena].addr, first;

		if (!addr)
			continue;
		if (!hi_window_u64(&w.window, addr + j->layout->arena_caches, &first))
			status = hi_fail(err, HI_BAD_DATA, addr,
					 "arena %u is not readable", w.arena);
		else if (first)
			status = read_cache_ring(&w, first, err);
	}
	if (status == HI_OK)
		status = check_cached(&w, err);
	hi_window_free(&w.window);
	return status;
}
