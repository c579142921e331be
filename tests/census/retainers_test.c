/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Retainer sets: worked examples, and brute force by the published visiting
 * algorithm on thousands of random graphs.
 */
#include "base/alloc.h"
#include "census/retainers/retainers.h"
#include "tests/census/set_spec.h"

enum { SYSTEM = 60, WEAK = 61, IDENTITIES = 12 };

static uint32_t identity_in_spec(void *arg, hi_node node)
{
	const struct spec *s = arg;

	HI_ASSERT(node < s->n_objects + s->n_roots);
	return s->identity[node];
}

static struct hi_retainers *retainers_of(const struct hi_graph *g,
					 const struct hi_reach *r, struct spec *s,
					 struct hi_retainer_options o,
					 struct hi_set_pool *pool)
{
	struct hi_retainers *ret;
	struct hi_error err;

	o.system = SYSTEM;
	o.identity = identity_in_spec;
	o.arg = s;
	HI_ASSERT_OK(hi_retainers_compute(g, r, &o, pool, &ret, &err), &err);
	return ret;
}

/* ---- drawn graphs ---- */

struct drawn {
	struct spec spec;
	struct hi_graph *graph;
	struct hi_reach *reach;
	struct hi_set_pool *pool;
	struct hi_retainers *result;
};

static void erase(struct drawn *d)
{
	hi_retainers_destroy(d->result);
	hi_set_pool_destroy(d->pool);
	hi_reach_destroy(d->reach);
	hi_graph_destroy(d->graph);
	*d = (struct drawn){};
}

/* Objects of these costs; then roots whose identities are their numbers from 1. */
static void draw_nodes(struct drawn *d, uint32_t n, const uint64_t *costs,
		       uint32_t n_roots)
{
	erase(d);
	d->spec.n_objects = n;
	d->spec.n_roots = n_roots;
	for (uint32_t i = 0; i < n; i++)
		d->spec.objects[i].cost = costs[i];
	for (uint32_t i = 0; i < n_roots; i++)
		d->spec.identity[n + i] = 1 + i;
}

static void draw_edge(struct drawn *d, hi_node from, hi_node to)
{
	spec_edge(&d->spec, from, to, HI_GRADE_EXACT);
}
#define ROOT(d, i) ((d)->spec.n_objects + (i))

static void solve(struct drawn *d, struct hi_retainer_options o)
{
	struct spec spec = d->spec;

	erase(d);
	d->spec = spec;
	d->graph = spec_build(&d->spec);
	d->reach = reach_of(d->graph);
	d->pool = new_pool();
	d->result = retainers_of(d->graph, d->reach, &d->spec, o, d->pool);
}

/* Bytes of the set with exactly these members, as bits. */
static uint64_t band(const struct drawn *d, uint64_t bits)
{
	const struct hi_set_table *t = &d->result->table;

	for (size_t i = 0; i < t->n_rows; i++)
		if (set_bits(d->pool, t->rows[i].set) == bits)
			return t->rows[i].cost;
	return 0;
}

/*
 *	stk* -> A*(32) -> B*(32) -> C*(32) -> big(4096)
 */
HI_TEST(census_retainers, the_nearest_retainer_alone_counts)
{
	static struct drawn d;
	enum { A, B, C, BIG };

	hi_test_defer(erase, &d);
	draw_nodes(&d, 4, (uint64_t[]){32, 32, 32, 4096}, 1);
	d.spec.identity[A] = 10;
	d.spec.identity[B] = 11;
	d.spec.identity[C] = 12;
	draw_edge(&d, ROOT(&d, 0), A);
	draw_edge(&d, A, B);
	draw_edge(&d, B, C);
	draw_edge(&d, C, BIG);
	solve(&d, (struct hi_retainer_options){});
	HI_ASSERT_EQ(4096, band(&d, BIT(12)));
	HI_ASSERT_EQ(32, band(&d, BIT(11)));
	HI_ASSERT_EQ(32, band(&d, BIT(10)));
	HI_ASSERT_EQ(32, band(&d, BIT(1)));
	/* Up from big: C, B, A, stk. */
	HI_ASSERT_EQ(BIT(12), set_bits(d.pool, d.result->table.set[BIG]));
	HI_ASSERT_EQ(BIT(11), set_bits(d.pool, d.result->table.set[C]));
	HI_ASSERT_EQ(BIT(10), set_bits(d.pool, d.result->table.set[B]));
	HI_ASSERT_EQ(BIT(1), set_bits(d.pool, d.result->table.set[A]));
	HI_ASSERT_EQ(4, d.result->table.n_rows);
}

