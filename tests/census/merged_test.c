/* SPDX-License-Identifier: BSD-2-Clause */
/* The merged tree of stacks; drawn by hand, so that every sum is known. */
#include "census/graph/merged.h"

#include <stdlib.h>

#include "tests/census/graphs.h"

HI_DEFINE_GUARD(struct hi_merged *, hi_merged_destroy)

/* root -> 0 -> 1 -> … -> n-1, object i of i + 1 bytes and of type 1 + i % types. */
static struct hi_graph *chain(uint32_t n, uint32_t types)
{
	struct object_spec specs[300] = {};
	struct hi_graph_builder *b;

	for (uint32_t i = 0; i < n; i++)
		specs[i] = (struct object_spec){.cost = i + 1, .type = 1 + i % types};
	b = builder_of(specs, n, types + 1);
	root_edge(b, add_root(b, HI_ROOT_GLOBAL), 0, HI_GRADE_EXACT);
	for (uint32_t i = 0; i + 1 < n; i++)
		edge(b, i, i + 1, HI_GRADE_EXACT);
	return sealed(b);
}

static struct hi_merged *merged_of(const struct hi_graph *g)
{
	OWN(reach) *reach = reach_of(g);
	OWN(dominators) *dominators = dominators_of(g, reach);
	struct hi_merged *m;
	struct hi_error err;

	HI_ASSERT_OK(hi_merged_make(g, reach, dominators, &m, &err), &err);
	return m;
}

enum { OTHER_KINDS = HI_ROOT_KINDS - 1 };

/* The first node with objects; the chain follows. */
static size_t first_of(const struct hi_merged *m)
{
	size_t i = 0;

	while (i < m->count && !m->nodes[i].objects)
		i++;
	HI_ASSERT(i < m->count);
	return i;
}

HI_TEST(merged, a_run_of_one_type_is_one_node)
{
	OWN(graph) *g = chain(300, 1);
	OWN(merged) *m = merged_of(g);

	size_t run = first_of(m);

	/* All, globals, root, the run; the other kinds of roots. */
	HI_ASSERT_EQ(4 + OTHER_KINDS, m->count);
	HI_ASSERT_EQ(3, m->nodes[run].depth);
	HI_ASSERT_EQ(300, m->nodes[run].objects);
	HI_ASSERT_EQ(300 * 301 / 2, m->nodes[run].bytes);
	HI_ASSERT_EQ(0, m->cut_objects);
}

HI_TEST(merged, what_is_deeper_than_stacks_are_is_counted_where_they_end)
{
	OWN(graph) *g = chain(300, 2);
	OWN(merged) *m = merged_of(g);
	/* Two levels are globals and root; below the last one is all the rest, every
	 * second object of which has the type of that one. */
	enum { SHOWN = HI_MERGED_DEPTH - 2 };
	uint64_t cut = 0, *below = hi_merged_below(m);
	size_t first = first_of(m);

	hi_test_defer(free, below);
	for (uint32_t i = SHOWN; i < 300; i += 2)
		cut += i + 1;
	HI_ASSERT(below);
	HI_ASSERT_EQ(3 + OTHER_KINDS + SHOWN, m->count);
	HI_ASSERT_EQ((300 - SHOWN) / 2, m->cut_objects);
	HI_ASSERT_EQ(cut, m->cut_bytes);
	HI_ASSERT_EQ(300 - SHOWN + 1, m->nodes[first + SHOWN - 1].objects);
	for (uint32_t i = 0; i < SHOWN; i++)
		HI_ASSERT_EQ(300 * 301 / 2 - i * (i + 1) / 2, below[first + i]);
	HI_ASSERT_EQ(300 * 301 / 2, below[0]);
}
