/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Break-downs and shares against brute force: every row is made again by a
 * search through all objects, from the lists that the graph was drawn from.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "census/analysis/census_by.h"
#include "census/analysis/type_namespace.h"
#include "census/retainers/type_evidence.h"
#include "tests/census/graphs.h"
#include "tests/support/random.h"

enum { MOST = 60, TYPES = 8, EDGES = 400 };

static struct hi_error err;

/* By id; names ascend as ids do in a real graph. */
static const struct hi_type_name types[TYPES] = {
	{.name = ""},
	{.name = "char []", .klass = HI_TYPE_STRING, .module = "prog"},
	{.name = "shop::a<int>", .klass = HI_TYPE_RECORD, .module = "libx.so"},
	{.name = "shop::b", .klass = HI_TYPE_RECORD, .module = "prog"},
	{.name = "struct c", .klass = HI_TYPE_RECORD, .module = NULL},
	{.name = "void *", .klass = HI_TYPE_POINTER_ARRAY, .module = "prog"},
	{.name = "via a.x, 24 B", .klass = HI_TYPE_FIELD, .module = "libx.so"},
	{.name = "long", .klass = HI_TYPE_SCALAR, .module = "prog"},
};

static uint64_t random_state;
struct drawing {
	uint32_t n, n_edges;
	struct object_spec objects[MOST];
	struct {
		hi_node from, to;
		uint8_t grade;
	} edges[EDGES];
	struct hi_graph *graph;
	struct hi_reach *reach;
	struct hi_dominators *dominators;
};

static void draw(struct drawing *d)
{
	static const uint8_t evidence[] = {HI_EVIDENCE_POINTER, HI_EVIDENCE_CONTAINER,
					   HI_EVIDENCE_VTABLE, HI_EVIDENCE_SHAPE};
	struct hi_objects *objects;
	struct hi_graph_builder *b;
	uint32_t id, density = 1 + random_below(&random_state, 6);

	*d = (struct drawing){.n = 1 + random_below(&random_state, MOST)};
	for (uint32_t i = 0; i < d->n; i++) {
		struct object_spec *o = &d->objects[i];

		o->cost = 8 * random_below(&random_state, 9);
		o->type = random_below(&random_state, TYPES);
		if (o->type && o->type != 6)
			o->flags = evidence[random_below(&random_state, 4)];
		if (random_below(&random_state, 4) == 0)
			o->flags |= HI_OBJECT_ARRAY;
		if (random_below(&random_state, 12) == 0)
			o->flags |= HI_OBJECT_INTERNAL;
	}
	HI_ASSERT_OK(try_objects(d->objects, d->n, &objects, &err), &err);
	HI_ASSERT_OK(hi_graph_builder_create(objects, &b, &err), &err);
	for (uint32_t t = 1; t < TYPES; t++)
		HI_ASSERT_OK(hi_graph_builder_type(b, &types[t], &id, &err), &err);
	for (uint32_t k = 1 + random_below(&random_state, 3); k; k--) {
		uint32_t root = add_root(b, HI_ROOT_GLOBAL);

		root_edge(b, root, random_below(&random_state, d->n),
			  random_below(&random_state, HI_GRADE_WEAK + 1));
	}
	for (uint32_t k = random_below(&random_state, d->n * density + 1);
	     k && d->n_edges < EDGES; k--) {
		uint32_t e = d->n_edges++;

		d->edges[e].from = random_below(&random_state, d->n);
		d->edges[e].to = random_below(&random_state, d->n);
		d->edges[e].grade =
			(uint8_t)random_below(&random_state, HI_GRADE_WEAK + 1);
		edge(b, d->edges[e].from, d->edges[e].to, d->edges[e].grade);
	}
	d->graph = sealed(b);
	d->reach = reach_of(d->graph);
	d->dominators = dominators_of(d->graph, d->reach);
}

static void erase(struct drawing *d)
{
	hi_dominators_destroy(d->dominators);
	hi_reach_destroy(d->reach);
	hi_graph_destroy(d->graph);
}

/* ---- the truth ---- */

static bool counts(const struct drawing *d, hi_node i, const bool *only)
{
	return hi_bit(d->reach->any, i) && !(d->objects[i].flags & HI_OBJECT_INTERNAL) &&
	       (!only || only[d->objects[i].type]);
}

