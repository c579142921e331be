/* SPDX-License-Identifier: BSD-2-Clause */
/* Drawn graphs, with the numbers that a person works out on paper. */
#include "base/alloc.h"
#include "tests/census/graphs.h"

#define E HI_GRADE_EXACT
#define C HI_GRADE_CONSERVATIVE
#define W HI_GRADE_WEAK

/*
 *	g --> x --> y --> z        u <--> v     (nobody holds u and v)
 *	|     ^-----------'
 *	'---> p <--> t
 */
HI_TEST(drawn, a_held_cycle_and_a_lost_ring)
{
	enum { X, Y, Z, P, T, U, V, N };
	const struct object_spec specs[N] = {{24, 1, 0}, {24, 1, 0}, {24, 1, 0},
					     {40, 2, 0}, {56, 3, 0}, {100, 3, 0},
					     {100, 3, 0}};
	struct hi_graph_builder *b = builder_of(specs, N, 4);
	uint32_t root = add_root(b, HI_ROOT_GLOBAL);
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	OWN(dominators) *d = NULL;
	OWN(leaks) *leaks = NULL;

	root_edge(b, root, X, E);
	root_edge(b, root, P, E);
	edge(b, X, Y, E);
	edge(b, Y, Z, E);
	edge(b, Z, X, E);
	edge(b, P, T, E);
	edge(b, T, P, E);
	edge(b, U, V, E);
	edge(b, V, U, E);
	g = sealed(b);
	r = reach_of(g);
	HI_ASSERT_EQ(168, r->live_bytes);
	HI_ASSERT_EQ(5, r->live_objects);
	HI_ASSERT_EQ(200, r->leak_bytes);
	d = dominators_of(g, r);
	HI_ASSERT_EQ(168, d->retained[g->first_root]);
	HI_ASSERT_EQ(168, d->retained[g->super_root]);
	HI_ASSERT_EQ(72, d->retained[X]);
	HI_ASSERT_EQ(96, d->retained[P]);
	HI_ASSERT_EQ(56, d->retained[T]);
	HI_ASSERT_EQ(g->first_root, d->idom[X]);
	HI_ASSERT_EQ(g->first_kind + HI_ROOT_GLOBAL, d->idom[g->first_root]);
	HI_ASSERT_EQ(HI_NODE_NONE, d->idom[U]);
	leaks = leaks_of(g, r);
	HI_ASSERT_EQ(1, leaks->n_roots);
	HI_ASSERT_EQ(U, leaks->roots[0].node);
	HI_ASSERT_EQ(HI_LEAK_CYCLE, leaks->roots[0].shape);
	HI_ASSERT_EQ(2, leaks->roots[0].objects);
	HI_ASSERT_EQ(200, leaks->roots[0].bytes);
	HI_ASSERT_EQ(1, leaks->n_rows);
	HI_ASSERT_EQ(3, leaks->rows[0].type);
}

/*
 *	r --> a --> c <--> d
 *	|           ^
 *	'---> b ----'
 *	      '---> e
 */
HI_TEST(drawn, shared_object_belongs_to_common_dominator)
{
	enum { A, B, C_, D, E_, N };
	const struct object_spec specs[N] = {
		{32, 1, 0}, {32, 1, 0}, {64, 1, 0}, {128, 1, 0}, {16, 1, 0}};
	static const uint64_t retained[N] = {32, 48, 192, 128, 16};
	struct hi_graph_builder *b = builder_of(specs, N, 2);
	uint32_t root = add_root(b, HI_ROOT_STACK);
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	OWN(dominators) *d = NULL;
	uint64_t bytes = 0;

	root_edge(b, root, A, E);
	root_edge(b, root, B, E);
	edge(b, A, C_, E);
	edge(b, B, C_, E);
	edge(b, B, E_, E);
	edge(b, C_, D, E);
	edge(b, D, C_, E);
	g = sealed(b);
	r = reach_of(g);
	d = dominators_of(g, r);
	for (hi_node i = 0; i < N; i++)
		HI_ASSERT_EQ(retained[i], d->retained[i]);
	HI_ASSERT_EQ(272, d->retained[g->first_root]);
	HI_ASSERT_EQ(g->first_root, d->idom[C_]);
	HI_ASSERT_EQ(C_, d->idom[D]);
	HI_ASSERT_OK(hi_census_retained_by_type(g, r, 1, &bytes, NULL),
		     &(struct hi_error){});
	HI_ASSERT_EQ(272, bytes);
}

