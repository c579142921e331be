/* SPDX-License-Identifier: BSD-2-Clause */
/* Comparisons of random heaps against counting by hand. */
#include "base/alloc.h"
#include "census/analysis/compare.h"
#include "census/analysis/subset_totals.h"
#include "census/events/births.h"
#include "tests/census/snapshots.h"

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
	struct hi_heap_side before = {a, ra, da, NULL, NULL, NULL},
			    after = {b, rb, db, NULL, NULL, NULL};
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
		struct hi_heap_side before = {a, ra, da, NULL, NULL, NULL},
				    after = {b, rb, db, NULL, NULL, NULL};
		struct hi_error err;

		HI_ASSERT_OK(
			hi_compare(&before, &after, false, HI_COMPARE_BY_TYPE, &c, &err),
			&err);
		for (size_t i = 0; i < c->n_rows; i++)
			HI_ASSERT_EQ(c->rows[i].before.count - c->rows[i].died.count,
				     c->rows[i].after.count - c->rows[i].born.count);
	}
}

/* ---- with a recording ---- */

enum { EARLY = 50, TAKEN = 100, LATE = 150, MOST = 80 };

struct drawn_births {
	uint32_t context[MOST];
	uint64_t time_ns[MOST];
	struct hi_births births;
};

/* Times by a digit of the object's number to the base 3: none, early, late. */
static void draw_births(struct drawn_births *d, hi_node n, uint32_t digit, uint64_t end)
{
	static const uint64_t times[] = {0, EARLY, LATE};

	HI_ASSERT(n <= MOST);
	for (hi_node i = 0; i < n; i++) {
		d->context[i] = i / digit % 3 ? 1 : HI_BIRTH_NONE;
		d->time_ns[i] = times[i / digit % 3];
	}
	d->births = (struct hi_births){.n_objects = n,
				       .context = d->context,
				       .time_ns = d->time_ns,
				       .start_ns = 1000,
				       .end_ns = 1000 + end};
}

static bool is_born_of(const struct drawn_births *a, const struct drawn_births *b,
		       hi_node i)
{
	if (b->context[i] == HI_BIRTH_NONE)
		return false;
	return b->time_ns[i] > (a->context[i] == HI_BIRTH_NONE ? TAKEN : a->time_ns[i]);
}

HI_TEST(census_compare, object_recorded_as_born_later_is_another_object)
{
	OWN(graph) *g = drawn_graph(7, 60);
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);
	HI_GUARD(hi_comparison_destroy) struct hi_comparison *c = NULL;
	struct drawn_births a, b;
	struct hi_heap_side before = {g, r, d, NULL, NULL, &a.births},
			    after = {g, r, d, NULL, NULL, &b.births};
	struct hi_error err;
	unsigned born = 0;

	draw_births(&a, g->n_objects, 1, TAKEN);
	draw_births(&b, g->n_objects, 3, 2 * TAKEN);
	HI_ASSERT_OK(hi_compare(&before, &after, true, HI_COMPARE_BY_TYPE, &c, &err),
		     &err);
	HI_ASSERT(c->knows_births);
	for (hi_node i = 0; i < g->n_objects; i++) {
		bool is_born = !is_internal(g, i) && is_born_of(&a, &b, i);

		HI_ASSERT_EQ(is_born, hi_bit(c->born, i));
		HI_ASSERT_EQ(is_born, hi_bit(c->died, i));
		born += is_born;
	}
	HI_ASSERT(born > 10);
}

HI_TEST(census_compare, births_of_another_recording_tell_nothing)
{
	OWN(graph) *g = drawn_graph(7, 60);
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);
	HI_GUARD(hi_comparison_destroy) struct hi_comparison *c = NULL;
	struct drawn_births a, b;
	struct hi_heap_side before = {g, r, d, NULL, NULL, &a.births},
			    after = {g, r, d, NULL, NULL, &b.births};
	struct hi_error err;

	draw_births(&a, g->n_objects, 1, TAKEN);
	draw_births(&b, g->n_objects, 3, 2 * TAKEN);
	b.births.start_ns++;
	HI_ASSERT_OK(hi_compare(&before, &after, true, HI_COMPARE_BY_TYPE, &c, &err),
		     &err);
	HI_ASSERT(!c->knows_births);
	HI_ASSERT_EQ(0, c->all.born.count);
}

