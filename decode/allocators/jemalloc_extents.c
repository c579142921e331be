/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the radix tree to slabs: each extent is met at its first page. What counts is the
 * extent's own description; the leaf's element keeps a stale class for free ones.
 */
#include "decode/allocators/jemalloc.h"

#include <string.h>

enum {
	ACTIVE = 0,
	DIRTY = 1,
	MUZZY = 2,
	RETAINED = 3,
	ARENA_MASK = 4095,
	MAX_REGIONS = 512, /* of a slab, whose bitmap is 64 bytes */
	MAX_DAMAGED_SHARE = 16,
	MAX_DAMAGED_RANGES = 64,
	HUGE_PAGE = 2 << 20,
};
static const uint64_t ADDRESS_LIMIT = 1ull << 47;

struct jemalloc_extent {
	uint64_t edata, bits, addr, start, size;
	uint32_t arena, szind, state, nfree;
	bool is_slab;
};

static uint64_t load_word(const uint8_t *bytes, uint32_t offset)
{
	uint64_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

static uint32_t extent_bits(const struct jemalloc_extent *e, uint32_t shift,
			    uint32_t width)
{
	return (uint32_t)(e->bits >> shift & ((1u << width) - 1));
}

static void decode_extent(const struct hi_jemalloc *j, uint64_t edata,
			  const uint8_t *bytes, struct jemalloc_extent *e)
{
	const struct hi_jemalloc_layout *l = j->layout;

	*e = (struct jemalloc_extent){.edata = edata, .bits = load_word(bytes, 0)};
	e->addr = load_word(bytes, l->edata_addr);
	e->start = e->addr & ~(uint64_t)(HI_JEMALLOC_PAGE - 1);
	e->size = load_word(bytes, l->edata_size) & ~(uint64_t)(HI_JEMALLOC_PAGE - 1);
	e->arena = extent_bits(e, 0, 12);
	e->is_slab = extent_bits(e, l->slab_shift, 1);
	e->state = extent_bits(e, l->state_shift, l->state_width);
	e->szind = extent_bits(e, l->szind_shift, 8);
	e->nfree = extent_bits(e, l->nfree_shift, l->nfree_width);
}

static bool is_extent_sound(const struct hi_jemalloc *j, const struct jemalloc_extent *e)
{
	return e->size && e->start < ADDRESS_LIMIT &&
	       e->size <= ADDRESS_LIMIT - e->start && e->arena < j->arenas.count &&
	       j->arenas.items[e->arena].addr;
}

static void note_extent_damage(struct hi_jemalloc *j, const struct jemalloc_extent *e,
			       const char *what)
{
	j->n_damaged++;
	if (j->damaged.count < MAX_DAMAGED_RANGES)
		(void)hi_vector_push(&j->damaged,
				     ((struct hi_range){e->start, e->start + e->size}));
	j->base.skipped_bytes += e->size < ADDRESS_LIMIT ? e->size : 0;
	hi_allocator_note_damage(&j->base, e->edata, "the extent at 0x%lx: %s", e->start,
				 what);
}

/* ---- free ---- */

static enum hi_block_state free_state(uint32_t state)
{
	switch (state) {
	case DIRTY:
		return HI_BLOCK_FREE_DIRTY;
	case MUZZY:
		return HI_BLOCK_FREE_MUZZY;
	case RETAINED:
		return HI_BLOCK_FREE_RETAINED;
	default:
		return HI_BLOCK_FREE_SPAN;
	}
}

static enum hi_status add_free_extent(struct hi_jemalloc *j,
				      const struct jemalloc_extent *e,
				      struct hi_error *err)
{
	struct hi_slab slab = {.start = e->start,
			       .end = e->start + e->size,
			       .first = e->start,
			       .size = e->size,
			       .usable = e->size,
			       .context = UINT64_MAX,
			       .n = 1,
			       .arena = e->arena,
			       .align_shift = 12};

	return hi_slabs_add(&j->slabs, &slab, free_state(e->state), NULL, err);
}

/* ---- slabs ---- */

static uint8_t alignment_of(uint64_t bits)
{
	int shift = __builtin_ctzll(bits | HI_JEMALLOC_PAGE);

	return (uint8_t)shift;
}

static void set_free_regions(struct hi_jemalloc *j, uint32_t id, uint32_t n,
			     const uint64_t *bitmap)
{
	for (uint32_t i = 0; i < n; i += 64)
		for (uint64_t word = bitmap[i / 64]; word; word &= word - 1) {
			uint32_t slot = i + (uint32_t)__builtin_ctzll(word);

			if (slot < n)
				hi_slabs_set_state(&j->slabs, id, slot,
						   HI_BLOCK_FREE_SLOT);
		}
}

static uint32_t count_free_regions(const uint64_t *bitmap, uint32_t n)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i += 64) {
		uint64_t word = bitmap[i / 64];

		if (n - i < 64)
			word &= (1ull << (n - i)) - 1;
		count += (uint32_t)__builtin_popcountll(word);
	}
	return count;
}

