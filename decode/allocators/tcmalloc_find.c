/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where tcmalloc's variables are, without symbols: each of them proves itself. Sizes rise
 * from 0 and 8 to 256 KiB; central lists number themselves; the page map leads from the
 * first page of a span to that span; thread caches repeat the sizes, and their list
 * closes.
 */
#include "decode/allocators/tcmalloc.h"

#include "base/alloc.h"

enum {
	MAX_SIZE = 256 << 10, /* kMaxSize */
	MIN_CLASSES = 20,
	MAX_WITNESSES = 16,
	MAX_LINKS = 1 << 20,
	MAX_SEEN = 32,
};

bool hi_tcmalloc_is_memory(const struct hi_image *image, uint64_t start, uint64_t end)
{
	while (start < end) {
		const struct hi_mapping *m = hi_image_mapping_at(image, start);

		if (!m || !(m->prot & HI_PROT_WRITE) || m->kind == HI_MAPPING_OTHER ||
		    (m->kind == HI_MAPPING_FILE && !m->shared))
			return false;
		start = m->end;
	}
	return true;
}

unsigned hi_tcmalloc_leaf_bits(unsigned page_shift)
{
	return (HI_TCMALLOC_ADDRESS_BITS - page_shift + 1) / 2;
}

bool hi_tcmalloc_read_span(struct hi_tcmalloc *t, uint64_t addr,
			   struct hi_tcmalloc_span *ret)
{
	const struct hi_tcmalloc_layout *l = t->layout;
	const uint8_t *p = addr % 8 ? NULL : hi_window_at(&t->spans, addr, l->span_bytes);
	uint32_t bits;

	if (!p)
		return false;
	ret->addr = addr;
	memcpy(&ret->start, p + l->span_start, 8);
	memcpy(&ret->length, p + l->span_length, 8);
	memcpy(&ret->next, p + l->span_next, 8);
	memcpy(&ret->prev, p + l->span_prev, 8);
	memcpy(&ret->objects, p + l->span_objects, 8);
	memcpy(&bits, p + l->span_bits, 4);
	ret->refcount = bits & 0xffff;
	ret->size_class = bits >> 16 & 0xff;
	ret->location = bits >> 24 & 3;
	ret->sampled = bits >> 26 & 1;
	return true;
}

/* ---- size map ---- */

struct size_search {
	struct hi_window window;
	uint64_t found;
};

/* How many rising multiples of 8 stand at addr until MAX_SIZE; 0: it is no size map. */
static uint32_t count_sizes(struct hi_window *w, uint64_t addr)
{
	uint32_t size, last = 0;

	for (uint32_t i = 1; i < HI_TCMALLOC_CLASSES; i++) {
		if (!hi_window_u32(w, addr + i * 4, &size) || size <= last || size % 8)
			return 0;
		if (size == MAX_SIZE)
			return i + 1 >= MIN_CLASSES ? i + 1 : 0;
		last = size;
	}
	return 0;
}

static bool try_sizes(uint64_t addr, void *arg)
{
	struct size_search *s = arg;

	if (count_sizes(&s->window, addr))
		s->found = addr;
	return !s->found;
}

uint64_t hi_tcmalloc_find_sizes(const struct hi_image *image,
				const struct hi_tcmalloc_data *data)
{
	struct size_search s = {.window = {.memory = image->memory}};

	hi_tcmalloc_scan_pairs(image, data, try_sizes, &s);
	hi_window_free(&s.window);
	return s.found;
}

static enum hi_status read_size_map(struct hi_tcmalloc *t, struct hi_error *err)
{
	const struct hi_tcmalloc_layout *l = t->layout;
	uint64_t at = t->where.sizes, n = 0;

	t->n_classes = count_sizes(&t->map, at);
	if (!t->n_classes || !hi_window_u64(&t->map, at + l->n_classes, &n) ||
	    n != t->n_classes)
		return hi_fail(err, HI_BAD_DATA, at,
			       "size map: %u sizes, but num_size_classes is %lu",
			       t->n_classes, n);
	for (uint32_t i = 0; i < t->n_classes; i++) {
		struct hi_tcmalloc_class *c = &t->classes[i];
		uint32_t size = 0, moves = 0;

		if (!hi_window_u32(&t->map, at + i * 4, &size) ||
		    !hi_window_u32(&t->map, at - l->before_moves + i * 4, &moves) ||
		    !hi_window_u64(&t->map, at + l->pages + i * 8ull, &c->pages))
			return hi_fail(err, HI_BAD_DATA, at, "size map: not readable");
		c->size = size;
		c->moves = moves;
		if (i && (c->pages - 1 >= 1024 || c->moves - 1 >= 1 << 20))
			return hi_fail(err, HI_BAD_DATA, at,
				       "size map: class %u has %lu pages, %lu to move", i,
				       c->pages, c->moves);
	}
	return HI_OK;
}

