/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans, as the page map leads to them, and their lists of free blocks. Only the entry of
 * a span's first page counts: entries of pages within may be left over from other spans.
 */
#include "decode/allocators/tcmalloc.h"

#include "base/alloc.h"
#include "base/search.h"

enum {
	FEW_LEAVES = 8,
	NORMAL_FREE = 1,
	RETURNED_FREE = 2,
	MAX_BLOCKS = 0xffff /* refcount: 16 bits */
};

struct span_scan {
	struct hi_tcmalloc *t;
	struct hi_tcmalloc_leaf *leaf;
	struct hi_error *err;
	enum hi_status status;
};

bool hi_tcmalloc_note_metadata(struct hi_tcmalloc *t, uint64_t addr, uint64_t size)
{
	for (uint64_t page = addr & ~4095ull; page < addr + size; page += 4096)
		if (!t->metadata.count ||
		    t->metadata.items[t->metadata.count - 1] != page)
			if (!hi_vector_push(&t->metadata, page))
				return false;
	return true;
}

bool hi_tcmalloc_next_block(struct hi_tcmalloc *t, uint64_t addr, uint64_t *ret)
{
	if (!hi_window_u64(&t->blocks, addr, ret))
		return false;
	if (t->layout->links_are_masked)
		*ret ^= addr >> t->where.page_shift;
	return true;
}

/* ---- one span ---- */

/* Why this span cannot be; NULL: it can. */
static const char *find_fault(struct hi_tcmalloc *t, const struct hi_tcmalloc_span *s)
{
	unsigned shift = t->where.page_shift;
	uint64_t n;

	if (s->length == 0 ||
	    s->length > (1ull << (HI_TCMALLOC_ADDRESS_BITS - shift)) - s->start ||
	    !hi_tcmalloc_is_memory(t->image, s->start << shift,
				   (s->start + s->length) << shift))
		return "leaves its memory";
	if (s->location > RETURNED_FREE || s->size_class >= t->n_classes)
		return "has no such location or class";
	if (s->location || !s->size_class)
		return NULL;
	n = (s->length << shift) / t->classes[s->size_class].size;
	if (s->length != t->classes[s->size_class].pages)
		return "has not as many pages as its class";
	if (n == 0 || n > MAX_BLOCKS || s->refcount > n)
		return "has more blocks in use than it has blocks";
	return NULL;
}

/* The free list of a small span; all of its blocks were set to live. */
static bool mark_free_list(struct hi_tcmalloc *t, const struct hi_tcmalloc_span *s,
			   const struct hi_slab *slab, uint32_t id)
{
	uint64_t block = s->objects;
	uint32_t n = 0;

	for (; block && n + s->refcount < slab->n; n++) {
		uint64_t offset = block - slab->first;

		if (offset >= slab->n * slab->size || offset % slab->size ||
		    hi_slabs_state(&t->slabs, id, (uint32_t)(offset / slab->size)) !=
			    HI_BLOCK_LIVE)
			break;
		hi_slabs_set_state(&t->slabs, id, (uint32_t)(offset / slab->size),
				   HI_BLOCK_FREE_SLOT);
		if (!hi_tcmalloc_next_block(t, block, &block))
			break;
	}
	if (!block && n + s->refcount == slab->n)
		return true;
	hi_allocator_note_damage(&t->base, block ? block : s->addr,
				 "span 0x%lx, blocks of %lu bytes: its free list breaks "
				 "after %u of %u blocks",
				 slab->start, slab->size, n, slab->n - s->refcount);
	return false;
}

static void set_ids(struct span_scan *scan, const struct hi_tcmalloc_span *s, uint32_t id)
{
	uint64_t mask = (1ull << hi_tcmalloc_leaf_bits(scan->t->where.page_shift)) - 1;
	uint64_t first = s->start & mask;

	for (uint64_t i = 0; i < s->length && first + i <= mask; i++)
		scan->leaf->ids[first + i] = id;
}

static unsigned alignment_shift(uint64_t size)
{
	unsigned shift = (unsigned)__builtin_ctzll(size);

	return shift < 3 ? 3 : shift < 12 ? shift : 12;
}

static enum hi_status add_small_span(struct span_scan *scan,
				     const struct hi_tcmalloc_span *s,
				     struct hi_slab *slab)
{
	struct hi_tcmalloc *t = scan->t;
	struct hi_tcmalloc_class *c = &t->classes[s->size_class];
	enum hi_status status;
	uint32_t id;

