/* SPDX-License-Identifier: BSD-2-Clause */
/* The graph builder, running out of memory, threads, and graphs of great size. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "tests/census/graphs.h"

/* ---- the builder ---- */

HI_TEST(graph, nodes_are_numbered_objects_then_roots_then_kinds_then_the_super_root)
{
	const struct object_spec specs[2] = {{16, 0, 0}, {16, 0, 0}};
	struct hi_graph_builder *b = builder_of(specs, 2, 1);
	struct hi_edges edges;
	OWN(graph) *g = NULL;

	HI_ASSERT_EQ(0, add_root(b, HI_ROOT_TLS));
	HI_ASSERT_EQ(1, add_root(b, HI_ROOT_GLOBAL));
	root_edge(b, 1, 0, HI_GRADE_INTERIOR);
	root_edge(b, 0, 1, HI_GRADE_EXACT);
	root_edge(b, 1, 1, HI_GRADE_CONSERVATIVE);
	g = sealed(b);
	HI_ASSERT_EQ(2, g->first_root);
	HI_ASSERT_EQ(4, g->first_kind);
	HI_ASSERT_EQ(4 + HI_ROOT_KINDS, g->super_root);
	HI_ASSERT_EQ(HI_ROOT_KINDS, hi_graph_edges(g, g->super_root).count);
	edges = hi_graph_edges(g, g->first_kind + HI_ROOT_GLOBAL);
	HI_ASSERT_EQ(1, edges.count);
	HI_ASSERT_EQ(3, edges.to[0]);
	edges = hi_graph_edges(g, 3);
	HI_ASSERT_EQ(2, edges.count);
	HI_ASSERT_EQ(0, edges.to[0]);
	HI_ASSERT_EQ(HI_GRADE_INTERIOR, edges.grade[0]);
	HI_ASSERT_EQ(0, hi_graph_edges(g, g->first_kind + HI_ROOT_STACK).count);
	HI_ASSERT_EQ(16, hi_graph_cost(g, 0));
	HI_ASSERT_EQ(0, hi_graph_cost(g, g->super_root));
}

HI_TEST(graph, names_are_copied)
{
	struct hi_graph_builder *b = builder_of(NULL, 0, 1);
	char name[] = "server", type_name[] = "dict";
	struct hi_root root = {.kind = HI_ROOT_GLOBAL, .name = name};
	struct hi_type_name type = {
		.name = type_name, .size = 96, .klass = HI_TYPE_RECORD};
	uint32_t id, index;
	struct hi_error err;
	OWN(graph) *g = NULL;

	HI_ASSERT_OK(hi_graph_builder_type(b, &type, &id, &err), &err);
	HI_ASSERT_OK(hi_graph_builder_root(b, &root, &index, &err), &err);
	memset(name, 'x', 3);
	memset(type_name, 'x', 2);
	g = sealed(b);
	HI_ASSERT_EQ(1, id);
	HI_ASSERT_EQ(2, g->n_types);
	HI_ASSERT_STREQ("", g->types[0].name);
	HI_ASSERT_STREQ("dict", g->types[1].name);
	HI_ASSERT_STREQ("server", g->roots[0].name);
	HI_ASSERT_STREQ("", g->roots[0].detail); /* NULL counts as unknown */
}