static const char *name_of_type(uint32_t type)
{
	return type ? types[type].name : "(untyped)";
}

static const char *true_name(const struct drawing *d, hi_node i, enum hi_by by)
{
	static char text[400];
	const struct hi_type_name *type = &types[d->objects[i].type];
	bool array = d->objects[i].flags & HI_OBJECT_ARRAY;
	uint32_t n = 0;

	if (by == HI_BY_MODULE)
		return type->module ? type->module : "";
	if (by == HI_BY_NAMESPACE)
		return strncmp(type->name, "shop::", 6) == 0 ? "shop" : "";
	if (by == HI_BY_SIZE) {
		snprintf(text, sizeof(text), "%d B", (int)d->objects[i].cost);
		return text;
	}
	if (by == HI_BY_CLASS)
		switch (d->objects[i].type) {
		case 0:
			return "unknown";
		case 1:
			return "string";
		case 5:
			return "pointer array";
		case 6:
			return "field";
		case 7:
			return array ? "array" : "scalar";
		default:
			return array ? "array" : "record";
		}
	snprintf(text, sizeof(text), "%s", name_of_type(d->objects[i].type));
	for (uint32_t t = 0; t < TYPES; t++) {
		bool leads = false;

		for (uint32_t e = 0; e < d->n_edges; e++)
			leads |= d->edges[e].from == i &&
				 d->edges[e].grade <= HI_GRADE_INTERIOR &&
				 d->objects[d->edges[e].to].type == t &&
				 !(d->objects[d->edges[e].to].flags & HI_OBJECT_INTERNAL);
		if (!leads)
			continue;
		if (++n <= 4) {
			strcat(text, n == 1 ? " {" : ", ");
			strcat(text, name_of_type(t));
		}
	}
	if (n > 4)
		strcat(text, ", …");
	if (n)
		strcat(text, "}");
	return text;
}

static struct hi_census_row true_row(const struct drawing *d, enum hi_by by,
				     const bool *only, const char *name)
{
	struct hi_census_row row = {};

	for (hi_node i = 0; i < d->n; i++) {
		uint8_t evidence = d->objects[i].flags & HI_OBJECT_EVIDENCE_MASK;
		bool topmost = true;

		if (!counts(d, i, only) || strcmp(true_name(d, i, by), name) != 0)
			continue;
		row.count++;
		row.shallow += d->objects[i].cost;
		row.by_evidence[evidence] += d->objects[i].cost;
		if (d->objects[i].cost > row.largest)
			row.largest = d->objects[i].cost;
		for (hi_node up = d->dominators->idom[i]; up != HI_NODE_NONE;
		     up = d->dominators->idom[up])
			topmost &= up >= d->n || !counts(d, up, only) ||
				   strcmp(true_name(d, up, by), name) != 0;
		if (topmost)
			row.retained += d->dominators->retained[i];
	}
	if (by == HI_BY_TYPE2)
		row.retained = UINT64_MAX;
	return row;
}

static bool same_sums(const struct hi_census_row *a, const struct hi_census_row *b)
{
	return a->count == b->count && a->shallow == b->shallow &&
	       a->retained == b->retained && a->largest == b->largest &&
	       memcmp(a->by_evidence, b->by_evidence, sizeof(a->by_evidence)) == 0;
}

static void check(const struct drawing *d, enum hi_by by, const bool *only)
{
	HI_GUARD(hi_by_census_destroy) struct hi_by_census *c = NULL;
	uint64_t bytes = 0, objects = 0, other = 0;

	HI_ASSERT_OK(hi_census_break_down(d->graph, d->reach, d->dominators, by, only, &c,
					  &err),
		     &err);
	for (size_t k = 0; k < c->n_rows; k++) {
		struct hi_census_row *row = &c->rows[k].sum,
				     truth = true_row(d, by, only, c->rows[k].name);

		HI_ASSERT(row->count > 0);
		HI_ASSERT_MSG(same_sums(&truth, row), "by %d: %s", by, c->rows[k].name);
		HI_ASSERT(!k || c->rows[k - 1].sum.shallow >= row->shallow);
		/* No name twice: with the sums it follows that none is missing. */
		for (size_t m = 0; m < k; m++)
			HI_ASSERT(strcmp(c->rows[m].name, c->rows[k].name) != 0);
		bytes += row->shallow;
		objects += row->count;
	}
	for (hi_node i = 0; i < d->n; i++)
		if (counts(d, i, NULL) && !counts(d, i, only))
			other += d->objects[i].cost;
	HI_ASSERT_EQ(d->reach->live_bytes, c->bytes);
	HI_ASSERT_EQ(d->reach->live_objects, c->objects);
	HI_ASSERT_EQ(c->bytes, bytes + other);
	HI_ASSERT_EQ(other, c->other_bytes);
	if (!only)
		HI_ASSERT_EQ(c->objects, objects);
}

