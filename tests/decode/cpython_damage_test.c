/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Damage that aims: each word of each object of a sample, of its tables and of its type
 * gets a largest length, a link to itself, a link into memory that is not its own. What
 * is read stays in bounds that are ours, and no exact edge comes out of the words of
 * another object.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "support/mock_python.h"

enum { MAX_READS = 40000, MAX_EDGES = 4000 };

static struct mock_python *create(const struct hi_py_layout *layout)
{
	struct mock_python *m = mock_python_create(layout);

	hi_test_defer(mock_python_destroy, m);
	return m;
}

/* 3.9 and 3.10 have the readers of 3.8. */
static bool is_like_another(const struct hi_py_layout *layout)
{
	return layout->minor == 9 || layout->minor == 10;
}

static const char *type_name(const struct mock_python *m, size_t block)
{
	return m->py->types.items[m->blocks[block].type].name;
}

static unsigned count_typed(const struct mock_python *m, const char *name)
{
	unsigned n = 0;

	for (size_t i = 0; i < m->n_blocks; i++)
		n += strcmp(type_name(m, i), name) == 0;
	return n;
}

HI_TEST(cpython_damage, a_sound_sample_is_read_whole)
{
	for (size_t i = 0; hi_py_layouts[i]; i++) {
		struct mock_python *m = create(hi_py_layouts[i]);
		unsigned minor = hi_py_layouts[i]->minor;

		mock_python_read(m);
		hi_test_note("3.%u: %zu blocks, %llu reads, %llu edges", minor,
			     m->n_blocks, (unsigned long long)m->n_reads,
			     (unsigned long long)m->n_edges);
		for (size_t k = 0; k < m->n_blocks; k++)
			HI_ASSERT_MSG(
				m->blocks[k].type,
				"3.%u: block %zu of %llu bytes is nothing: it begins "
				"with 0x%llx",
				minor, k, (unsigned long long)m->blocks[k].size,
				(unsigned long long)mock_python_get(m,
								    m->blocks[k].addr));
		HI_ASSERT_EQ(0, m->py->base.n_cut);
		HI_ASSERT_EQ(0, m->n_exact_to_victim);
		HI_ASSERT(m->n_edges > 120 && m->n_reads < MAX_READS / 4);
		HI_ASSERT_EQ(2, count_typed(m, "deque block") - (minor >= 11));
		HI_ASSERT_EQ(2, count_typed(m, "OrderedDict node"));
		HI_ASSERT_EQ(2, count_typed(m, "list items"));
		HI_ASSERT_EQ(1, count_typed(m, "set table"));
		HI_ASSERT_EQ(1 + (minor == 11 || minor == 12),
			     count_typed(m, "instance values"));
	}
}

static void check_damaged(struct mock_python *m, uint64_t addr, uint64_t value)
{
	mock_python_set(m, addr, value);
	mock_python_read(m);
	HI_ASSERT_MSG(m->n_exact_to_victim == 0,
		      "3.%u: 0x%llx = 0x%llx: %llu exact edges of others",
		      m->layout->minor, (unsigned long long)addr,
		      (unsigned long long)value,
		      (unsigned long long)m->n_exact_to_victim);
	HI_ASSERT_MSG(m->n_reads <= MAX_READS && m->n_edges <= MAX_EDGES,
		      "3.%u: 0x%llx = 0x%llx: %llu reads, %llu edges", m->layout->minor,
		      (unsigned long long)addr, (unsigned long long)value,
		      (unsigned long long)m->n_reads, (unsigned long long)m->n_edges);
	mock_python_restore(m);
}

/* One word after the other gets each of these. */
static void damage_word(struct mock_python *m, uint64_t addr)
{
	const struct mock_python_block *b = mock_python_block_at(m, addr);
	const uint64_t start = b ? b->addr : addr & ~UINT64_C(15);
	const uint64_t values[] = {INT64_MAX,
				   UINT64_MAX,
				   UINT64_C(1) << 40,
				   (UINT64_C(1) << 39) - 1,
				   UINT32_MAX,
				   65535,
				   1023,
				   300,
				   63,
				   0,
				   start,
				   start + HI_PY_GC_HEAD,
				   addr,
				   m->other,
				   m->other - 24,
				   m->other - 40,
				   m->victim - 64,
				   m->heap_next - 64,
				   m->segments[2].start};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		check_damaged(m, addr, values[i]);
}

HI_TEST(cpython_damage, no_word_of_an_object_or_a_table_leads_out_of_its_blocks)
{
	for (size_t i = 0; hi_py_layouts[i]; i++) {
		struct mock_python *m = create(hi_py_layouts[i]);

		if (is_like_another(m->layout))
			continue;
		for (size_t k = 0; k < m->n_blocks; k++) {
			uint64_t end = m->blocks[k].addr + m->blocks[k].size;

			/* It refers to the victim by right; the others are alike. */
			if (m->blocks[k].addr ==
				    m->other - m->layout->tuple_items - HI_PY_GC_HEAD ||
			    m->blocks[k].addr > m->lists)
				continue;
			/* Of a class and of a deque's block what is at both ends. */
			for (uint64_t at = m->blocks[k].addr; at < end; at += 8)
				if (at < m->blocks[k].addr + 24 * 8 || at + 24 > end)
					damage_word(m, at);
		}
		for (uint64_t at = m->frame; at < m->frame + 80; at += 8)
			damage_word(m, at);
	}
}

/* Of a list, a set and a dict: what is cut is counted. */
HI_TEST(cpython_damage, truncated_containers_are_counted)
{
	static const struct {
		const char *type;
		uint32_t offset; /* in the object, of its length */
	} lengths[] = {{"list", HI_PY_SIZE}, {"set", 32}};

	for (size_t i = 0; hi_py_layouts[i]; i++) {
		struct mock_python *m = create(hi_py_layouts[i]);
		uint64_t sound;

		mock_python_read(m);
		sound = m->n_edges;
		for (size_t k = 0; k < 2; k++) {
			size_t b = 0;

			while (strcmp(type_name(m, b), lengths[k].type) != 0)
				b++;
			mock_python_set(
				m, m->blocks[b].addr + HI_PY_GC_HEAD + lengths[k].offset,
				1023);
		}
		mock_python_read(m);
		HI_ASSERT_EQ(2, m->py->base.n_cut);
		HI_ASSERT_EQ(sound, m->n_edges);
	}
}

/* Many lists of one large table: all together read no more than a sound heap has. */
HI_TEST(cpython_damage, objects_that_share_a_table_share_its_budget)
{
	struct mock_python *m = create(hi_py_layouts[0]);
	uint64_t sound;

	mock_python_read(m);
	sound = m->n_edges;
	mock_python_share_table(m);
	mock_python_read(m);
	HI_ASSERT(m->py->base.n_cut >= MOCK_PYTHON_LISTS);
	HI_ASSERT_MSG(m->n_edges <= sound + m->py->budget / 8, "%llu edges",
		      (unsigned long long)m->n_edges);
}

HI_TEST(cpython_damage, no_word_of_a_type_leads_out_of_a_block)
{
	static const uint32_t offsets[] = {HI_PY_TYPE, 24,  32,	 40,  168,
					   208,	       240, 256, 264, 288};

	for (size_t i = 0; hi_py_layouts[i]; i++) {
		struct mock_python *m = create(hi_py_layouts[i]);

		if (is_like_another(m->layout))
			continue;
		for (size_t t = 0; t < m->n_types; t++)
			for (size_t k = 0; k < sizeof(offsets) / sizeof(offsets[0]); k++)
				damage_word(m, m->types[t].addr + offsets[k]);
	}
}