static enum hi_status add_slab_extent(struct hi_jemalloc *j,
				      const struct jemalloc_extent *e,
				      const uint64_t *bitmap, struct hi_error *err)
{
	struct hi_jemalloc_arena *a = &j->arenas.items[e->arena];
	struct hi_slab slab = {.start = e->start,
			       .end = e->start + e->size,
			       .first = e->start,
			       .size = j->sizes[e->szind],
			       .usable = j->sizes[e->szind],
			       .context = e->szind,
			       .arena = e->arena,
			       .is_small = true};
	uint64_t n = e->size / slab.size;
	enum hi_status status;
	uint32_t id;

	j->n_slabs++;
	if (!n || n > MAX_REGIONS || e->addr != e->start ||
	    (j->knows_shards && n != j->slab_regions[e->szind]) ||
	    count_free_regions(bitmap, (uint32_t)n) != e->nfree) {
		a->is_bin_damaged[e->szind] = true;
		note_extent_damage(j, e,
				   "its bitmap and its count of free regions "
				   "disagree");
		return HI_OK;
	}
	slab.n = (uint32_t)n;
	slab.align_shift = alignment_of(slab.size);
	status = hi_slabs_add(&j->slabs, &slab, HI_BLOCK_LIVE, &id, err);
	if (status != HI_OK)
		return status;
	set_free_regions(j, id, slab.n, bitmap);
	a->slabs[e->szind]++;
	a->regions[e->szind] += n - e->nfree;
	return HI_OK;
}

/* ---- large blocks ---- */

/* Whether an extent with so many bytes behind its block is of its class. */
static bool is_pad_possible(const struct hi_jemalloc *j, const struct jemalloc_extent *e,
			    uint64_t pad)
{
	uint64_t largest = j->sizes[e->szind], usable = e->size - pad;

	if (e->size <= pad || e->addr - e->start > pad)
		return false;
	return j->layout->sizes_by_page
		       ? usable <= largest && usable > j->sizes[e->szind - 1]
		       : usable == largest;
}

static bool note_pad(struct hi_jemalloc *j, const struct jemalloc_extent *e)
{
	bool is_padded = is_pad_possible(j, e, HI_JEMALLOC_PAGE);
	bool is_unpadded = is_pad_possible(j, e, 0);

	j->n_padded += is_padded;
	j->n_unpadded += is_unpadded;
	return is_padded || is_unpadded;
}

static enum hi_status add_large_extent(struct hi_jemalloc *j,
				       const struct jemalloc_extent *e,
				       struct hi_error *err)
{
	bool is_sampled = e->szind < j->layout->bins;
	uint64_t usable = j->sizes[e->szind], room = e->start + e->size - e->addr;
	struct hi_slab slab = {.start = e->start,
			       .end = e->start + e->size,
			       .first = e->addr,
			       .size = usable < room ? usable : room,
			       .usable = usable < room ? usable : room,
			       .context = e->szind,
			       .n = 1,
			       .arena = e->arena,
			       .align_shift = alignment_of(e->addr)};
	enum hi_status status;
	uint32_t id;