static struct hi_share true_share(const struct drawing *d, unsigned from, unsigned to,
				  int field)
{
	struct hi_share share = {};

	for (hi_node i = 0; i < d->n; i++) {
		unsigned evidence = d->objects[i].flags & HI_OBJECT_EVIDENCE_MASK;

		if (!counts(d, i, NULL) || evidence < from || evidence > to ||
		    (field >= 0 && (d->objects[i].type == 6) != field))
			continue;
		share.objects++;
		share.bytes += d->objects[i].cost;
	}
	return share;
}

static void check_shares(const struct drawing *d)
{
	struct hi_shares s;
	const struct hi_shares truth = {
		.exact = true_share(d, HI_EVIDENCE_POINTER, HI_EVIDENCE_RUNTIME, -1),
		.inferred = true_share(d, HI_EVIDENCE_SHAPE, HI_EVIDENCE_CONTAINER, -1),
		.by_field = true_share(d, 0, 0, 1),
		.unnamed = true_share(d, 0, 0, 0),
		.conservative_only = {d->reach->live_objects - d->reach->exact_objects,
				      d->reach->live_bytes - d->reach->exact_bytes}};

	hi_shares_count(d->graph, d->reach, &s);
	HI_ASSERT(memcmp(&truth, &s, sizeof(s)) == 0);
	HI_ASSERT_EQ(d->reach->live_bytes, s.exact.bytes + s.inferred.bytes +
						   s.by_field.bytes + s.unnamed.bytes);
}

HI_TEST(census_by, rows_and_shares_equal_brute_force_on_random_graphs)
{
	static struct drawing d;

	for (uint64_t seed = 1; seed <= 1500; seed++) {
		bool only[TYPES];

		random_state = seed * 0x9e3779b97f4a7c15;
		draw(&d);
		for (unsigned t = 0; t < TYPES; t++)
			only[t] = random_below(&random_state, 2);
		for (enum hi_by by = HI_BY_TYPE2; by <= HI_BY_SIZE; by++) {
			check(&d, by, NULL);
			check(&d, by, only);
		}
		check(&d, HI_BY_NAMESPACE, NULL);
		check_shares(&d);
		erase(&d);
	}
}

/* More rows than the table of keys begins with. */
HI_TEST(census_by, a_thousand_different_families_are_a_thousand_rows)
{
	enum { FAMILIES = 1000, PLENTY = 1002 };
	static struct object_spec specs[2 * FAMILIES];
	struct hi_graph_builder *b;
	HI_GUARD(hi_by_census_destroy) struct hi_by_census *c = NULL;
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	uint32_t root;

	for (uint32_t i = 0; i < FAMILIES; i++) {
		specs[2 * i] = (struct object_spec){16, 1, HI_EVIDENCE_POINTER};
		specs[2 * i + 1] = (struct object_spec){16, 2 + i, HI_EVIDENCE_POINTER};
	}
	b = builder_of(specs, 2 * FAMILIES, PLENTY);
	root = add_root(b, HI_ROOT_GLOBAL);
	for (hi_node i = 0; i < FAMILIES; i++) {
		root_edge(b, root, 2 * i, HI_GRADE_EXACT);
		edge(b, 2 * i, 2 * i + 1, HI_GRADE_EXACT);
	}
	g = sealed(b);
	r = reach_of(g);
	HI_ASSERT_OK(hi_census_break_down(g, r, NULL, HI_BY_TYPE2, NULL, &c, &err), &err);
	HI_ASSERT_EQ(2 * FAMILIES, c->n_rows);
	for (size_t i = 0; i < c->n_rows; i++)
		HI_ASSERT_EQ(1, c->rows[i].sum.count);
}