HI_TEST(graph, edges_from_or_to_nowhere_are_refused)
{
	const struct object_spec specs[2] = {{16, 0, 0}, {16, 0, 0}};
	HI_GUARD(hi_graph_builder_destroy)
	struct hi_graph_builder *b = builder_of(specs, 2, 1);
	struct hi_root root = {.kind = HI_ROOT_KINDS, .name = "r"};
	struct hi_error err;
	uint32_t index;

	add_root(b, HI_ROOT_GLOBAL);
	HI_ASSERT_STATUS(HI_USAGE, hi_graph_builder_edge(b, 0, 2, HI_GRADE_EXACT, &err));
	HI_ASSERT_STATUS(HI_USAGE, hi_graph_builder_edge(b, 2, 0, HI_GRADE_EXACT, &err));
	HI_ASSERT_STATUS(HI_USAGE,
			 hi_graph_builder_root_edge(b, 0, 2, HI_GRADE_EXACT, &err));
	HI_ASSERT_STATUS(HI_USAGE,
			 hi_graph_builder_root_edge(b, 1, 0, HI_GRADE_EXACT, &err));
	HI_ASSERT_STATUS(HI_USAGE, hi_graph_builder_root(b, &root, &index, &err));
}

/* Rows for n objects, each with an edge to `to`. */
static struct hi_edge_chunk chunk_of(uint32_t n, hi_node to)
{
	struct hi_edge_chunk c = {.row = hi_alloc((n + 1ul) * 4),
				  .to = hi_alloc(n * 4ul),
				  .grade = hi_calloc(n, 1)};

	for (uint32_t i = 0; i <= n; i++)
		c.row[i] = i;
	for (uint32_t i = 0; i < n; i++)
		c.to[i] = to;
	return c;
}

HI_TEST(graph, damaged_chunks_are_refused)
{
	const struct object_spec specs[3] = {{16, 0, 0}, {16, 0, 0}, {16, 0, 0}};
	HI_GUARD(hi_graph_builder_destroy)
	struct hi_graph_builder *b = builder_of(specs, 3, 1);
	struct hi_edge_chunk c;
	struct hi_error err;

	c = chunk_of(3, 3); /* an edge beyond the objects */
	HI_ASSERT_STATUS(HI_USAGE, hi_graph_builder_chunk(b, 0, c, &err));
	c = chunk_of(3, 0);
	c.row[1] = 3; /* rows go back */
	HI_ASSERT_STATUS(HI_USAGE, hi_graph_builder_chunk(b, 0, c, &err));
	c = chunk_of(3, 0);
	c.row[0] = 1;
	HI_ASSERT_STATUS(HI_USAGE, hi_graph_builder_chunk(b, 0, c, &err));
	c = chunk_of(3, 0);
	c.grade[2] = HI_GRADE_WEAK + 1;
	HI_ASSERT_STATUS(HI_USAGE, hi_graph_builder_chunk(b, 0, c, &err));
	HI_ASSERT_STATUS(HI_USAGE, hi_graph_builder_chunk(b, 1, chunk_of(3, 0), &err));
	HI_ASSERT_OK(hi_graph_builder_chunk(b, 0, chunk_of(3, 2), &err), &err);
	HI_ASSERT_STATUS(HI_USAGE, hi_graph_builder_chunk(b, 0, chunk_of(3, 2), &err));
	HI_ASSERT_STATUS(HI_USAGE, hi_graph_builder_edge(b, 0, 0, HI_GRADE_EXACT, &err));
}