	j->n_large++;
	j->n_sampled += is_sampled;
	if (e->addr % 16 || (is_sampled ? usable > room : !note_pad(j, e))) {
		note_extent_damage(j, e, "its size and its class disagree");
		return HI_OK;
	}
	status = hi_slabs_add(&j->slabs, &slab, HI_BLOCK_LIVE, &id, err);
	if (status == HI_OK && !is_sampled && !hi_vector_push(&j->large, id))
		return hi_fail_memory(err, "large blocks");
	return status;
}

/* All large extents have the page behind their block, or none. */
static enum hi_status apply_pad(struct hi_jemalloc *j, struct hi_error *err)
{
	uint64_t pad = j->n_padded >= j->n_unpadded ? HI_JEMALLOC_PAGE : 0;
	uint64_t agree = pad ? j->n_padded : j->n_unpadded;

	if ((j->large.count - agree) * MAX_DAMAGED_SHARE > j->large.count)
		return hi_fail(err, HI_BAD_DATA, j->root,
			       "%lu of its %zu large extents have another size than "
			       "their class",
			       j->large.count - agree, j->large.count);
	if (agree < j->large.count)
		hi_allocator_note_damage(&j->base, j->root,
					 "%lu large extents have another size than their "
					 "class",
					 j->large.count - agree);
	for (size_t i = 0; i < j->large.count && j->layout->sizes_by_page; i++) {
		struct hi_slab *s = &j->slabs.items.items[j->large.items[i]];
		uint64_t usable = s->end - s->start - pad;

		if (s->end - s->start > pad && usable <= s->end - s->first)
			s->size = s->usable = usable;
	}
	return HI_OK;
}

/* ---- the tree ---- */

static enum hi_status add_extent(struct hi_jemalloc *j, const struct jemalloc_extent *e,
				 const uint8_t *bytes, struct hi_error *err)
{
	uint64_t bitmap[MAX_REGIONS / 64];

	if (e->state != ACTIVE || e->szind >= j->layout->sizes)
		return add_free_extent(j, e, err);
	if (!e->is_slab)
		return add_large_extent(j, e, err);
	if (e->szind >= j->layout->bins) {
		note_extent_damage(j, e, "a slab of a class that has none");
		return HI_OK;
	}
	memcpy(bitmap, bytes + j->layout->edata_bitmap, sizeof(bitmap));
	return add_slab_extent(j, e, bitmap, err);
}

struct leaf_walk {
	struct hi_jemalloc *j;
	uint64_t end;	/* of the extent before: its pages are behind us */
	uint64_t edata; /* that the element before led to */
	/* With opt.hpa: of the huge page that the extent before is part of, what is
	 * behind that extent. No element leads to its free pages. */
	uint64_t huge_at, huge_end;
	uint32_t huge_arena;
};

/* What is free of a huge page, up to `end`. */
static enum hi_status add_huge_gap(struct leaf_walk *w, uint64_t end,
				   struct hi_error *err)
{
	struct jemalloc_extent gap = {.start = w->huge_at,
				      .size = end - w->huge_at,
				      .arena = w->huge_arena,
				      .state = ACTIVE};

	return end > w->huge_at ? add_free_extent(w->j, &gap, err) : HI_OK;
}

/* Where the huge page of e begins; false: e is not in one. */
static bool find_huge_page(struct hi_jemalloc *j, const struct jemalloc_extent *e,
			   const uint8_t *bytes, uint64_t *ret)
{
	const struct hi_jemalloc_layout *l = j->layout;

	return l->pai_shift && extent_bits(e, l->pai_shift, 1) &&
	       hi_window_u64(&j->other, load_word(bytes, l->edata_ps) + l->ps_address,
			     ret) &&
	       *ret % HUGE_PAGE == 0 && e->start >= *ret &&
	       e->start + e->size <= *ret + HUGE_PAGE;
}

