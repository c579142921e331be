/* SPDX-License-Identifier: BSD-2-Clause */
/* tcmalloc's heaps made by hand: the right table is taken, wrong ones are refused. */
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

static const struct hi_tcmalloc_layout *layout_of(const char *version)
{
	for (size_t i = 0; i < hi_tcmalloc_n_layouts; i++)
		if (strcmp(hi_tcmalloc_layouts[i].version, version) == 0)
			return &hi_tcmalloc_layouts[i];
	HI_ASSERT_MSG(false, "no layout %s", version);
	return NULL;
}

static enum hi_status open_mock(struct mock_tcmalloc *m,
				const struct hi_tcmalloc_layout *layout,
				struct hi_error *err)
{
	release_opened(NULL);
	return hi_tcmalloc_open(m->image, &m->data, layout, &opened, err);
}

static bool take_all(const struct hi_block *blocks, size_t n, unsigned region, void *arg)
{
	(void)blocks, (void)n, (void)region, (void)arg;
	return true;
}

static const char *const versions[] = {"2.8-2.10", "2.11-2.15", "2.16-2.18"};

static void expect_live(struct mock_tcmalloc *m, const char *version)
{
	struct hi_error err = {};

	HI_ASSERT_OK(open_mock(m, layout_of(version), &err), &err);
	HI_ASSERT_OK(hi_allocator_walk(opened, take_all, NULL, &err), &err);
	HI_ASSERT_EQ(m->n_live, opened->count[HI_BLOCK_LIVE]);
	HI_ASSERT_EQ(0, opened->n_damage_total);
	HI_ASSERT_EQ(0, opened->skipped_bytes);
}

HI_TEST(tcmalloc_layout, each_release_is_walked_with_each_page_size)
{
	hi_test_defer(release_opened, NULL);
	for (int release = 0; release < 3; release++)
		for (unsigned shift = 12; shift <= 16; shift++) {
			if (shift == 14)
				continue;
			expect_live(mock_tcmalloc_typical(
					    (enum mock_tcmalloc_release)release, shift),
				    versions[release]);
			HI_ASSERT_EQ(2, opened->n_arenas);
		}
}

HI_TEST(tcmalloc_layout, the_tables_of_other_releases_are_refused)
{
	hi_test_defer(release_opened, NULL);
	for (int release = 0; release < 3; release++) {
		struct mock_tcmalloc *m =
			mock_tcmalloc_typical((enum mock_tcmalloc_release)release, 13);

		for (int table = 0; table < 3; table++) {
			struct hi_error err = {};

			if (table == release)
				continue;
			HI_ASSERT_STATUS(HI_BAD_DATA,
					 open_mock(m, layout_of(versions[table]), &err));
			hi_test_note("%s with %s: %s", versions[release], versions[table],
				     err.text);
			HI_ASSERT(err.text[0]);
		}
	}
}

/* One field at a time lies 8 bytes further. */
HI_TEST(tcmalloc_layout, a_table_with_one_wrong_offset_is_refused)
{
	struct mock_tcmalloc *m = mock_tcmalloc_typical(MOCK_TCMALLOC_2_16, 13);
	struct hi_tcmalloc_layout l;
	const struct {
		const char *name;
		uint16_t *field;
	} fields[] = {
		{"before_moves", &l.before_moves}, {"pages", &l.pages},
		{"n_classes", &l.n_classes},	   {"central_stride", &l.central_stride},
		{"size_class", &l.size_class},	   {"empty", &l.empty},
		{"nonempty", &l.nonempty},	   {"num_spans", &l.num_spans},
		{"counter", &l.counter},	   {"slots", &l.slots},
		{"used_slots", &l.used_slots},	   {"lists", &l.lists},
		{"list_stride", &l.list_stride},   {"list_length", &l.list_length},
		{"list_size", &l.list_size},	   {"cache_size", &l.cache_size},
		{"cache_next", &l.cache_next},	   {"cache_prev", &l.cache_prev},
		{"span_start", &l.span_start},	   {"span_length", &l.span_length},
		{"span_next", &l.span_next},	   {"span_prev", &l.span_prev},
		{"span_objects", &l.span_objects}, {"span_bits", &l.span_bits},
	};

	hi_test_defer(release_opened, NULL);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		struct hi_error err = {};
		enum hi_status status;

		l = *layout_of("2.16-2.18");
		*fields[i].field = (uint16_t)(*fields[i].field + 8);
		status = open_mock(m, &l, &err);
		hi_test_note("%s: %s", fields[i].name, err.text);
		HI_ASSERT_EQ(HI_BAD_DATA, status);
	}
}

HI_TEST(tcmalloc_layout, masked_links_are_not_taken_for_plain_ones)
{
	struct mock_tcmalloc *m = mock_tcmalloc_typical(MOCK_TCMALLOC_2_16, 13);
	struct hi_tcmalloc_layout l = *layout_of("2.16-2.18");
	struct hi_error err = {};

	hi_test_defer(release_opened, NULL);
	l.links_are_masked = true;
	HI_ASSERT_STATUS(HI_BAD_DATA, open_mock(m, &l, &err));
}

struct sought {
	uint64_t addr, usable, cost;
};

static bool find_sought(const struct hi_block *blocks, size_t n, unsigned region,
			void *arg)
{
	struct sought *s = arg;

	(void)region;
	for (size_t i = 0; i < n; i++)
		if (blocks[i].addr == s->addr && blocks[i].state == HI_BLOCK_LIVE) {
			s->usable = blocks[i].usable;
			s->cost = blocks[i].cost;
		}
	return true;
}

HI_TEST(tcmalloc_layout, a_sampled_block_has_the_size_of_its_class)
{
	static const uint64_t sizes[][2] = {{1, 8},	      {100, 112},
					    {2048, 2048},     {2049, 4096},
					    {262144, 262144}, {300000, 303104}};

	hi_test_defer(release_opened, NULL);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct mock_tcmalloc *m = mock_tcmalloc_typical(MOCK_TCMALLOC_2_10, 13);
		uint64_t span = mock_tcmalloc_add_sampled(m, sizes[i][0]);
		struct sought s = {.addr = mock_tcmalloc_get(m, span) << 13};
		struct hi_error err = {};

		expect_live(m, versions[0]);
		HI_ASSERT_OK(hi_allocator_walk(opened, find_sought, &s, &err), &err);
		HI_ASSERT_EQ(sizes[i][1], s.usable);
		HI_ASSERT_EQ(sizes[i][1], s.cost);
	}
}