/* Sizes above 1 KiB are counted up to powers of two, and what leads where. */
HI_TEST(census_by, sizes_say_where_their_pointers_lead)
{
	static const struct object_spec specs[] = {{48, 0, 0},
						   {48, 0, 0},
						   {1024, 0, 0},
						   {1025, 0, 0},
						   {2048, 0, 0},
						   {2049, 0, 0},
						   {16, 1, HI_EVIDENCE_POINTER}};
	struct hi_graph_builder *b = builder_of(specs, 7, 3);
	uint32_t root = add_root(b, HI_ROOT_GLOBAL);
	HI_GUARD(hi_by_census_destroy) struct hi_by_census *c = NULL;
	const struct hi_by_row *row = NULL;
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;

	for (hi_node i = 0; i < 7; i++)
		root_edge(b, root, i, HI_GRADE_EXACT);
	edge(b, 0, 6, HI_GRADE_EXACT);
	edge(b, 0, 1, HI_GRADE_EXACT);
	edge(b, 1, 6, HI_GRADE_EXACT);
	g = sealed(b);
	r = reach_of(g);
	HI_ASSERT_OK(hi_census_break_down(g, r, NULL, HI_BY_SIZE, NULL, &c, &err), &err);
	HI_ASSERT_EQ(5, c->n_rows);
	HI_ASSERT_STREQ("to 2.0 KiB", c->rows[0].name);
	HI_ASSERT_EQ(2048 + 1025, c->rows[0].sum.shallow);
	HI_ASSERT_EQ(2048, c->rows[0].size);
	HI_ASSERT_STREQ("to 4.0 KiB", c->rows[1].name);
	HI_ASSERT_STREQ("1.0 KiB", c->rows[2].name);
	row = &c->rows[3];
	HI_ASSERT_STREQ("48 B", row->name);
	HI_ASSERT_EQ(2, row->sum.count);
	HI_ASSERT_EQ(3, row->edges);
	HI_ASSERT_EQ(1, row->leads[0].key);
	HI_ASSERT_EQ(2, row->leads[0].edges);
	HI_ASSERT_EQ(HI_BY_SIZE_KEY | 48, row->leads[1].key);
	HI_ASSERT_EQ(0, row->leads[2].edges);
	HI_ASSERT_EQ(0, c->rows[0].edges);
}

/* Types of the drawing below: 1 a list, 2 its items, 3 a table, 4 of the table. */
static const char *const part_names[] = {"", "list", "list items", "dict", "dict keys"};

static const struct hi_by_row *row_named(const struct hi_by_census *c, const char *name)
{
	for (size_t i = 0; i < c->n_rows; i++)
		if (strcmp(c->rows[i].name, name) == 0)
			return &c->rows[i];
	return NULL;
}

static struct hi_graph_builder *named_builder_of(const struct object_spec *specs,
						 uint32_t n, const char *const *names,
						 uint32_t n_names)
{
	struct hi_objects *objects;
	struct hi_graph_builder *b;
	uint32_t id;

	HI_ASSERT_OK(try_objects(specs, n, &objects, &err), &err);
	HI_ASSERT_OK(hi_graph_builder_create(objects, &b, &err), &err);
	for (uint32_t i = 1; i < n_names; i++) {
		struct hi_type_name type = {.name = names[i], .klass = HI_TYPE_RECORD};

		HI_ASSERT_OK(hi_graph_builder_type(b, &type, &id, &err), &err);
	}
	return b;
}

/* Two lists with items, two dicts that share one table, a table of a root, and a block
 * that a C program calls "list items". */
