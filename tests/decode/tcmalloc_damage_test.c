/* SPDX-License-Identifier: BSD-2-Clause */
/* tcmalloc's heaps that the program has overwritten: nothing is miscounted. */
#include <string.h>

#include "tests/harness.h"
#include "tests/support/mock_tcmalloc.h"

static struct hi_allocator *opened;
static void release_opened(void *arg)
{
	(void)arg;
	hi_allocator_release(opened);
	opened = NULL;
}

struct counted {
	uint64_t in_span, elsewhere;
	uint64_t start, end;
};

static bool count_live(const struct hi_block *blocks, size_t n, unsigned region,
		       void *arg)
{
	struct counted *c = arg;

	(void)region;
	for (size_t i = 0; i < n; i++) {
		if (blocks[i].state != HI_BLOCK_LIVE)
			continue;
		if (blocks[i].addr >= c->start && blocks[i].addr < c->end)
			c->in_span++;
		else
			c->elsewhere++;
	}
	return true;
}

static enum hi_status open_mock(struct mock_tcmalloc *m, struct hi_error *err)
{
	release_opened(NULL);
	for (size_t i = 0; i < hi_tcmalloc_n_layouts; i++)
		if (strcmp(hi_tcmalloc_layouts[i].version, "2.16-2.18") == 0)
			return hi_tcmalloc_open(m->image, &m->data,
						&hi_tcmalloc_layouts[i], &opened, err);
	return HI_NOT_FOUND;
}

static struct counted walk_around(struct mock_tcmalloc *m, uint64_t span)
{
	struct counted c = {.start = mock_tcmalloc_block(m, span, 0)};
	struct hi_error err = {};

	c.end = c.start + (mock_tcmalloc_get(m, span + 8) << m->shift);
	HI_ASSERT_OK(open_mock(m, &err), &err);
	HI_ASSERT_OK(hi_allocator_walk(opened, count_live, &c, &err), &err);
	return c;
}

HI_TEST(tcmalloc_damage, a_broken_free_list_costs_its_span_alone)
{
	struct mock_tcmalloc *m = mock_tcmalloc_typical(MOCK_TCMALLOC_2_16, 13);
	const uint64_t values[] = {0x4141414141414141, 8, 0, 0x10000000008};
	uint64_t live = m->n_live, span = mock_tcmalloc_add_span(m, 5, 50);
	uint64_t block = mock_tcmalloc_block(m, span, 60);

	hi_test_defer(release_opened, NULL);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct counted c;

		mock_tcmalloc_set(m, block, values[i]);
		c = walk_around(m, span);
		HI_ASSERT_EQ(0, c.in_span);
		HI_ASSERT_EQ(live, c.elsewhere);
		HI_ASSERT_EQ(1, opened->n_damage_total);
		HI_ASSERT_EQ(8192, opened->skipped_bytes);
		hi_test_note("%s", opened->damage[0].text);
	}
	/* In a circle. */
	mock_tcmalloc_set(m, block, mock_tcmalloc_block(m, span, 55));
	HI_ASSERT_EQ(live, walk_around(m, span).elsewhere);
	HI_ASSERT_EQ(1, opened->n_damage_total);
}

HI_TEST(tcmalloc_damage, a_broken_list_of_a_cache_costs_its_class)
{
	struct mock_tcmalloc *m = mock_tcmalloc_typical(MOCK_TCMALLOC_2_16, 13);
	uint64_t live = m->n_live, span = mock_tcmalloc_add_span(m, 13, 4);
	struct counted c;

	hi_test_defer(release_opened, NULL);
	mock_tcmalloc_cache(m, mock_tcmalloc_get(m, m->head), span, 0, 3);
	HI_ASSERT_EQ(1, walk_around(m, span).in_span);
	HI_ASSERT_EQ(0, opened->n_damage_total);
	mock_tcmalloc_set(m, mock_tcmalloc_block(m, span, 1), 0x4141414141414141);
	c = walk_around(m, span);
	HI_ASSERT_EQ(0, c.in_span);
	HI_ASSERT_EQ(live, c.elsewhere);
	HI_ASSERT_EQ(1, opened->n_damage_total);
	HI_ASSERT_EQ(0x4141414141414141, opened->damage[0].address);
}

HI_TEST(tcmalloc_damage, a_broken_transfer_costs_its_class)
{
	struct mock_tcmalloc *m = mock_tcmalloc_typical(MOCK_TCMALLOC_2_16, 13);
	uint64_t live = m->n_live, span = mock_tcmalloc_add_span(m, 14, 2);

	hi_test_defer(release_opened, NULL);
	mock_tcmalloc_transfer(m, span, 0);
	HI_ASSERT_EQ(0, walk_around(m, span).in_span);
	HI_ASSERT_EQ(0, opened->n_damage_total);
	mock_tcmalloc_set(m, mock_tcmalloc_block(m, span, 0), 3);
	HI_ASSERT_EQ(live, walk_around(m, span).elsewhere);
	HI_ASSERT_EQ(1, opened->n_damage_total);
}

HI_TEST(tcmalloc_damage, a_central_list_that_is_locked_costs_its_class)
{
	struct mock_tcmalloc *m = mock_tcmalloc_typical(MOCK_TCMALLOC_2_16, 13);
	uint64_t live = m->n_live, span = mock_tcmalloc_add_span(m, 14, 2);

	hi_test_defer(release_opened, NULL);
	mock_tcmalloc_set(m, m->central + 14 * 1216, 1);
	HI_ASSERT_EQ(live, walk_around(m, span).elsewhere);
	HI_ASSERT_EQ(1, opened->n_damage_total);
}

/* Words of the metadata are overwritten, one at a time: no crash, no hang. */
HI_TEST(tcmalloc_damage, any_word_of_the_metadata_may_be_wrong)
{
	struct mock_tcmalloc *m = mock_tcmalloc_typical(MOCK_TCMALLOC_2_16, 13);
	const uint64_t starts[] = {m->sizes - 516,	m->central,	     m->leaf,
				   m->leaf + (2 << 20), m->leaf + (3 << 20), m->head,
				   m->root + 64 * 8};
	const uint64_t values[] = {0,	       UINT64_MAX, 1ull << 63,
				   m->central, m->leaf,	   m->leaf + (2 << 20) + 48};
	struct hi_error err = {};

	hi_test_defer(release_opened, NULL);
	for (size_t s = 0; s < sizeof(starts) / sizeof(*starts); s++)
		for (unsigned word = 0; word < 12; word++)
			for (size_t v = 0; v < sizeof(values) / sizeof(*values); v++) {
				uint64_t at = (starts[s] & ~7ull) + word * 8;
				uint64_t old = mock_tcmalloc_get(m, at);

				mock_tcmalloc_set(m, at, values[v]);
				(void)open_mock(m, &err);
				mock_tcmalloc_set(m, at, old);
			}
	HI_ASSERT_OK(open_mock(m, &err), &err);
}
