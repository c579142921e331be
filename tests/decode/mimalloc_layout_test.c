/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mimalloc's segments made by hand: each release is read by its own layout alone, and
 * damage stays where it is.
 */
#include <string.h>

#include "tests/harness.h"
#include "tests/support/mock_mimalloc.h"

/* Pages of sizes whose place in the page tells the releases apart, and lists. */
static struct mock_mimalloc *make_pages(enum mock_mi_release release)
{
	struct mock_mimalloc *m = mock_mimalloc_create(release);

	mock_mimalloc_page(m, 1, 64, 900, 100, 20, 3);
	mock_mimalloc_page(m, 1, 96, 600, 0, 0, 0);
	for (int i = 0; i < 20; i++)
		mock_mimalloc_page(m, 1, 128, 300, 5, 0, 0);
	mock_mimalloc_page(m, 8, 16384, 30, 2, 1, 0);
	mock_mimalloc_page(m, 4, 262144, 1, 0, 0, 0);
	mock_mimalloc_finish(m);
	return m;
}

struct mi_counts {
	uint64_t n[HI_BLOCK_STATES];
};
static bool count_mi_blocks(const struct hi_block *blocks, size_t n, unsigned region,
			    void *arg)
{
	struct mi_counts *c = arg;

	(void)region;
	for (size_t i = 0; i < n; i++)
		c->n[blocks[i].state]++;
	return true;
}

static struct hi_mimalloc *open_accepted(struct mock_mimalloc *m,
					 struct mi_counts *counts)
{
	struct hi_mimalloc *mi = mock_mimalloc_open(m, mock_mimalloc_layout(m->release));
	struct hi_error err;

	hi_test_defer(hi_allocator_release, &mi->base);
	HI_ASSERT_OK(hi_mimalloc_accept(mi, &err), &err);
	HI_ASSERT_OK(hi_allocator_walk(&mi->base, count_mi_blocks, counts, &err), &err);
	return mi;
}

enum { LIVE = 900 - 123 + 600 + 20 * 295 + 27 + 1 };

HI_TEST(mimalloc_layout, each_release_is_read_by_its_own_layout)
{
	for (int r = 0; r < MOCK_MI_RELEASES; r++) {
		struct mock_mimalloc *m = make_pages((enum mock_mi_release)r);
		struct mi_counts c = {};
		struct hi_mimalloc *mi = open_accepted(m, &c);

		HI_ASSERT_EQ(0, mi->failed);
		HI_ASSERT_EQ(LIVE, c.n[HI_BLOCK_LIVE]);
		HI_ASSERT_EQ(120 + 100 + 3, c.n[HI_BLOCK_FREE_SLOT]);
		HI_ASSERT_EQ(3, c.n[HI_BLOCK_FREE_DEFERRED]);
		HI_ASSERT_EQ(1, c.n[HI_BLOCK_METADATA]);
		HI_ASSERT_EQ(1, mi->base.n_arenas);
	}
}

/* The layouts of other releases, and of builds with encoded lists. */
HI_TEST(mimalloc_layout, other_layouts_are_refused_and_say_why)
{
	for (int r = 0; r < MOCK_MI_RELEASES; r++) {
		struct mock_mimalloc *m = make_pages((enum mock_mi_release)r);
		const struct hi_mimalloc_layout *own = mock_mimalloc_layout(m->release);

		for (const struct hi_mimalloc_layout *l = hi_mimalloc_layouts; l->version;
		     l++) {
			struct hi_mimalloc *mi =
				l == own ? NULL : mock_mimalloc_open(m, l);
			struct hi_error err;

			if (!mi || mi->segments == 0) { /* no segment by this layout */
				hi_allocator_release(mi ? &mi->base : NULL);
				continue;
			}
			hi_test_note("%s by %s", own->version, mi->base.version);
			HI_ASSERT_STATUS(HI_BAD_DATA, hi_mimalloc_accept(mi, &err));
			HI_ASSERT(strstr(err.text, "no layout fits"));
			HI_ASSERT(mi->first_fault[0]);
			hi_allocator_release(&mi->base);
		}
	}
}

/* One field 8 bytes away from where it is. */
HI_TEST(mimalloc_layout, shifted_fields_are_refused)
{
	static const size_t fields[] = {
		offsetof(struct hi_mimalloc_layout, page_size),
		offsetof(struct hi_mimalloc_layout, free),
		offsetof(struct hi_mimalloc_layout, used),
		offsetof(struct hi_mimalloc_layout, local_free),
		offsetof(struct hi_mimalloc_layout, xthread_free),
		offsetof(struct hi_mimalloc_layout, block_size),
		offsetof(struct hi_mimalloc_layout, capacity),
		offsetof(struct hi_mimalloc_layout, page_count),
		offsetof(struct hi_mimalloc_layout, xheap),
	};

	for (int r = 0; r < MOCK_MI_RELEASES; r++) {
		struct mock_mimalloc *m = make_pages((enum mock_mi_release)r);

		for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
			struct hi_mimalloc_layout wrong =
				*mock_mimalloc_layout(m->release);
			struct hi_mimalloc *mi;
			uint16_t offset;

			memcpy(&offset, (char *)&wrong + fields[i], sizeof(offset));
			offset += 8;
			memcpy((char *)&wrong + fields[i], &offset, sizeof(offset));
			mi = mock_mimalloc_open(m, &wrong);
			hi_test_note("%s, field %zu: %s", wrong.version, i,
				     mi->first_fault);
			HI_ASSERT_STATUS(HI_BAD_DATA, hi_mimalloc_accept(mi, NULL));
			hi_allocator_release(&mi->base);
		}
	}
}