/* Borrowed rows are checked alike, and stay the caller's. */
HI_TEST(graph, damaged_chunks_are_not_borrowed)
{
	const struct object_spec specs[3] = {{16, 0, 0}, {16, 0, 0}, {16, 0, 0}};
	struct hi_graph_builder *b = builder_of(specs, 3, 1), *loose;
	struct hi_edge_chunk good = chunk_of(3, 2), bad = chunk_of(3, 3);
	struct hi_edges edges;
	struct hi_error err;

	HI_ASSERT_STATUS(HI_USAGE, hi_graph_builder_borrow_chunk(b, 1, good, &err));
	HI_ASSERT_STATUS(HI_USAGE, hi_graph_builder_borrow_chunk(b, 0, bad, &err));
	HI_ASSERT_EQ(0, hi_graph_builder_edges(b, 1).count);
	HI_ASSERT_OK(hi_graph_builder_borrow_chunk(b, 0, good, &err), &err);
	HI_ASSERT_STATUS(HI_USAGE, hi_graph_builder_borrow_chunk(b, 0, good, &err));
	HI_ASSERT_STATUS(HI_USAGE, hi_graph_builder_edge(b, 0, 0, HI_GRADE_EXACT, &err));
	edges = hi_graph_builder_edges(b, 1);
	HI_ASSERT_EQ(1, edges.count);
	HI_ASSERT(edges.to == good.to + 1 && edges.grade == good.grade + 1);
	hi_graph_builder_destroy(b);
	/* Edges one by one, and then rows. */
	loose = builder_of(specs, 3, 1);
	edge(loose, 0, 1, HI_GRADE_EXACT);
	HI_ASSERT_STATUS(HI_USAGE, hi_graph_builder_borrow_chunk(loose, 0, good, &err));
	hi_graph_builder_destroy(loose);
	HI_ASSERT_EQ(2, good.to[1]);
	for (int i = 0; i < 2; i++) {
		const struct hi_edge_chunk *c = i ? &bad : &good;

		free(c->row);
		free(c->to);
		free(c->grade);
	}
}

/* ---- out of memory ---- */

struct everything {
	struct hi_graph *graph;
	struct hi_reach *reach;
	struct hi_dominators *dominators;
	struct hi_leaks *leaks;
	struct hi_census *census;
	struct hi_suspects *suspects;
	struct hi_paths *paths;
	struct hi_referrers *referrers;
	uint64_t bytes;
};

static void free_everything(struct everything *e)
{
	hi_reach_destroy(e->reach);
	hi_dominators_destroy(e->dominators);
	hi_leaks_destroy(e->leaks);
	hi_census_destroy(e->census);
	hi_suspects_destroy(e->suspects);
	hi_paths_destroy(e->paths);
	hi_referrers_destroy(e->referrers);
	hi_graph_destroy(e->graph);
	*e = (struct everything){};
}

/* A held list of ten, a lost pair, a weak edge and an internal block. */
static enum hi_status build(struct everything *e, struct hi_error *err)
{
	struct object_spec specs[14];
	struct hi_graph_builder *b;
	struct hi_root root = {.kind = HI_ROOT_GLOBAL, .name = "head", .detail = "a.c"};
	enum hi_status status;
	uint32_t index;

	for (uint32_t i = 0; i < 14; i++)
		specs[i] = (struct object_spec){16, i % 3, 0};
	specs[13].flags = HI_OBJECT_INTERNAL;
	status = try_builder(specs, 14, 3, &b, err);
	if (status != HI_OK)
		return status;
	status = hi_graph_builder_root(b, &root, &index, err);
	if (status == HI_OK)
		status = hi_graph_builder_root_edge(b, 0, 0, HI_GRADE_EXACT, err);
	for (hi_node i = 0; i < 12 && status == HI_OK; i++)
		status = hi_graph_builder_edge(b, i, i == 11 ? 10 : i + 1,
					       i == 9  ? HI_GRADE_WEAK
					       : i % 2 ? HI_GRADE_CONSERVATIVE
						       : HI_GRADE_EXACT,
					       err);
	if (status != HI_OK) {
		hi_graph_builder_destroy(b);
		return status;
	}
	return hi_graph_seal(b, &e->graph, err);
}

static enum hi_status step(struct everything *e, int which, struct hi_error *err)
{
	hi_node target = 5;

	switch (which) {
	case 0:
		return build(e, err);
	case 1:
		return hi_reach_compute(e->graph, 2, &e->reach, err);
	case 2:
		return hi_dominators_compute(e->graph, e->reach, &e->dominators, err);
	case 3:
		return hi_leaks_compute(e->graph, e->reach, NULL, &e->leaks, err);
	case 4:
		return hi_census_by_type(e->graph, e->reach, e->dominators, &e->census,
					 err);
	case 5:
		return hi_census_retained_by_type(e->graph, e->reach, 1, &e->bytes, err);
	case 6:
		return hi_suspects_find(e->graph, e->reach, e->dominators, 0.1, NULL,
					&e->suspects, err);
	case 7:
		return hi_paths_find(e->graph, e->reach, &target, 1, 5, &e->paths, err);
	default:
		return hi_referrers_find(e->graph, target, 5, 2, &e->referrers, err);
	}
}

