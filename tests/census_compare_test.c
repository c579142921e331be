/* SPDX-License-Identifier: BSD-2-Clause */
/* Comparisons of random heaps against counting by hand. */
#include "census/compare.h"
#include "tests/census_snapshots.h"

HI_DEFINE_GUARD(struct hi_comparison *, hi_comparison_destroy)

static uint64_t address_of(const struct hi_graph *g, hi_node i)
{
	return hi_objects_address(g->objects, i);
}

static bool is_internal(const struct hi_graph *g, hi_node i)
{
	return g->objects->flags[i] & HI_OBJECT_INTERNAL;
}

static const char *type_of(const struct hi_graph *g, hi_node i)
{
	return g->types[g->objects->type[i]].name;
}

/* Is there an object of g that is object i of other? By looking at all of them. */
static bool has_match(const struct hi_graph *g, const struct hi_graph *other, hi_node i)
{
	for (hi_node k = 0; k < g->n_objects; k++)
		if (address_of(g, k) == address_of(other, i) && !is_internal(g, k) &&
		    strcmp(type_of(g, k), type_of(other, i)) == 0)
			return true;
	return false;
}

static void check_by_address(uint64_t seed)
{
	OWN(graph) *a = drawn_graph(seed, 60), *b = drawn_graph(seed + 1000, 72);
	OWN(reach) *ra = reach_of(a), *rb = reach_of(b);
	OWN(dominators) *da = dominators_of(a, ra), *db = dominators_of(b, rb);
	HI_GUARD(hi_comparison_destroy) struct hi_comparison *c = NULL;
	struct hi_heap_side before = {a, ra, da}, after = {b, rb, db};
	uint64_t born = 0, died = 0;
	struct hi_error err;

	HI_ASSERT_OK(hi_compare(&before, &after, true, (enum hi_compare_by)(seed % 3), &c,
				&err),
		     &err);
	for (hi_node i = 0; i < b->n_objects; i++) {
		bool is_born = !is_internal(b, i) && !has_match(a, b, i);

		HI_ASSERT_EQ(is_born, hi_bit(c->born, i));
		born += is_born ? hi_objects_cost(b->objects, i) : 0;
	}
	for (hi_node i = 0; i < a->n_objects; i++) {
		bool is_dead = !is_internal(a, i) && !has_match(b, a, i);

		HI_ASSERT_EQ(is_dead, hi_bit(c->died, i));
		died += is_dead ? hi_objects_cost(a->objects, i) : 0;
	}
	HI_ASSERT_EQ(born, c->all.born.bytes);
	HI_ASSERT_EQ(died, c->all.died.bytes);
	HI_ASSERT_EQ(ra->live_bytes + ra->leak_bytes, c->all.before.bytes);
	HI_ASSERT_EQ(rb->live_bytes + rb->leak_bytes, c->all.after.bytes);
	HI_ASSERT_EQ(rb->live_objects + rb->leak_objects, c->all.after.count);
}

HI_TEST(census_compare, one_process_by_address_is_what_a_search_finds)
{
	for (uint64_t seed = 1; seed <= 10; seed++)
		check_by_address(seed);
}

/* Of each type as many match as both have, at most. */
HI_TEST(census_compare, by_way_never_matches_more_than_there_are)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		OWN(graph) *a = drawn_graph(seed, 60), *b = drawn_graph(seed + 99, 90);
		OWN(reach) *ra = reach_of(a), *rb = reach_of(b);
		OWN(dominators) *da = dominators_of(a, ra), *db = dominators_of(b, rb);
		HI_GUARD(hi_comparison_destroy) struct hi_comparison *c = NULL;
		struct hi_heap_side before = {a, ra, da}, after = {b, rb, db};
		struct hi_error err;

		HI_ASSERT_OK(
			hi_compare(&before, &after, false, HI_COMPARE_BY_TYPE, &c, &err),
			&err);
		for (size_t i = 0; i < c->n_rows; i++)
			HI_ASSERT_EQ(c->rows[i].before.count - c->rows[i].died.count,
				     c->rows[i].after.count - c->rows[i].born.count);
	}
}

HI_TEST(census_compare, a_heap_beside_itself_has_no_difference)
{
	OWN(graph) *g = drawn_graph(4, 300);
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);
	struct hi_heap_side side = {g, r, d};

	for (int same = 0; same < 2; same++)
		for (int by = 0; by < 3; by++) {
			HI_GUARD(hi_comparison_destroy) struct hi_comparison *c = NULL;
			struct hi_error err;

			HI_ASSERT_OK(hi_compare(&side, &side, same,
						(enum hi_compare_by)by, &c, &err),
				     &err);
			HI_ASSERT_EQ(0, c->all.born.count + c->all.died.count);
			HI_ASSERT_EQ(0, c->all.grown);
		}
}

/*
 *	root0 -> 0 -> 1 -> 2		root1 -> 3		4 is leaked
 * Marked are 1, 2, 3 and 4.
 */
HI_TEST(census_compare, growth_is_what_the_holders_dominate)
{
	struct object_spec specs[] = {
		{100, 1, 0}, {200, 2, 0}, {300, 1, 0}, {50, 1, 0}, {70, 1, 0}};
	struct hi_graph_builder *b = builder_of(specs, 5, 3);
	uint32_t root0 = add_root(b, HI_ROOT_GLOBAL), root1 = add_root(b, HI_ROOT_TLS);
	struct hi_growth found[4];
	struct hi_heap_sum leaked;
	uint64_t marked = 0x1e;
	struct hi_error err;
	size_t n = 0;

	root_edge(b, root0, 0, HI_GRADE_EXACT);
	root_edge(b, root1, 3, HI_GRADE_EXACT);
	edge(b, 0, 1, HI_GRADE_EXACT);
	edge(b, 1, 2, HI_GRADE_EXACT);
	{
		OWN(graph) *g = sealed(b);
		OWN(reach) *r = reach_of(g);
		OWN(dominators) *d = dominators_of(g, r);
		struct hi_heap_side side = {g, r, d};

		HI_ASSERT_OK(hi_growth_find(&side, &marked, 4, found, &n, &leaked, &err),
			     &err);
		HI_ASSERT_EQ(2, n);
		HI_ASSERT_EQ(g->first_root, found[0].top);
		HI_ASSERT_EQ(500, found[0].bytes);
		HI_ASSERT_EQ(2, found[0].objects);
		/* 1 holds all of it; 2 has 300 of 500: less than 0.7. */
		HI_ASSERT_EQ(1, found[0].holder);
		HI_ASSERT_EQ(g->first_root + 1, found[1].top);
		HI_ASSERT_EQ(50, found[1].bytes);
		HI_ASSERT_EQ(3, found[1].holder);
		HI_ASSERT_EQ(1, leaked.count);
		HI_ASSERT_EQ(70, leaked.bytes);
		HI_ASSERT_OK(hi_growth_find(&side, &marked, 1, found, &n, &leaked, &err),
			     &err);
		HI_ASSERT_EQ(1, n);
		HI_ASSERT_EQ(500, found[0].bytes);
	}
}
