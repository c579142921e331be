/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of mimalloc. A page has equal blocks, of which `capacity` were ever handed out,
 * and three lists of free blocks, which run through them. What it counts as used and
 * the lists of its own thread must add up to the capacity. Blocks that another thread
 * freed count as used until the owner takes them: they are in xthread_free of the page
 * or, where the page was full, in thread_delayed_free of its heap.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "decode/allocators/mimalloc.h"

void hi_mimalloc_fault(struct hi_mimalloc *m, uint64_t addr, const char *fmt, ...)
{
	char text[sizeof(m->first_fault)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!m->failed++)
		memcpy(m->first_fault, text, sizeof(text));
	hi_allocator_note_damage(&m->base, addr, "%s", text);
}

static uint64_t decode_next(const struct hi_mimalloc *m, uint64_t word, uint64_t null,
			    const uint64_t keys[2])
{
	unsigned shift = keys[0] % 64;
	uint64_t x = word - keys[0];

	if (!m->layout->encoded)
		return word;
	x = shift ? x >> shift | x << (64 - shift) : x;
	x ^= keys[1];
	return x == null ? 0 : x;
}

/* The block at addr of this page; false: there is none that was handed out. */
static bool find_page_block(const struct hi_mi_page *p, uint64_t addr, uint32_t *ret)
{
	uint64_t offset = addr - p->first;

	*ret = UINT32_MAX;
	if (addr < p->first || addr >= p->end)
		return false;
	if (offset <= UINT32_MAX && p->block_size <= UINT32_MAX) {
		*ret = (uint32_t)offset / (uint32_t)p->block_size;
		return (uint32_t)offset % (uint32_t)p->block_size == 0 &&
		       *ret < p->capacity;
	}
	*ret = (uint32_t)(offset / p->block_size);
	return offset % p->block_size == 0 && offset / p->block_size < p->capacity;
}

/* Blocks of the list get the state; -1: it leaves the page or runs twice through a
 * block, and *at is the word that leads there. */
static int64_t mark_mimalloc_list(struct hi_mimalloc *m, const struct hi_mi_page *p,
				  uint64_t head, enum hi_block_state state, uint64_t *at)
{
	uint8_t *states = &m->slabs.states.items[m->slabs.items.items[p->slab].states];
	int64_t n = 0;
	uint32_t block;

	for (uint64_t addr = head; addr; n++) {
		uint64_t word;

		if (!find_page_block(p, addr, &block) || states[block] != HI_BLOCK_LIVE ||
		    !hi_window_u64(&m->blocks, addr, &word))
			return -1;
		states[block] = (uint8_t)state;
		*at = addr;
		addr = decode_next(m, word, p->addr, p->keys);
	}
	return n;
}

bool hi_mimalloc_padding(const struct hi_mimalloc *m, struct hi_window *window,
			 uint64_t page, uint64_t block, uint64_t usable, uint32_t *ret)
{
	uint64_t keys[2], x;
	uint32_t canary;

	if (!hi_window_u64(window, page + m->layout->keys, &keys[0]) ||
	    !hi_window_u64(window, page + m->layout->keys + 8, &keys[1]) ||
	    !hi_window_u32(window, block + usable, &canary) ||
	    !hi_window_u32(window, block + usable + 4, ret))
		return false;
	x = block ^ keys[1];
	if (keys[0] % 64)
		x = x << keys[0] % 64 | x >> (64 - keys[0] % 64);
	x += keys[0];
	/* Since 2.1.3 its first byte is 0, to end strings that run over it. */
	return (canary == (uint32_t)x || canary == ((uint32_t)x & ~0xffu)) &&
	       *ret < usable;
}

/* ---- a page ---- */

static void set_page_start(const struct hi_mimalloc *m, const uint8_t *bytes,
			   struct hi_mi_page *p)
{
	uint64_t b = p->block_size;

	p->first = p->start;
	if (m->layout->start == HI_MI_START_FIELD)
		p->first = hi_mi_field(bytes, m->layout->page_start, 8);
	else if (m->layout->start == HI_MI_START_384)
		p->first += b >= 8 && b <= 1024 ? 384 : 0;
	else
		p->first += b < 8 ? 0 : b <= 64 ? 3 * b : b <= 512 ? b : 0;
}