/* Fails the nth allocation of one step for all n; the steps before succeed. */
HI_TEST(graph, every_failed_allocation_is_reported_by_every_entry)
{
	for (int which = 0; which < 9; which++) {
		enum hi_status status = HI_NO_MEMORY;
		uint64_t nth;

		for (nth = 1; status != HI_OK && nth < 200; nth++) {
			struct everything e = {};
			struct hi_error err = {};

			for (int i = 0; i < which; i++)
				HI_ASSERT_OK(step(&e, i, &err), &err);
			hi_alloc_fail_at(nth);
			status = step(&e, which, &err);
			hi_alloc_fail_at(0);
			HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
			HI_ASSERT(status == HI_OK || err.status == HI_NO_MEMORY);
			free_everything(&e);
		}
		HI_ASSERT_EQ(HI_OK, status);
		HI_ASSERT_MSG(nth > 3, "step %d allocates nothing", which);
	}
}

/* ---- large graphs ---- */

static struct hi_graph_builder *large_builder(uint32_t n)
{
	struct hi_objects_builder *ob;
	struct hi_objects *objects;
	struct hi_graph_builder *b;
	struct hi_error err;
	unsigned region;

	HI_ASSERT_OK(hi_objects_builder_create(&ob, &err), &err);
	HI_ASSERT_OK(hi_objects_builder_region(ob, 0x10000, 0x10000 + n * 32ull, 4,
					       &region, &err),
		     &err);
	for (uint64_t i = 0; i < n; i++)
		HI_ASSERT_OK(
			hi_objects_builder_add(ob, region, 0x10000 + 32 * i, 24, 0, &err),
			&err);
	HI_ASSERT_OK(hi_objects_seal(ob, &objects, &err), &err);
	HI_ASSERT_OK(hi_graph_builder_create(objects, &b, &err), &err);
	return b;
}

struct maker {
	struct hi_graph_builder *b;
	uint32_t n, edges; /* an object */
	hi_node (*to)(uint32_t n, hi_node from, uint32_t edge);
	enum hi_grade (*grade)(hi_node from, uint32_t edge);
};

static void make_chunk(void *arg, size_t task, unsigned worker)
{
	const struct maker *m = arg;
	hi_node first = (hi_node)task << HI_CHUNK_SHIFT;
	uint32_t n = m->n - first < HI_CHUNK_NODES ? m->n - first : HI_CHUNK_NODES,
		 at = 0;
	struct hi_edge_chunk c = {.row = hi_alloc((n + 1ul) * 4),
				  .to = hi_alloc((size_t)n * m->edges * 4),
				  .grade = hi_alloc((size_t)n * m->edges)};

	(void)worker;
	c.row[0] = 0;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t e = 0; e < m->edges; e++) {
			c.to[at] = m->to(m->n, first + i, e);
			c.grade[at] = (uint8_t)m->grade(first + i, e);
			at += c.to[at] != HI_NODE_NONE;
		}
		c.row[i + 1] = at;
	}
	if (hi_graph_builder_chunk(m->b, (uint32_t)task, c, NULL) != HI_OK)
		abort();
}

static struct hi_graph *large_graph(struct maker m, hi_node root, unsigned threads)
{
	struct hi_graph *g;

	m.b = large_builder(m.n);
	if (root != HI_NODE_NONE)
		root_edge(m.b, add_root(m.b, HI_ROOT_GLOBAL), root, HI_GRADE_EXACT);
	hi_parallel(threads, (m.n + HI_CHUNK_NODES - 1) / HI_CHUNK_NODES, make_chunk, &m);
	g = sealed(m.b);
	return g;
}