/*
 *	cache* -> n1(48) -> s(64) -> t(16)
 *	index* -> n2(48) -> s
 */
HI_TEST(census_retainers, object_shared_by_two_retainers_has_both)
{
	static struct drawn d;
	enum { N1, N2, S, T };

	hi_test_defer(erase, &d);
	draw_nodes(&d, 4, (uint64_t[]){48, 48, 64, 16}, 2);
	draw_edge(&d, ROOT(&d, 0), N1);
	draw_edge(&d, ROOT(&d, 1), N2);
	draw_edge(&d, N1, S);
	draw_edge(&d, N2, S);
	draw_edge(&d, S, T);
	solve(&d, (struct hi_retainer_options){});
	HI_ASSERT_EQ(48, band(&d, BIT(1)));
	HI_ASSERT_EQ(48, band(&d, BIT(2)));
	HI_ASSERT_EQ(80, band(&d, BIT(1) | BIT(2)));
	HI_ASSERT_EQ(1, row_of(&d.result->table, d.result->table.set[N1])->objects);
	HI_ASSERT_EQ(2, row_of(&d.result->table, d.result->table.set[S])->objects);
	solve(&d, (struct hi_retainer_options){.max_set = 1});
	HI_ASSERT_EQ(80, band(&d, UINT64_MAX));
	HI_ASSERT_EQ(48, band(&d, BIT(1)));
}

/*
 *	g* -> x -> y -> z -> x (24 each), g -> p(40) <-> T*(56), and a dead ring
 */
HI_TEST(census_retainers, cycles_have_one_set_and_leaks_none)
{
	static struct drawn d;
	enum { X, Y, Z, P, T, U, W };

	hi_test_defer(erase, &d);
	draw_nodes(&d, 7, (uint64_t[]){24, 24, 24, 40, 56, 100, 100}, 1);
	d.spec.identity[T] = 10;
	draw_edge(&d, ROOT(&d, 0), X);
	draw_edge(&d, ROOT(&d, 0), P);
	draw_edge(&d, X, Y);
	draw_edge(&d, Y, Z);
	draw_edge(&d, Z, X);
	draw_edge(&d, P, T);
	draw_edge(&d, T, P);
	draw_edge(&d, U, W);
	draw_edge(&d, W, U);
	solve(&d, (struct hi_retainer_options){});
	HI_ASSERT_EQ(72, band(&d, BIT(1)));
	HI_ASSERT_EQ(96, band(&d, BIT(1) | BIT(10)));
	HI_ASSERT_EQ(168, d.result->table.cost);
	HI_ASSERT_EQ(200, d.reach->leak_bytes);
	HI_ASSERT_EQ(HI_SET_NONE, d.result->table.set[U]);
}

/*
 *	tab* -> s1*(64) -> b1(512), sh(128)
 *	tab* -> s2*(64) -> b2(512), sh
 */
static void draw_sessions(struct drawn *d, uint32_t first, uint32_t second)
{
	enum { S1, S2, B1, B2, SH };

	draw_nodes(d, 5, (uint64_t[]){64, 64, 512, 512, 128}, 1);
	d->spec.identity[S1] = first;
	d->spec.identity[S2] = second;
	draw_edge(d, ROOT(d, 0), S1);
	draw_edge(d, ROOT(d, 0), S2);
	draw_edge(d, S1, B1);
	draw_edge(d, S1, SH);
	draw_edge(d, S2, B2);
	draw_edge(d, S2, SH);
}

HI_TEST(census_retainers, identities_may_be_shared)
{
	static struct drawn d;

	hi_test_defer(erase, &d);
	draw_sessions(&d, 20, 20);
	solve(&d, (struct hi_retainer_options){});
	HI_ASSERT_EQ(128, band(&d, BIT(1)));
	HI_ASSERT_EQ(1152, band(&d, BIT(20)));
	draw_sessions(&d, 21, 22);
	solve(&d, (struct hi_retainer_options){});
	HI_ASSERT_EQ(128, band(&d, BIT(1)));
	HI_ASSERT_EQ(512, band(&d, BIT(21)));
	HI_ASSERT_EQ(512, band(&d, BIT(22)));
	HI_ASSERT_EQ(128, band(&d, BIT(21) | BIT(22)));
}

/*
 *	R1* -> cp(24) -> T*(16), c(16); T -> cp; c -> d(1000); R3* -> d
 * GHC says {R1,T} 1056 for one order of the roots.
 */