static void load_page(const struct hi_mimalloc *m, const struct hi_mi_segment *s,
		      uint32_t index, const uint8_t *bytes, struct hi_mi_page *p)
{
	const struct hi_mimalloc_layout *l = m->layout;

	*p = (struct hi_mi_page){
		.addr = s->addr + l->slices + (uint64_t)index * l->page_size,
		.start = s->addr + index * HI_MI_SLICE,
		.block_size = hi_mi_field(bytes, l->block_size, l->block_size_size),
		.used = hi_mi_field(bytes, l->used, l->used_size),
		.free = hi_mi_field(bytes, l->free, 8),
		.local_free = hi_mi_field(bytes, l->local_free, 8),
		.xthread_free = hi_mi_field(bytes, l->xthread_free, 8) & ~3ull,
		.xheap = hi_mi_field(bytes, l->xheap, 8),
		.capacity = (uint32_t)hi_mi_field(bytes, l->capacity, 2),
		.reserved = (uint32_t)hi_mi_field(bytes, l->reserved, 2),
		.has_aligned = bytes[l->flags] & 2};
	p->end = p->start + hi_mi_field(bytes, 0, 4) * HI_MI_SLICE;
	if (l->encoded)
		memcpy(p->keys, bytes + l->keys, sizeof(p->keys));
	/* 32 bits hold no more: the size is that of the slices. */
	if (l->block_size_size == 4 && p->block_size >= 2ull << 30)
		p->block_size = p->end - p->start;
	set_page_start(m, bytes, p);
}

/* As many as mimalloc reserves. */
static uint64_t blocks_that_fit(const struct hi_mi_page *p)
{
	uint64_t n = (p->end - p->first) / p->block_size;

	return n > UINT16_MAX ? UINT16_MAX : n;
}

static bool is_page_sound(const struct hi_mimalloc *m, const struct hi_mi_page *p)
{
	return p->block_size >= 8 && p->block_size % 8 == 0 &&
	       p->block_size > m->layout->padding && p->reserved &&
	       p->capacity <= p->reserved && p->used <= p->capacity &&
	       p->first >= p->start && p->first < p->end &&
	       (p->reserved == blocks_that_fit(p) ||
		(p->reserved == 1 && !m->layout->segment_size));
}

static uint8_t alignment_of_blocks(const struct hi_mi_page *p)
{
	unsigned shift = (unsigned)__builtin_ctzll(p->first | p->block_size);

	return (uint8_t)(shift > 12 ? 12 : shift);
}

static enum hi_status add_page_slab(struct hi_mimalloc *m, struct hi_mi_page *p,
				    struct hi_error *err)
{
	struct hi_slab slab = {.start = p->start,
			       .end = p->end,
			       .first = p->first,
			       .size = p->block_size,
			       .usable = p->block_size - m->layout->padding,
			       .context = p->addr,
			       .n = p->reserved,
			       .align_shift = alignment_of_blocks(p),
			       .is_start_unknown = p->has_aligned,
			       .is_small = p->reserved > 1};
	enum hi_status status =
		hi_slabs_add(&m->slabs, &slab, HI_BLOCK_LIVE, &p->slab, err);

	for (uint32_t i = p->capacity; status == HI_OK && i < p->reserved; i++)
		hi_slabs_set_state(&m->slabs, p->slab, i, HI_BLOCK_FREE_UNUSED);
	return status;
}

static void drop_last_slab(struct hi_mimalloc *m)
{
	struct hi_slabs *slabs = &m->slabs;

	slabs->states.count = slabs->items.items[--slabs->items.count].states;
}

/* The three lists; false: a fault was recorded. */
static bool mark_page_lists(struct hi_mimalloc *m, const struct hi_mi_page *p)
{
	uint64_t at = p->addr;
	int64_t free = mark_mimalloc_list(m, p, p->free, HI_BLOCK_FREE_SLOT, &at);
	int64_t local = free < 0 ? 0
				 : mark_mimalloc_list(m, p, p->local_free,
						      HI_BLOCK_FREE_SLOT, &at);
	int64_t others = free < 0 || local < 0
				 ? 0
				 : mark_mimalloc_list(m, p, p->xthread_free,
						      HI_BLOCK_FREE_DEFERRED, &at);

	if (free < 0 || local < 0 || others < 0) {
		hi_mimalloc_fault(m, at, "page 0x%lx: a list of free blocks leaves it",
				  p->start);
		return false;
	}
	if (p->used + (uint64_t)(free + local) != p->capacity ||
	    (uint64_t)others > p->used) {
		hi_mimalloc_fault(m, p->addr,
				  "page 0x%lx: %lu used and %ld free of %u blocks",
				  p->start, p->used, free + local, p->capacity);
		return false;
	}
	m->lists += (uint32_t)(free > 0) + (uint32_t)(local > 0) + (uint32_t)(others > 0);
	if (free + local + others > 0)
		m->proved++;
	return true;
}