HI_TEST(census_by, parts_are_counted_with_the_object_that_owns_them)
{
	struct object_spec specs[] = {
		{16, 1, HI_EVIDENCE_RUNTIME}, {16, 1, HI_EVIDENCE_RUNTIME},
		{64, 2, HI_EVIDENCE_RUNTIME}, {32, 2, HI_EVIDENCE_RUNTIME},
		{48, 3, HI_EVIDENCE_RUNTIME}, {48, 3, HI_EVIDENCE_RUNTIME},
		{96, 4, HI_EVIDENCE_RUNTIME}, {80, 4, HI_EVIDENCE_RUNTIME},
		{16, 2, HI_EVIDENCE_POINTER}};
	struct hi_graph_builder *b = named_builder_of(specs, 9, part_names, 5);
	uint32_t root = add_root(b, HI_ROOT_GLOBAL);
	HI_GUARD(hi_by_census_destroy) struct hi_by_census *c = NULL;
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;

	for (hi_node i = 0; i < 9; i++)
		if (i != 2 && i != 3 && i != 6)
			root_edge(b, root, i, HI_GRADE_EXACT);
	edge(b, 0, 2, HI_GRADE_EXACT);
	edge(b, 1, 3, HI_GRADE_EXACT);
	edge(b, 4, 6, HI_GRADE_EXACT);
	edge(b, 5, 6, HI_GRADE_EXACT);
	g = sealed(b);
	r = reach_of(g);
	HI_ASSERT_OK(hi_census_break_down(g, r, NULL, HI_BY_OWNER, NULL, &c, &err), &err);
	HI_ASSERT_EQ(2, row_named(c, "list")->sum.count);
	HI_ASSERT_EQ(16 + 64 + 16 + 32, row_named(c, "list")->sum.shallow);
	HI_ASSERT_EQ(2 * 48, row_named(c, "dict")->sum.shallow);
	HI_ASSERT_EQ(2, row_named(c, "dict keys")->sum.count);
	HI_ASSERT_EQ(96 + 80, row_named(c, "dict keys")->sum.shallow);
	HI_ASSERT_EQ(1, row_named(c, "list items")->sum.count);
	HI_ASSERT_EQ(16, row_named(c, "list items")->sum.shallow);
	HI_ASSERT_EQ(r->live_bytes, c->bytes);
}

HI_TEST(census_by, every_failed_allocation_is_reported)
{
	static struct drawing d;

	random_state = 99;
	do {
		if (d.graph)
			erase(&d);
		draw(&d);
	} while (d.n < 40 || d.reach->live_objects < 20);
	for (enum hi_by by = HI_BY_TYPE2; by <= HI_BY_SIZE; by++) {
		enum hi_status status = HI_NO_MEMORY;
		uint64_t nth;

		for (nth = 1; status != HI_OK && nth < 200; nth++) {
			HI_GUARD(hi_by_census_destroy) struct hi_by_census *c = NULL;

			hi_alloc_fail_at(nth);
			status = hi_census_break_down(d.graph, d.reach, d.dominators, by,
						      NULL, &c, &err);
			hi_alloc_fail_at(0);
			HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
		}
		HI_ASSERT_EQ(HI_OK, status);
		HI_ASSERT(nth > 4);
	}
	erase(&d);
}

HI_TEST(census_by, namespace_is_the_part_of_a_name_without_arguments)
{
	static const struct {
		const char *name, *space;
	} names[] = {
		{"shop::Session", "shop"},
		{"struct shop::db::Row", "shop::db"},
		{"std::__cxx11::basic_string<char, std::char_traits<char> >", "std"},
		{"std::__1::vector<shop::Session>", "std"},
		{"shop::List<std::string>::Node", "shop"},
		{"shop::(anonymous namespace)::Cache", "shop"},
		{"std::shared_ptr<shop::Cart> []", "std"},
		{"alloc::vec::Vec<u8>", "alloc::vec"},
		{"&shop::Cart", "shop"},
		{"app.models.Invoice", "app.models"},
		{"*main.Session", "main"},
		{"[]github.com/x/store.Item", "github.com/x/store"},
		{"[16]main.T", "main"},
		{"github.com/x", ""},
		{"struct entry", ""},
		{"dict", ""},
		{"char []", ""},
		{"::x", ""},
		{"x::", ""},
		{"", ""},
		{NULL, ""},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n;
		const char *at = hi_type_namespace(names[i].name, &n);

		HI_ASSERT_MSG(n == strlen(names[i].space) &&
				      strncmp(at, names[i].space, n) == 0,
			      "%s: %.*s", names[i].name, (int)n, at);
	}
}
