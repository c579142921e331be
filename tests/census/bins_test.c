/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sharing bins: worked examples, and the published algorithm that moves sizes
 * from bin to bin on thousands of random graphs.
 */
#include "base/alloc.h"
#include "census/retainers/bins.h"
#include "tests/census/set_spec.h"

enum { MAX_NAMES = 6 };

/* A graph with names; identity i + 1 is the i-th name. */
struct named {
	struct spec spec;
	uint32_t n_names;
	hi_node start[MAX_NAMES];
	bool reversed; /* give the names in the other order */
	struct hi_graph *graph;
	struct hi_reach *reach;
	struct hi_set_pool *pool;
	struct hi_bins *bins;
};

static void erase(struct named *d)
{
	hi_bins_destroy(d->bins);
	hi_set_pool_destroy(d->pool);
	hi_reach_destroy(d->reach);
	hi_graph_destroy(d->graph);
	*d = (struct named){};
}

static void draw_nodes(struct named *d, uint32_t n, const uint64_t *costs)
{
	erase(d);
	d->spec.n_objects = n;
	for (uint32_t i = 0; i < n; i++)
		d->spec.objects[i].cost = costs[i];
}

static void draw_edges(struct named *d, hi_node from, size_t n, const hi_node *to)
{
	for (size_t i = 0; i < n; i++)
		spec_edge(&d->spec, from, to[i], HI_GRADE_EXACT);
}
#define EDGES(d, from, ...)                                                              \
	draw_edges(d, from, sizeof((hi_node[]){__VA_ARGS__}) / sizeof(hi_node),          \
		   (hi_node[]){__VA_ARGS__})

static void draw_name(struct named *d, hi_node start)
{
	HI_ASSERT(d->n_names < MAX_NAMES);
	d->start[d->n_names++] = start;
}

static struct hi_bins *bins_of(struct named *d, uint32_t n_names, bool precise)
{
	struct hi_bin_root roots[MAX_NAMES] = {};
	struct hi_bins *bins;
	struct hi_error err;

	for (uint32_t i = 0; i < n_names; i++)
		roots[d->reversed ? n_names - 1 - i : i] = (struct hi_bin_root){
			.identity = i + 1, .nodes = &d->start[i], .n_nodes = 1};
	HI_ASSERT_OK(hi_bins_compute(d->graph, d->reach,
				     &(struct hi_bin_options){.roots = roots,
							      .n_roots = n_names,
							      .precise = precise},
				     d->pool, &bins, &err),
		     &err);
	return bins;
}

static void solve(struct named *d)
{
	d->graph = spec_build(&d->spec);
	d->reach = reach_of(d->graph);
	d->pool = new_pool();
	d->bins = bins_of(d, d->n_names, false);
}

static uint64_t bin(const struct named *d, const struct hi_bins *bins, uint64_t bits)
{
	for (size_t i = 0; i < bins->table.n_rows; i++)
		if (set_bits(d->pool, bins->table.rows[i].set) == bits)
			return bins->table.rows[i].cost;
	return 0;
}

static uint64_t all_costs(const struct spec *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->n_objects; i++)
		if (!(s->objects[i].flags & HI_OBJECT_INTERNAL))
			sum += s->objects[i].cost;
	return sum;
}

enum { N1 = 2, N2 = 4, N3 = 8, N4 = 16 }; /* bits of the identities 1, 2, 3, 4 */

/*
 *	hsc(32) -> eps(32) -> x, y, e
 *	hsc -> fc(40) -> x, y, z, f
 *	hsc -> oth(32) -> x, z, t; all the letters 16
 */
static void draw_compiler(struct named *d, const hi_node *names)
{
	enum { HSC, EPS, FC, OTH, X, Y, Z, E, F, T };

	draw_nodes(d, 10, (uint64_t[]){32, 32, 40, 32, 16, 16, 16, 16, 16, 16});
	EDGES(d, HSC, EPS, FC, OTH);
	EDGES(d, EPS, X, Y, E);
	EDGES(d, FC, X, Y, Z, F);
	EDGES(d, OTH, X, Z, T);
	d->spec.n_roots = 1;
	spec_edge(&d->spec, d->spec.n_objects, HSC, HI_GRADE_EXACT);
	for (int i = 0; i < 3; i++)
		draw_name(d, names[i]);
	solve(d);
}