HI_TEST(census_retainers, cycle_through_a_retainer_loses_no_object)
{
	static struct drawn d;
	enum { CP, T, C, D };

	hi_test_defer(erase, &d);
	draw_nodes(&d, 4, (uint64_t[]){24, 16, 16, 1000}, 2);
	d.spec.identity[T] = 10;
	draw_edge(&d, ROOT(&d, 0), CP);
	draw_edge(&d, CP, T);
	draw_edge(&d, CP, C);
	draw_edge(&d, T, CP);
	draw_edge(&d, C, D);
	draw_edge(&d, ROOT(&d, 1), D);
	solve(&d, (struct hi_retainer_options){});
	HI_ASSERT_EQ(56, band(&d, BIT(1) | BIT(10)));
	HI_ASSERT_EQ(1000, band(&d, BIT(1) | BIT(2) | BIT(10)));
}

/*
 *	a*, b* -> q(40) -> o(500); c*, d* -> o
 */
HI_TEST(census_retainers, large_sets_become_many_and_keep_their_bytes)
{
	static struct drawn d;
	struct hi_set_total sum, many;
	struct hi_error err;
	enum { Q, O };

	hi_test_defer(erase, &d);
	draw_nodes(&d, 2, (uint64_t[]){40, 500}, 4);
	draw_edge(&d, ROOT(&d, 0), Q);
	draw_edge(&d, ROOT(&d, 1), Q);
	draw_edge(&d, ROOT(&d, 2), O);
	draw_edge(&d, ROOT(&d, 3), O);
	draw_edge(&d, Q, O);
	solve(&d, (struct hi_retainer_options){.max_set = 2});
	HI_ASSERT_EQ(40, band(&d, BIT(1) | BIT(2)));
	HI_ASSERT_EQ(500, band(&d, UINT64_MAX));
	HI_ASSERT_OK(hi_set_table_total(&d.result->table, d.pool, HI_SETS_ANY,
					(uint32_t[]){1}, 1, &sum, &many, &err),
		     &err);
	HI_ASSERT_EQ(40, sum.cost);
	HI_ASSERT_EQ(500, many.cost);
	solve(&d, (struct hi_retainer_options){.max_set = 4});
	HI_ASSERT_EQ(40, band(&d, BIT(1) | BIT(2)));
	HI_ASSERT_EQ(500, band(&d, BIT(1) | BIT(2) | BIT(3) | BIT(4)));
}

/*
 *	r* -> a(32) -> c(64) <-> d(128); r -> b(32) -> c, e(16)
 */
HI_TEST(census_retainers, one_root_holds_what_many_dominate)
{
	static struct drawn d;
	enum { A, B, C, D, E };
	static const uint64_t retained[] = {32, 48, 192, 128, 16};
	static const uint64_t reachable[] = {224, 240, 192, 192, 16};

	hi_test_defer(erase, &d);
	draw_nodes(&d, 5, (uint64_t[]){32, 32, 64, 128, 16}, 1);
	draw_edge(&d, ROOT(&d, 0), A);
	draw_edge(&d, ROOT(&d, 0), B);
	draw_edge(&d, A, C);
	draw_edge(&d, B, C);
	draw_edge(&d, B, E);
	draw_edge(&d, C, D);
	draw_edge(&d, D, C);
	solve(&d, (struct hi_retainer_options){});
	HI_ASSERT_EQ(272, band(&d, BIT(1)));
	HI_ASSERT_EQ(1, d.result->table.n_rows);
	{
		OWN(dominators) *tree = dominators_of(d.graph, d.reach);

		for (hi_node i = A; i <= E; i++) {
			uint64_t set = spec_closure(&d.spec, BIT(i), HI_GRADE_WEAK);
			uint64_t bytes = 0;

			for (hi_node k = A; k <= E; k++)
				bytes += HAS(set, k) ? d.spec.objects[k].cost : 0;
			HI_ASSERT_EQ(retained[i], tree->retained[i]);
			HI_ASSERT_EQ(reachable[i], bytes);
		}
	}
}