	slab->size = slab->usable = c->size;
	slab->n = (uint32_t)((slab->end - slab->start) / c->size);
	slab->align_shift = (uint8_t)alignment_shift(c->size);
	slab->is_small = true;
	t->n_small++;
	c->n_spans++;
	c->n_free += slab->n - s->refcount;
	t->n_slots += slab->n;
	if (t->n_slots > t->max_slots)
		return hi_fail(scan->err, HI_BAD_DATA, s->addr,
			       "spans: more blocks than the process has memory");
	status = hi_slabs_add(&t->slabs, slab, HI_BLOCK_LIVE, &id, scan->err);
	if (status != HI_OK)
		return status;
	if (mark_free_list(t, s, slab, id)) {
		set_ids(scan, s, id + 1);
		c->bytes += slab->end - slab->start;
	} else {
		t->slabs.items.count--;
		t->n_bad++;
		t->base.skipped_bytes += s->length << t->where.page_shift;
		set_ids(scan, s, HI_TCMALLOC_DAMAGED_SPAN);
	}
	return HI_OK;
}

/* What a sampled block may hold: its stack trace begins with the size that was asked for,
 * which malloc_usable_size() rounds up as if it were no span of its own. */
static uint64_t usable_of_sampled(struct hi_tcmalloc *t, const struct hi_tcmalloc_span *s)
{
	uint64_t bytes = s->length << t->where.page_shift, size;

	if (!s->sampled || s->objects % 8 || !hi_window_u64(&t->map, s->objects, &size) ||
	    size > bytes)
		return bytes;
	for (uint32_t i = 1; i < t->n_classes; i++)
		if (t->classes[i].size >= size)
			return t->classes[i].size < bytes ? t->classes[i].size : bytes;
	return bytes;
}

static enum hi_status add_page_span(struct span_scan *scan,
				    const struct hi_tcmalloc_span *s)
{
	static const enum hi_block_state states[] = {
		[NORMAL_FREE] = HI_BLOCK_FREE_SPAN,
		[RETURNED_FREE] = HI_BLOCK_FREE_RETAINED,
	};
	unsigned shift = scan->t->where.page_shift;
	struct hi_slab slab = {.start = s->start << shift,
			       .end = (s->start + s->length) << shift,
			       .first = s->start << shift,
			       .context = s->size_class,
			       .align_shift = 12,
			       .n = 1};

	if (!s->location && s->size_class)
		return add_small_span(scan, s, &slab);
	slab.size = slab.usable =
		s->location ? slab.end - slab.start : usable_of_sampled(scan->t, s);
	return hi_slabs_add(&scan->t->slabs, &slab,
			    s->location ? states[s->location] : HI_BLOCK_LIVE, NULL,
			    scan->err);
}

/* ---- the page map ---- */

/* Entry of `page`: *next_ret is the page to go on with. */
static enum hi_status look_at_page(struct span_scan *scan, uint64_t page, uint64_t addr,
				   uint64_t *next_ret)
{
	struct hi_tcmalloc *t = scan->t;
	struct hi_tcmalloc_span s;
	const char *fault;

	*next_ret = page + 1;
	if (!hi_tcmalloc_read_span(t, addr, &s) || s.start != page)
		return HI_OK;
	if (!hi_tcmalloc_note_metadata(t, addr, t->layout->span_bytes))
		return hi_fail_memory(scan->err, "spans");
	fault = find_fault(t, &s);
	if (!fault) {
		*next_ret = page + s.length;
		return add_page_span(scan, &s);
	}
	hi_allocator_note_damage(&t->base, addr, "the span of 0x%lx %s",
				 page << t->where.page_shift, fault);
	t->n_bad++;
	return HI_OK;
}

/* Entries of a leaf that lie in [start, end), which was copied. */
static enum hi_status scan_entries(struct span_scan *scan, uint64_t leaf, uint64_t start,
				   uint64_t end, uint64_t *page)
{
	uint64_t first = scan->leaf->first_page;

	if (*page < first + (start - leaf + 7) / 8)
		*page = first + (start - leaf + 7) / 8;
	while (*page < first + (end - leaf) / 8) {
		uint64_t span = 0;
		enum hi_status status;

		if (!hi_window_u64(&scan->t->map, leaf + (*page - first) * 8, &span) ||
		    !span) {
			++*page;
			continue;
		}
		status = look_at_page(scan, *page, span, page);
		if (status != HI_OK)
			return status;
	}
	return HI_OK;
}

static enum hi_status scan_leaf(struct span_scan *scan, uint64_t leaf)
{
	uint64_t limit =
		leaf + (8ull << hi_tcmalloc_leaf_bits(scan->t->where.page_shift));
	uint64_t start, end = leaf, page = scan->leaf->first_page;
	enum hi_status status = HI_OK;

	while (status == HI_OK &&
	       hi_image_next_held(scan->t->image, end, limit, &start, &end)) {
		status = scan_entries(scan, leaf, start, end, &page);
		if (status == HI_OK &&
		    !hi_tcmalloc_note_metadata(scan->t, start, end - start))
			status = hi_fail_memory(scan->err, "page map");
	}
	return status;
}

