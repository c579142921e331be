/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A heap of glibc with any words: the sample of tests/support/heap_sample.h, of one
 * layout after the other, with words written over it as the input says. The first byte
 * is the layout, then there are records of eleven bytes: where (2), how (1), a value (8).
 */
#include <stdlib.h>
#include <string.h>

#include "attach/mock.h"
#include "tests/support/heap_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const unsigned minors[] = {28, 30, 32, 36, 42};
enum { LAYOUTS = sizeof(minors) / sizeof(minors[0]), RECORD = 11, RANGES = 5 };

/* Where words are written, and what is there first. */
struct world {
	struct heap_sample s;
	struct range {
		uint64_t start, size;
		uint8_t *saved;
	} ranges[RANGES];
	uint64_t last; /* end of the last block */
	const struct hi_allocator *allocator;
};

static struct world *make_world(unsigned minor)
{
	struct world *w = calloc(1, sizeof(*w));
	const struct hi_mock_heap *h;

	if (!w)
		abort();
	w->s = heap_sample_make(minor);
	h = w->s.h;
	w->ranges[0] = (struct range){.start = h->heap, .size = h->next + 32 - h->heap};
	w->ranges[1] = (struct range){.start = h->arena & ~0xfffull, .size = 0x3000};
	w->ranges[2] = (struct range){.start = w->s.arena & ~0xfffull, .size = 0x1000};
	w->ranges[3] = (struct range){.start = w->s.mmapped - 16, .size = 64};
	w->ranges[4] = (struct range){.start = w->s.aligned - 0x7000, .size = 0x7010};
	for (int i = 0; i < RANGES; i++) {
		struct range *r = &w->ranges[i];

		r->saved = malloc(r->size);
		if (!r->saved)
			abort();
		memcpy(r->saved, hi_memory_mock_at(h->memory, r->start), r->size);
	}
	return w;
}

static uint64_t address_of(const struct world *w, uint64_t word)
{
	for (int i = 0; i < RANGES; i++) {
		if (word < w->ranges[i].size / 8)
			return w->ranges[i].start + word * 8;
		word -= w->ranges[i].size / 8;
	}
	return w->ranges[0].start + word % (w->ranges[0].size / 8) * 8;
}

static void write_word(struct world *w, const uint8_t *record)
{
	uint16_t where;
	uint64_t value, addr;

	memcpy(&where, record, sizeof(where));
	memcpy(&value, record + 3, sizeof(value));
	addr = address_of(w, where);
	switch (record[2] % 5) {
	case 0:
		break;
	case 1: /* an address, as links of free chunks are written */
		value = address_of(w, value & UINT16_MAX);
		if (record[2] & 0x80)
			value ^= addr >> 12;
		break;
	case 2:
		value &= 0x3ffff;
		break;
	case 3:
		value = hi_mock_heap_get(w->s.h, addr) ^ UINT64_C(1) << value % 64;
		break;
	default:
		value = hi_mock_heap_get(w->s.h, address_of(w, value & UINT16_MAX));
		break;
	}
	hi_mock_heap_set(w->s.h, addr, value);
}

/* Blocks come in order, apart, inside their region. */
static bool check_blocks(const struct hi_block *blocks, size_t n, unsigned region,
			 void *arg)
{
	struct world *w = arg;
	const struct hi_heap_region *r = &w->allocator->regions[region];

	if (region >= w->allocator->n_regions)
		abort();
	for (size_t i = 0; i < n; i++) {
		if (blocks[i].addr < r->start ||
		    blocks[i].addr + blocks[i].usable > r->end ||
		    (w->last > r->start && blocks[i].addr < w->last))
			abort();
		w->last = blocks[i].addr + blocks[i].usable;
	}
	return true;
}

static void walk(struct world *w, struct hi_allocator *a)
{
	uint64_t regions = 0, blocks = a->skipped_bytes;
	struct hi_error err;

	w->allocator = a;
	w->last = 0;
	if (hi_allocator_walk(a, check_blocks, w, &err) != HI_OK)
		abort();
	for (size_t i = 0; i < a->n_regions; i++)
		regions += a->regions[i].end - a->regions[i].start;
	blocks = a->skipped_bytes + a->overhead_bytes;
	for (int i = 0; i < HI_BLOCK_STATES; i++)
		blocks += a->bytes[i];
	if (regions != blocks)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world *worlds[LAYOUTS];
	struct hi_allocator *a = NULL;
	struct hi_error err;
	struct world *w;

	if (size < 1)
		return 0;
	if (!worlds[data[0] % LAYOUTS])
		worlds[data[0] % LAYOUTS] = make_world(minors[data[0] % LAYOUTS]);
	w = worlds[data[0] % LAYOUTS];
	for (size_t at = 1; at + RECORD <= size && at < 64 * RECORD; at += RECORD)
		write_word(w, data + at);
	if (hi_glibc_open(w->s.h->image, &w->s.h->where, &a, &err) == HI_OK)
		walk(w, a);
	hi_allocator_release(a);
	for (int i = 0; i < RANGES; i++)
		memcpy(hi_memory_mock_at(w->s.h->memory, w->ranges[i].start),
		       w->ranges[i].saved, w->ranges[i].size);
	return 0;
}