static hi_node next_of(uint32_t n, hi_node from, uint32_t edge)
{
	(void)edge;
	return from + 1 < n ? from + 1 : HI_NODE_NONE;
}
static hi_node next_in_ring(uint32_t n, hi_node from, uint32_t edge)
{
	(void)edge;
	return from + 1 < n ? from + 1 : 0;
}
static enum hi_grade always_exact(hi_node from, uint32_t edge)
{
	(void)from;
	(void)edge;
	return HI_GRADE_EXACT;
}

enum { TEN_MILLION = 10000000 };

HI_TEST_SLOW(graph, ten_million_objects_in_one_chain)
{
	struct maker m = {.n = TEN_MILLION, 1, next_of, always_exact};
	hi_node target = m.n - 1;
	struct hi_error err;
	OWN(graph) *g = large_graph(m, 0, 2);
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);
	OWN(paths) *paths = paths_of(g, r, &target, 1, 3);
	OWN(suspects) *s = suspects_of(g, r, d, 0.2);
	OWN(scc) *scc = NULL;
	OWN(census) *c = NULL;

	HI_ASSERT_EQ(m.n, r->exact_objects);
	HI_ASSERT_EQ(0, r->leak_objects);
	for (hi_node i = 0; i < m.n; i++)
		HI_ASSERT_EQ((m.n - i) * 24ull, d->retained[i]);
	HI_ASSERT_EQ(1, paths->n_paths);
	HI_ASSERT_EQ(m.n + 1, paths->paths[0].length);
	HI_ASSERT_EQ(1, s->count);
	HI_ASSERT_OK(hi_scc_compute(g, NULL, &scc, &err), &err);
	HI_ASSERT_EQ(g->n_nodes, scc->count);
	HI_ASSERT_OK(hi_census_by_type(g, r, d, &c, &err), &err);
	HI_ASSERT_EQ(m.n * 24ull, c->rows[0].retained);
}

HI_TEST_SLOW(graph, ten_million_objects_in_one_lost_cycle)
{
	struct maker m = {.n = TEN_MILLION, 1, next_in_ring, always_exact};
	OWN(graph) *g = large_graph(m, HI_NODE_NONE, 2);
	OWN(reach) *r = reach_of(g);
	OWN(leaks) *leaks = leaks_of(g, r);
	OWN(dominators) *d = dominators_of(g, r);

	HI_ASSERT_EQ(m.n, r->leak_objects);
	HI_ASSERT_EQ(1, leaks->n_roots);
	HI_ASSERT_EQ(HI_LEAK_CYCLE, leaks->roots[0].shape);
	HI_ASSERT_EQ(m.n, leaks->roots[0].objects);
	HI_ASSERT_EQ(0, d->retained[g->super_root]);
}

/*
 *	r --> 0 --> 1 --> ... --> k-1 --> all of k .. n-1
 *	'-------------------------------> all of k .. n-1, too
 *
 * The dominator of every leaf is far above its parent in the search tree:
 * climbing one by one would take k * (n - k) steps.
 */
HI_TEST(graph, dominators_far_above_their_nodes_take_no_long_climbs)
{
	enum { N = 400000, K = N / 2 };
	struct hi_graph_builder *b = large_builder(N);
	uint32_t root = add_root(b, HI_ROOT_GLOBAL);
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	OWN(dominators) *d = NULL;

	root_edge(b, root, 0, HI_GRADE_EXACT);
	for (hi_node i = 1; i < N; i++)
		edge(b, i < K ? i - 1 : K - 1, i, HI_GRADE_EXACT);
	for (hi_node i = K; i < N; i++)
		root_edge(b, root, i, HI_GRADE_EXACT);
	g = sealed(b);
	r = reach_of(g);
	d = dominators_of(g, r);
	for (hi_node i = 1; i < N; i++)
		HI_ASSERT_EQ(i < K ? i - 1 : g->first_root, d->idom[i]);
}