/* reg (no identity) -> a(32); g* -> b(48), b ~weak~> c(64) -> a */
HI_TEST(census_retainers, system_and_weak_are_identities_of_their_own)
{
	static struct drawn d;
	enum { A, B, C };

	hi_test_defer(erase, &d);
	draw_nodes(&d, 3, (uint64_t[]){32, 48, 64}, 2);
	d.spec.identity[ROOT(&d, 0)] = 0;
	draw_edge(&d, ROOT(&d, 0), A);
	draw_edge(&d, ROOT(&d, 1), B);
	spec_edge(&d.spec, B, C, HI_GRADE_WEAK);
	draw_edge(&d, C, A);
	solve(&d, (struct hi_retainer_options){});
	HI_ASSERT_EQ(32, band(&d, BIT(SYSTEM)));
	HI_ASSERT_EQ(48, band(&d, BIT(2)));
	HI_ASSERT_EQ(80, d.result->table.cost);
	HI_ASSERT_EQ(64, d.reach->leak_bytes);
	solve(&d, (struct hi_retainer_options){.weak = WEAK});
	HI_ASSERT_EQ(32, band(&d, BIT(SYSTEM) | BIT(WEAK)));
	HI_ASSERT_EQ(64, band(&d, BIT(WEAK)));
	HI_ASSERT_EQ(144, d.result->table.cost);
	HI_ASSERT_EQ(1, d.result->weak_objects);
	HI_ASSERT_EQ(64, d.result->weak_cost);
}

HI_TEST(census_retainers, identities_must_be_given)
{
	static struct drawn d;
	struct hi_retainer_options o = {.system = 1};
	struct hi_error err;

	hi_test_defer(erase, &d);
	draw_sessions(&d, 1, 2);
	solve(&d, (struct hi_retainer_options){});
	HI_ASSERT_STATUS(HI_USAGE, hi_retainers_compute(d.graph, d.reach, &o, d.pool,
							&d.result, &err));
	o = (struct hi_retainer_options){.identities = d.spec.identity};
	HI_ASSERT_STATUS(HI_USAGE, hi_retainers_compute(d.graph, d.reach, &o, d.pool,
							&d.result, &err));
}

/* ---- the visiting algorithm ---- */

struct naive {
	const struct spec *spec;
	const struct hi_retainer_options *options;
	uint64_t exact, alive;
	uint64_t set[SPEC_NODES];
	struct {
		hi_node node;
		uint32_t from;
	} stack[1 << 14];
	size_t depth;
};

static bool follows(const struct naive *n, const struct spec_edge *e)
{
	if (n->options->prefer_precise && HAS(n->exact, e->to))
		return HAS(n->exact, e->from) && e->grade <= HI_GRADE_INTERIOR;
	return e->grade != HI_GRADE_WEAK;
}

static void visit_later(struct naive *n, hi_node node, uint32_t from)
{
	HI_ASSERT(n->depth < sizeof(n->stack) / sizeof(n->stack[0]));
	n->stack[n->depth].node = node;
	n->stack[n->depth++].from = from;
}

static void visit_children(struct naive *n, hi_node node, uint32_t from)
{
	for (uint32_t e = 0; e < n->spec->n_edges; e++)
		if (n->spec->edges[e].from == node && follows(n, &n->spec->edges[e]))
			visit_later(n, n->spec->edges[e].to, from);
}

/* retain(c, r) */
static void visit_all(struct naive *n)
{
	while (n->depth) {
		hi_node c = n->stack[--n->depth].node;
		uint32_t r = n->stack[n->depth].from;

		n->alive |= BIT(c);
		if (HAS(n->set[c], r))
			continue;
		n->set[c] |= BIT(r);
		visit_children(n, c, n->spec->identity[c] ? n->spec->identity[c] : r);
	}
}

static void visit_weak(struct naive *n)
{
	uint64_t before;

	do {
		before = n->alive;
		for (uint32_t e = 0; e < n->spec->n_edges; e++) {
			const struct spec_edge *d = &n->spec->edges[e];

			if (d->grade == HI_GRADE_WEAK && HAS(n->alive, d->from) &&
			    !(n->options->prefer_precise && HAS(n->exact, d->to)))
				visit_later(n, d->to, n->options->weak);
		}
		visit_all(n);
	} while (n->alive != before);
}

static void cap(struct naive *n)
{
	for (uint32_t i = 0; i < n->spec->n_objects; i++)
		if (n->options->max_set &&
		    (uint32_t)__builtin_popcountll(n->set[i]) > n->options->max_set)
			n->set[i] = UINT64_MAX;
}