/* ---- central lists ---- */

struct central_search {
	struct hi_tcmalloc *t;
	uint64_t found;
};

static bool is_numbered(struct hi_tcmalloc *t, uint64_t central, uint32_t i)
{
	uint64_t n;

	return hi_window_u64(&t->map,
			     central + i * (uint64_t)t->layout->central_stride +
				     t->layout->size_class,
			     &n) &&
	       n == i;
}

/* The list of spans whose head is at addr. */
static bool is_list_closed(struct hi_tcmalloc *t, uint64_t addr)
{
	struct hi_tcmalloc_span head, next;

	return hi_tcmalloc_read_span(t, addr, &head) &&
	       hi_tcmalloc_read_span(t, head.next, &next) && next.prev == addr;
}

static bool try_central(uint64_t addr, uint64_t word, void *arg)
{
	struct central_search *s = arg;
	const struct hi_tcmalloc_layout *l = s->t->layout;
	uint64_t central = addr - l->size_class - l->central_stride;

	if (word != 1)
		return true;
	for (uint32_t i = 0; i < s->t->n_classes; i++) {
		uint64_t at = central + i * (uint64_t)l->central_stride;

		if (!is_numbered(s->t, central, i) ||
		    (i < 4 && (!is_list_closed(s->t, at + l->empty) ||
			       !is_list_closed(s->t, at + l->nonempty))))
			return true;
	}
	s->found = central;
	return false;
}

static enum hi_status find_central(struct hi_tcmalloc *t,
				   const struct hi_tcmalloc_data *data,
				   struct hi_error *err)
{
	struct central_search s = {.t = t};
	unsigned open = 0;

	hi_tcmalloc_scan_words(t->image, data, try_central, &s);
	if (!s.found)
		return hi_fail(err, HI_BAD_DATA, 0,
			       "central lists: none are numbered 0 to %u",
			       t->n_classes - 1);
	t->where.central = s.found;
	for (uint32_t i = 0; i < t->n_classes; i++) {
		uint64_t at = s.found + i * (uint64_t)t->layout->central_stride;

		open += !is_list_closed(t, at + t->layout->empty);
		open += !is_list_closed(t, at + t->layout->nonempty);
	}
	if (open > t->n_classes / 4)
		return hi_fail(err, HI_BAD_DATA, s.found,
			       "central lists: %u lists of spans do not close", open);
	return HI_OK;
}

/* ---- page map ---- */

struct map_search {
	struct hi_tcmalloc *t;
	const struct hi_tcmalloc_data *data;
	struct hi_tcmalloc_span witnesses[MAX_WITNESSES];
	unsigned n_witnesses;
	const struct hi_mapping *mapping; /* of the word before */
	uint64_t found;
	unsigned page_shift;
};

/* Can this span be what it says with pages of this size? */
static bool fits_page_shift(const struct hi_tcmalloc *t, const struct hi_tcmalloc_span *s,
			    unsigned shift)
{
	uint64_t first = s->start << shift;

	return s->start >> (HI_TCMALLOC_ADDRESS_BITS - shift) == 0 && s->start &&
	       s->length && s->length < 1ull << 20 &&
	       (!s->objects || (s->objects >> shift) - s->start < s->length) &&
	       hi_tcmalloc_is_memory(t->image, first, first + (s->length << shift));
}

static void add_witness(struct map_search *s, uint64_t head, uint64_t next)
{
	struct hi_tcmalloc_span span;

	if (next != head && s->n_witnesses < MAX_WITNESSES &&
	    hi_tcmalloc_read_span(s->t, next, &span))
		s->witnesses[s->n_witnesses++] = span;
}

/* Spans of central lists; those with free blocks first, whose address tells most. */
static void find_witnesses(struct map_search *s)
{
	const struct hi_tcmalloc_layout *l = s->t->layout;
	const uint16_t heads[] = {l->nonempty, l->empty};

	for (unsigned k = 0; k < 2; k++)
		for (uint32_t i = 1; i < s->t->n_classes; i++) {
			uint64_t head = s->t->where.central +
					i * (uint64_t)l->central_stride + heads[k];
			struct hi_tcmalloc_span span;

			if (hi_tcmalloc_read_span(s->t, head, &span))
				add_witness(s, head, span.next);
		}
}