static void check_padding(struct hi_mimalloc *m, const struct hi_mi_page *p)
{
	uint64_t usable = p->block_size - m->layout->padding;
	uint32_t block = 0, delta;

	while (block < p->capacity &&
	       hi_slabs_state(&m->slabs, p->slab, block) != HI_BLOCK_LIVE)
		block++;
	if (block == p->capacity)
		return;
	if (hi_mimalloc_padding(m, &m->blocks, p->addr, p->first + block * p->block_size,
				usable, &delta))
		m->canaries++;
	else
		m->wrong_canaries++;
}

enum hi_status hi_mimalloc_add_page(struct hi_mimalloc *m, struct hi_mi_page *p,
				    struct hi_error *err)
{
	enum hi_status status;

	m->pages++;
	if (!is_page_sound(m, p)) {
		hi_mimalloc_fault(m, p->addr, "page 0x%lx: %u blocks of %lu bytes",
				  p->start, p->reserved, p->block_size);
		m->base.skipped_bytes += p->end - p->start;
		return HI_OK;
	}
	status = add_page_slab(m, p, err);
	if (status == HI_OK && !mark_page_lists(m, p)) {
		drop_last_slab(m);
		m->base.skipped_bytes += p->end - p->start;
	} else if (status == HI_OK && m->layout->padding) {
		check_padding(m, p);
	}
	return status;
}

/* ---- heaps, as pages name them ---- */

enum hi_status hi_mimalloc_count_page(struct hi_mimalloc *m, uint64_t heap,
				      struct hi_error *err)
{
	struct hi_mi_heap added = {.addr = heap};
	size_t i = m->last_heap;

	if (!heap)
		return HI_OK; /* abandoned */
	if (i >= m->heaps.count || m->heaps.items[i].addr != heap)
		i = hi_search(k, m->heaps.count, m->heaps.items[k].addr < heap);
	if (i == m->heaps.count || m->heaps.items[i].addr != heap) {
		if (!hi_vector_push(&m->heaps, added))
			return hi_fail_memory(err, "heaps");
		memmove(&m->heaps.items[i + 1], &m->heaps.items[i],
			(m->heaps.count - 1 - i) * sizeof(added));
		m->heaps.items[i] = added;
	}
	m->heaps.items[i].pages++;
	m->last_heap = i;
	return HI_OK;
}

/* ---- segments ---- */

static bool holds_any(const struct hi_mimalloc *m, uint64_t start, uint64_t end)
{
	uint64_t a, b;

	return hi_image_next_held(m->image, start, end, &a, &b);
}

enum hi_status hi_mimalloc_add_area(struct hi_mimalloc *m, uint64_t start, uint64_t end,
				    enum hi_block_state state, struct hi_error *err)
{
	struct hi_slab slab = {.start = start,
			       .end = end,
			       .first = start,
			       .size = end - start,
			       .usable = end - start,
			       .n = 1,
			       .align_shift = 12};

	return start < end ? hi_slabs_add(&m->slabs, &slab, state, NULL, err) : HI_OK;
}

enum hi_status hi_mimalloc_add_free(struct hi_mimalloc *m, uint64_t start, uint64_t end,
				    struct hi_error *err)
{
	return hi_mimalloc_add_area(m, start, end,
				    holds_any(m, start, end) ? HI_BLOCK_FREE_SPAN
							     : HI_BLOCK_FREE_RETAINED,
				    err);
}