static enum hi_status add_map_leaf(struct hi_tcmalloc *t, uint64_t index, uint64_t leaf,
				   struct hi_error *err)
{
	unsigned bits = hi_tcmalloc_leaf_bits(t->where.page_shift);
	struct span_scan scan = {.t = t, .err = err};
	struct hi_tcmalloc_leaf added = {.first_page = index << bits};
	uint64_t start, end;

	if (leaf % 8 || !hi_tcmalloc_is_memory(t->image, leaf, leaf + (8ull << bits)))
		return hi_fail(err, HI_BAD_DATA, leaf, "page map: leaf %lu is not memory",
			       index);
	if (!hi_image_next_held(t->image, leaf, leaf + (8ull << bits), &start, &end))
		return HI_OK;
	added.ids = hi_calloc((size_t)1 << bits, sizeof(*added.ids));
	if (!added.ids || !hi_vector_push(&t->leaves, added)) {
		free(added.ids);
		return hi_fail_memory(err, "page map");
	}
	scan.leaf = &t->leaves.items[t->leaves.count - 1];
	return scan_leaf(&scan, leaf);
}

enum hi_status hi_tcmalloc_add_spans(struct hi_tcmalloc *t, struct hi_error *err)
{
	unsigned bits = HI_TCMALLOC_ADDRESS_BITS - t->where.page_shift -
			hi_tcmalloc_leaf_bits(t->where.page_shift);
	uint64_t limit = t->where.root + (8ull << bits), start, end = t->where.root;
	/* tcmalloc writes to all of a leaf when it makes one. */
	uint64_t max_leaves = t->max_slots >> hi_tcmalloc_leaf_bits(t->where.page_shift);
	enum hi_status status = HI_OK;

	while (status == HI_OK && hi_image_next_held(t->image, end, limit, &start, &end))
		for (uint64_t at = (start + 7) & ~7ull; at + 8 <= end; at += 8) {
			uint64_t leaf = 0;

			if (!hi_window_u64(&t->map, at, &leaf) || !leaf)
				continue;
			if (t->leaves.count >= max_leaves + FEW_LEAVES)
				return hi_fail(
					err, HI_BAD_DATA, at,
					"page map: more leaves than the process has "
					"memory");
			status = add_map_leaf(t, (at - t->where.root) / 8, leaf, err);
			if (status != HI_OK)
				return status;
		}
	if (status == HI_OK && t->n_bad > t->n_small / 4 + 4)
		return hi_fail(err, HI_BAD_DATA, t->where.root,
			       "spans: %zu of %zu contradict themselves: %.60s", t->n_bad,
			       t->n_small, t->base.damage ? t->base.damage[0].text : "");
	return status;
}

/* ---- blocks by address ---- */

static const struct hi_tcmalloc_leaf *leaf_of(const struct hi_tcmalloc *t, uint64_t page)
{
	uint64_t first =
		page & ~((1ull << hi_tcmalloc_leaf_bits(t->where.page_shift)) - 1);
	size_t low = hi_search(i, t->leaves.count, t->leaves.items[i].first_page < first);

	return low < t->leaves.count && t->leaves.items[low].first_page == first
		       ? &t->leaves.items[low]
		       : NULL;
}

static uint32_t id_of_page(const struct hi_tcmalloc *t, uint64_t page)
{
	const struct hi_tcmalloc_leaf *leaf = leaf_of(t, page);
	uint32_t id = leaf ? leaf->ids[page - leaf->first_page] : HI_TCMALLOC_NO_SPAN;
	uint64_t n = 1ull << hi_tcmalloc_leaf_bits(t->where.page_shift);

	/* A span that goes on from the leaf before has its number only there. */
	if (id == HI_TCMALLOC_NO_SPAN && page % n < 1024 && page >= n) {
		leaf = leaf_of(t, page - n);
		id = leaf ? leaf->ids[n - 1] : HI_TCMALLOC_NO_SPAN;
	}
	return id;
}

bool hi_tcmalloc_slot_at(struct hi_tcmalloc *t, uint64_t addr, uint32_t size_class,
			 uint32_t *id_ret, uint32_t *slot_ret)
{
	uint32_t id = id_of_page(t, addr >> t->where.page_shift);
	const struct hi_slab *slab;
	uint64_t offset;

	if (id == HI_TCMALLOC_NO_SPAN)
		return false;
	*id_ret = id - 1;
	if (id == HI_TCMALLOC_DAMAGED_SPAN)
		return true;
	slab = &t->slabs.items.items[id - 1];
	offset = addr - slab->first;
	if (slab->context != size_class || offset >= slab->n * slab->size ||
	    offset % slab->size)
		return false;
	*slot_ret = (uint32_t)(offset / slab->size);
	return true;
}