HI_TEST(census_bins, fields_of_a_record_and_what_they_share)
{
	static const hi_node orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	static struct named d;

	hi_test_defer(erase, &d);
	for (int i = 0; i < 6; i++) {
		uint64_t bit[3];

		draw_compiler(&d, orders[i]);
		for (uint32_t k = 0; k < 3; k++)
			bit[orders[i][k]] = BIT(k + 1);
		HI_ASSERT_EQ(80, bin(&d, d.bins, bit[0]));
		HI_ASSERT_EQ(0, bin(&d, d.bins, bit[1]));
		HI_ASSERT_EQ(0, bin(&d, d.bins, bit[2]));
		HI_ASSERT_EQ(48, bin(&d, d.bins, bit[0] | bit[1]));
		HI_ASSERT_EQ(72, bin(&d, d.bins, bit[0] | bit[2]));
		HI_ASSERT_EQ(32, bin(&d, d.bins, bit[0] | bit[1] | bit[2]));
		HI_ASSERT_EQ(232, d.bins->table.cost);
		HI_ASSERT_EQ(0, d.bins->noroot.cost + d.bins->leak.cost);
	}
}

static uint64_t chosen(const struct named *d, enum hi_set_choice choice, uint32_t n,
		       const uint32_t *names)
{
	const struct hi_set_table *t = &d->bins->table;
	struct hi_set_total sum;
	struct hi_error err;
	uint64_t bits = 0, cost = 0;

	HI_ASSERT_OK(hi_set_table_total(t, d->pool, choice, names, n, &sum, NULL, &err),
		     &err);
	HI_ASSERT_OK(hi_set_table_mark(t, d->pool, choice, names, n, &bits, &err), &err);
	for (uint32_t i = 0; i < d->spec.n_objects; i++)
		cost += HAS(bits, i) ? d->spec.objects[i].cost : 0;
	HI_ASSERT_EQ(sum.cost, cost);
	HI_ASSERT_EQ(sum.objects, __builtin_popcountll(bits));
	return cost;
}

HI_TEST(census_bins, names_can_be_joined_and_restrict)
{
	static struct named d;

	hi_test_defer(erase, &d);
	draw_compiler(&d, (hi_node[]){0, 1, 2});
	HI_ASSERT_EQ(232, chosen(&d, HI_SETS_ANY, 1, (uint32_t[]){1}));
	HI_ASSERT_EQ(80, chosen(&d, HI_SETS_ONLY, 1, (uint32_t[]){1}));
	HI_ASSERT_EQ(80, chosen(&d, HI_SETS_ANY, 1, (uint32_t[]){2}));
	HI_ASSERT_EQ(152, chosen(&d, HI_SETS_ANY, 2, (uint32_t[]){2, 3}));
	HI_ASSERT_EQ(32, chosen(&d, HI_SETS_ALL, 2, (uint32_t[]){2, 3}));
	HI_ASSERT_EQ(32, chosen(&d, HI_SETS_ALL, 3, (uint32_t[]){2, 3, 2}));
	HI_ASSERT_EQ(128, chosen(&d, HI_SETS_ONLY, 2, (uint32_t[]){1, 2}));
	HI_ASSERT_EQ(0, chosen(&d, HI_SETS_ONLY, 2, (uint32_t[]){2, 3}));
	HI_ASSERT_EQ(0, chosen(&d, HI_SETS_ANY, 1, (uint32_t[]){9}));
	HI_ASSERT_EQ(0, chosen(&d, HI_SETS_ANY, 0, NULL));
}

/*
 * In words; a leaf has 2, one field 3, three fields 5.
 *	1000 -> 1001, 1002 -> 1003, 1004
 *	1100 -> 1101 -> 1102 -> 1103; 1100 -> 1102, 1104
 *	2000 -> 2001, 2002 -> 2003 -> 2004 -> 2005, 2006, 2007; 2000 -> 2008
 */
