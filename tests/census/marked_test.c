/* SPDX-License-Identifier: BSD-2-Clause */
/* Marked objects by type, and who holds them, against brute force on random graphs. */
#include <stdlib.h>

#include "census/analysis/subset_totals.h"
#include "tests/census/naive.h"

static uint64_t draw_marks(const struct naive *n)
{
	uint64_t marks = 0;

	for (hi_node i = 0; i < n->n_objects; i++)
		if (random_below(&random_state, 2) && !is_internal(n, i))
			marks |= BIT(i);
	return marks;
}

static bool is_marked(const struct naive *n, uint64_t marks, hi_node i, uint32_t type)
{
	return HAS(marks, i) && n->objects[i].type == type;
}

/* Below no other marked object of its type. */
static bool is_topmost(const struct naive *n, uint64_t marks, hi_node i)
{
	for (hi_node k = 0; k < n->n_objects; k++)
		if (k != i && is_marked(n, marks & n->any, k, n->objects[i].type) &&
		    HAS(n->dominated[k], i))
			return false;
	return true;
}

static uint64_t held_by(const struct naive *n, hi_node i)
{
	return HAS(n->any, i) ? set_cost(n, n->dominated[i], false) : 0;
}

static void check_row(const struct naive *n, uint64_t marks,
		      const struct hi_marked_row *row)
{
	struct hi_marked_row truth = {.type = row->type, .example = HI_NODE_NONE};

	for (hi_node i = 0; i < n->n_objects; i++) {
		bool leaked = !HAS(n->any, i);

		if (!is_marked(n, marks, i, row->type))
			continue;
		truth.all.count++;
		truth.all.bytes += cost_of(n, i);
		truth.unheld[0].count += leaked;
		truth.unheld[0].bytes += leaked ? cost_of(n, i) : 0;
		if (leaked)
			truth.retained += cost_of(n, i);
		else if (is_topmost(n, marks, i))
			truth.retained += held_by(n, i);
		if (truth.example == HI_NODE_NONE ||
		    (HAS(n->any, i) && (!HAS(n->any, truth.example) ||
					held_by(n, i) > held_by(n, truth.example))))
			truth.example = i;
	}
	HI_ASSERT_EQ(truth.all.count, row->all.count);
	HI_ASSERT_EQ(truth.all.bytes, row->all.bytes);
	/* Graphs without a collector and without verdicts: all are certain. */
	HI_ASSERT_EQ(truth.unheld[0].count, row->unheld[HI_LEAK_CERTAIN].count);
	HI_ASSERT_EQ(truth.unheld[0].bytes, row->unheld[HI_LEAK_CERTAIN].bytes);
	HI_ASSERT_EQ(truth.retained, row->retained);
	HI_ASSERT_EQ(truth.example, row->example);
}

static void check_rows(const struct naive *n, const struct hi_heap_side *side,
		       uint64_t marks)
{
	HI_GUARD(hi_marked_destroy) struct hi_marked *m = NULL;
	uint64_t count = 0;
	struct hi_error err;

	HI_ASSERT_OK(hi_marked_by_type(side, &marks, &m, &err), &err);
	for (size_t i = 0; i < m->n_rows; i++) {
		check_row(n, marks, &m->rows[i]);
		HI_ASSERT(!i || m->rows[i - 1].all.bytes >= m->rows[i].all.bytes);
		count += m->rows[i].all.count;
	}
	HI_ASSERT_EQ(__builtin_popcountll(marks), count);
	HI_ASSERT_EQ(count, m->all.count);
	HI_ASSERT_EQ(set_cost(n, marks, false), m->all.bytes);
	HI_ASSERT_EQ(set_cost(n, marks & ~n->any, false),
		     m->unheld[HI_LEAK_CERTAIN].bytes);
}

/* Each top, and that there is no other one. */
static void check_holders(const struct naive *n, const struct hi_heap_side *side,
			  uint64_t marks)
{
	struct hi_growth found[MAX_NODES];
	struct hi_error err;
	size_t count = 0, tops = 0;

	HI_ASSERT_OK(hi_growth_find(side, &marks, MAX_NODES, found, &count, &err), &err);
	for (hi_node i = 0; i < n->n_objects + n->n_roots; i++)
		tops += HAS(n->any, i) && naive_idom(n, i) >= n->n_objects + n->n_roots &&
			set_cost(n, n->dominated[i] & marks, false);
	HI_ASSERT_EQ(tops, count);
	for (size_t i = 0; i < count; i++) {
		uint64_t held = n->dominated[found[i].top] & marks;

		HI_ASSERT_EQ(set_cost(n, held, false), found[i].bytes);
		HI_ASSERT_EQ(__builtin_popcountll(held), found[i].objects);
		HI_ASSERT(HAS(n->dominated[found[i].top], found[i].holder));
		HI_ASSERT_EQ(set_cost(n, n->dominated[found[i].holder] & marks, false),
			     found[i].holder_bytes);
		HI_ASSERT(!i || found[i - 1].bytes >= found[i].bytes);
	}
}

HI_TEST(census_marked, rows_and_holders_equal_brute_force_on_random_graphs)
{
	for (uint64_t seed = 1; seed <= 4000; seed++) {
		static struct naive n;
		uint64_t marks;

		random_state = seed * 0x9e3779b97f4a7c15;
		{
			OWN(graph) *g = random_graph(&n, seed % 4 ? 12 : MAX_OBJECTS);
			OWN(reach) *r = reach_of(g);
			OWN(dominators) *d = dominators_of(g, r);
			struct hi_heap_side side = {g, r, d, NULL, NULL, NULL};

			naive_reach(&n);
			naive_dominators(&n);
			marks = draw_marks(&n);
			check_rows(&n, &side, marks);
			check_holders(&n, &side, marks);
		}
	}
}