/* ---- two heaps of one universe: places that are taken or not ---- */

enum { PLACES = 48, KINDS = 4, VARIABLES = 4, WAY = 1024 };

/* Numbers of types mean nothing: each heap has its own order. */
static uint32_t type_number(uint32_t kind, uint64_t variant)
{
	return 1 + (uint32_t)((kind + variant) % (KINDS - 1));
}

/* Of universe and variant alone: what is where, and what it refers to. */
static struct hi_graph *heap_of(uint64_t universe, uint64_t variant)
{
	uint64_t u = universe * 0x9e3779b97f4a7c15 + 1,
		 v = variant * 0xd1342543de82ef95 + 1;
	hi_node of_place[PLACES];
	struct hi_objects_builder *ob;
	struct hi_graph_builder *b;
	struct hi_objects *o;
	uint32_t types[PLACES], n = 0, id;
	struct hi_error err;
	unsigned region;

	HI_ASSERT_OK(hi_objects_builder_create(&ob, &err), &err);
	HI_ASSERT_OK(hi_objects_builder_region(ob, 0x10000, 1 << 20, 4, &region, &err),
		     &err);
	for (uint32_t i = 0; i < PLACES; i++) {
		uint32_t type = random_below(&u, KINDS), size = 16 + random_below(&u, 60);
		uint8_t flags = random_below(&u, 16) ? 0 : HI_OBJECT_INTERNAL;

		of_place[i] = HI_NODE_NONE;
		if (random_below(&v, 4) == 0)
			continue;
		/* Freed, and something else allocated there; or another size. */
		types[n] = random_below(&v, 8) ? type : random_below(&v, KINDS);
		size += random_below(&v, 8) ? 0 : 16;
		of_place[i] = n++;
		HI_ASSERT_OK(hi_objects_builder_add(ob, region, 0x10000 + i * 128, size,
						    flags, &err),
			     &err);
	}
	HI_ASSERT_OK(hi_objects_seal(ob, &o, &err), &err);
	for (uint32_t i = 0; i < n; i++)
		o->type[i] = types[i] ? type_number(types[i], variant) : 0;
	HI_ASSERT_OK(hi_graph_builder_create(o, &b, &err), &err);
	for (uint32_t i = 1; i < KINDS; i++) {
		uint32_t kind = 1;
		char name[16];
		struct hi_type_name type = {.name = name, .size = 8};

		while (type_number(kind, variant) != i)
			kind++;
		snprintf(name, sizeof(name), "t%u", kind);
		type.module = kind % 2 ? "a.so" : "b.so";
		HI_ASSERT_OK(hi_graph_builder_type(b, &type, &id, &err), &err);
	}
	for (uint32_t i = 0; i < VARIABLES; i++) {
		char name[32];
		struct hi_root root = {.name = name, .variable = UINT32_MAX};

		snprintf(name, sizeof(name), "v%u", i);
		if (i == 0)
			snprintf(name, sizeof(name), "thread %u p", (unsigned)variant);
		HI_ASSERT_OK(hi_graph_builder_root(b, &root, &id, &err), &err);
	}
	for (uint32_t i = 0; i < 3 * PLACES / 2; i++) {
		hi_node from = of_place[random_below(&u, PLACES)];
		hi_node to = of_place[random_below(&u, PLACES)];
		bool is_root = random_below(&u, 6) == 0;
		uint32_t root = random_below(&u, VARIABLES);

		if (to == HI_NODE_NONE)
			continue;
		if (is_root)
			root_edge(b, root, to, HI_GRADE_EXACT);
		else if (from != HI_NODE_NONE)
			edge(b, from, to, HI_GRADE_EXACT);
	}
	return sealed(b);
}