HI_TEST(census_bins, a_root_below_another_and_a_tree_without_name)
{
	static struct named d;
	enum { A, A1, A2, A3, A4, B, B1, B2, B3, B4, C, C1, C2, C3, C4, C5, C6, C7, C8 };

	hi_test_defer(erase, &d);
	draw_nodes(&d, 19,
		   (uint64_t[]){5, 2, 3, 2, 2, 5, 3, 3, 2, 2, 5, 2, 3, 3, 5, 2, 2, 2, 2});
	EDGES(&d, A, A1, A2, A4);
	EDGES(&d, A2, A3);
	EDGES(&d, B, B1, B2, B4);
	EDGES(&d, B1, B2);
	EDGES(&d, B2, B3);
	EDGES(&d, C, C1, C2, C8);
	EDGES(&d, C2, C3);
	EDGES(&d, C3, C4);
	EDGES(&d, C4, C5, C6, C7);
	d.spec.n_roots = 1;
	spec_edge(&d.spec, d.spec.n_objects, C, HI_GRADE_EXACT);
	draw_name(&d, A);
	draw_name(&d, B);
	draw_name(&d, B2);
	solve(&d);
	HI_ASSERT_EQ(14, bin(&d, d.bins, N1));
	HI_ASSERT_EQ(10, bin(&d, d.bins, N2));
	HI_ASSERT_EQ(5, bin(&d, d.bins, N2 | N3));
	HI_ASSERT_EQ(26, d.bins->noroot.cost);
	/* Only names lead to A and B. */
	HI_ASSERT_EQ(14, row_of(&d.bins->table, d.bins->table.set[A])->leak_cost);
	HI_ASSERT_EQ(0, d.bins->leak.cost);
}

/*
 * x1(3) -> w1(2), x2(3) -> w2(2), x3 -> … -> x7(2); each x has a name.
 */
HI_TEST(census_bins, suffixes_of_a_list)
{
	static struct named d;
	struct hi_bin_root roots[7] = {};
	static const hi_node starts[7] = {0, 2, 4, 6, 8, 10, 12};
	struct hi_error err;

	hi_test_defer(erase, &d);
	draw_nodes(&d, 13, (uint64_t[]){3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 2});
	for (hi_node i = 0; i < 6; i++)
		EDGES(&d, 2 * i, 2 * i + 1, 2 * i + 2);
	solve(&d);
	hi_bins_destroy(hi_take(d.bins));
	for (uint32_t i = 0; i < 7; i++)
		roots[i] = (struct hi_bin_root){
			.identity = i + 1, .nodes = &starts[i], .n_nodes = 1};
	HI_ASSERT_OK(
		hi_bins_compute(d.graph, d.reach,
				&(struct hi_bin_options){roots, 7, false, NULL, NULL},
				d.pool, &d.bins, &err),
		&err);
	for (uint32_t i = 1; i <= 7; i++)
		HI_ASSERT_EQ(i == 7 ? 2 : 5, bin(&d, d.bins, (BIT(i) - 1) << 1));
	HI_ASSERT_EQ(7, d.bins->table.n_rows);
	HI_ASSERT_EQ(0, d.bins->noroot.cost);
}

static struct hi_graph *draw_chain(const struct object_spec *specs, uint32_t n)
{
	struct hi_graph_builder *b = builder_of(specs, n, 1);

	for (hi_node i = 0; i + 1 < n; i++)
		edge(b, i, i + 1, HI_GRADE_EXACT);
	return sealed(b);
}

/*
 * 0 -> 1 -> … -> 99, object i costs 16 (i + 1), each one has a name: object i is under
 * the names of all up to it. More names than any word has bits.
 */
HI_TEST(census_bins, a_hundred_names_on_a_chain)
{
	enum { LENGTH = 100 };
	static struct named d;
	struct hi_bin_root roots[LENGTH] = {};
	static hi_node starts[LENGTH];
	struct object_spec specs[LENGTH] = {};
	bool seen[LENGTH] = {};
	struct hi_error err;

	hi_test_defer(erase, &d);
	for (uint32_t i = 0; i < LENGTH; i++) {
		specs[i].cost = 16 * (i + 1);
		starts[i] = i;
		roots[i] = (struct hi_bin_root){
			.identity = i + 1, .nodes = &starts[i], .n_nodes = 1};
	}
	d.graph = draw_chain(specs, LENGTH);
	d.reach = reach_of(d.graph);
	d.pool = new_pool();
	HI_ASSERT_OK(hi_bins_compute(
			     d.graph, d.reach,
			     &(struct hi_bin_options){roots, LENGTH, false, NULL, NULL},
			     d.pool, &d.bins, &err),
		     &err);
	HI_ASSERT_EQ(LENGTH, d.bins->table.n_rows);
	for (size_t i = 0; i < LENGTH; i++) {
		const struct hi_set_row *row = &d.bins->table.rows[i];
		uint32_t members[LENGTH], n = hi_set_size(d.pool, row->set);

		HI_ASSERT(n >= 1 && n <= LENGTH && !seen[n - 1]);
		seen[n - 1] = true;
		HI_ASSERT_EQ(16 * n, row->cost);
		hi_set_members(d.pool, row->set, members);
		for (uint32_t k = 0; k < n; k++)
			HI_ASSERT_EQ(k + 1, members[k]);
	}
	HI_ASSERT_EQ(0, d.bins->noroot.cost + d.bins->leak.cost);
}

