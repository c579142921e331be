/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Damage that aims, in heaps of glibc: each word of an arena with its fastbins, unsorted,
 * small and large bins, of a thread's cache, of the heads and links of chunks, of a
 * heap_info and of chunks that are mappings gets the largest sizes, a link to itself, and
 * links to where no chunk is. Whatever is there, blocks lie apart, in order, in their
 * regions; sums hold; and what is looked at has a bound.
 */
#include <stdlib.h>
#include <string.h>

#include "attach/mock.h"
#include "tests/harness.h"
#include "tests/support/heap_sample.h"

enum { MAX_SEARCHED = 1 << 20 };

struct order {
	const struct hi_allocator *allocator;
	uint64_t last; /* end of the last block */
	const char *broken;
};

static bool check_order(const struct hi_block *blocks, size_t n, unsigned region,
			void *arg)
{
	struct order *o = arg;
	const struct hi_heap_region *r = &o->allocator->regions[region];

	for (size_t i = 0; i < n; i++) {
		if (blocks[i].addr < r->start ||
		    blocks[i].addr + blocks[i].usable > r->end)
			o->broken = "a block leaves its region";
		else if (o->last > r->start && blocks[i].addr < o->last)
			o->broken = "blocks overlap";
		o->last = blocks[i].addr + blocks[i].usable;
	}
	return !o->broken;
}

static uint64_t sum_regions(const struct hi_allocator *a)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < a->n_regions; i++)
		sum += a->regions[i].end - a->regions[i].start;
	return sum;
}

static uint64_t sum_blocks(const struct hi_allocator *a)
{
	uint64_t sum = a->skipped_bytes + a->overhead_bytes;

	for (int i = 0; i < HI_BLOCK_STATES; i++)
		sum += a->bytes[i];
	return sum;
}

/* Walks what can be opened; the rest was refused with a word. */
static const char *walk_damaged(const struct hi_mock_heap *h)
{
	struct hi_allocator *a = NULL;
	struct order o = {};
	struct hi_error err = {};
	const struct hi_glibc *g;

	if (hi_glibc_open(h->image, &h->where, &a, &err) != HI_OK)
		return err.text[0] ? NULL : "no reason is given";
	g = (const struct hi_glibc *)a;
	o.allocator = a;
	if (hi_allocator_walk(a, check_order, &o, &err) != HI_OK)
		o.broken = "the walk failed";
	else if (!o.broken && sum_regions(a) != sum_blocks(a))
		o.broken = "sums do not hold";
	if (g->n_searched > MAX_SEARCHED || g->listed.count > g->max_listed ||
	    g->arenas.count > 16)
		o.broken = "too much was looked at";
	hi_allocator_release(a);
	return o.broken;
}

static void damage_word(const struct heap_sample *s, uint64_t addr)
{
	struct hi_mock_heap *h = s->h;
	uint64_t before = hi_mock_heap_get(h, addr);
	const uint64_t values[] = {
		UINT64_MAX,
		UINT64_MAX & ~UINT64_C(15),
		INT64_MAX & ~UINT64_C(7),
		UINT64_C(1) << 40 | 1,
		before + (128 << 10),
		before ^ 1,
		before ^ 2,
		0,
		16 | 1,
		32 | 1,
		addr,
		addr - 16,
		addr ^ addr >> 12,
		(addr - 16) ^ addr >> 12,
		s->live[2],
		s->live[2] ^ addr >> 12,
		s->tcache[0],
		s->fast[0] - 16,
		s->bin[0] - 16,
		s->bin[1] - 16,
		s->arena,
		s->arena & ~UINT64_C(0x3ffffff),
		h->arena,
		h->heap_end - 16,
		s->mmapped - 16,
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const char *broken;

		hi_mock_heap_set(h, addr, values[i]);
		broken = walk_damaged(h);
		HI_ASSERT_MSG(!broken, "2.%u: 0x%llx = 0x%llx: %s", h->minor,
			      (unsigned long long)addr, (unsigned long long)values[i],
			      broken);
	}
	hi_mock_heap_set(h, addr, before);
}