struct heap {
	struct hi_graph *graph;
	struct hi_reach *reach;
	struct hi_dominators *dominators;
	struct hi_heap_side side;
	struct hi_compare_groups groups;
	uint32_t of_object[PLACES];
	uint64_t only; /* restricts it; a bit an object */
	const char *names[5];
	char ways[PLACES][WAY];
};

static void close_heap(void *arg)
{
	struct heap *h = arg;

	hi_dominators_destroy(h->dominators);
	hi_reach_destroy(h->reach);
	hi_graph_destroy(h->graph);
	*h = (struct heap){};
}

static const char *root_name(const struct hi_graph *g, hi_node node)
{
	const char *name = g->roots[node - g->first_root].name;

	return strncmp(name, "thread", 6) == 0 ? "p" : name;
}

/* The way to an object in words, by its definition. */
static void find_way(const struct heap *h, hi_node i, char *out)
{
	const struct hi_graph *g = h->graph;
	const char *words[PLACES + 2];
	size_t n = 0;

	if (!hi_bit(h->reach->any, i)) {
		snprintf(out, WAY, "unreached/%s", type_of(g, i));
		return;
	}
	for (hi_node up = h->dominators->idom[i]; i < g->n_objects;
	     i = up, up = h->dominators->idom[i])
		if (up >= g->n_objects || strcmp(type_of(g, up), type_of(g, i)) != 0)
			words[n++] = type_of(g, i);
	words[n++] = i < g->first_kind ? root_name(g, i) : "";
	out[0] = '\0';
	while (n)
		snprintf(out + strlen(out), WAY - strlen(out), "%s/", words[--n]);
}

static void open_heap(struct heap *h, uint64_t universe, uint64_t variant)
{
	static const char *const names[] = {"red", "green", "blue", "red", "grey"};

	hi_test_defer(close_heap, h);
	close_heap(h);
	h->graph = heap_of(universe, variant);
	h->reach = reach_of(h->graph);
	h->dominators = dominators_of(h->graph, h->reach);
	/* Of five groups two have one name. */
	for (uint32_t i = 0; i < 5; i++)
		h->names[i] = names[(i + variant) % 5];
	for (hi_node i = 0; i < h->graph->n_objects; i++) {
		h->of_object[i] = (uint32_t)((i * 7 + variant) % 5);
		find_way(h, i, h->ways[i]);
	}
	h->groups = (struct hi_compare_groups){h->of_object, h->names, 5};
	h->only = universe % 3 ? variant * 0x9e3779b97f4a7c15 : UINT64_MAX;
	h->side = (struct hi_heap_side){h->graph,
					h->reach,
					h->dominators,
					&h->groups,
					universe % 3 ? &h->only : NULL,
					NULL};
}

/* Is object i of b the object k of a? By way: the n-th of its way is the n-th. */
static bool is_same(const struct heap *a, hi_node k, const struct heap *b, hi_node i,
		    bool same_process)
{
	size_t before = 0, after = 0;

	if (is_internal(a->graph, k) || is_internal(b->graph, i))
		return false;
	if (same_process)
		return address_of(a->graph, k) == address_of(b->graph, i) &&
		       strcmp(type_of(a->graph, k), type_of(b->graph, i)) == 0;
	if (strcmp(a->ways[k], b->ways[i]) != 0)
		return false;
	for (hi_node x = 0; x < k; x++)
		before +=
			!is_internal(a->graph, x) && strcmp(a->ways[x], b->ways[i]) == 0;
	for (hi_node x = 0; x < i; x++)
		after += !is_internal(b->graph, x) && strcmp(b->ways[x], b->ways[i]) == 0;
	return before == after;
}

static hi_node find_same(const struct heap *a, const struct heap *b, hi_node i,
			 bool same_process)
{
	for (hi_node k = 0; k < a->graph->n_objects; k++)
		if (is_same(a, k, b, i, same_process))
			return k;
	return HI_NODE_NONE;
}