static bool fits_all_witnesses(const struct map_search *s, unsigned shift)
{
	for (unsigned i = 0; i < s->n_witnesses; i++)
		if (!fits_page_shift(s->t, &s->witnesses[i], shift))
			return false;
	return true;
}

static bool map_leads_to(struct map_search *s, uint64_t root,
			 const struct hi_tcmalloc_span *span)
{
	unsigned bits = hi_tcmalloc_leaf_bits(s->page_shift);
	uint64_t leaf, found;

	return hi_window_u64(&s->t->map, root + (span->start >> bits) * 8, &leaf) &&
	       leaf % 8 == 0 &&
	       hi_window_u64(&s->t->map, leaf + (span->start & ((1ull << bits) - 1)) * 8,
			     &found) &&
	       found == span->addr;
}

/* Memory that a pointer of the page map can point to. */
static bool is_leaf_pointer(struct map_search *s, uint64_t word)
{
	if (word % 8 || word < 65536 || word >> 47)
		return false;
	if (!s->mapping ||
	    word - s->mapping->start >= s->mapping->end - s->mapping->start)
		s->mapping = hi_image_mapping_at(s->t->image, word);
	return s->mapping && s->mapping->prot & HI_PROT_WRITE &&
	       s->mapping->kind != HI_MAPPING_FILE;
}

static bool try_root(uint64_t addr, uint64_t word, void *arg)
{
	struct map_search *s = arg;
	const struct hi_tcmalloc_span *first = &s->witnesses[0];
	unsigned bits = hi_tcmalloc_leaf_bits(s->page_shift);
	uint64_t root = addr - (first->start >> bits) * 8;

	if (!is_leaf_pointer(s, word) || root < s->data->start || root > addr ||
	    s->data->end - root < (8ull << (HI_TCMALLOC_ADDRESS_BITS - s->page_shift -
					    hi_tcmalloc_leaf_bits(s->page_shift))))
		return true;
	for (unsigned i = 0; i < s->n_witnesses; i++)
		if (!map_leads_to(s, root, &s->witnesses[i]))
			return true;
	s->found = root;
	return false;
}

static enum hi_status find_page_map(struct hi_tcmalloc *t,
				    const struct hi_tcmalloc_data *data,
				    struct hi_error *err)
{
	struct map_search s = {.t = t, .data = data};
	unsigned fitting = 0;

	find_witnesses(&s);
	if (!s.n_witnesses)
		return hi_fail(err, HI_BAD_DATA, t->where.central,
			       "page map: the central lists have no span");
	for (s.page_shift = HI_TCMALLOC_SHIFT_MIN; s.page_shift <= HI_TCMALLOC_SHIFT_MAX;
	     s.page_shift++) {
		if (!fits_all_witnesses(&s, s.page_shift))
			continue;
		fitting++;
		hi_tcmalloc_scan_words(t->image, data, try_root, &s);
		if (s.found)
			break;
	}
	if (!s.found)
		return hi_fail(
			err, HI_BAD_DATA, s.witnesses[0].addr,
			fitting ? "page map: no root leads to the spans of the "
				  "central lists"
				: "page map: spans lie at no pages of 4 to 256 KiB");
	t->where.root = s.found;
	t->where.page_shift = s.page_shift;
	return HI_OK;
}

/* ---- thread caches ---- */

struct cache_search {
	struct map_search map;		   /* is_leaf_pointer() */
	struct hi_tcmalloc_addresses seen; /* caches that the data points to */
	struct hi_tcmalloc_addresses best, list;
	bool out_of_memory;
};

static bool is_cache(struct hi_tcmalloc *t, uint64_t addr)
{
	const struct hi_tcmalloc_layout *l = t->layout;
	const uint8_t *p = hi_window_at(&t->spans, addr, l->cache_bytes);

	if (!p)
		return false;
	for (uint32_t i = 1; i < t->n_classes; i++) {
		uint32_t size;

		memcpy(&size, p + l->lists + i * l->list_stride + l->list_size, 4);
		if (size != t->classes[i].size)
			return false;
	}
	return true;
}

static uint64_t read_cache_link(struct hi_tcmalloc *t, uint64_t addr, uint16_t offset)
{
	uint64_t link;

	return hi_window_u64(&t->spans, addr + offset, &link) ? link : UINT64_MAX;
}