HI_TEST(mimalloc_layout, a_list_that_the_program_overwrote_is_damage_of_its_page)
{
	static const uint64_t words[] = {0x4141414141414141, 8, 0x20000010184 + 1,
					 0x20000010180 /* itself: a cycle */};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct mock_mimalloc *m = make_pages(MOCK_MI_2_0_9);
		struct mi_counts c = {};
		struct hi_mimalloc *mi;

		mock_mimalloc_set(m, m->segment + 65536 + 384, words[i]);
		mi = open_accepted(m, &c);
		HI_ASSERT_EQ(1, mi->base.n_damage_total);
		HI_ASSERT_EQ(m->segment + 65536 + 384, mi->base.damage[0].address);
		HI_ASSERT_EQ(65536, mi->base.skipped_bytes);
		HI_ASSERT_EQ(LIVE - (900 - 123), c.n[HI_BLOCK_LIVE]);
	}
}

HI_TEST(mimalloc_layout, a_count_that_does_not_add_up_is_damage_of_its_page)
{
	struct mock_mimalloc *m = make_pages(MOCK_MI_2_1_9);
	struct mi_counts c = {};
	struct hi_mimalloc *mi;

	/* Ends early: one block is in no list and not in use. */
	mock_mimalloc_set(m, m->segment + 65536 + 192, 0);
	mi = open_accepted(m, &c);
	HI_ASSERT_EQ(1, mi->base.n_damage_total);
	HI_ASSERT_EQ(65536, mi->base.skipped_bytes);
	HI_ASSERT_EQ(LIVE - (900 - 123), c.n[HI_BLOCK_LIVE]);
}

/* Blocks of full pages that other threads freed are in a list of the heap. */
HI_TEST(mimalloc_layout, blocks_that_the_heap_has_to_free_are_not_live)
{
	struct mock_mimalloc *m = make_pages(MOCK_MI_2_0_9);
	uint64_t first = m->segment + 2 * 65536 + 384; /* blocks of 96 bytes */
	struct mi_counts c = {};
	struct hi_mimalloc *mi;

	mock_mimalloc_set(m, m->heap + 2840, first + 96 * 7);
	mock_mimalloc_set(m, first + 96 * 7, first);
	mi = open_accepted(m, &c);
	HI_ASSERT_EQ(0, mi->failed);
	HI_ASSERT_EQ(3 + 2, c.n[HI_BLOCK_FREE_DEFERRED]);
	HI_ASSERT_EQ(LIVE - 2, c.n[HI_BLOCK_LIVE]);
}

HI_TEST(mimalloc_layout, slices_that_lead_out_of_the_segment_end_the_walk_of_it)
{
	struct mock_mimalloc *m = make_pages(MOCK_MI_2_1_9);
	struct hi_mimalloc *mi;

	mock_mimalloc_set(m, mock_mimalloc_slice(m, 20), 0xffffffff);
	mi = mock_mimalloc_open(m, mock_mimalloc_layout(m->release));
	hi_test_defer(hi_allocator_release, &mi->base);
	HI_ASSERT(mi->failed > 0);
	HI_ASSERT(strstr(mi->first_fault, "slice 20"));
}

/* The lowest pointer into a block with an alignment tells where it begins. */
HI_TEST(mimalloc_layout, blocks_with_an_alignment_begin_where_a_pointer_leads)
{
	struct mock_mimalloc *m = make_pages(MOCK_MI_2_0_9);
	uint64_t first = m->segment + 2 * 65536 + 384; /* blocks of 96 bytes */
	struct mi_counts c = {};
	struct hi_mimalloc *mi;
	uint32_t start;

	mock_mimalloc_set(m, mock_mimalloc_slice(m, 2) + 14, 2); /* flags */
	mock_mimalloc_set(m, m->module.start + 8000, first + 96 + 32);
	mock_mimalloc_set(m, m->module.start + 8008, first + 96 + 40);
	mock_mimalloc_set(m, m->module.start + 8016, first + 96 * 3 + 32);
	mock_mimalloc_set(m, first + 96 * 3, first + 96); /* as it was in the list */
	mi = open_accepted(m, &c);
	start = hi_mimalloc_unsure(mi, first)->first;
	HI_ASSERT_EQ(32, mi->starts.items[start + 1]);
	HI_ASSERT_EQ(32, mi->starts.items[start + 3]);
	HI_ASSERT_EQ(UINT32_MAX, mi->starts.items[start + 2]);
	HI_ASSERT_EQ(LIVE, c.n[HI_BLOCK_LIVE]);
}
