/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/usage/heap_use.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"

enum { PAGE_BITS = 12, PAGE = 1 << PAGE_BITS };
/* Chunks up to 128 bytes have a class for each of their sizes, then doublings. */
enum { STEP = 16, FINE = 8, FINE_LARGEST = STEP * FINE };

/* Bytes of allocated blocks on each page of a region; NULL: not wanted. */
struct region_pages {
	uint16_t *allocated;
	uint64_t first, count; /* number of the first page, pages */
};

struct measuring {
	struct hi_allocator *allocator;
	struct region_pages *regions;
	pthread_mutex_t lock;
	struct hi_heap_use *use;
};

static size_t size_class_of(uint64_t size)
{
	unsigned bits;

	if (size <= FINE_LARGEST)
		return size ? (size - 1) / STEP : 0;
	bits = 64u - (unsigned)__builtin_clzll(size - 1); /* size <= 1 << bits */
	bits = FINE + bits - 8;
	return bits < HI_SIZE_CLASSES ? bits : HI_SIZE_CLASSES - 1;
}

static uint64_t largest_of(size_t klass)
{
	if (klass < FINE)
		return (klass + 1) * STEP;
	return klass == HI_SIZE_CLASSES - 1 ? UINT64_MAX : 1ull << (klass - FINE + 8);
}

static void add_to_pages(struct region_pages *r, uint64_t start, uint64_t end)
{
	uint64_t low = r->first << PAGE_BITS, high = (r->first + r->count) << PAGE_BITS;

	start = start < low ? low : start;
	end = end > high ? high : end;
	while (start < end) {
		uint64_t page = start >> PAGE_BITS, next = (page + 1) << PAGE_BITS;
		uint64_t n = (next < end ? next : end) - start;
		uint16_t *sum = &r->allocated[page - r->first];

		*sum = (uint16_t)(*sum + n < PAGE ? *sum + n : PAGE);
		start += n;
	}
}

static void count_allocated(struct hi_heap_use *use, const struct hi_block *b)
{
	struct hi_size_class *c = &use->classes[size_class_of(b->cost)];
	uint64_t header = b->cost > b->usable ? b->cost - b->usable : 0;

	c->count++;
	c->bytes += b->cost;
	c->header += header;
}

static void count_free(struct hi_heap_use *use, const struct hi_block *b)
{
	struct hi_free_blocks *f;

	if (!hi_block_state_is_free(b->state))
		return;
	f = &use->free[b->state - HI_BLOCK_FREE_FIRST];

	f->count++;
	f->bytes += b->cost;
	if (b->cost > f->largest)
		f->largest = b->cost;
}

static void add_use(struct hi_heap_use *to, const struct hi_heap_use *from)
{
	for (size_t i = 0; i < HI_SIZE_CLASSES; i++) {
		to->classes[i].count += from->classes[i].count;
		to->classes[i].bytes += from->classes[i].bytes;
		to->classes[i].header += from->classes[i].header;
	}
	for (size_t i = 0; i < HI_FREE_KINDS; i++) {
		to->free[i].count += from->free[i].count;
		to->free[i].bytes += from->free[i].bytes;
		if (from->free[i].largest > to->free[i].largest)
			to->free[i].largest = from->free[i].largest;
	}
}

/* A region's blocks come from one thread. */
static bool count_block_batch(const struct hi_block *blocks, size_t n, unsigned region,
			      void *arg)
{
	struct measuring *m = arg;
	struct hi_heap_use batch = {};
	struct region_pages *r =
		region < m->allocator->n_regions ? &m->regions[region] : NULL;

	for (size_t i = 0; i < n; i++) {
		const struct hi_block *b = &blocks[i];

		if (!(b->state == HI_BLOCK_LIVE || b->state == HI_BLOCK_INTERNAL)) {
			count_free(&batch, b);
			continue;
		}
		count_allocated(&batch, b);
		if (r && r->allocated)
			add_to_pages(r, b->addr - (b->cost - b->usable),
				     b->addr + b->usable);
	}
	pthread_mutex_lock(&m->lock);
	add_use(m->use, &batch);
	pthread_mutex_unlock(&m->lock);
	return true;
}

/* ---- pages ---- */

static size_t pages_size(const struct region_pages *r)
{
	return r->count * sizeof(*r->allocated);
}

static enum hi_status open_pages(struct measuring *m, struct hi_error *err)
{
	const struct hi_allocator *a = m->allocator;

	m->regions = hi_calloc(a->n_regions + 1, sizeof(*m->regions));
	if (!m->regions)
		return hi_fail_memory(err, "pages of the heap");
	for (size_t i = 0; i < a->n_regions; i++) {
		const struct hi_heap_region *h = &a->regions[i];
		struct region_pages *r = &m->regions[i];

		if (h->mmapped_chunk || h->has_no_objects || h->end <= h->start)
			continue;
		r->first = h->start >> PAGE_BITS;
		r->count = ((h->end - 1) >> PAGE_BITS) - r->first + 1;
		r->allocated = hi_pages_alloc(pages_size(r));
		if (!r->allocated)
			return hi_fail_memory(err, "pages of the heap");
	}
	return HI_OK;
}