static const char *key_of(const struct heap *h, hi_node i, enum hi_compare_by by,
			  bool same_process)
{
	const struct hi_graph *g = h->graph;
	hi_node up = i;

	if (by == HI_COMPARE_BY_TYPE)
		return type_of(g, i);
	if (by == HI_COMPARE_BY_MODULE)
		return g->types[g->objects->type[i]].module;
	if (by == HI_COMPARE_BY_GROUP)
		return h->names[h->of_object[i]];
	if (!hi_bit(h->reach->any, i))
		return "(leaked)";
	while (up < g->n_objects)
		up = h->dominators->idom[up];
	if (up >= g->first_kind)
		return "(several roots)";
	return same_process ? g->roots[up - g->first_root].name : root_name(g, up);
}

static bool is_counted(const struct heap *h, hi_node i)
{
	return !is_internal(h->graph, i) && h->only >> i & 1;
}

/* One row, by looking at all objects of both heaps. */
static void check_row(const struct heap *a, const struct heap *b, bool same_process,
		      enum hi_compare_by by, const struct hi_compare_row *row)
{
	struct hi_compare_row truth = {.name = row->name};

	for (hi_node i = 0; i < b->graph->n_objects; i++) {
		uint64_t cost = hi_objects_cost(b->graph->objects, i);
		hi_node was = find_same(a, b, i, same_process);

		if (!is_counted(b, i) ||
		    strcmp(key_of(b, i, by, same_process), row->name) != 0)
			continue;
		truth.after.count++;
		truth.after.bytes += cost;
		truth.born.count += was == HI_NODE_NONE;
		truth.born.bytes += was == HI_NODE_NONE ? cost : 0;
	}
	for (hi_node i = 0; i < a->graph->n_objects; i++) {
		uint64_t cost = hi_objects_cost(a->graph->objects, i);
		bool lives = false;

		if (!is_counted(a, i) ||
		    strcmp(key_of(a, i, by, same_process), row->name) != 0)
			continue;
		for (hi_node k = 0; k < b->graph->n_objects; k++)
			lives |= is_same(a, i, b, k, same_process);
		truth.before.count++;
		truth.before.bytes += cost;
		truth.died.count += !lives;
		truth.died.bytes += lives ? 0 : cost;
	}
	truth.grown = (int64_t)(truth.after.bytes - truth.before.bytes) -
		      (int64_t)(truth.born.bytes - truth.died.bytes);
	HI_ASSERT(memcmp(&truth, row, sizeof(truth)) == 0);
	HI_ASSERT(truth.before.count + truth.after.count > 0);
}

static void check_comparison(const struct heap *a, const struct heap *b,
			     bool same_process, enum hi_compare_by by)
{
	HI_GUARD(hi_comparison_destroy) struct hi_comparison *c = NULL;
	uint64_t counted = 0;
	struct hi_error err;

	HI_ASSERT_OK(hi_compare(&a->side, &b->side, same_process, by, &c, &err), &err);
	for (hi_node i = 0; i < b->graph->n_objects; i++) {
		hi_node was = is_internal(b->graph, i) ? HI_NODE_NONE
						       : find_same(a, b, i, same_process);

		HI_ASSERT_EQ(was, c->before_of[i]);
	}
	for (size_t i = 0; i < c->n_rows; i++) {
		check_row(a, b, same_process, by, &c->rows[i]);
		for (size_t k = 0; k < i; k++)
			HI_ASSERT(strcmp(c->rows[i].name, c->rows[k].name) != 0);
		counted += c->rows[i].after.count;
	}
	for (hi_node i = 0; i < b->graph->n_objects; i++)
		counted -= is_counted(b, i);
	HI_ASSERT_EQ(0, counted);
}