static enum hi_status leave_huge_page(struct leaf_walk *w, struct hi_error *err)
{
	enum hi_status status = add_huge_gap(w, w->huge_end, err);

	w->huge_at = w->huge_end = 0;
	return status;
}

/* e comes next, in order of addresses. */
static enum hi_status follow_huge_pages(struct leaf_walk *w,
					const struct jemalloc_extent *e,
					const uint8_t *bytes, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	uint64_t huge;

	if (e->start >= w->huge_end)
		status = leave_huge_page(w, err);
	if (status != HI_OK || !find_huge_page(w->j, e, bytes, &huge))
		return status;
	if (!w->huge_end)
		w->huge_at = huge;
	w->huge_end = huge + HUGE_PAGE;
	w->huge_arena = e->arena;
	status = add_huge_gap(w, e->start, err);
	w->huge_at = e->start + e->size;
	return status;
}

/* A live extent's element says the same as the extent. */
static bool element_agrees(const struct hi_jemalloc *j, const struct jemalloc_extent *e,
			   uint32_t szind)
{
	uint32_t pai = j->layout->pai_shift;

	return e->state != ACTIVE || szind == e->szind ||
	       (pai && extent_bits(e, pai, 1)); /* may be in their cache, and free */
}

/* page is the first of an extent, or one in it that was not met at its first. */
static enum hi_status add_element(struct leaf_walk *w, uint64_t page, uint64_t edata,
				  uint32_t szind, struct hi_error *err)
{
	struct hi_jemalloc *j = w->j;
	struct jemalloc_extent e = {.edata = edata, .start = page * HI_JEMALLOC_PAGE};
	const uint8_t *bytes;
	enum hi_status status;

	if (edata == w->edata || e.start < w->end)
		return HI_OK;
	w->edata = edata;
	bytes = hi_window_at(&j->extents, edata, j->layout->edata_bytes);
	if (edata % 16 || !bytes) {
		note_extent_damage(j, &e, "its description is not readable");
		return HI_OK;
	}
	decode_extent(j, edata, bytes, &e);
	if (e.start != page * HI_JEMALLOC_PAGE) /* left by one that was merged */
		return HI_OK;
	if (!is_extent_sound(j, &e) || !element_agrees(j, &e, szind)) {
		note_extent_damage(j, &e, "its description is wrong");
		return HI_OK;
	}
	w->end = e.start + e.size;
	status = follow_huge_pages(w, &e, bytes, err);
	return status == HI_OK ? add_extent(j, &e, bytes, err) : status;
}

/* Elements of 8 bytes: the class in the upper 16 bits, flags in the lowest. */
static enum hi_status walk_short_elements(struct leaf_walk *w, uint64_t page, uint64_t at,
					  uint64_t end, struct hi_error *err)
{
	uint64_t element, low = w->j->layout->leaf_low;
	enum hi_status status = HI_OK;

	for (; at + 8 <= end && status == HI_OK; at += 8, page++) {
		if (!hi_window_u64(&w->j->leaves, at, &element))
			break;
		if (element << 16)
			status = add_element(w, page,
					     (uint64_t)((int64_t)(element << 16) >> 16) &
						     ~low,
					     (uint32_t)(element >> 48), err);
	}
	return status;
}

/* Elements of 16 bytes: a pointer, and a word with the class. */
static enum hi_status walk_long_elements(struct leaf_walk *w, uint64_t page, uint64_t at,
					 uint64_t end, struct hi_error *err)
{
	uint32_t szind, shift = w->j->layout->leaf_szind_shift;
	enum hi_status status = HI_OK;
	uint64_t edata;

	for (; at + 16 <= end && status == HI_OK; at += 16, page++) {
		if (!hi_window_u64(&w->j->leaves, at, &edata) ||
		    !hi_window_u32(&w->j->leaves, at + 8, &szind))
			break;
		if (edata)
			status = add_element(w, page, edata, szind >> shift, err);
	}
	return status;
}