static void naive_solve(struct naive *n, const struct spec *s,
			const struct hi_retainer_options *o)
{
	uint64_t extra = spec_extra(s);

	memset(n, 0, sizeof(*n));
	n->spec = s;
	n->options = o;
	n->exact = spec_reach(s, HI_GRADE_INTERIOR);
	n->alive = (BIT(s->n_roots) - 1) << s->n_objects;
	for (hi_node i = 0; i < s->n_objects + s->n_roots; i++) {
		uint32_t identity = s->identity[i] ? s->identity[i] : SYSTEM;

		if (i >= s->n_objects)
			visit_children(n, i, identity);
		else if (HAS(extra, i))
			visit_later(n, i, identity);
	}
	visit_all(n);
	if (o->weak)
		visit_weak(n);
	cap(n);
}

static struct hi_retainer_options random_options(void)
{
	return (struct hi_retainer_options){
		.max_set = random_below(spec_random(), 3)
				   ? 0
				   : 1 + random_below(spec_random(), 4),
		.weak = random_below(spec_random(), 3) ? 0 : WEAK,
		.prefer_precise = random_below(spec_random(), 3) == 0,
	};
}

static void seed_random(uint64_t seed)
{
	*spec_random() = (seed + 1) * 0x9e3779b97f4a7c15;
}

static void check_visiting(uint64_t first, uint64_t end)
{
	static struct naive n;
	static struct spec s;
	HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *pool = new_pool();

	for (uint64_t seed = first; seed < end; seed++) {
		struct hi_retainer_options o;
		OWN(graph) *g = NULL;
		OWN(reach) *r = NULL;
		OWN(retainers) *t = NULL;

		seed_random(seed);
		spec_draw_random(&s, IDENTITIES);
		o = random_options();
		g = spec_build(&s);
		r = reach_of(g);
		t = retainers_of(g, r, &s, o, pool);
		naive_solve(&n, &s, &o);
		check_table(&s, &t->table, pool, n.set);
		HI_ASSERT_EQ(r->live_objects + t->weak_objects, t->table.objects);
		HI_ASSERT_EQ(r->live_bytes + t->weak_cost, t->table.cost);
		HI_ASSERT(o.weak || !t->weak_objects);
	}
}

HI_TEST(census_retainers, sets_equal_the_visiting_algorithm)
{
	check_visiting(0, 3000);
}

HI_TEST_SLOW(census_retainers, sets_equal_the_visiting_algorithm_on_25000_graphs)
{
	check_visiting(3000, 28000);
}

/* Numbers too: a fresh pool has to number the same sets in the same way. */
HI_TEST_SLOW(census_retainers, order_of_roots_fields_and_addresses_does_not_matter)
{
	static struct spec s, other;
	hi_node map[SPEC_NODES];

	for (uint64_t seed = 0; seed < 25000; seed++) {
		HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *a = new_pool();
		HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *b = new_pool();
		struct hi_retainer_options o;
		OWN(graph) *g = NULL, *h = NULL;
		OWN(reach) *rg = NULL, *rh = NULL;
		OWN(retainers) *tg = NULL, *th = NULL;

		seed_random(seed + 1000000);
		spec_draw_random(&s, IDENTITIES);
		spec_shuffle(&s, &other, map);
		o = random_options();
		g = spec_build(&s);
		h = spec_build(&other);
		rg = reach_of(g);
		rh = reach_of(h);
		tg = retainers_of(g, rg, &s, o, a);
		th = retainers_of(h, rh, &other, o, b);
		for (hi_node i = 0; i < s.n_objects; i++)
			HI_ASSERT_EQ(tg->table.set[i], th->table.set[map[i]]);
		HI_ASSERT_EQ(tg->table.n_rows, th->table.n_rows);
		for (size_t i = 0; i < tg->table.n_rows; i++) {
			HI_ASSERT(memcmp(&tg->table.rows[i], &th->table.rows[i],
					 sizeof(tg->table.rows[i])) == 0);
			HI_ASSERT_EQ(set_bits(a, tg->table.rows[i].set),
				     set_bits(b, th->table.rows[i].set));
		}
	}
}

static uint64_t coarse(uint64_t bits)
{
	uint64_t ret = 0;

	for (uint32_t i = 0; i < 64; i++)
		if (HAS(bits, i))
			ret |= BIT(i < IDENTITIES ? 1 + i % 3 : i);
	return ret;
}

