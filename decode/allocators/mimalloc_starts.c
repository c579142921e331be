/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the program's blocks begin that were allocated with an alignment. mimalloc takes
 * a larger block, gives out the first multiple of the alignment in it, and notes only
 * that the page has such blocks. So the address is one of few: the block's, or the next
 * multiple of 32, 64, 128 … after it. No pointer leads to what is before it: the
 * lowest pointer into the block tells which one it is, at most.
 *
 * One kind of word is no such pointer: the first word of a block still leads to the next
 * free block of its page, as mimalloc left it, where the program's block begins behind
 * it. It counts only from blocks that seem to begin at their first byte.
 *
 * A block that no pointer leads into stays as it is. All memory that may hold pointers is
 * read for this, where there are such pages with live blocks, and only there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "decode/allocators/mimalloc.h"

enum { LEAST_ALIGNMENT = 32, PIECE = 65536 };
#define MAX_FILTER_BITS (1ull << 26)
#define NO_POINTER UINT32_MAX

struct mi_first_word {	   /* leads from block to block of one page */
	uint32_t from, to; /* indices in starts */
};

struct mi_starts {
	struct hi_mimalloc *m;
	struct hi_window window;
	uint64_t low, high; /* of all pages with aligned blocks */
	uint64_t *filter;   /* a bit for each 64 KiB of them; NULL: none */
	struct mi_first_words HI_VECTOR(struct mi_first_word) first_words;
	bool out_of_memory;
};

/* ---- the pages ---- */

const struct hi_mi_unsure *hi_mimalloc_unsure(const struct hi_mimalloc *m, uint64_t addr)
{
	size_t i = hi_search(k, m->unsure.count, m->unsure.items[k].end <= addr);

	return i < m->unsure.count && m->unsure.items[i].start <= addr
		       ? &m->unsure.items[i]
		       : NULL;
}

static enum hi_status add_unsure_page(struct hi_mimalloc *m, uint32_t id,
				      struct hi_error *err)
{
	const struct hi_slab *slab = &m->slabs.items.items[id];
	struct hi_mi_unsure added = {slab->start, slab->end, id,
				     (uint32_t)m->starts.count};
	size_t n = m->starts.count + slab->n;

	if (n >= NO_POINTER || !hi_vector_reserve(&m->starts, n) ||
	    !hi_vector_push(&m->unsure, added))
		return hi_fail_memory(err, "starts of aligned blocks");
	memset(m->starts.items + m->starts.count, 0xff,
	       slab->n * sizeof(*m->starts.items));
	m->starts.count = n;
	return HI_OK;
}

static enum hi_status collect_unsure_pages(struct hi_mimalloc *m, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < m->slabs.items.count && status == HI_OK; i++)
		if (m->slabs.items.items[m->slabs.order[i]].is_start_unknown)
			status = add_unsure_page(m, m->slabs.order[i], err);
	return status;
}

static bool make_filter(struct mi_starts *s)
{
	struct hi_mimalloc *m = s->m;
	uint64_t bits;

	s->low = m->unsure.items[0].start;
	s->high = m->unsure.items[m->unsure.count - 1].end;
	bits = (s->high - s->low) / HI_MI_SLICE;
	if (bits > MAX_FILTER_BITS)
		return true;
	s->filter = hi_calloc(bits / 64 + 1, sizeof(*s->filter));
	for (size_t i = 0; s->filter && i < m->unsure.count; i++) {
		uint64_t first = (m->unsure.items[i].start - s->low) / HI_MI_SLICE;
		uint64_t end = (m->unsure.items[i].end - s->low) / HI_MI_SLICE;

		for (uint64_t k = first; k < end; k++)
			s->filter[k / 64] |= 1ull << (k & 63);
	}
	return s->filter;
}

/* ---- pointers into them ---- */

static void take_pointer(struct mi_starts *s, uint64_t at, uint64_t word)
{
	struct hi_mimalloc *m = s->m;
	const struct hi_mi_unsure *u = hi_mimalloc_unsure(m, word);
	const struct hi_slab *slab = u ? &m->slabs.items.items[u->slab] : NULL;
	uint64_t slot, offset;
	uint32_t *lowest;

	if (!u || word < slab->first || word - slab->first >= slab->n * slab->size)
		return;
	slot = (word - slab->first) / slab->size;
	offset = (word - slab->first) % slab->size;
	lowest = &m->starts.items[u->first + slot];
	if (offset == 0 && at >= slab->first && at < slab->first + slab->n * slab->size &&
	    (at - slab->first) % slab->size == 0) {
		struct mi_first_word f = {
			(uint32_t)(u->first + (at - slab->first) / slab->size),
			(uint32_t)(u->first + slot)};

		s->out_of_memory |= !hi_vector_push(&s->first_words, f);
	} else if (offset < *lowest) {
		*lowest = (uint32_t)offset;
	}
}

static void scan_piece(struct mi_starts *s, uint64_t start, const uint8_t *bytes,
		       size_t size)
{
	for (size_t i = 0; i + 8 <= size; i += 8) {
		uint64_t word, bit;

		memcpy(&word, bytes + i, sizeof(word));
		if (word - s->low >= s->high - s->low)
			continue;
		bit = (word - s->low) / HI_MI_SLICE;
		if (!s->filter || s->filter[bit / 64] >> (bit & 63) & 1)
			take_pointer(s, start + i, word);
	}
}