/*
 * ra(16) -> c1; rb(16) -> c3, only(8); c1 -> c2 -> c3 -> c1 (32 each); k1(100) <-> k2(50)
 */
HI_TEST(census_bins, a_cycle_between_two_names_and_a_dead_ring)
{
	static struct named d;
	enum { RA, RB, C1, C2, C3, ONLY, K1, K2 };

	hi_test_defer(erase, &d);
	draw_nodes(&d, 8, (uint64_t[]){16, 16, 32, 32, 32, 8, 100, 50});
	EDGES(&d, RA, C1);
	EDGES(&d, RB, C3, ONLY);
	EDGES(&d, C1, C2);
	EDGES(&d, C2, C3);
	EDGES(&d, C3, C1);
	EDGES(&d, K1, K2);
	EDGES(&d, K2, K1);
	draw_name(&d, RA);
	draw_name(&d, RB);
	solve(&d);
	HI_ASSERT_EQ(16, bin(&d, d.bins, N1));
	HI_ASSERT_EQ(24, bin(&d, d.bins, N2));
	HI_ASSERT_EQ(96, bin(&d, d.bins, N1 | N2));
	HI_ASSERT_EQ(150, d.bins->leak.cost);
	HI_ASSERT_EQ(2, d.bins->leak.objects);
}

/* g -> a(32) -> b(48); names by variable, by address inside, and by a null pointer. */
HI_TEST(census_bins, names_start_at_variables_addresses_or_nowhere)
{
	static struct named d;
	enum { A, B };
	struct hi_bin_root roots[3] = {{.identity = 7}, {.identity = 8}, {.identity = 9}};
	struct hi_bin_options o = {.roots = roots, .n_roots = 3};
	uint64_t addresses[2] = {};
	hi_node variable = 2;
	struct hi_error err;

	hi_test_defer(erase, &d);
	draw_nodes(&d, 2, (uint64_t[]){32, 48});
	EDGES(&d, A, B);
	d.spec.n_roots = 1;
	spec_edge(&d.spec, variable, A, HI_GRADE_EXACT);
	solve(&d);
	hi_bins_destroy(hi_take(d.bins));
	roots[0].nodes = &variable;
	roots[0].n_nodes = 1;
	addresses[0] = hi_objects_address(d.graph->objects, B) + 17;
	roots[1].addresses = addresses;
	roots[1].n_addresses = 2;
	HI_ASSERT_OK(hi_bins_compute(d.graph, d.reach, &o, d.pool, &d.bins, &err), &err);
	HI_ASSERT_EQ(32, bin(&d, d.bins, BIT(7)));
	HI_ASSERT_EQ(48, bin(&d, d.bins, BIT(7) | BIT(8)));
	HI_ASSERT_EQ(0, d.bins->missed[0]);
	HI_ASSERT_EQ(1, d.bins->missed[1]);
	HI_ASSERT_EQ(0, d.bins->missed[2]);
	hi_bins_destroy(hi_take(d.bins));
	roots[2].identity = 0;
	HI_ASSERT_STATUS(HI_USAGE,
			 hi_bins_compute(d.graph, d.reach, &o, d.pool, &d.bins, &err));
	roots[2].identity = 9;
	variable = d.graph->super_root;
	HI_ASSERT_STATUS(HI_USAGE,
			 hi_bins_compute(d.graph, d.reach, &o, d.pool, &d.bins, &err));
}

/* ---- the algorithm that moves ---- */

struct moving {
	const struct spec *spec;
	int worst;
	uint64_t mask[SPEC_NODES], sizes[1 << (MAX_NAMES + 1)];
	hi_node stack[1 << 12];
	size_t depth;
};

