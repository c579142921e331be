/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where mal is: an empty bin heads to itself, as if its head were that of a chunk. Then
 * all 64 bins and binmap must agree, and a lock must be before each bin and behind the
 * last. Lists of other allocators have links in its place.
 */
#include <stdio.h>
#include <string.h>

#include "decode/allocators/musl.h"
#include "decode/allocators/oldmalloc.h"
#include "decode/allocators/window.h"

/* Read from src/malloc/oldmalloc (malloc.c, malloc_impl.h) of 1.2.2, 1.2.3 and 1.2.5,
 * for x86-64: equal in all of them. */
const struct hi_oldmalloc_layout hi_oldmalloc_layout = {
	.versions = "1.2.5 or before",
	.binmap = 0,
	.bins = 8,
	.bin_size = 24,
	.bin_lock = 0,
	.bin_head = 8,
	.bin_tail = 16,
	.chunk_psize = 0,
	.chunk_csize = 8,
	.chunk_next = 16,
	.chunk_prev = 24,
	.align = 32,
	.overhead = 16,
};

/* A lock is two ints: 0 or 1, and the number of threads that wait. */
enum { MAX_RANGES = 16, LOCK_SIZE = 8, MAX_WAITING = 1 << 22, BINS_MAX = 64 * 32 + 8 };

static uint64_t load_bin_word(const uint8_t *bytes, unsigned offset)
{
	uint64_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

static bool is_bin_lock(uint64_t lock)
{
	return (uint32_t)lock <= 1 && lock >> 32 <= MAX_WAITING;
}

/* A chunk at the end of a bin's list that points back at the bin, and is free. */
static bool leads_back(struct hi_memory *memory, const struct hi_oldmalloc_layout *l,
		       uint64_t chunk, uint16_t link, uint64_t bin)
{
	uint64_t back, size;

	return chunk % l->align == l->overhead &&
	       hi_memory_read_u64(memory, chunk + link, &back, NULL) == HI_OK &&
	       back == bin &&
	       hi_memory_read_u64(memory, chunk + l->chunk_csize, &size, NULL) == HI_OK &&
	       size && size % l->align == 0;
}

static bool is_bin_sound(struct hi_memory *memory, const struct hi_oldmalloc_layout *l,
			 const uint8_t *bin, uint64_t self, bool is_mapped)
{
	uint64_t head = load_bin_word(bin, l->bin_head);
	uint64_t tail = load_bin_word(bin, l->bin_tail);

	if (!head || head == self)
		return tail == head && !is_mapped;
	return is_mapped && leads_back(memory, l, head, l->chunk_prev, self) &&
	       leads_back(memory, l, tail, l->chunk_next, self);
}

bool hi_oldmalloc_is_mal(struct hi_memory *memory, const struct hi_oldmalloc_layout *l,
			 uint64_t mal)
{
	uint8_t bytes[BINS_MAX];
	size_t all = (size_t)l->bin_size * HI_OLDMALLOC_BINS, size = all + LOCK_SIZE;
	uint64_t binmap;
	bool is_used = false;

	if (size > sizeof(bytes) ||
	    hi_memory_read_u64(memory, mal + l->binmap, &binmap, NULL) != HI_OK ||
	    hi_memory_read(memory, mal + l->bins, bytes, size, NULL) != HI_OK ||
	    !is_bin_lock(load_bin_word(bytes, (unsigned)all)))
		return false;
	for (unsigned i = 0; i < HI_OLDMALLOC_BINS; i++) {
		const uint8_t *bin = bytes + (size_t)i * l->bin_size;
		uint64_t self = mal + l->bins + (uint64_t)i * l->bin_size + l->bin_head -
				l->chunk_next;

		if (!is_bin_lock(load_bin_word(bin, l->bin_lock)) ||
		    !is_bin_sound(memory, l, bin, self, binmap >> i & 1))
			return false;
		is_used |= load_bin_word(bin, l->bin_head) != 0;
	}
	return is_used;
}

/* ---- the scan ---- */

struct mal_scan {
	const struct hi_image *image;
	struct hi_modules *modules;
	const struct hi_oldmalloc_layout *layout;
	hi_oldmalloc_found_fn *fn;
	void *arg;
	struct hi_module *module;
	struct hi_window window;
};

/* head: of an empty bin, perhaps; of which one is not known. 0: of none. */
static uint64_t find_mal_of(const struct mal_scan *s, uint64_t head)
{
	const struct hi_oldmalloc_layout *l = s->layout;

	for (unsigned i = 0; i < HI_OLDMALLOC_BINS; i++) {
		uint64_t mal = head - l->bin_head - (uint64_t)i * l->bin_size - l->bins;

		if (mal >= s->module->start && mal < head &&
		    hi_oldmalloc_is_mal(s->image->memory, l, mal))
			return mal;
	}
	return 0;
}

static enum hi_status report_mal(struct mal_scan *s, uint64_t mal, struct hi_error *err)
{
	struct hi_oldmalloc_where where = {.mal = mal};

	snprintf(where.module, sizeof(where.module), "%s", s->module->name);
	snprintf(where.version, sizeof(where.version), "%s", s->layout->versions);
	hi_musl_find_version(s->image, s->modules, s->module, where.version);
	return s->fn(&where, s->arg, err);
}

static bool is_empty_bin(struct mal_scan *s, uint64_t at)
{
	const struct hi_oldmalloc_layout *l = s->layout;
	uint64_t head, tail;

	return hi_window_u64(&s->window, at, &head) && head == at - l->chunk_next &&
	       hi_window_u64(&s->window, at + l->bin_tail - l->bin_head, &tail) &&
	       tail == head;
}

static enum hi_status scan_for_bins(struct mal_scan *s, uint64_t start, uint64_t end,
				    struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (uint64_t at = (start + 7) & ~7ull; at + 16 <= end && status == HI_OK;
	     at += 8) {
		uint64_t mal = is_empty_bin(s, at) ? find_mal_of(s, at) : 0;

		if (!mal)
			continue;
		status = report_mal(s, mal, err);
		at = mal + s->layout->bins +
		     (uint64_t)s->layout->bin_size * HI_OLDMALLOC_BINS;
	}
	return status;
}

static enum hi_status scan_module_for_bins(struct mal_scan *s, struct hi_error *err)
{
	struct hi_section_range ranges[MAX_RANGES];
	size_t n = hi_module_data(s->module, ranges, MAX_RANGES);
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < n; i++) {
		uint64_t at = ranges[i].start, start, end;

		while (!ranges[i].relro && status == HI_OK &&
		       hi_image_next_held(s->image, at, ranges[i].end, &start, &end)) {
			status = scan_for_bins(s, start, end, err);
			at = end;
		}
	}
	return status;
}

enum hi_status hi_oldmalloc_find(const struct hi_image *image, struct hi_modules *modules,
				 const struct hi_oldmalloc_layout *layout,
				 hi_oldmalloc_found_fn *fn, void *arg,
				 struct hi_error *err)
{
	struct mal_scan s = {.image = image,
			     .modules = modules,
			     .layout = layout,
			     .fn = fn,
			     .arg = arg,
			     .window.memory = image->memory};
	enum hi_status status = HI_OK;

	if (!hi_musl_may_be_in(modules))
		return HI_OK;
	for (size_t i = 0; i < hi_modules_count(modules) && status == HI_OK; i++) {
		s.module = hi_modules_get(modules, i);
		status = scan_module_for_bins(&s, err);
	}
	if (status == HI_OK && s.window.out_of_memory)
		status = hi_fail_memory(err, "window");
	hi_window_free(&s.window);
	return status;
}
