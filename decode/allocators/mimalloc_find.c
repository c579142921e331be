/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Segments are at multiples of 32 MiB in anonymous memory, and each has the cookie of
 * its copy of mimalloc, xored with its own address. So each address says which cookie
 * that would be, and the right one stands in the data of a module: in _mi_heap_main.
 * No symbol and no code is needed. A process without such addresses costs nothing.
 */
#include "decode/allocators/mimalloc.h"

enum {
	MAX_SEGMENTS = 1 << 20,
	MAX_KEYS = 16, /* that are looked for in the data of modules */
	MAX_RANGES = 16,
	MAX_ROOTS = 64,
	HEADER_MAX = 512,
};

/* ---- segments ---- */

/* Does what is at addr contradict a segment of this layout? */
static bool load_segment(const struct hi_mimalloc_layout *l, uint64_t addr,
			 const uint8_t *bytes, struct hi_mi_segment *ret)
{
	uint64_t slices = hi_mi_field(bytes, l->segment_slices, 8);
	uint64_t info = hi_mi_field(bytes, l->segment_info_slices, 8);
	uint64_t entries = hi_mi_field(bytes, l->slice_entries, 8);
	uint64_t kind = hi_mi_field(bytes, l->kind, 4);
	uint64_t least = (l->segment_size + HI_MI_SLICE - 1) / HI_MI_SLICE;

	*ret = (struct hi_mi_segment){.addr = addr,
				      .size = slices * HI_MI_SLICE,
				      .used = hi_mi_field(bytes, l->segment_used, 8),
				      .thread_id =
					      hi_mi_field(bytes, l->segment_thread_id, 8),
				      .info_slices = (uint32_t)info,
				      .entries = (uint32_t)entries,
				      .is_huge = kind == 1,
				      .key = hi_mi_field(bytes, l->cookie, 8) ^ addr};
	ret->is_free = ret->used == 0;
	return kind <= 1 && info >= least && info <= least + 1 && slices > info &&
	       slices < 1ull << 31 && (kind == 1 || slices == HI_MI_SLICES) &&
	       entries > info && entries <= HI_MI_SLICES && entries <= slices &&
	       ret->used < entries && hi_mi_field(bytes, l->abandoned, 8) <= ret->used &&
	       hi_mi_field(bytes, l->slices, 4) == info &&
	       hi_mi_field(bytes, (uint16_t)(l->slices + 4), 4) == 0;
}

/* Its last byte is mapped, too. */
static bool is_mapped_whole(const struct hi_image *image, const struct hi_mi_segment *s)
{
	return s->addr + s->size > s->addr &&
	       hi_image_mapping_at(image, s->addr + s->size - 1) != NULL;
}

static enum hi_status add_segment_at(const struct hi_image *image,
				     const struct hi_mimalloc_layout *l, uint64_t addr,
				     struct hi_mi_segments *ret, struct hi_error *err)
{
	uint8_t bytes[HEADER_MAX];
	struct hi_mi_segment s;

	/* Inside of a huge one is memory of the program. */
	if (ret->count > 0) {
		const struct hi_mi_segment *last = &ret->items[ret->count - 1];

		if (!last->is_free && addr < last->addr + last->size)
			return HI_OK;
	}
	if (hi_memory_read(image->memory, addr, bytes, l->slices + 8u, NULL) != HI_OK ||
	    !load_segment(l, addr, bytes, &s) || !is_mapped_whole(image, &s))
		return HI_OK;
	return hi_vector_push(ret, s) ? HI_OK : hi_fail_memory(err, "segments");
}

static uint64_t round_to_segment(uint64_t addr)
{
	return (addr + HI_MI_SEGMENT - 1) & ~(HI_MI_SEGMENT - 1);
}

static enum hi_status find_segments_in(const struct hi_image *image,
				       const struct hi_mimalloc_layout *l,
				       const struct hi_mapping *mapping,
				       struct hi_mi_segments *ret, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	uint64_t addr = round_to_segment(mapping->start), start, end;

	while (status == HI_OK && addr >= mapping->start && addr < mapping->end &&
	       ret->count < MAX_SEGMENTS &&
	       hi_image_next_held(image, addr, mapping->end, &start, &end)) {
		if (start == addr) {
			status = add_segment_at(image, l, addr, ret, err);
			addr += HI_MI_SEGMENT;
		} else {
			addr = round_to_segment(start);
		}
	}
	return status;
}

