/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields that lead to what has no type, against sums over all objects. */
#include "base/alloc.h"
#include "census/analysis/untyped.h"
#include "tests/census/graphs.h"
#include "tests/support/random.h"

enum { MOST = 60, TYPES = 9 };

static struct hi_error err;

static const struct hi_type_name types[TYPES] = {
	{.name = ""},
	{.name = "struct a", .klass = HI_TYPE_RECORD},
	{"via a.x, 24 B", 0, HI_TYPE_FIELD, "m", "a", "x", 24, false, 0},
	{"via a.x, 40 B", 0, HI_TYPE_FIELD, "m", "a", "x", 40, false, 0},
	{"via a.x …, 40 B", 0, HI_TYPE_FIELD, "m", "a", "x", 40, true, 0},
	{"via a.y, 24 B", 0, HI_TYPE_FIELD, "m", "a", "y", 24, false, 0},
	{"via b …, ≤ 1 KiB", 0, HI_TYPE_FIELD, NULL, "b", NULL, 1024, true, 0},
	{"via b, ≤ 1 KiB", 0, HI_TYPE_FIELD, NULL, "b", NULL, 1024, false, 0},
	{.name = "char []", .klass = HI_TYPE_STRING},
};

static uint64_t random_state;
static struct hi_graph *draw(struct object_spec *objects, uint32_t n)
{
	struct hi_graph_builder *b;
	struct hi_objects *table;
	uint32_t id;

	for (uint32_t i = 0; i < n; i++) {
		objects[i] =
			(struct object_spec){.type = random_below(&random_state, TYPES)};
		objects[i].cost = types[objects[i].type].size_class == 1024
					  ? 600 + 8 * random_below(&random_state, 3)
					  : types[objects[i].type].size_class;
		objects[i].flags =
			random_below(&random_state, 10) ? 0 : HI_OBJECT_INTERNAL;
	}
	HI_ASSERT_OK(try_objects(objects, n, &table, &err), &err);
	HI_ASSERT_OK(hi_graph_builder_create(table, &b, &err), &err);
	for (uint32_t t = 1; t < TYPES; t++)
		HI_ASSERT_OK(hi_graph_builder_type(b, &types[t], &id, &err), &err);
	for (uint32_t i = 0; i < n; i++)
		if (random_below(&random_state, 4))
			root_edge(b, i ? 0 : add_root(b, HI_ROOT_GLOBAL), i,
				  HI_GRADE_EXACT);
		else if (!i)
			add_root(b, HI_ROOT_GLOBAL);
	return sealed(b);
}

struct drawing {
	struct object_spec objects[MOST];
	uint32_t n;
	const struct hi_reach *reach;
	const bool *only;
};

/* Whether object i counts for the field, and its block for the size. */
static bool is_of(const struct drawing *d, hi_node i, const struct hi_untyped_row *row,
		  const struct hi_untyped_size *size)
{
	const struct hi_type_name *type = &types[d->objects[i].type];

	if (type->klass != HI_TYPE_FIELD || !hi_bit(d->reach->any, i) ||
	    d->objects[i].flags || (d->only && !d->only[d->objects[i].type]))
		return false;
	if (row && (strcmp(type->owner, row->owner) != 0 ||
		    strcmp(type->field ? type->field : "", row->field) != 0))
		return false;
	return !size || (!type->indirect && type->size_class == size->size_class);
}

static struct hi_untyped_size sum(const struct drawing *d,
				  const struct hi_untyped_row *row,
				  const struct hi_untyped_size *size)
{
	struct hi_untyped_size truth = {.least = UINT64_MAX};

	for (hi_node i = 0; i < d->n; i++) {
		uint64_t usable = d->objects[i].cost;

		if (!is_of(d, i, row, size))
			continue;
		truth.count++;
		truth.bytes += usable;
		truth.least = usable < truth.least ? usable : truth.least;
		truth.most = usable > truth.most ? usable : truth.most;
	}
	return truth;
}

static void check_row(const struct drawing *d, const struct hi_untyped_row *row)
{
	struct hi_untyped_size truth = sum(d, row, NULL);
	uint64_t direct = 0;

	HI_ASSERT_EQ(truth.count, row->count);
	HI_ASSERT_EQ(truth.bytes, row->bytes);
	for (size_t k = 0; k < row->n_sizes; k++) {
		const struct hi_untyped_size *size = &row->sizes[k];

		truth = sum(d, row, size);
		HI_ASSERT(size->count > 0);
		HI_ASSERT_EQ(truth.count, size->count);
		HI_ASSERT_EQ(truth.bytes, size->bytes);
		HI_ASSERT_EQ(truth.least, size->least);
		HI_ASSERT_EQ(truth.most, size->most);
		HI_ASSERT(!k || row->sizes[k - 1].count >= size->count);
		direct += size->count;
	}
	HI_ASSERT_EQ(row->direct, direct);
	for (hi_node i = 0; i < d->n; i++)
		if (is_of(d, i, row, NULL) && !types[d->objects[i].type].indirect)
			direct--;
	HI_ASSERT_EQ(0, direct);
}

HI_TEST(census_untyped, fields_and_sizes_equal_sums_over_all_objects)
{
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct drawing d = {};
		bool only[TYPES];
		HI_GUARD(hi_untyped_destroy) struct hi_untyped *u = NULL;
		OWN(graph) *g = NULL;
		OWN(reach) *r = NULL;
		uint64_t count = 0;

		random_state = seed * 0x9e3779b97f4a7c15;
		d.n = 1 + random_below(&random_state, MOST);
		g = draw(d.objects, d.n);
		d.reach = r = reach_of(g);
		for (unsigned t = 0; t < TYPES; t++)
			only[t] = random_below(&random_state, 4);
		d.only = random_below(&random_state, 2) ? only : NULL;
		HI_ASSERT_OK(hi_untyped_find(g, r, d.only, &u, &err), &err);
		for (size_t i = 0; i < u->n_rows; i++) {
			HI_ASSERT(u->rows[i].count > 0);
			HI_ASSERT(!i || u->rows[i - 1].bytes >= u->rows[i].bytes);
			check_row(&d, &u->rows[i]);
			count += u->rows[i].count;
		}
		HI_ASSERT_EQ(count, sum(&d, NULL, NULL).count);
		HI_ASSERT_EQ(count, u->objects);
		HI_ASSERT_EQ(sum(&d, NULL, NULL).bytes, u->bytes);
		HI_ASSERT(u->n_rows <= 3);
	}
}

HI_TEST(census_untyped, every_failed_allocation_is_reported)
{
	struct drawing d = {.n = MOST};
	enum hi_status status = HI_NO_MEMORY;
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	uint64_t nth;

	random_state = 5;
	g = draw(d.objects, d.n);
	r = reach_of(g);
	for (nth = 1; status != HI_OK && nth < 100; nth++) {
		HI_GUARD(hi_untyped_destroy) struct hi_untyped *u = NULL;

		hi_alloc_fail_at(nth);
		status = hi_untyped_find(g, r, NULL, &u, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
	}
	HI_ASSERT_EQ(HI_OK, status);
	HI_ASSERT(nth > 5);
}