static void push_children(struct moving *m, hi_node node)
{
	for (uint32_t e = 0; e < m->spec->n_edges; e++)
		if (m->spec->edges[e].from == node &&
		    m->spec->edges[e].grade <= m->worst) {
			HI_ASSERT(m->depth < sizeof(m->stack) / sizeof(m->stack[0]));
			m->stack[m->depth++] = m->spec->edges[e].to;
		}
}

static void move_name(struct moving *m, hi_node start, uint64_t bit)
{
	if (start < m->spec->n_objects)
		m->stack[m->depth++] = start;
	else
		push_children(m, start);
	while (m->depth) {
		hi_node c = m->stack[--m->depth];
		const struct object_spec *o = &m->spec->objects[c];
		uint64_t size = o->flags & HI_OBJECT_INTERNAL ? 0 : o->cost;

		if (m->mask[c] & bit)
			continue;
		if (m->mask[c])
			m->sizes[m->mask[c]] -= size;
		m->mask[c] |= bit;
		m->sizes[m->mask[c]] += size;
		push_children(m, c);
	}
}

static void move_all(struct moving *m, const struct named *d, bool precise)
{
	memset(m, 0, sizeof(*m));
	m->spec = &d->spec;
	m->worst = precise ? HI_GRADE_INTERIOR : HI_GRADE_CONSERVATIVE;
	for (uint32_t i = 0; i < d->n_names; i++)
		move_name(m, d->start[i], BIT(i + 1));
}

static void check_rest(const struct named *d, const struct hi_bins *bins,
		       const uint64_t *mask)
{
	uint64_t live = spec_reach(&d->spec, HI_GRADE_CONSERVATIVE), noroot = 0, leak = 0;
	uint64_t internal = spec_internal(&d->spec);

	for (uint32_t i = 0; i < d->spec.n_objects; i++)
		if (!mask[i] && !HAS(internal, i))
			*(HAS(live, i) ? &noroot : &leak) += d->spec.objects[i].cost;
	HI_ASSERT_EQ(noroot, bins->noroot.cost);
	HI_ASSERT_EQ(leak, bins->leak.cost);
	HI_ASSERT_EQ(all_costs(&d->spec),
		     bins->table.cost + bins->noroot.cost + bins->leak.cost);
}

static void draw_random(struct named *d, uint64_t seed)
{
	erase(d);
	*spec_random() = (seed + 1) * 0x9e3779b97f4a7c15;
	spec_draw_random(&d->spec, 4);
	for (uint32_t i = 1 + random_below(spec_random(), MAX_NAMES); i; i--)
		draw_name(d, random_below(spec_random(),
					  d->spec.n_objects + d->spec.n_roots));
}

/* Only bins of some names. */
static void check_kept(const struct named *d, const struct moving *m)
{
	uint64_t kept = 0, sum = 0;
	uint32_t names[2];

	for (size_t i = 0; i < 2; i++) {
		names[i] = 1 + random_below(spec_random(), d->n_names);
		kept |= BIT(names[i]);
	}
	hi_bins_restrict(d->bins, d->pool, names, 2);
	for (uint64_t bits = 2; bits < 1u << (d->n_names + 1); bits += 2) {
		uint64_t size = bits & kept ? m->sizes[bits] : 0;

		HI_ASSERT_EQ(size, bin(d, d->bins, bits));
		sum += size;
	}
	HI_ASSERT_EQ(sum, d->bins->table.cost);
	HI_ASSERT_EQ(0, d->bins->noroot.objects + d->bins->leak.objects);
}

static void check_moving(uint64_t first, uint64_t end)
{
	static struct moving m;
	static struct named d;

	hi_test_defer(erase, &d);
	for (uint64_t seed = first; seed < end; seed++) {
		bool precise;

		draw_random(&d, seed);
		precise = random_below(spec_random(), 3) == 0;
		solve(&d);
		hi_bins_destroy(hi_take(d.bins));
		d.bins = bins_of(&d, d.n_names, precise);
		move_all(&m, &d, precise);
		check_table(&d.spec, &d.bins->table, d.pool, m.mask);
		for (uint64_t bits = 2; bits < 1u << (d.n_names + 1); bits += 2)
			HI_ASSERT_EQ(m.sizes[bits], bin(&d, d.bins, bits));
		check_rest(&d, d.bins, m.mask);
		check_kept(&d, &m);
	}
}