enum hi_status hi_mimalloc_find_segments(const struct hi_image *image,
					 const struct hi_mimalloc_layout *layout,
					 struct hi_mi_segments *ret, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	ret->count = 0;
	for (size_t i = 0; i < image->n_mappings && status == HI_OK; i++) {
		const struct hi_mapping *m = &image->mappings[i];

		if (m->kind == HI_MAPPING_ANONYMOUS && !m->shared &&
		    m->prot & HI_PROT_WRITE)
			status = find_segments_in(image, layout, m, ret, err);
	}
	return status;
}

/* ---- the cookie ---- */

struct key_votes {
	uint64_t keys[MAX_KEYS];
	uint32_t votes[MAX_KEYS];
	size_t n;
	uint64_t filter; /* a bit for each key */
};

static uint64_t filter_bit(uint64_t word)
{
	return 1ull << (word * 0x9e3779b97f4a7c15ull >> 58);
}

/* Keys of more than one segment displace those of one. */
static void count_key(struct key_votes *v, uint64_t key)
{
	size_t least = 0;

	for (size_t i = 0; i < v->n; i++) {
		if (v->keys[i] == key) {
			v->votes[i]++;
			return;
		}
		if (v->votes[i] < v->votes[least])
			least = i;
	}
	if (v->n < MAX_KEYS)
		least = v->n++;
	else if (v->votes[least] > 1)
		return;
	v->keys[least] = key;
	v->votes[least] = 1;
}

static bool is_key(const struct key_votes *v, uint64_t word)
{
	for (size_t i = 0; v->filter & filter_bit(word) && i < v->n; i++)
		if (v->keys[i] == word)
			return true;
	return false;
}

static enum hi_status find_keys_between(struct hi_window *w, uint64_t start, uint64_t end,
					const struct key_votes *v,
					struct hi_module *module, struct hi_mi_roots *ret,
					struct hi_error *err)
{
	uint64_t word;

	for (uint64_t at = (start + 7) & ~7ull; at + 8 <= end && ret->count < MAX_ROOTS;
	     at += 8) {
		struct hi_mi_root root = {.at = at, .module = module};

		if (!hi_window_u64(w, at, &word) || !word || !is_key(v, word))
			continue;
		root.key = word;
		if (!hi_vector_push(ret, root))
			return hi_fail_memory(err, "cookies of mimalloc");
	}
	return HI_OK;
}

static enum hi_status find_keys_of_module(const struct hi_image *image,
					  struct hi_window *w, struct hi_module *module,
					  const struct key_votes *v,
					  struct hi_mi_roots *ret, struct hi_error *err)
{
	struct hi_section_range ranges[MAX_RANGES];
	size_t n = hi_module_data(module, ranges, MAX_RANGES);
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < n && status == HI_OK; i++) {
		uint64_t at = ranges[i].start, start, end;

		while (status == HI_OK && at < ranges[i].end &&
		       hi_image_next_held(image, at, ranges[i].end, &start, &end)) {
			status = find_keys_between(w, start, end, v, module, ret, err);
			at = end;
		}
	}
	return status;
}

enum hi_status hi_mimalloc_find_roots(const struct hi_image *image,
				      struct hi_modules *modules,
				      const struct hi_mi_segments *segments,
				      struct hi_mi_roots *ret, struct hi_error *err)
{
	struct hi_window w = {.memory = image->memory};
	struct key_votes v = {};
	enum hi_status status = HI_OK;

	ret->count = 0;
	for (size_t i = 0; i < segments->count; i++)
		if (segments->items[i].key)
			count_key(&v, segments->items[i].key);
	for (size_t i = 0; i < v.n; i++)
		v.filter |= filter_bit(v.keys[i]);
	for (size_t i = 0; v.n && i < hi_modules_count(modules) && status == HI_OK; i++)
		status = find_keys_of_module(image, &w, hi_modules_get(modules, i), &v,
					     ret, err);
	hi_window_free(&w);
	return status;
}