/* ---- threads ---- */

static hi_node anywhere(uint32_t n, hi_node from, uint32_t edge)
{
	uint64_t x = (from * 3ull + edge + 1) * 0x9e3779b97f4a7c15;

	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
	return (hi_node)((x >> 33) % n);
}
static enum hi_grade any_grade(hi_node from, uint32_t edge)
{
	return (enum hi_grade)((from * 7 + edge * 3) % 4);
}

static uint64_t digest(uint64_t sum, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ at[i]) * 0x100000001b3;
	return sum;
}

static uint64_t digest_of(unsigned threads)
{
	struct maker m = {.n = 200000, 2, anywhere, any_grade};
	struct hi_error err;
	uint64_t sum = 0xcbf29ce484222325;
	OWN(graph) *g = large_graph(m, 17, threads);
	OWN(reach) *r = NULL;
	OWN(dominators) *d = NULL;
	OWN(leaks) *leaks = NULL;
	OWN(referrers) *refs = NULL;

	HI_ASSERT_OK(hi_reach_compute(g, threads, &r, &err), &err);
	d = dominators_of(g, r);
	leaks = leaks_of(g, r);
	HI_ASSERT_OK(hi_referrers_find(g, 5, 10, threads, &refs, &err), &err);
	HI_ASSERT(r->live_objects > m.n / 4 && leaks->objects > 100);
	sum = digest(sum, r->any, (g->n_nodes + 7) / 8);
	sum = digest(sum, r->exact, (g->n_nodes + 7) / 8);
	sum = digest(sum, &r->live_bytes, sizeof(r->live_bytes));
	sum = digest(sum, &r->leak_bytes, sizeof(r->leak_bytes));
	sum = digest(sum, d->idom, g->n_nodes * sizeof(*d->idom));
	sum = digest(sum, d->order, d->n_order * sizeof(*d->order));
	sum = digest(sum, d->retained, g->n_nodes * sizeof(*d->retained));
	for (size_t i = 0; i < leaks->n_roots; i++)
		sum = digest(sum, &leaks->roots[i].node, sizeof(hi_node));
	return digest(sum, refs->from, refs->count * sizeof(*refs->from));
}

HI_TEST(graph, results_do_not_depend_on_the_number_of_threads)
{
	uint64_t one = digest_of(1);

	HI_ASSERT_EQ(one, digest_of(2));
	HI_ASSERT_EQ(one, digest_of(4));
}

HI_TEST(graph, chunks_and_loose_edges_make_the_same_graph)
{
	struct maker m = {.n = 70000, 2, anywhere, any_grade};
	struct hi_graph_builder *b = large_builder(m.n);
	OWN(graph) *chunks = large_graph(m, 3, 2);
	OWN(graph) *loose = NULL;

	root_edge(b, add_root(b, HI_ROOT_GLOBAL), 3, HI_GRADE_EXACT);
	/* Out of order, but each row in order. */
	for (uint32_t e = 0; e < 2; e++)
		for (hi_node i = 0; i < m.n; i++)
			edge(b, m.n - 1 - i, anywhere(m.n, m.n - 1 - i, e),
			     any_grade(m.n - 1 - i, e));
	loose = sealed(b);
	HI_ASSERT_EQ(chunks->n_edges, loose->n_edges);
	for (hi_node i = 0; i < chunks->n_nodes; i++) {
		struct hi_edges a = hi_graph_edges(chunks, i),
				c = hi_graph_edges(loose, i);

		HI_ASSERT_EQ(a.count, c.count);
		HI_ASSERT(memcmp(a.to, c.to, a.count * sizeof(*a.to)) == 0);
		HI_ASSERT(memcmp(a.grade, c.grade, a.count) == 0);
	}
}