/*
 *	owner ==> table ==> big        (===> exact, ---> conservative)
 *	stale word ---------^ ^
 *	'--------------------- small
 */
HI_TEST(drawn, a_stale_word_takes_nothing_from_the_owner)
{
	enum { TABLE, BIG, SMALL, N };
	const struct object_spec specs[N] = {{64, 1, 0}, {100000, 1, 0}, {16, 1, 0}};
	struct hi_graph_builder *b = builder_of(specs, N, 2);
	uint32_t owner = add_root(b, HI_ROOT_GLOBAL),
		 stale = add_root(b, HI_ROOT_UNTYPED);
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	OWN(dominators) *d = NULL;

	root_edge(b, owner, TABLE, E);
	edge(b, TABLE, BIG, E);
	root_edge(b, stale, BIG, C);
	root_edge(b, stale, SMALL, C);
	edge(b, SMALL, BIG, E); /* exact, but from what is only thought to be live */
	g = sealed(b);
	r = reach_of(g);
	d = dominators_of(g, r);
	HI_ASSERT_EQ(100064, r->exact_bytes);
	HI_ASSERT_EQ(100080, r->live_bytes);
	HI_ASSERT_EQ(TABLE, d->idom[BIG]);
	HI_ASSERT_EQ(100064, d->retained[g->first_root + owner]);
	HI_ASSERT_EQ(16, d->retained[g->first_root + stale]);
}

/*
 *	r ==> cache ...> entry --> value      (...> weak)
 */
HI_TEST(drawn, weak_edges_retain_nothing)
{
	enum { CACHE, ENTRY, VALUE, N };
	const struct object_spec specs[N] = {{64, 1, 0}, {32, 1, 0}, {16, 1, 0}};
	struct hi_graph_builder *b = builder_of(specs, N, 2);
	hi_node value = VALUE;
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	OWN(dominators) *d = NULL;
	OWN(leaks) *leaks = NULL;
	OWN(paths) *paths = NULL;

	root_edge(b, add_root(b, HI_ROOT_GLOBAL), CACHE, E);
	edge(b, CACHE, ENTRY, W);
	edge(b, ENTRY, VALUE, E);
	edge(b, VALUE, ENTRY, W); /* no cycle either */
	g = sealed(b);
	r = reach_of(g);
	HI_ASSERT_EQ(64, r->live_bytes);
	d = dominators_of(g, r);
	HI_ASSERT_EQ(64, d->retained[CACHE]);
	HI_ASSERT_EQ(0, d->retained[ENTRY]);
	leaks = leaks_of(g, r);
	HI_ASSERT_EQ(1, leaks->n_roots);
	HI_ASSERT_EQ(ENTRY, leaks->roots[0].node);
	HI_ASSERT_EQ(HI_LEAK_CHAIN, leaks->roots[0].shape);
	paths = paths_of(g, r, &value, 1, 3);
	HI_ASSERT_EQ(0, paths->n_paths);
	HI_ASSERT(!paths->more);
}

/*
 *	(FILE, internal) --> buffer        lone
 *	   nobody                          nobody
 */