HI_TEST(census_compare, rows_and_pairs_are_what_a_search_finds)
{
	static struct heap a, b;

	for (uint64_t seed = 1; seed <= 250; seed++) {
		open_heap(&a, seed, 2 * seed);
		open_heap(&b, seed, 2 * seed + 1);
		for (int by = HI_COMPARE_BY_TYPE; by <= HI_COMPARE_BY_GROUP; by++) {
			check_comparison(&a, &b, false, (enum hi_compare_by)by);
			check_comparison(&a, &b, true, (enum hi_compare_by)by);
		}
	}
}

/* Objects of the third heap that the second had and the first did not. */
static uint64_t check_survivors(const struct heap *a, const struct heap *b,
				const struct heap *c, bool ab, bool bc)
{
	HI_GUARD(hi_comparison_destroy) struct hi_comparison *first = NULL;
	HI_GUARD(hi_comparison_destroy) struct hi_comparison *second = NULL;
	HI_GUARD(free) uint64_t *bits = NULL;
	uint64_t count = 0;
	struct hi_error err;

	HI_ASSERT_OK(hi_compare(&a->side, &b->side, ab, HI_COMPARE_BY_TYPE, &first, &err),
		     &err);
	HI_ASSERT_OK(
		hi_compare(&b->side, &c->side, bc, HI_COMPARE_BY_TYPE, &second, &err),
		&err);
	HI_ASSERT_OK(hi_compare_survivors(first, second, &c->side, &bits, &err), &err);
	for (hi_node i = 0; i < c->graph->n_objects; i++) {
		hi_node was =
			is_internal(c->graph, i) ? HI_NODE_NONE : find_same(b, c, i, bc);
		bool survived = was != HI_NODE_NONE && is_counted(b, was) &&
				is_counted(c, i) &&
				find_same(a, b, was, ab) == HI_NODE_NONE;

		HI_ASSERT_EQ(survived, hi_bit(bits, i));
		count += survived;
	}
	return count;
}

HI_TEST(census_compare, survivors_are_what_a_search_finds)
{
	static struct heap a, b, c;
	uint64_t count = 0;

	for (uint64_t seed = 1; seed <= 250; seed++) {
		open_heap(&a, seed, 3 * seed);
		open_heap(&b, seed, 3 * seed + 1);
		open_heap(&c, seed, 3 * seed + 2);
		count += check_survivors(&a, &b, &c, seed & 1, seed & 2);
	}
	HI_ASSERT(count > 250); /* else it has looked at nothing */
}

/* All of it, under the n-th allocation's failure. */
static enum hi_status compare_three(const struct heap *a, const struct heap *b,
				    const struct heap *c, bool same_process, uint64_t nth)
{
	HI_GUARD(hi_comparison_destroy) struct hi_comparison *first = NULL;
	HI_GUARD(hi_comparison_destroy) struct hi_comparison *second = NULL;
	HI_GUARD(hi_marked_destroy) struct hi_marked *marked = NULL;
	HI_GUARD(free) uint64_t *bits = NULL;
	struct hi_error err;
	enum hi_status status;

	hi_alloc_fail_at(nth);
	status = hi_compare(&a->side, &b->side, same_process, HI_COMPARE_BY_GROUP, &first,
			    &err);
	if (status == HI_OK)
		status = hi_compare(&b->side, &c->side, same_process, HI_COMPARE_BY_ROOT,
				    &second, &err);
	if (status == HI_OK)
		status = hi_compare_survivors(first, second, &c->side, &bits, &err);
	if (status == HI_OK)
		status = hi_marked_by_type(&c->side, bits, &marked, &err);
	hi_alloc_fail_at(0);
	return status;
}

HI_TEST(census_compare, every_failed_allocation_is_reported)
{
	static struct heap a, b, c;

	open_heap(&a, 7, 1);
	open_heap(&b, 7, 2);
	open_heap(&c, 7, 3);
	for (int same = 0; same < 2; same++) {
		enum hi_status status = HI_NO_MEMORY;
		uint64_t nth;

		for (nth = 1; status != HI_OK && nth < 200; nth++) {
			status = compare_three(&a, &b, &c, same, nth);
			HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
		}
		HI_ASSERT_EQ(HI_OK, status);
		HI_ASSERT(nth > 20);
	}
}