/* What cannot be read has no pointers. */
static void scan_memory(struct mi_starts *s, uint64_t start, uint64_t end)
{
	uint64_t a, b;

	for (start = (start + 7) & ~7ull;
	     start < end && hi_image_next_held(s->m->image, start, end, &a, &b);
	     start = b) {
		for (a = (a + 7) & ~7ull; a + 8 <= b;) {
			size_t size = b - a < PIECE ? b - a : PIECE;
			const uint8_t *bytes = hi_window_at(&s->window, a, size);

			if (bytes)
				scan_piece(s, a, bytes, size);
			a += size;
		}
	}
}

/* Live blocks; what is free has pointers of the past. */
static void scan_slabs(struct mi_starts *s)
{
	const struct hi_slabs *slabs = &s->m->slabs;

	for (size_t i = 0; i < slabs->items.count; i++) {
		const struct hi_slab *slab = &slabs->items.items[slabs->order[i]];
		const uint8_t *states = slabs->states.items + slab->states;
		uint32_t end;

		for (uint32_t k = 0; k < slab->n; k = end) {
			for (end = k + 1; end < slab->n && states[end] == states[k];)
				end++;
			if (states[k] == HI_BLOCK_LIVE || states[k] == HI_BLOCK_INTERNAL)
				scan_memory(s, slab->first + k * slab->size,
					    slab->first + end * slab->size);
		}
	}
}

/* Data of modules, stacks, other heaps: what is not in a slab. */
static void scan_outside(struct mi_starts *s, uint64_t start, uint64_t end)
{
	const struct hi_slabs *slabs = &s->m->slabs;
	const struct hi_slab *items = slabs->items.items;
	size_t i = hi_search(k, slabs->items.count, items[slabs->order[k]].end <= start);

	for (; start < end; i++) {
		bool is_last =
			i >= slabs->items.count || items[slabs->order[i]].start >= end;

		if (is_last || items[slabs->order[i]].start > start)
			scan_memory(s, start,
				    is_last ? end : items[slabs->order[i]].start);
		if (is_last)
			return;
		start = items[slabs->order[i]].end;
	}
}

static bool may_have_pointers(const struct hi_mapping *m)
{
	return m->prot & HI_PROT_WRITE && !m->shared &&
	       (m->kind == HI_MAPPING_ANONYMOUS || m->kind == HI_MAPPING_FILE ||
		m->kind == HI_MAPPING_HEAP || m->kind == HI_MAPPING_STACK);
}

/* ---- starts ---- */

/* The last place up to `lowest` where a block with an alignment may begin. */
static uint32_t choose_start(uint64_t block, uint32_t lowest)
{
	uint64_t start = 0;

	if (lowest == NO_POINTER)
		return NO_POINTER;
	for (uint64_t align = LEAST_ALIGNMENT; align <= lowest * 2ull; align *= 2) {
		uint64_t at = ((block + align - 1) & ~(align - 1)) - block;

		if (at <= lowest && at > start)
			start = at;
	}
	return (uint32_t)start;
}

static void choose_starts(struct hi_mimalloc *m)
{
	for (size_t i = 0; i < m->unsure.count; i++) {
		const struct hi_slab *slab =
			&m->slabs.items.items[m->unsure.items[i].slab];
		uint32_t *starts = &m->starts.items[m->unsure.items[i].first];

		for (uint32_t k = 0; k < slab->n; k++)
			starts[k] = choose_start(slab->first + k * slab->size, starts[k]);
	}
}

static bool begins_at_0(const struct hi_mimalloc *m, uint32_t index)
{
	return m->starts.items[index] == 0 || m->starts.items[index] == NO_POINTER;
}

static void use_first_words(struct mi_starts *s)
{
	struct hi_mimalloc *m = s->m;
	size_t n = 0;

	for (size_t i = 0; i < s->first_words.count; i++)
		if (begins_at_0(m, s->first_words.items[i].from))
			s->first_words.items[n++] = s->first_words.items[i];
	for (size_t i = 0; i < n; i++)
		m->starts.items[s->first_words.items[i].to] = 0;
}

enum hi_status hi_mimalloc_find_starts(struct hi_mimalloc *m, struct hi_error *err)
{
	struct mi_starts s = {.m = m, .window.memory = m->image->memory};
	enum hi_status status = collect_unsure_pages(m, err);

	if (status != HI_OK || !m->unsure.count)
		return status;
	if (!make_filter(&s))
		return hi_fail_memory(err, "starts of aligned blocks");
	scan_slabs(&s);
	for (size_t i = 0; i < m->image->n_mappings; i++)
		if (may_have_pointers(&m->image->mappings[i]))
			scan_outside(&s, m->image->mappings[i].start,
				     m->image->mappings[i].end);
	for (size_t i = 0; i < m->image->n_threads; i++)
		scan_piece(&s, 0, (const uint8_t *)&m->image->threads[i].regs,
			   sizeof(m->image->threads[i].regs));
	choose_starts(m);
	use_first_words(&s);
	if (s.out_of_memory || s.window.out_of_memory)
		status = hi_fail_memory(err, "starts of aligned blocks");
	hi_window_free(&s.window);
	hi_vector_free(&s.first_words);
	free(s.filter);
	return status;
}