HI_TEST(drawn, internal_buffers_of_libc_are_no_leaks)
{
	enum { FILE_, BUFFER, LONE, N };
	const struct object_spec specs[N] = {
		{552, 1, HI_OBJECT_INTERNAL}, {4096, 1, 0}, {16, 1, 0}};
	struct hi_graph_builder *b = builder_of(specs, N, 2);
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	OWN(dominators) *d = NULL;
	OWN(leaks) *leaks = NULL;

	edge(b, FILE_, BUFFER, E);
	g = sealed(b);
	r = reach_of(g);
	HI_ASSERT_EQ(552, r->internal_bytes);
	HI_ASSERT_EQ(4096, r->live_bytes);
	HI_ASSERT_EQ(16, r->leak_bytes);
	d = dominators_of(g, r);
	HI_ASSERT_EQ(g->super_root, d->idom[FILE_]);
	HI_ASSERT_EQ(FILE_, d->idom[BUFFER]);
	HI_ASSERT_EQ(4096, d->retained[FILE_]);
	HI_ASSERT_EQ(r->live_bytes, d->retained[g->super_root]);
	leaks = leaks_of(g, r);
	HI_ASSERT_EQ(1, leaks->n_roots);
	HI_ASSERT_EQ(LONE, leaks->roots[0].node);
	HI_ASSERT_EQ(HI_LEAK_SINGLE, leaks->roots[0].shape);
}

/*
 *	a   b-.   c --> d   e --> f <-- g     h --> h'   i <--> j --> k
 *	    ^-'                               ^-'
 */
HI_TEST(drawn, leak_shapes)
{
	enum { A, B, C_, D, E_, F, G, H, H2, I, J, K, N };
	struct object_spec specs[N];
	static const struct {
		hi_node node;
		enum hi_leak_shape shape;
		uint64_t objects;
	} truth[] = {
		{I, HI_LEAK_CYCLE, 3}, {C_, HI_LEAK_CHAIN, 2}, {E_, HI_LEAK_CHAIN, 2},
		{H, HI_LEAK_CHAIN, 2}, {A, HI_LEAK_SINGLE, 1}, {B, HI_LEAK_SINGLE, 1},
		{G, HI_LEAK_CHAIN, 1}, /* f is counted with e */
	};
	struct hi_graph_builder *b;
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	OWN(leaks) *leaks = NULL;

	for (hi_node i = 0; i < N; i++)
		specs[i] = (struct object_spec){16, 1, 0};
	b = builder_of(specs, N, 2);
	edge(b, B, B, HI_GRADE_INTERIOR);
	edge(b, C_, D, E);
	edge(b, E_, F, E);
	edge(b, G, F, C);
	edge(b, H, H, E);
	edge(b, H, H2, E);
	edge(b, I, J, E);
	edge(b, J, I, E);
	edge(b, J, K, E);
	g = sealed(b);
	r = reach_of(g);
	leaks = leaks_of(g, r);
	HI_ASSERT_EQ(7, leaks->n_roots);
	for (size_t i = 0; i < 7; i++) {
		HI_ASSERT_EQ(truth[i].node, leaks->roots[i].node);
		HI_ASSERT_EQ(truth[i].shape, leaks->roots[i].shape);
		HI_ASSERT_EQ(truth[i].objects, leaks->roots[i].objects);
	}
	HI_ASSERT_EQ(3, leaks->n_rows);
	HI_ASSERT_EQ(HI_LEAK_CHAIN, leaks->rows[0].shape);
	HI_ASSERT_EQ(4, leaks->rows[0].count);
	HI_ASSERT_EQ(12 * 16, leaks->bytes);
}

/*
 *	r --> a --> t      two ways by conservative or exact edges; a longer
 *	|     b --^        one by way of c and d
 *	'---> c --> d --> t
 */