HI_TEST_SLOW(census_retainers, coarser_identities_give_coarser_sets)
{
	static struct spec s;
	HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *pool = new_pool();

	for (uint64_t seed = 0; seed < 25000; seed++) {
		struct hi_retainer_options o;
		OWN(graph) *g = NULL;
		OWN(reach) *r = NULL;
		OWN(retainers) *fine = NULL, *rough = NULL;

		seed_random(seed + 2000000);
		spec_draw_random(&s, IDENTITIES);
		o = random_options();
		o.max_set = 0;
		g = spec_build(&s);
		r = reach_of(g);
		fine = retainers_of(g, r, &s, o, pool);
		for (hi_node i = 0; i < s.n_objects + s.n_roots; i++)
			s.identity[i] = s.identity[i] ? 1 + s.identity[i] % 3 : 0;
		rough = retainers_of(g, r, &s, o, pool);
		for (hi_node i = 0; i < s.n_objects; i++)
			HI_ASSERT_EQ(coarse(set_bits(pool, fine->table.set[i])),
				     set_bits(pool, rough->table.set[i]));
	}
}

/* ---- series, failures, size ---- */

HI_TEST(census_retainers, numbers_keep_their_meaning_in_a_series)
{
	static struct spec s;
	HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *pool = new_pool();
	static uint64_t meaning[1 << 16];
	uint32_t known = HI_SET_FIRST;

	for (uint64_t census = 0; census < 500; census++) {
		OWN(graph) *g = NULL;
		OWN(reach) *r = NULL;
		OWN(retainers) *t = NULL;

		seed_random(census + 3000000);
		spec_draw_random(&s, IDENTITIES);
		g = spec_build(&s);
		r = reach_of(g);
		t = retainers_of(g, r, &s, (struct hi_retainer_options){}, pool);
		for (uint32_t set = HI_SET_FIRST; set < known; set++)
			HI_ASSERT_EQ(meaning[set], set_bits(pool, set));
		for (; known < hi_set_pool_end(pool); known++) {
			HI_ASSERT(known < sizeof(meaning) / sizeof(meaning[0]));
			meaning[known] = set_bits(pool, known);
			/* Only sets that an object has are numbered. */
			HI_ASSERT(row_of(&t->table, known));
		}
	}
	HI_ASSERT(known > 100);
}

/* No object waits twice at one time. */
HI_TEST(census_retainers, the_work_list_is_bounded_by_the_objects)
{
	static struct spec s;
	HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *pool = new_pool();
	struct hi_retainer_options o = {
		.weak = WEAK, .system = SYSTEM, .identities = s.identity};
	struct hi_error err;
	uint64_t most = 0;

	for (uint64_t seed = 0; seed < 200; seed++) {
		OWN(graph) *g = NULL;
		OWN(reach) *r = NULL;
		OWN(retainers) *t = NULL;

		seed_random(seed);
		spec_draw_random(&s, IDENTITIES);
		g = spec_build(&s);
		r = reach_of(g);
		HI_ASSERT_OK(hi_retainers_compute(g, r, &o, pool, &t, &err), &err);
		HI_ASSERT(t->waiting <= g->n_objects);
		most = t->waiting > most ? t->waiting : most;
	}
	HI_ASSERT(most > 1);
}

HI_TEST(census_retainers, every_failed_allocation_is_reported)
{
	static struct spec s;
	static struct naive n;
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	enum hi_status status = HI_NO_MEMORY;
	struct hi_retainer_options o = {
		.weak = WEAK, .system = SYSTEM, .identities = s.identity};
	HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *pool = NULL;
	HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *old = new_pool();
	struct hi_error err;
	uint64_t nth;

	/* One that is walked twice. */
	for (uint64_t seed = 0;; seed++) {
		OWN(retainers) *t = NULL;

		hi_reach_destroy(r);
		hi_graph_destroy(g);
		seed_random(seed);
		spec_draw_random(&s, IDENTITIES);
		g = spec_build(&s);
		r = reach_of(g);
		HI_ASSERT_OK(hi_retainers_compute(g, r, &o, old, &t, &err), &err);
		if (t->revisited > 8 && t->table.n_rows > 5)
			break;
	}
	for (nth = 1; status != HI_OK && nth < 200; nth++) {
		OWN(retainers) *t = NULL;

		hi_set_pool_destroy(hi_take(pool));
		hi_alloc_fail_at(nth);
		status = hi_set_pool_create(&pool, &err);
		if (status == HI_OK)
			status = hi_retainers_compute(g, r, &o, pool, &t, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
		if (status == HI_OK || !pool)
			continue;
		/* The pool is as good as before. */
		HI_ASSERT_OK(hi_retainers_compute(g, r, &o, pool, &t, &err), &err);
		naive_solve(&n, &s, &o);
		check_table(&s, &t->table, pool, n.set);
	}
	HI_ASSERT_EQ(HI_OK, status);
	HI_ASSERT(nth > 15);
}
