/* SPDX-License-Identifier: BSD-2-Clause */
/* musl's heaps made by hand: what the walk says of them, whole and damaged. */
#include <string.h>

#include "decode/allocators/mallocng.h"
#include "decode/allocators/oldmalloc.h"
#include "tests/harness.h"
#include "tests/support/mock_musl.h"

struct mock_sums {
	uint64_t live, bytes, free, damage, skipped;
	char text[120];
};

static bool sum_mock_blocks(const struct hi_block *blocks, size_t n, unsigned region,
			    void *arg)
{
	struct mock_sums *s = arg;

	(void)region;
	for (size_t i = 0; i < n; i++) {
		if (blocks[i].state == HI_BLOCK_LIVE) {
			s->live++;
			s->bytes += blocks[i].usable;
		} else if (hi_block_state_is_free(blocks[i].state)) {
			s->free++;
		}
	}
	return true;
}

static struct mock_sums walk_mock(struct hi_allocator *a)
{
	struct mock_sums s = {};
	struct hi_error err;

	HI_ASSERT_OK(hi_allocator_walk(a, sum_mock_blocks, &s, &err), &err);
	s.damage = a->n_damage_total;
	s.skipped = a->skipped_bytes;
	if (a->n_damage)
		memcpy(s.text, a->damage[0].text, sizeof(s.text));
	hi_allocator_release(a);
	return s;
}

static enum hi_status open_ng(struct mock_musl *m, struct hi_allocator **ret,
			      struct hi_error *err)
{
	struct hi_mallocng_where where = {.context = m->root, .version = "mock"};

	return hi_mallocng_open(m->image, &where, &hi_mallocng_layout, ret, err);
}

static enum hi_status open_old(struct mock_musl *m,
			       const struct hi_oldmalloc_layout *layout,
			       struct hi_allocator **ret, struct hi_error *err)
{
	struct hi_oldmalloc_where where = {.mal = m->root, .version = "mock"};

	return hi_oldmalloc_open(m->image, NULL, &where, layout, ret, err);
}

static void check_whole(const struct mock_musl *m, const struct mock_sums *s)
{
	HI_ASSERT_EQ(m->live, s->live);
	HI_ASSERT_EQ(m->live_bytes, s->bytes);
	HI_ASSERT_EQ(m->free, s->free);
	HI_ASSERT_MSG(!s->damage && !s->skipped, "%s", s->text);
}

HI_TEST(musl_mock, mallocng_is_read_with_a_divided_slot)
{
	struct mock_musl *m = mock_mallocng();
	struct hi_allocator *a = NULL;
	struct hi_error err;
	struct mock_sums s;

	HI_ASSERT_OK(open_ng(m, &a, &err), &err);
	s = walk_mock(a);
	check_whole(m, &s);
}

HI_TEST(musl_mock, a_group_in_a_free_slot_is_refused)
{
	struct mock_musl *m = mock_mallocng();
	uint64_t meta = mock_musl_get(m, m->root + 56) + 24;
	struct hi_allocator *a = NULL;
	struct hi_error err;

	/* Slot 5 of the first group. */
	mock_musl_set(m, meta + 24, mock_musl_get(m, meta + 24) | 1ull << (32 + 5));
	HI_ASSERT_EQ(HI_BAD_DATA, open_ng(m, &a, &err));
	HI_ASSERT_MSG(strstr(err.text, "free slot"), "%s", err.text);
}

HI_TEST(musl_mock, usage_that_does_not_agree_is_refused)
{
	struct mock_musl *m = mock_mallocng();
	struct hi_allocator *a = NULL;
	struct hi_error err;

	mock_musl_set(m, m->root + 464 + 7 * 8, 1);
	mock_musl_set(m, m->root + 464 + 9 * 8, 1);
	HI_ASSERT_EQ(HI_BAD_DATA, open_ng(m, &a, &err));
	HI_ASSERT_MSG(strstr(err.text, "usage_by_class"), "%s", err.text);
}

HI_TEST(musl_mock, oldmalloc_is_read_with_all_kinds_of_memory)
{
	struct mock_musl *m = mock_oldmalloc();
	struct hi_allocator *a = NULL;
	struct hi_error err;
	struct mock_sums s;

	HI_ASSERT_OK(open_old(m, &hi_oldmalloc_layout, &a, &err), &err);
	HI_ASSERT_EQ(4, a->n_regions);
	s = walk_mock(a);
	check_whole(m, &s);
}