HI_TEST(census_compare, a_heap_beside_itself_has_no_difference)
{
	OWN(graph) *g = drawn_graph(4, 300);
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);
	struct hi_heap_side side = {g, r, d, NULL, NULL, NULL};

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
		struct hi_heap_side side = {g, r, d, NULL, NULL, NULL};

		HI_ASSERT_OK(hi_growth_find(&side, &marked, 4, found, &n, &err), &err);
		HI_ASSERT_EQ(2, n);
		HI_ASSERT_EQ(g->first_root, found[0].top);
		HI_ASSERT_EQ(500, found[0].bytes);
		HI_ASSERT_EQ(2, found[0].objects);
		/* 1 holds all of it; 2 has 300 of 500: less than 0.7. */
		HI_ASSERT_EQ(1, found[0].holder);
		HI_ASSERT_EQ(g->first_root + 1, found[1].top);
		HI_ASSERT_EQ(50, found[1].bytes);
		HI_ASSERT_EQ(3, found[1].holder);
		HI_ASSERT_OK(hi_growth_find(&side, &marked, 1, found, &n, &err), &err);
		HI_ASSERT_EQ(1, n);
		HI_ASSERT_EQ(500, found[0].bytes);
	}
}

/*
 *	root -> 0 -> 1 -> 2 to 6	0 and 1 are of one type, like a module's dict and
 *					a dict in it; the rest is marked.
 */
HI_TEST(census_compare, growth_is_held_by_the_dict_in_a_dict)
{
	enum { OUTER, INNER, FIRST, N = 7 };
	struct object_spec specs[N];
	struct hi_graph_builder *b;
	struct hi_growth found[4];
	uint64_t marked = 0x7c;
	struct hi_error err;
	size_t n = 0;

	for (hi_node i = 0; i < N; i++)
		specs[i] = (struct object_spec){100, i < FIRST ? 1 : 2, 0};
	b = builder_of(specs, N, 3);
	root_edge(b, add_root(b, HI_ROOT_GLOBAL), OUTER, HI_GRADE_EXACT);
	edge(b, OUTER, INNER, HI_GRADE_EXACT);
	for (hi_node i = FIRST; i < N; i++)
		edge(b, INNER, i, HI_GRADE_EXACT);
	{
		OWN(graph) *g = sealed(b);
		OWN(reach) *r = reach_of(g);
		OWN(dominators) *d = dominators_of(g, r);
		struct hi_heap_side side = {g, r, d, NULL, NULL, NULL};

		HI_ASSERT_OK(hi_growth_find(&side, &marked, 4, found, &n, &err), &err);
		HI_ASSERT_EQ(1, n);
		HI_ASSERT_EQ(INNER, found[0].holder);
	}
}

/* A list of one type, all of it marked: its beginning. */
HI_TEST(census_compare, growth_of_a_list_is_held_by_its_beginning)
{
	enum { N = 20 };
	struct object_spec specs[N];
	struct hi_graph_builder *b;
	struct hi_growth found[4];
	uint64_t marked = (1 << N) - 1;
	struct hi_error err;
	size_t n = 0;

	for (hi_node i = 0; i < N; i++)
		specs[i] = (struct object_spec){100, 1, 0};
	b = builder_of(specs, N, 2);
	root_edge(b, add_root(b, HI_ROOT_GLOBAL), 0, HI_GRADE_EXACT);
	for (hi_node i = 0; i + 1 < N; i++)
		edge(b, i, i + 1, HI_GRADE_EXACT);
	{
		OWN(graph) *g = sealed(b);
		OWN(reach) *r = reach_of(g);
		OWN(dominators) *d = dominators_of(g, r);
		struct hi_heap_side side = {g, r, d, NULL, NULL, NULL};

		HI_ASSERT_OK(hi_growth_find(&side, &marked, 4, found, &n, &err), &err);
		HI_ASSERT_EQ(1, n);
		HI_ASSERT_EQ(0, found[0].holder);
	}
}
