/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heaps of tcmalloc, mimalloc and musl with any words: those of tests/support, with words
 * written over them as the input says (fuzz/words.h). The first byte is the heap, and the
 * layout that it is read by. Blocks come in order, apart, inside their region, and all
 * bytes of the regions are accounted for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/allocators/mallocng.h"
#include "decode/allocators/oldmalloc.h"
#include "fuzz/words.h"
#include "tests/support/mock_mimalloc.h"
#include "tests/support/mock_musl.h"
#include "tests/support/mock_tcmalloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAPS = 8, MOST_OF_RANGE = 1 << 17 };

struct heap {
	struct words words;
	struct mock_tcmalloc *tcmalloc;
	struct mock_mimalloc *mimalloc;
	struct mock_musl *musl;
	uint64_t last; /* end of the last block */
	const struct hi_allocator *allocator;
	unsigned region;
	bool has_slabs;
};

static struct mock_mimalloc *make_mimalloc(enum mock_mi_release release)
{
	struct mock_mimalloc *m = mock_mimalloc_create(release);

	mock_mimalloc_page(m, 1, 64, 900, 100, 20, 3);
	mock_mimalloc_page(m, 1, 96, 600, 0, 0, 0);
	mock_mimalloc_page(m, 1, 128, 300, 5, 0, 0);
	mock_mimalloc_page(m, 8, 16384, 30, 2, 1, 0);
	mock_mimalloc_page(m, 4, 262144, 1, 0, 0, 0);
	mock_mimalloc_finish(m);
	return m;
}

/* The beginning of each mapping: there is the allocator's own data. */
static void choose_ranges(struct heap *h, const struct hi_image *image,
			  struct hi_memory *memory)
{
	h->words.memory = memory;
	for (size_t i = 0; i < image->n_mappings && i < WORDS_RANGES; i++) {
		const struct hi_mapping *m = &image->mappings[i];
		uint64_t end = m->end - m->start < MOST_OF_RANGE
				       ? m->end
				       : m->start + MOST_OF_RANGE;

		words_add_range(&h->words, m->start, end);
	}
}

static struct heap *make_heap(unsigned which)
{
	struct heap *h = calloc(1, sizeof(*h));

	if (!h)
		abort();
	h->has_slabs = which != 7;
	if (which < 3) {
		h->tcmalloc =
			mock_tcmalloc_typical((enum mock_tcmalloc_release)which, 13);
		choose_ranges(h, h->tcmalloc->image, h->tcmalloc->memory);
	} else if (which < 6) {
		h->mimalloc = make_mimalloc((enum mock_mi_release)(which - 3));
		choose_ranges(h, h->mimalloc->image, h->mimalloc->memory);
	} else {
		h->musl = which == 6 ? mock_mallocng() : mock_oldmalloc();
		choose_ranges(h, h->musl->image, h->musl->memory);
	}
	return h;
}

static struct hi_allocator *open_mimalloc(struct mock_mimalloc *m,
					  const struct hi_mimalloc_layout *layout)
{
	struct hi_mi_segments segments = {};
	struct hi_mi_root root = {m->cookie, m->heap + layout->heap_cookie, &m->module};
	struct hi_mimalloc *mi = NULL;
	struct hi_error err;

	if (hi_mimalloc_find_segments(m->image, layout, &segments, &err) != HI_OK ||
	    hi_mimalloc_open(m->image, layout, &segments, &root, &mi, &err) != HI_OK)
		mi = NULL;
	hi_vector_free(&segments);
	if (!mi || hi_mimalloc_accept(mi, &err) == HI_OK)
		return mi ? &mi->base : NULL;
	hi_allocator_release(&mi->base);
	return NULL;
}

static struct hi_allocator *open_heap(struct heap *h, unsigned which, unsigned layout)
{
	const struct hi_mallocng_where ng = {.context = h->musl ? h->musl->root : 0,
					     .version = "mock"};
	const struct hi_oldmalloc_where old = {.mal = ng.context, .version = "mock"};
	struct hi_allocator *a = NULL;
	enum hi_status status = HI_OK;
	struct hi_error err;

	if (h->mimalloc)
		return open_mimalloc(h->mimalloc,
				     mock_mimalloc_layout(h->mimalloc->release));
	if (h->tcmalloc)
		status = hi_tcmalloc_open(
			h->tcmalloc->image, &h->tcmalloc->data,
			&hi_tcmalloc_layouts[layout % hi_tcmalloc_n_layouts], &a, &err);
	else if (which == 6)
		status = hi_mallocng_open(h->musl->image, &ng, &hi_mallocng_layout, &a,
					  &err);
	else
		status = hi_oldmalloc_open(h->musl->image, NULL, &old,
					   &hi_oldmalloc_layout, &a, &err);
	return status == HI_OK ? a : NULL;
}

static bool check_blocks(const struct hi_block *blocks, size_t n, unsigned region,
			 void *arg)
{
	struct heap *h = arg;
	const struct hi_heap_region *r = &h->allocator->regions[region];

	if (region >= h->allocator->n_regions || region < h->region)
		abort();
	h->region = region;
	for (size_t i = 0; i < n; i++) {
		if (blocks[i].addr < r->start ||
		    blocks[i].usable > r->end - blocks[i].addr ||
		    blocks[i].addr < h->last)
			abort();
		h->last = blocks[i].addr + blocks[i].usable;
	}
	return true;
}

static void walk(struct heap *h, struct hi_allocator *a)
{
	/* Slabs that a walk has not found damaged itself are in no region. */
	uint64_t regions = 0, blocks = h->has_slabs ? 0 - a->skipped_bytes : 0;
	struct hi_error err;

	h->allocator = a;
	h->last = 0;
	h->region = 0;
	if (hi_allocator_walk(a, check_blocks, h, &err) != HI_OK)
		return;
	for (size_t i = 0; i < a->n_regions; i++)
		regions += a->regions[i].end - a->regions[i].start;
	blocks += a->skipped_bytes + a->overhead_bytes;
	for (int i = 0; i < HI_BLOCK_STATES; i++)
		blocks += a->bytes[i];
	if (regions != blocks) {
		fprintf(stderr,
			"%s: regions have %" PRIu64 " bytes, blocks %" PRIu64 "\n",
			a->name, regions, blocks);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct heap *heaps[HEAPS];
	struct hi_allocator *a;
	unsigned which;

	if (size < 1)
		return 0;
	which = data[0] % HEAPS;
	if (!heaps[which])
		heaps[which] = make_heap(which);
	words_write(&heaps[which]->words, data + 1, size - 1);
	a = open_heap(heaps[which], which, data[0] / HEAPS);
	if (a)
		walk(heaps[which], a);
	hi_allocator_release(a);
	words_restore(&heaps[which]->words);
	return 0;
}