static void close_pages(struct measuring *m)
{
	for (size_t i = 0; m->regions && i < m->allocator->n_regions; i++)
		if (m->regions[i].allocated)
			hi_pages_free(m->regions[i].allocated,
				      pages_size(&m->regions[i]));
	free(m->regions);
}

static enum hi_page_fill fill_of(uint64_t allocated)
{
	if (allocated == 0)
		return HI_PAGE_EMPTY;
	if (allocated < PAGE / 4)
		return HI_PAGE_UNDER_QUARTER;
	return allocated < PAGE / 2 ? HI_PAGE_UNDER_HALF : HI_PAGE_OVER_HALF;
}

static void count_page(struct hi_heap_use *use, uint64_t allocated)
{
	struct hi_page_class *c = &use->pages[fill_of(allocated)];

	c->pages++;
	c->bytes += PAGE;
	c->allocated += allocated;
}

/* Pages [from, to) of the region, those that are resident. */
static void count_resident(const struct hi_image *image, const struct region_pages *r,
			   uint64_t from, uint64_t to, struct hi_heap_use *use)
{
	uint64_t all = hi_image_resident(image, from << PAGE_BITS, to << PAGE_BITS);

	for (uint64_t page = from; page < to && all; page++) {
		uint64_t addr = page << PAGE_BITS;

		if (all == (to - from) << PAGE_BITS ||
		    hi_image_resident(image, addr, addr + PAGE))
			count_page(use, r->allocated[page - r->first]);
	}
}

/* The same by what the image holds, where residency is not known. */
static void count_held(const struct hi_image *image, const struct region_pages *r,
		       struct hi_heap_use *use)
{
	uint64_t addr = r->first << PAGE_BITS, end = (r->first + r->count) << PAGE_BITS;
	uint64_t from, to, next = r->first;

	while (addr < end && hi_image_next_held(image, addr, end, &from, &to)) {
		for (uint64_t page = from >> PAGE_BITS; page <= (to - 1) >> PAGE_BITS;
		     page++) {
			if (page < next) /* a range may end inside a page */
				continue;
			count_page(use, r->allocated[page - r->first]);
			next = page + 1;
		}
		addr = to;
	}
}

static void count_region_pages(const struct hi_image *image, const struct region_pages *r,
			       struct hi_heap_use *use)
{
	enum { STRIDE = 1 << 9 }; /* resident or not as a whole, mostly */
	uint64_t end = r->first + r->count;

	if (!use->residency_known) {
		count_held(image, r, use);
		return;
	}
	for (uint64_t page = r->first; page < end; page += STRIDE)
		count_resident(image, r, page, page + STRIDE < end ? page + STRIDE : end,
			       use);
}

static void sum_size_classes(struct hi_heap_use *use)
{
	for (size_t i = 0; i < HI_SIZE_CLASSES; i++) {
		struct hi_size_class *c = &use->classes[i];

		c->largest = largest_of(i);
		use->allocated += c->count;
		use->allocated_bytes += c->bytes;
		use->header += c->header;
		if (c->count)
			use->n_classes = i + 1;
	}
}

static enum hi_status copy_slab_classes(const struct hi_allocator *a,
					struct hi_heap_use *use, struct hi_error *err)
{
	if (!a->n_slab_classes)
		return HI_OK;
	use->slab_classes = hi_calloc(a->n_slab_classes, sizeof(*use->slab_classes));
	if (!use->slab_classes)
		return hi_fail_memory(err, "slabs");
	memcpy(use->slab_classes, a->slab_classes,
	       a->n_slab_classes * sizeof(*use->slab_classes));
	use->n_slab_classes = a->n_slab_classes;
	return HI_OK;
}

enum hi_status hi_heap_use_measure(const struct hi_image *image,
				   struct hi_allocator *allocator, unsigned threads,
				   struct hi_heap_use *ret, struct hi_error *err)
{
	struct hi_heap_use use = {.states = allocator ? allocator->ops->states : 0};
	struct measuring m = {
		.allocator = allocator, .lock = PTHREAD_MUTEX_INITIALIZER, .use = &use};
	enum hi_status status = HI_OK;

	*ret = use;
	if (!allocator)
		return HI_OK;
	status = open_pages(&m, err);
	if (status == HI_OK)
		status = hi_allocator_walk_parallel(
			allocator, threads ? threads : hi_parallel_threads(),
			count_block_batch, &m, err);
	if (status == HI_OK) {
		use.residency_known = hi_image_resident(image, 0, PAGE) != UINT64_MAX;
		for (size_t i = 0; i < allocator->n_regions; i++)
			if (m.regions[i].allocated)
				count_region_pages(image, &m.regions[i], &use);
		sum_size_classes(&use);
		status = copy_slab_classes(allocator, &use, err);
	}
	if (status == HI_OK)
		*ret = use;
	close_pages(&m);
	return status;
}
