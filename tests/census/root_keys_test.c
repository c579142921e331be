/* SPDX-License-Identifier: BSD-2-Clause */
/* Root variables of objects in graphs with large tables, whose rows wait, against the
 * dominators of the same graph. oracle_test.c has small graphs against brute force. */
#include "census/analysis/root_keys.h"

#include <stdlib.h>

#include "tests/census/graphs.h"
#include "tests/support/random.h"

enum { OBJECTS = 1500, ROOTS = 12, SEVERAL = 1000 };

static uint64_t state;

static enum hi_grade draw_grade(void)
{
	uint32_t n = random_below(&state, 10);

	return n < 7 ? HI_GRADE_EXACT : n < 9 ? HI_GRADE_CONSERVATIVE : HI_GRADE_WEAK;
}

/* Most edges stay near, so that some objects have one root; some objects are tables. */
static struct hi_graph *draw_graph(void)
{
	static struct object_spec specs[OBJECTS];
	struct hi_graph_builder *b;

	for (uint32_t i = 0; i < OBJECTS; i++)
		specs[i] = (struct object_spec){
			.cost = 32,
			.type = 1,
			.flags = random_below(&state, 300) ? 0 : HI_OBJECT_INTERNAL};
	b = builder_of(specs, OBJECTS, 2);
	for (uint32_t i = 0; i < ROOTS; i++) {
		uint32_t root = add_root(
			b, (enum hi_root_kind)random_below(&state, HI_ROOT_KINDS));

		for (uint32_t k = random_below(&state, 3); k; k--)
			root_edge(b, root, random_below(&state, OBJECTS), draw_grade());
	}
	for (hi_node i = 0; i < OBJECTS; i++) {
		bool is_table = random_below(&state, 40) == 0;
		uint32_t n = is_table ? 20 + random_below(&state, 100)
				      : random_below(&state, 3);

		for (uint32_t k = 0; k < n; k++)
			edge(b, i,
			     random_below(&state, 25)
				     ? (i + 1 + random_below(&state, 60)) % OBJECTS
				     : random_below(&state, OBJECTS),
			     draw_grade());
	}
	return sealed(b);
}

/* Returns how many objects have one root. */
static uint32_t check_drawn(void)
{
	OWN(graph) *g = draw_graph();
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);
	HI_GUARD(free) uint32_t *keys = malloc(g->n_nodes * sizeof(*keys));
	HI_GUARD(free) uint32_t *expected = calloc(g->n_nodes, sizeof(*expected));
	uint32_t of_root[ROOTS], n = 0;
	struct hi_error err;

	for (uint32_t i = 0; i < ROOTS; i++)
		of_root[i] = 10 + i;
	HI_ASSERT_OK(hi_root_keys_find(g, r, of_root, SEVERAL, keys, &err), &err);
	hi_dominators_root_keys(g, d, of_root, SEVERAL, expected);
	for (hi_node i = 0; i < g->n_nodes; i++) {
		HI_ASSERT_EQ(expected[i], keys[i]);
		n += i < OBJECTS && keys[i] >= 10 && keys[i] < SEVERAL;
	}
	return n;
}

HI_TEST(root_keys, equal_those_of_dominators_where_tables_wait)
{
	uint32_t n = 0;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		state = seed * 0x9e3779b97f4a7c15;
		n += check_drawn();
	}
	hi_test_note("%u objects have one root", n);
	HI_ASSERT(n > 5000);
}

HI_TEST(root_keys, a_graph_without_roots_has_none)
{
	static const struct object_spec one = {.cost = 16};
	OWN(graph) *g = sealed(builder_of(&one, 1, 1));
	OWN(reach) *r = reach_of(g);
	uint32_t keys[16];
	struct hi_error err;

	HI_ASSERT(g->n_nodes <= 16);
	HI_ASSERT_OK(hi_root_keys_find(g, r, NULL, SEVERAL, keys, &err), &err);
	HI_ASSERT_EQ(0, keys[0]);
	HI_ASSERT_EQ(SEVERAL, keys[g->super_root]);
}
