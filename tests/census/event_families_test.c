/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Families of sources in a recording: pieces of a pool beside blocks of malloc, and drawn
 * mappings, of which the truth is an array of pages.
 */
#include <stdlib.h>

#include "census/events/pieces.h"
#include "tests/harness.h"
#include "tests/support/random.h"

enum { PAGE = 4096, PAGES = 64, ROUNDS = 4000 };
enum { MALLOC, POOL, MAPPED, UNSIZED, SOURCES };

static const struct hi_event_source_name sources[SOURCES] = {
	[MALLOC] = {"malloc", HI_FAMILY_MALLOC, 0},
	[POOL] = {"pool_get", HI_FAMILY_CALLS, 0},
	[MAPPED] = {"mmap", HI_FAMILY_MAPPINGS, 1},
	[UNSIZED] = {"item_new", HI_FAMILY_CALLS, 1},
};

static struct hi_recording *new_recording_of_sources(void)
{
	struct hi_recording *r = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_recording_create(&r, &err), &err);
	hi_test_defer(hi_recording_destroy, r);
	hi_recording_set_sources(r, sources, SOURCES);
	return r;
}

static void apply_event(struct hi_recording *r, struct hi_event e)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_recording_apply(r, &e, &err), &err);
}

static void give_block(struct hi_recording *r, uint8_t source, uint64_t addr,
		       uint64_t size)
{
	apply_event(r, (struct hi_event){.kind = HI_EVENT_ALLOC,
					 .source = source,
					 .addr = addr,
					 .size = size,
					 .tid = 1});
}

static void take_block(struct hi_recording *r, uint8_t source, uint64_t addr)
{
	apply_event(r, (struct hi_event){.kind = HI_EVENT_FREE,
					 .source = source,
					 .addr = addr,
					 .tid = 1});
}

static uint64_t count_live(const struct hi_recording *r, enum hi_event_family family,
			   uint64_t *bytes_ret)
{
	struct hi_live_allocation live;
	uint64_t n = 0;

	*bytes_ret = 0;
	for (uint64_t at = 0; hi_recording_next_of(r, family, &at, &live); n++)
		*bytes_ret += live.size;
	return n;
}

HI_TEST(event_families, families_have_separate_blocks_at_one_address)
{
	struct hi_recording *r = new_recording_of_sources();
	struct hi_recording_counts counts;
	struct hi_context_totals all;
	uint64_t bytes;

	give_block(r, MALLOC, 0x10000, 4096);
	give_block(r, POOL, 0x10000, 64); /* the first piece of the slab */
	give_block(r, POOL, 0x10040, 64);
	take_block(r, POOL, 0x10000);
	HI_ASSERT_EQ(1, count_live(r, HI_FAMILY_MALLOC, &bytes));
	HI_ASSERT_EQ(4096, bytes);
	HI_ASSERT_EQ(1, count_live(r, HI_FAMILY_CALLS, &bytes));
	HI_ASSERT_EQ(64, bytes);
	/* No byte counts twice. */
	all = hi_recording_totals(r);
	HI_ASSERT_EQ(1, all.allocs);
	HI_ASSERT_EQ(4096, all.bytes);
	all = hi_recording_by_source(r, POOL);
	HI_ASSERT_EQ(2, all.allocs);
	HI_ASSERT_EQ(1, all.frees);
	hi_recording_counts(r, &counts);
	HI_ASSERT_EQ(0, counts.unknown_frees + counts.lost_frees);
	HI_ASSERT(hi_recording_is_valid(r));
}