HI_TEST(drawn, ways_come_shortest_first_and_precise_before_doubtful)
{
	enum { A, B, C_, D, T, N };
	const struct object_spec specs[N] = {
		{16, 1, 0}, {16, 1, 0}, {16, 1, 0}, {16, 1, 0}, {16, 1, 0}};
	struct hi_graph_builder *b = builder_of(specs, N, 2);
	uint32_t root = add_root(b, HI_ROOT_GLOBAL);
	hi_node target = T;
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	OWN(paths) *paths = NULL;

	root_edge(b, root, A, C);
	root_edge(b, root, B, E);
	root_edge(b, root, C_, E);
	edge(b, A, T, E);
	edge(b, B, T, HI_GRADE_INTERIOR);
	edge(b, C_, D, E);
	edge(b, D, T, E);
	edge(b, T, B, E);
	g = sealed(b);
	r = reach_of(g);
	paths = paths_of(g, r, &target, 1, 10);
	HI_ASSERT_EQ(3, paths->n_paths);
	HI_ASSERT(!paths->more);
	HI_ASSERT_EQ(g->first_root, paths->paths[0].nodes[0]);
	HI_ASSERT_EQ(B, paths->paths[0].nodes[1]);
	HI_ASSERT_EQ(HI_GRADE_INTERIOR, paths->paths[0].worst);
	HI_ASSERT_EQ(A, paths->paths[1].nodes[1]);
	HI_ASSERT_EQ(HI_GRADE_CONSERVATIVE, paths->paths[1].worst);
	HI_ASSERT_EQ(4, paths->paths[2].length);
	HI_ASSERT_EQ(HI_GRADE_EXACT, paths->paths[2].worst);
}

/*
 *	server --> dict --> table --> e0, e1, e2 ...      list --> n --> n --> n
 */
HI_TEST(drawn, suspects_are_followed_to_where_they_spread_out)
{
	enum { DICT, TABLE, FIRST_ENTRY, N_ENTRIES = 50, FIRST_NODE = 52, N = 92 };
	struct object_spec specs[N];
	struct hi_graph_builder *b;
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	OWN(dominators) *d = NULL;
	OWN(suspects) *s = NULL;

	for (hi_node i = 0; i < N; i++)
		specs[i] = (struct object_spec){100,
						i < FIRST_ENTRY	 ? i + 1
						: i < FIRST_NODE ? 3
								 : 4,
						0};
	b = builder_of(specs, N, 5);
	root_edge(b, add_root(b, HI_ROOT_GLOBAL), DICT, E);
	root_edge(b, add_root(b, HI_ROOT_GLOBAL), FIRST_NODE, E);
	edge(b, DICT, TABLE, E);
	for (hi_node i = 0; i < N_ENTRIES; i++)
		edge(b, TABLE, FIRST_ENTRY + i, E);
	for (hi_node i = FIRST_NODE; i + 1 < N; i++)
		edge(b, i, i + 1, E);
	g = sealed(b);
	r = reach_of(g);
	d = dominators_of(g, r);
	s = suspects_of(g, r, d, 0.2);
	HI_ASSERT_EQ(2, s->count);
	HI_ASSERT_EQ(g->first_root, s->items[0].top);
	HI_ASSERT_EQ(TABLE, s->items[0].accumulation);
	HI_ASSERT_EQ(5200, s->items[0].retained);
	HI_ASSERT_EQ(5100, s->items[0].accumulation_retained);
	HI_ASSERT_EQ(3, s->items[0].child_type);
	HI_ASSERT_EQ(50, s->items[0].children);
	HI_ASSERT_EQ(5000, s->items[0].children_bytes);
	HI_ASSERT(!s->items[0].is_list);
	/* Without names of edges a run of one type is no list: down to where less than a
	 * fifth of the heap is left. */
	HI_ASSERT_EQ(g->first_root + 1, s->items[1].top);
	HI_ASSERT_EQ(4000, s->items[1].retained);
	HI_ASSERT_EQ(1, s->items[1].children);
}