/* Slices from index on: *count of them, a page or free. False: they contradict. */
static bool read_slices(struct hi_mimalloc *m, const struct hi_mi_segment *s,
			uint32_t index, struct hi_mi_page *page, bool *is_page,
			uint32_t *count)
{
	const struct hi_mimalloc_layout *l = m->layout;
	uint64_t addr = s->addr + l->slices + (uint64_t)index * l->page_size;
	const uint8_t *bytes = hi_window_at(&m->window, addr, l->page_size);

	if (!bytes)
		return false;
	*count = (uint32_t)hi_mi_field(bytes, 0, 4);
	if (!*count || hi_mi_field(bytes, 4, 4) != 0 ||
	    (index + *count > s->entries && !s->is_huge) ||
	    (index + (uint64_t)*count) * HI_MI_SLICE > s->size)
		return false;
	*is_page = hi_mi_field(bytes, l->block_size, l->block_size_size) > 1;
	load_page(m, s, index, bytes, page);
	return true;
}

static void fail_segment(struct hi_mimalloc *m, const struct hi_mi_segment *s,
			 uint32_t index)
{
	m->failed_segments++;
	hi_mimalloc_fault(m, s->addr, "segment 0x%lx: slice %u contradicts itself",
			  s->addr, index);
	m->base.skipped_bytes += s->size - index * HI_MI_SLICE;
}

static enum hi_status add_slices(struct hi_mimalloc *m, const struct hi_mi_segment *s,
				 struct hi_error *err)
{
	enum hi_status status = HI_OK;
	uint32_t index = s->info_slices, count;
	uint64_t pages = 0;

	for (; index < s->entries && status == HI_OK && !hi_mimalloc_is_hopeless(m);
	     index += count) {
		struct hi_mi_page page;
		bool is_page;

		if (!read_slices(m, s, index, &page, &is_page, &count)) {
			fail_segment(m, s, index);
			return HI_OK;
		}
		pages += is_page;
		m->orphans += is_page && !page.xheap && s->thread_id;
		if (is_page)
			status = hi_mimalloc_count_page(m, page.xheap, err);
		if (status == HI_OK)
			status = is_page ? hi_mimalloc_add_page(m, &page, err)
					 : hi_mimalloc_add_free(m, page.start, page.end,
								err);
	}
	if (status == HI_OK && pages != s->used && !hi_mimalloc_is_hopeless(m))
		hi_mimalloc_fault(m, s->addr, "segment 0x%lx: %lu pages, it says %lu",
				  s->addr, pages, s->used);
	return status;
}

static enum hi_status add_segment(struct hi_mimalloc *m, const struct hi_mi_segment *s,
				  struct hi_error *err)
{
	const struct hi_mapping *mapping = hi_image_mapping_at(m->image, s->addr);
	uint64_t end = s->addr + HI_MI_SEGMENT;
	enum hi_status status;

	if (s->is_free) {
		if (mapping && mapping->end < end)
			end = mapping->end;
		return hi_mimalloc_add_free(m, s->addr, end, err);
	}
	m->segments++;
	status = hi_mimalloc_add_area(m, s->addr, s->addr + s->info_slices * HI_MI_SLICE,
				      HI_BLOCK_METADATA, err);
	return status == HI_OK ? add_slices(m, s, err) : status;
}

static bool is_in_segment(const struct hi_mi_segments *segments, uint64_t key,
			  uint64_t addr)
{
	size_t i = hi_search(k, segments->count, segments->items[k].addr <= addr);

	for (; i > 0; i--) {
		const struct hi_mi_segment *s = &segments->items[i - 1];

		if (s->key == key)
			return addr < s->addr + (s->is_free ? HI_MI_SEGMENT : s->size);
	}
	return false;
}

/* Those of threads lie in mappings of their own. */
static enum hi_status add_heap_memory(struct hi_mimalloc *m,
				      const struct hi_mi_segments *segments, uint64_t key,
				      struct hi_error *err)
{
	enum hi_status status = HI_OK;
	uint64_t done = 0;

	for (size_t i = 0; i < m->heaps.count && status == HI_OK; i++) {
		uint64_t addr = m->heaps.items[i].addr;
		uint64_t start = addr & ~4095ull;
		uint64_t end = (addr + m->layout->heap_size + 4095) & ~4095ull;
		const struct hi_mapping *mapping = hi_image_mapping_at(m->image, addr);

		if (!mapping || mapping->kind != HI_MAPPING_ANONYMOUS ||
		    mapping->end < end || is_in_segment(segments, key, addr) ||
		    (addr >= m->module_start && addr < m->module_end))
			continue;
		if (start < done)
			start = done;
		status = hi_mimalloc_add_area(m, start, end, HI_BLOCK_METADATA, err);
		done = end > done ? end : done;
	}
	return status;
}