HI_TEST(event_families, reallocate_within_each_other)
{
	struct hi_recording *r = new_recording_of_sources();
	struct hi_recording_counts counts;
	uint64_t bytes;

	give_block(r, MALLOC, 0x10000, 100);
	give_block(r, POOL, 0x10010, 10);
	apply_event(r, (struct hi_event){.kind = HI_EVENT_REALLOC_BEGIN,
					 .source = POOL,
					 .addr = 0x10010,
					 .size = 20,
					 .tid = 1});
	/* The pool enlarges its slab, by the same thread. */
	apply_event(r, (struct hi_event){.kind = HI_EVENT_REALLOC_BEGIN,
					 .source = MALLOC,
					 .addr = 0x10000,
					 .size = 200,
					 .tid = 1});
	apply_event(r, (struct hi_event){.kind = HI_EVENT_REALLOC_END,
					 .source = MALLOC,
					 .addr = 0x20000,
					 .size = 200,
					 .old = 0x10000,
					 .tid = 1});
	apply_event(r, (struct hi_event){.kind = HI_EVENT_REALLOC_END,
					 .source = POOL,
					 .addr = 0x20010,
					 .size = 20,
					 .old = 0x10010,
					 .tid = 1});
	HI_ASSERT_EQ(1, count_live(r, HI_FAMILY_MALLOC, &bytes));
	HI_ASSERT_EQ(200, bytes);
	HI_ASSERT_EQ(1, count_live(r, HI_FAMILY_CALLS, &bytes));
	HI_ASSERT_EQ(20, bytes);
	hi_recording_counts(r, &counts);
	HI_ASSERT_EQ(0, counts.lost_begins + counts.lost_ends + counts.unknown_frees);
	HI_ASSERT(hi_recording_is_valid(r));
}

HI_TEST(event_families, families_recorded_whole_ignore_sampling)
{
	struct hi_recording *r = new_recording_of_sources();
	uint64_t bytes;

	hi_recording_set_sampling(r, 1 << 20);
	give_block(r, POOL, 0x10000, 64); /* not sampled: the event says nothing */
	give_block(r, UNSIZED, 0x10040, 0);
	HI_ASSERT_EQ(1, count_live(r, HI_FAMILY_CALLS, &bytes));
	HI_ASSERT_EQ(1, hi_recording_by_source(r, UNSIZED).allocs);
	take_block(r, POOL, 0x10040);
	HI_ASSERT_EQ(0, count_live(r, HI_FAMILY_CALLS, &bytes));
	HI_ASSERT(hi_recording_is_valid(r));
}

HI_TEST(event_families, count_a_free_within_a_free_once)
{
	struct hi_recording *r = new_recording_of_sources();
	struct hi_recording_counts counts;

	take_block(r, MALLOC, 0x30000); /* operator delete of an old block */
	take_block(r, MALLOC, 0x30000); /* calls free */
	give_block(r, MALLOC, 0x10000, 8);
	take_block(r, MALLOC, 0x10000);
	take_block(r, MALLOC, 0x10000);
	hi_recording_counts(r, &counts);
	HI_ASSERT_EQ(1, counts.unknown_frees);
	HI_ASSERT_EQ(0, hi_recording_live(r));
}

/* ---- mappings ---- */

struct drawn_maps {
	struct hi_recording *r;
	uint64_t of[PAGES]; /* which mapping, by its time; 0: none */
	uint64_t serial;
};

static struct hi_event event_of_pages(uint16_t kind, uint64_t first, uint64_t n,
				      uint64_t time_ns)
{
	return (struct hi_event){.kind = kind,
				 .source = MAPPED,
				 .addr = (first + 1) * PAGE,
				 .size = n * PAGE,
				 .time_ns = time_ns,
				 .tid = 1};
}

static void set_drawn_pages(struct drawn_maps *m, uint64_t first, uint64_t n, uint64_t of)
{
	for (uint64_t i = first; i < first + n; i++)
		m->of[i] = of;
}

static void map_drawn(struct drawn_maps *m, uint64_t first, uint64_t n)
{
	struct hi_event e = event_of_pages(HI_EVENT_ALLOC, first, n, ++m->serial);

	e.size -= m->serial % PAGE; /* the kernel rounds it up */
	apply_event(m->r, e);
	set_drawn_pages(m, first, n, m->serial);
}

static void unmap_drawn(struct drawn_maps *m, uint64_t first, uint64_t n)
{
	apply_event(m->r, event_of_pages(HI_EVENT_FREE, first, n, m->serial));
	set_drawn_pages(m, first, n, 0);
}