HI_TEST(drawn, empty_graph_has_no_results)
{
	OWN(graph) *g = sealed(builder_of(NULL, 0, 1));
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);
	OWN(leaks) *leaks = leaks_of(g, r);
	OWN(suspects) *s = suspects_of(g, r, d, 0.2);
	OWN(paths) *paths = paths_of(g, r, NULL, 0, 5);
	OWN(census) *c = NULL;
	OWN(referrers) *refs = NULL;
	OWN(scc) *scc = NULL;
	struct hi_error err;
	uint64_t bytes = 1;

	HI_ASSERT_OK(hi_census_by_type(g, r, d, &c, &err), &err);
	HI_ASSERT_OK(hi_census_retained_by_type(g, r, 0, &bytes, &err), &err);
	HI_ASSERT_OK(hi_referrers_find(g, 0, 5, 4, &refs, &err), &err);
	HI_ASSERT_OK(hi_scc_compute(g, NULL, &scc, &err), &err);
	HI_ASSERT_EQ(0, r->live_objects + r->leak_objects + bytes + c->n_rows);
	HI_ASSERT_EQ(0, leaks->n_roots + leaks->n_rows + s->count + paths->n_paths);
	HI_ASSERT_EQ(g->n_nodes, scc->count);
	HI_ASSERT_EQ(0, d->retained[g->super_root]);
	HI_ASSERT_EQ(HI_NODE_NONE, d->idom[g->super_root]);
}

/*
 *	g --> x      [x p q s]: pieces of one block
 *	p --> y      [u v]: pieces of another one, that nobody holds
 *	q --> u
 *
 * Nothing leads to p, q and s. s is a slot that is taken.
 */
HI_TEST(drawn, pieces_of_a_live_block_are_live_except_lost_slots)
{
	enum { X, P, Q, S, U, V, Y, LOST, N };
	const struct object_spec specs[N] = {{16, 1, 0}, {32, 1, 0},  {48, 1, 0},
					     {64, 1, 0}, {80, 1, 0},  {96, 1, 0},
					     {24, 1, 0}, {1000, 1, 0}};
	struct hi_graph_builder *b = builder_of(specs, N, 2);
	uint32_t root = add_root(b, HI_ROOT_GLOBAL);
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	OWN(dominators) *d = NULL;

	root_edge(b, root, X, E);
	edge(b, P, Y, E);
	edge(b, Q, U, E);
	g = sealed(b);
	g->pools.items = hi_calloc(2, sizeof(*g->pools.items));
	g->pools.is_slot = hi_calloc(1, sizeof(*g->pools.is_slot));
	HI_ASSERT(g->pools.items && g->pools.is_slot);
	g->pools.items[0] = (struct hi_pool){.first = X, .last = S, .remainder = X};
	g->pools.items[1] =
		(struct hi_pool){.first = U, .last = V, .remainder = HI_NODE_NONE};
	g->pools.count = 2;
	g->pools.is_slot[0] = 1 << S;
	r = reach_of(g);
	/* x, p, y, q, and with u also v. */
	HI_ASSERT_EQ(16 + 32 + 24 + 48 + 80 + 96, r->live_bytes);
	HI_ASSERT_EQ(64 + 1000, r->leak_bytes);
	HI_ASSERT_EQ(16, r->exact_bytes);
	HI_ASSERT(hi_reach_is_piece(g, r, P) && hi_reach_is_piece(g, r, Q));
	HI_ASSERT(hi_reach_is_piece(g, r, V) && !hi_reach_is_piece(g, r, U));
	HI_ASSERT(!hi_reach_is_piece(g, r, X) && !hi_reach_is_piece(g, r, S));
	/* Nothing else holds them. */
	d = dominators_of(g, r);
	HI_ASSERT_EQ(g->super_root, d->idom[P]);
	HI_ASSERT_EQ(32 + 24, d->retained[P]);
	HI_ASSERT_EQ(Q, d->idom[U]);
	HI_ASSERT_EQ(16, d->retained[g->first_root]);
}