static enum hi_status walk_leaf(struct leaf_walk *w, uint64_t leaf, uint64_t first_page,
				struct hi_error *err)
{
	const struct hi_jemalloc_tree *tree = w->j->tree;
	uint64_t limit = leaf + hi_jemalloc_leaf_bytes(tree), start, end;
	enum hi_status status = HI_OK;

	for (uint64_t at = leaf;
	     status == HI_OK && hi_image_next_held(w->j->image, at, limit, &start, &end);
	     at = end) {
		uint64_t page = first_page + (start - leaf) / tree->element;

		status = tree->element == 8
				 ? walk_short_elements(w, page, start, end, err)
				 : walk_long_elements(w, page, start, end, err);
	}
	return status;
}

/* How much memory a word of a node at this level covers, in pages, as a shift. */
static uint32_t covered_shift(const struct hi_jemalloc_tree *tree, uint32_t level)
{
	return tree->bits * (tree->levels - 1 - level);
}

static enum hi_status check_node(struct hi_jemalloc *j, uint64_t at, uint64_t node,
				 struct hi_error *err)
{
	if (node % 64 == 0 && hi_jemalloc_is_memory(j->image, node))
		return HI_OK;
	return hi_fail(err, HI_BAD_DATA, at,
		       "its map of pages has an entry that leads to no part of it");
}

/* A node between the root and leaves. */
static enum hi_status walk_node(struct leaf_walk *w, uint64_t node, uint64_t first_page,
				struct hi_error *err)
{
	const struct hi_jemalloc_tree *tree = w->j->tree;
	uint64_t limit = node + hi_jemalloc_node_bytes(tree), start, end, leaf;
	enum hi_status status = HI_OK;

	for (uint64_t at = node;
	     status == HI_OK && hi_image_next_held(w->j->image, at, limit, &start, &end);
	     at = end)
		for (; start + 8 <= end && status == HI_OK; start += 8) {
			uint64_t index = (start - node) / 8;

			if (!hi_window_u64(&w->j->nodes, start, &leaf) || !leaf)
				continue;
			status = check_node(w->j, start, leaf, err);
			if (status == HI_OK)
				status = walk_leaf(
					w, leaf,
					first_page + (index << covered_shift(tree, 1)),
					err);
		}
	return status;
}

static enum hi_status walk_root(struct leaf_walk *w, uint64_t at, uint64_t end,
				struct hi_error *err)
{
	const struct hi_jemalloc_tree *tree = w->j->tree;
	enum hi_status status = HI_OK;

	for (; at + 8 <= end && status == HI_OK; at += 8) {
		uint64_t node, index = (at - w->j->root) / 8;
		uint64_t page = index << covered_shift(tree, 0);

		if (!hi_window_u64(&w->j->other, at, &node) || !node)
			continue;
		status = check_node(w->j, at, node, err);
		if (status == HI_OK)
			status = tree->levels == 2 ? walk_leaf(w, node, page, err)
						   : walk_node(w, node, page, err);
	}
	return status;
}

enum hi_status hi_jemalloc_read_extents(struct hi_jemalloc *j, struct hi_error *err)
{
	uint64_t limit = j->root + hi_jemalloc_node_bytes(j->tree), start, end;
	struct leaf_walk w = {.j = j};
	enum hi_status status = HI_OK;

	for (uint64_t at = j->root;
	     status == HI_OK && hi_image_next_held(j->image, at, limit, &start, &end);
	     at = end)
		status = walk_root(&w, start, end, err);
	if (status == HI_OK && j->n_damaged * MAX_DAMAGED_SHARE > j->n_slabs + j->n_large)
		return hi_fail(err, HI_BAD_DATA, j->root,
			       "%lu of its %lu extents contradict themselves",
			       j->n_damaged, j->n_slabs + j->n_large);
	return status == HI_OK ? apply_pad(j, err) : status;
}