static void remap_drawn(struct drawn_maps *m, uint64_t first, uint64_t n, uint64_t to,
			uint64_t more, bool fails)
{
	struct hi_event end =
		event_of_pages(HI_EVENT_REALLOC_END, to, more, m->serial + 1);

	apply_event(m->r, event_of_pages(HI_EVENT_REALLOC_BEGIN, first, n, m->serial));
	end.old = (first + 1) * PAGE;
	if (fails)
		end.addr = 0;
	apply_event(m->r, end);
	if (fails)
		return;
	m->serial++;
	set_drawn_pages(m, first, n, 0);
	set_drawn_pages(m, to, more, m->serial);
}

/* Neighbouring pages of one mapping are one record, and there are no others. */
static void expect_drawn_maps(const struct drawn_maps *m)
{
	struct hi_live_allocation live;
	uint64_t at = 0;

	for (uint64_t i = 0, n; i < PAGES; i += n) {
		for (n = 1; i + n < PAGES && m->of[i + n] == m->of[i]; n++)
			;
		if (!m->of[i])
			continue;
		HI_ASSERT(hi_recording_next_of(m->r, HI_FAMILY_MAPPINGS, &at, &live));
		HI_ASSERT_EQ((i + 1) * PAGE, live.addr);
		HI_ASSERT_EQ(n * PAGE, live.size);
		HI_ASSERT_EQ(m->of[i], live.time_ns);
	}
	HI_ASSERT(!hi_recording_next_of(m->r, HI_FAMILY_MAPPINGS, &at, &live));
	HI_ASSERT(hi_recording_is_valid(m->r));
}

HI_TEST(event_families, unmapped_and_replaced_parts_of_mappings_are_counted)
{
	struct drawn_maps m = {.r = new_recording_of_sources()};
	uint64_t random = 88172645463325252ull;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t n = 1 + random_below(&random, 9),
			 more = 1 + random_below(&random, 9);
		uint64_t first = random_below(&random, PAGES - n);
		uint64_t to = random_below(&random, PAGES - more);

		switch (random_below(&random, 8)) {
		case 0 ... 2:
			map_drawn(&m, first, n);
			break;
		case 3 ... 4:
			unmap_drawn(&m, first, n);
			break;
		default:
			remap_drawn(&m, first, n, to, more,
				    random_below(&random, 3) == 0);
		}
		expect_drawn_maps(&m);
	}
	HI_ASSERT_EQ(0, hi_recording_totals(m.r).allocs);
}

/* ---- pieces ---- */

HI_TEST(event_families, list_their_pieces_by_address)
{
	struct hi_recording *r = new_recording_of_sources();
	const struct hi_objects objects = {};
	struct hi_piece_list *list = NULL;
	struct hi_pieces pieces;
	struct hi_error err;

	give_block(r, MALLOC, 0x10000, 4096);
	give_block(r, UNSIZED, 0x10800, 0);
	give_block(r, POOL, 0x10040, 64);
	give_block(r, POOL, 0x10000, 64);
	apply_event(r, event_of_pages(HI_EVENT_ALLOC, 15, 2, 5));
	HI_ASSERT_OK(hi_piece_list_make(r, &objects, 0, &list, &err), &err);
	hi_test_defer(hi_piece_list_destroy, list);
	pieces = hi_piece_list_view(list);
	/* The slab has no object here. */
	HI_ASSERT_EQ(5, pieces.count);
	HI_ASSERT_EQ(MALLOC, pieces.items[0].source);
	HI_ASSERT_EQ(0x10000, pieces.items[1].addr);
	HI_ASSERT_EQ(0x10040, pieces.items[2].addr);
	HI_ASSERT_EQ(MAPPED, pieces.items[3].source);
	/* The innermost one: 0x10000 is mapped as well. */
	HI_ASSERT_EQ(0x10040, hi_piece_at(&pieces, 0x1007f)->addr);
	HI_ASSERT_EQ(MALLOC, hi_piece_at(&pieces, 0x10080)->source);
	HI_ASSERT_EQ(UNSIZED, hi_piece_at(&pieces, 0x10800)->source);
	HI_ASSERT_EQ(MALLOC, hi_piece_at(&pieces, 0x10801)->source);
	HI_ASSERT_EQ(MAPPED, hi_piece_at(&pieces, 0x11000)->source);
	HI_ASSERT(hi_piece_at(&pieces, 0x12000) == NULL);
}