/* ---- heaps ---- */

static bool defer_block(struct hi_mimalloc *m, uint64_t addr)
{
	uint32_t slab, slot;
	uint64_t offset;

	if (!hi_slabs_find(&m->slabs, addr, &slab, &slot, &offset) ||
	    slot == UINT32_MAX || offset ||
	    hi_slabs_state(&m->slabs, slab, slot) != HI_BLOCK_LIVE)
		return false;
	hi_slabs_set_state(&m->slabs, slab, slot, HI_BLOCK_FREE_DEFERRED);
	return true;
}

static void mark_delayed(struct hi_mimalloc *m, uint64_t heap, uint64_t head,
			 const uint64_t keys[2])
{
	uint64_t word;

	for (uint64_t addr = head; addr; addr = decode_next(m, word, heap, keys)) {
		if (!defer_block(m, addr) || !hi_window_u64(&m->blocks, addr, &word)) {
			hi_mimalloc_fault(m, heap,
					  "heap 0x%lx: thread_delayed_free leads to "
					  "0x%lx",
					  heap, addr);
			return;
		}
		m->lists += addr == head;
	}
}

/* A heap that the program made lies in a block of another one. */
static void mark_heap_block(struct hi_mimalloc *m, uint64_t heap)
{
	uint32_t slab, slot;
	uint64_t offset;

	if (hi_slabs_find(&m->slabs, heap, &slab, &slot, &offset) && slot != UINT32_MAX &&
	    hi_slabs_state(&m->slabs, slab, slot) == HI_BLOCK_LIVE)
		hi_slabs_set_state(&m->slabs, slab, slot, HI_BLOCK_INTERNAL);
}

static void read_mi_heap(struct hi_mimalloc *m, const struct hi_mi_heap *heap)
{
	const struct hi_mimalloc_layout *l = m->layout;
	const uint8_t *bytes = hi_window_at(&m->window, heap->addr, l->heap_size);
	uint64_t keys[2], pages;

	if (!bytes) {
		hi_mimalloc_fault(m, heap->addr, "heap 0x%lx is not readable",
				  heap->addr);
		return;
	}
	pages = hi_mi_field(bytes, l->page_count, 8);
	m->wrong_heaps += pages != heap->pages && !m->failed_segments;
	if (pages != heap->pages)
		hi_mimalloc_fault(m, heap->addr, "heap 0x%lx: %lu pages, it says %lu",
				  heap->addr, heap->pages, pages);
	memcpy(keys, bytes + l->heap_keys, sizeof(keys));
	mark_heap_block(m, heap->addr);
	mark_delayed(m, heap->addr, hi_mi_field(bytes, l->thread_delayed_free, 8), keys);
}

/* What holds for each page, but for those that the program damaged. */
static void check_majorities(struct hi_mimalloc *m)
{
	if (m->wrong_canaries > m->canaries)
		hi_mimalloc_fault(m, 0, "%u of %u blocks have no padding behind them",
				  m->wrong_canaries, m->wrong_canaries + m->canaries);
	if (m->orphans > m->pages / 8)
		hi_mimalloc_fault(m, 0, "%u of %u pages have a thread and no heap",
				  m->orphans, m->pages);
	if (m->wrong_canaries > m->canaries || m->orphans > m->pages / 8)
		m->failed = UINT32_MAX;
}

enum hi_status hi_mimalloc_read_pages(struct hi_mimalloc *m,
				      const struct hi_mi_segments *segments, uint64_t key,
				      struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0;
	     i < segments->count && status == HI_OK && !hi_mimalloc_is_hopeless(m); i++)
		if (segments->items[i].key == key)
			status = add_segment(m, &segments->items[i], err);
	check_majorities(m);
	if (status != HI_OK || hi_mimalloc_is_hopeless(m))
		return status;
	status = add_heap_memory(m, segments, key, err);
	if (status == HI_OK)
		status = hi_slabs_sort(&m->slabs, err);
	for (size_t i = 0; i < m->heaps.count && status == HI_OK; i++)
		read_mi_heap(m, &m->heaps.items[i]);
	return status;
}