static void damage_range(const struct heap_sample *s, uint64_t from, uint64_t size)
{
	for (uint64_t at = from; at < from + size; at += 8)
		damage_word(s, at);
}

/* Head and links: size, fd, bk, and of large ones the next sizes; what is before. */
static void damage_chunk(const struct heap_sample *s, uint64_t user)
{
	damage_range(s, user - 16, 48);
}

static void damage_sample(unsigned minor)
{
	struct heap_sample s = heap_sample_make(minor);

	damage_range(&s, s.h->arena, 2200);
	damage_range(&s, s.h->mp, 112);
	damage_range(&s, s.arena & ~UINT64_C(0x3ffffff), 48);
	damage_range(&s, s.arena + 96, 64); /* its top and its first bins */
	damage_range(&s, s.arena + 2144, 56);
	damage_range(&s, s.h->tcache - 16, 16 + 760);
	for (int i = 0; i < 6; i++)
		damage_chunk(&s, s.live[i]);
	for (int i = 0; i < 3; i++) {
		damage_chunk(&s, s.tcache[i]);
		damage_chunk(&s, s.fast[i]);
	}
	damage_chunk(&s, s.bin[0]);
	damage_chunk(&s, s.bin[1]);
	damage_range(&s, s.mmapped - 16, 32);
	damage_range(&s, s.aligned - 16, 32);
	damage_range(&s, s.h->next, 16); /* the top */
	hi_mock_heap_destroy(s.h);
}

HI_TEST(glibc_damage, no_word_of_a_heap_leads_out_of_it)
{
	static const unsigned minors[] = {28, 30, 32, 36, 42};

	for (size_t i = 0; i < sizeof(minors) / sizeof(minors[0]); i++)
		damage_sample(minors[i]);
}

/* Its bytes are no bound, as the arena says how many there are. */
HI_TEST(glibc_damage, heaps_that_lead_in_a_circle_end_whatever_the_arena_says)
{
	struct heap_sample s = heap_sample_make(36);
	uint64_t heap = s.arena & ~UINT64_C(0x3ffffff);
	struct hi_allocator *a = NULL;
	struct hi_error err = {};

	hi_mock_heap_set(s.h, heap + 8, heap);
	hi_mock_heap_set(s.h, s.arena + 2184, INT64_MAX & ~UINT64_C(4095));
	HI_ASSERT_OK(hi_glibc_open(s.h->image, &s.h->where, &a, &err), &err);
	HI_ASSERT_EQ(1, a->n_damage_total);
	HI_ASSERT_MSG(strstr(a->damage[0].text, "form a cycle"), "%s", a->damage[0].text);
	HI_ASSERT_EQ(4, a->n_regions); /* of both arenas, and two mappings */
	hi_allocator_release(a);
}

/* Arenas that overlap: each a few bytes behind the one before, and none in use. */
HI_TEST(glibc_damage, a_ring_has_no_more_arenas_than_memory_has_room_for)
{
	enum { STATE = 2200, NEXT = 2160, STEP = 32 };
	struct heap_sample s = heap_sample_make(36);
	uint64_t at = s.h->heap, end = s.h->heap_end - STATE;
	uint64_t most = hi_image_held_bytes(s.h->image) / STATE + 2;
	struct hi_allocator *a = NULL;
	struct hi_error err = {};

	HI_ASSERT(most < (end - at) / STEP);
	for (uint64_t p = at; p < s.h->heap_end; p += 8)
		hi_mock_heap_set(s.h, p, 0);
	hi_mock_heap_set(s.h, s.h->arena + NEXT, at);
	for (; at < end; at += STEP)
		hi_mock_heap_set(s.h, at + NEXT, at + STEP);
	HI_ASSERT_STATUS(HI_BAD_DATA, hi_glibc_open(s.h->image, &s.h->where, &a, &err));
	HI_ASSERT_MSG(strstr(err.text, "does not close"), "%s", err.text);
	HI_ASSERT(err.address < s.h->heap + STEP * most);
}