HI_TEST(census_bins, bins_equal_the_algorithm_that_moves)
{
	check_moving(0, 3000);
}

HI_TEST_SLOW(census_bins, bins_equal_the_algorithm_that_moves_on_25000_graphs)
{
	check_moving(3000, 28000);
}

/* Each old bin is the sum of the new ones that lose the new name to become it. */
HI_TEST_SLOW(census_bins, a_further_name_splits_bins)
{
	static struct named d;

	hi_test_defer(erase, &d);
	for (uint64_t seed = 0; seed < 25000; seed++) {
		HI_GUARD(hi_bins_destroy) struct hi_bins *fewer = NULL;
		uint64_t added;

		draw_random(&d, seed + 5000000);
		solve(&d);
		fewer = bins_of(&d, d.n_names - 1, false);
		added = BIT(d.n_names);
		for (uint64_t bits = 2; bits < added; bits += 2)
			HI_ASSERT_EQ(bin(&d, fewer, bits),
				     bin(&d, d.bins, bits) +
					     bin(&d, d.bins, bits | added));
		HI_ASSERT_EQ(fewer->noroot.cost + fewer->leak.cost,
			     bin(&d, d.bins, added) + d.bins->noroot.cost +
				     d.bins->leak.cost);
	}
}

HI_TEST_SLOW(census_bins, order_of_names_fields_and_addresses_does_not_matter)
{
	static struct named d, other;
	hi_node map[SPEC_NODES];

	hi_test_defer(erase, &d);
	hi_test_defer(erase, &other);
	for (uint64_t seed = 0; seed < 25000; seed++) {
		draw_random(&d, seed + 6000000);
		erase(&other);
		spec_shuffle(&d.spec, &other.spec, map);
		for (uint32_t i = 0; i < d.n_names; i++)
			draw_name(&other, map[d.start[i]]);
		other.reversed = true;
		solve(&d);
		solve(&other);
		for (hi_node i = 0; i < d.spec.n_objects; i++)
			HI_ASSERT_EQ(d.bins->table.set[i], other.bins->table.set[map[i]]);
		HI_ASSERT_EQ(d.bins->table.n_rows, other.bins->table.n_rows);
		for (size_t i = 0; i < d.bins->table.n_rows; i++)
			HI_ASSERT(memcmp(&d.bins->table.rows[i],
					 &other.bins->table.rows[i],
					 sizeof(d.bins->table.rows[i])) == 0);
	}
}

HI_TEST(census_bins, every_failed_allocation_is_reported)
{
	static struct named d;
	struct hi_bin_root roots[MAX_NAMES] = {};
	struct hi_bin_options o = {.roots = roots};
	struct hi_error err;
	enum hi_status status = HI_NO_MEMORY;
	uint64_t nth, bits = 0;

	hi_test_defer(erase, &d);
	for (uint64_t seed = 0; !d.bins || d.bins->revisited < 8 || d.n_names < 4;
	     seed++) {
		draw_random(&d, seed);
		solve(&d);
	}
	o.n_roots = d.n_names;
	for (uint32_t i = 0; i < d.n_names; i++)
		roots[i] = (struct hi_bin_root){
			.identity = i + 1, .nodes = &d.start[i], .n_nodes = 1};
	for (nth = 1; status != HI_OK && nth < 200; nth++) {
		HI_GUARD(hi_bins_destroy) struct hi_bins *bins = NULL;
		HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *pool = new_pool();

		hi_alloc_fail_at(nth);
		status = hi_bins_compute(d.graph, d.reach, &o, pool, &bins, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
	}
	HI_ASSERT_EQ(HI_OK, status);
	HI_ASSERT(nth > 10);
	for (nth = 1, status = HI_NO_MEMORY; status != HI_OK && nth < 10; nth++) {
		hi_alloc_fail_at(nth);
		status = hi_set_table_mark(&d.bins->table, d.pool, HI_SETS_ANY,
					   (uint32_t[]){1}, 1, &bits, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || (status == HI_NO_MEMORY && !bits));
	}
	HI_ASSERT_EQ(HI_OK, status);
	HI_ASSERT(nth > 3);
}