/* All caches of the list that addr is in, from its head; false: it does not close. */
static bool list_caches(struct cache_search *s, uint64_t addr)
{
	struct hi_tcmalloc *t = s->map.t;
	const struct hi_tcmalloc_layout *l = t->layout;
	uint64_t prev;

	for (unsigned i = 0; (prev = read_cache_link(t, addr, l->cache_prev)); i++) {
		if (i > MAX_LINKS || !is_cache(t, prev) ||
		    read_cache_link(t, prev, l->cache_next) != addr)
			return false;
		addr = prev;
	}
	s->list.count = 0;
	for (prev = 0; addr; addr = read_cache_link(t, addr, l->cache_next)) {
		if (s->list.count > MAX_LINKS || !is_cache(t, addr) ||
		    read_cache_link(t, addr, l->cache_prev) != prev)
			return false;
		if (!hi_vector_push(&s->list, addr)) {
			s->out_of_memory = true;
			return false;
		}
		prev = addr;
	}
	return true;
}

/* Freed caches keep their links and sizes, but hold nothing. */
static bool is_used_cache(struct hi_tcmalloc *t, uint64_t addr)
{
	uint32_t size = 0;

	return is_cache(t, addr) &&
	       hi_window_u32(&t->spans, addr + t->layout->cache_size, &size) && size;
}

static bool try_cache(uint64_t addr, uint64_t word, void *arg)
{
	struct cache_search *s = arg;

	(void)addr;
	if (is_leaf_pointer(&s->map, word) && is_cache(s->map.t, word) &&
	    !hi_vector_push(&s->seen, word))
		s->out_of_memory = true;
	return !s->out_of_memory && s->seen.count < MAX_SEEN;
}

static size_t rank_list(struct hi_tcmalloc *t, const struct hi_tcmalloc_addresses *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (is_used_cache(t, list->items[i]))
			return list->count * 2 + 1;
	return list->count * 2;
}

static void choose_list(struct cache_search *s)
{
	size_t best = 0;

	for (size_t i = 0; i < s->seen.count && !s->out_of_memory; i++) {
		struct hi_tcmalloc_addresses before = s->best;

		if (!list_caches(s, s->seen.items[i]) ||
		    rank_list(s->map.t, &s->list) <= best)
			continue;
		best = rank_list(s->map.t, &s->list);
		s->best = s->list;
		s->list = before;
	}
}

static int compare_caches(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool is_unlisted(struct cache_search *s, uint64_t addr)
{
	return is_used_cache(s->map.t, addr) &&
	       (!s->best.count || !bsearch(&addr, s->best.items, s->best.count,
					   sizeof(addr), compare_caches));
}

/* A used cache that is in no list: the one that the data points to, or, as caches lie
 * side by side, a neighbour of one in the list. 0: there is none. */
static uint64_t find_unlisted(struct cache_search *s)
{
	uint64_t bytes = s->map.t->layout->cache_bytes;

	if (s->best.count > 1)
		qsort(s->best.items, s->best.count, sizeof(uint64_t), compare_caches);
	for (size_t i = 0; i < s->seen.count; i++)
		if (is_unlisted(s, s->seen.items[i]))
			return s->seen.items[i];
	for (size_t i = 0; i < s->best.count; i++) {
		if (is_unlisted(s, s->best.items[i] - bytes))
			return s->best.items[i] - bytes;
		if (is_unlisted(s, s->best.items[i] + bytes))
			return s->best.items[i] + bytes;
	}
	return 0;
}

static enum hi_status find_caches(struct hi_tcmalloc *t,
				  const struct hi_tcmalloc_data *data,
				  struct hi_error *err)
{
	struct cache_search s = {.map = {.t = t}};
	uint64_t unlisted;

	hi_tcmalloc_scan_words(t->image, data, try_cache, &s);
	choose_list(&s);
	unlisted = find_unlisted(&s);
	hi_vector_free(&s.list);
	hi_vector_free(&s.seen);
	t->where.caches = s.best;
	if (s.out_of_memory)
		return hi_fail_memory(err, "thread caches");
	if (!s.best.count)
		return hi_fail(err, HI_BAD_DATA, 0,
			       "thread caches: no list of them closes");
	if (unlisted)
		return hi_fail(err, HI_BAD_DATA, unlisted,
			       "thread caches: that at 0x%lx is in no list", unlisted);
	return HI_OK;
}

enum hi_status hi_tcmalloc_find(struct hi_tcmalloc *t,
				const struct hi_tcmalloc_data *data, struct hi_error *err)
{
	enum hi_status status = read_size_map(t, err);

	if (status == HI_OK)
		status = find_central(t, data, err);
	if (status == HI_OK)
		status = find_page_map(t, data, err);
	if (status == HI_OK)
		status = find_caches(t, data, err);
	return status;
}