HI_TEST(musl_mock, no_wrong_field_of_oldmalloc_miscounts)
{
	struct mock_musl *m = mock_oldmalloc();

	for (size_t at = offsetof(struct hi_oldmalloc_layout, binmap);
	     at <= offsetof(struct hi_oldmalloc_layout, overhead); at += 2)
		for (int step = -8; step <= 8; step += 16) {
			struct hi_oldmalloc_layout wrong = hi_oldmalloc_layout;
			uint16_t *field = (uint16_t *)(void *)((char *)&wrong + at);
			struct hi_allocator *a = NULL;
			struct hi_error err;
			struct mock_sums s;

			if (*field + step < 0)
				continue;
			*field = (uint16_t)(*field + step);
			if (open_old(m, &wrong, &a, &err) != HI_OK)
				continue;
			s = walk_mock(a);
			HI_ASSERT_MSG(s.damage ||
					      (s.live == m->live && s.free == m->free),
				      "field %zu by %d", at, step);
		}
}

HI_TEST(musl_mock, a_size_that_cannot_be_is_damage_at_its_place)
{
	struct mock_musl *m = mock_oldmalloc();
	struct hi_allocator *a = NULL;
	struct hi_error err;
	struct mock_sums s;

	mock_musl_set(m, 0x10000000 + 16 + 8, 33); /* a chunk of 32 becomes */
	mock_musl_set(m, 0x10000000 + 48 + 8, 7);
	HI_ASSERT_OK(open_old(m, &hi_oldmalloc_layout, &a, &err), &err);
	s = walk_mock(a);
	HI_ASSERT_EQ(1, s.damage);
	HI_ASSERT(s.skipped > 0 && s.live < m->live);
	HI_ASSERT_MSG(strstr(s.text, "size cannot be"), "%s", s.text);
}

HI_TEST(musl_mock, a_free_chunk_in_no_bin_is_damage)
{
	struct mock_musl *m = mock_oldmalloc();
	uint64_t chunk = m->root + 8 + 5 * 24;
	struct hi_allocator *a = NULL;
	struct hi_error err;
	struct mock_sums s;

	/* The second of the list loses its way back to the first. */
	chunk = mock_musl_get(m, mock_musl_get(m, chunk + 8) + 16);
	mock_musl_set(m, chunk + 24, chunk);
	HI_ASSERT_OK(open_old(m, &hi_oldmalloc_layout, &a, &err), &err);
	s = walk_mock(a);
	HI_ASSERT(s.damage >= 1);
	HI_ASSERT_EQ(m->live, s.live);
	HI_ASSERT_MSG(strstr(s.text, "in no bin"), "%s", s.text);
}

/* The last list of another allocator, and what lies behind it. */
HI_TEST(musl_mock, list_with_links_around_it_is_no_mal)
{
	struct mock_musl *m = mock_oldmalloc();
	struct hi_memory *memory = m->image->memory;
	uint64_t mal = m->root + 2048, head = mal + 8 + 40 * 24 + 8;
	uint64_t locks[] = {head - 8, head + 16, mal + 8 + 64 * 24};

	mock_musl_set(m, head, head - 16);
	mock_musl_set(m, head + 8, head - 16);
	HI_ASSERT(hi_oldmalloc_is_mal(memory, &hi_oldmalloc_layout, mal));
	for (int i = 0; i < 3; i++) {
		mock_musl_set(m, locks[i], head);
		HI_ASSERT_MSG(!hi_oldmalloc_is_mal(memory, &hi_oldmalloc_layout, mal),
			      "%d", i);
		mock_musl_set(m, locks[i], 1);
		HI_ASSERT(hi_oldmalloc_is_mal(memory, &hi_oldmalloc_layout, mal));
	}
}

HI_TEST(musl_mock, bins_without_chunks_are_not_found)
{
	struct mock_musl *m = mock_oldmalloc();
	struct hi_allocator *a = NULL;
	struct hi_error err;

	for (unsigned i = 0; i < 64; i++) {
		uint64_t head = m->root + 16 + i * 24ull;

		mock_musl_set(m, head, i ? 0 : head - 16);
		mock_musl_set(m, head + 8, i ? 0 : head - 16);
	}
	mock_musl_set(m, m->root, 0);
	mock_musl_set(m, 0x10000000 + 16, 0);
	mock_musl_set(m, 0x7f1000000000 + 16, 0);
	HI_ASSERT(hi_oldmalloc_is_mal(m->image->memory, &hi_oldmalloc_layout, m->root));
	HI_ASSERT_STATUS(HI_NOT_FOUND, open_old(m, &hi_oldmalloc_layout, &a, &err));
}
