/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of drawn objects beside sums over all of them. */
#include "census/events/window_columns.h"

#include <math.h>

#include "tests/harness.h"

enum { OBJECTS = 2000, DRAWINGS = 20 };

static uint64_t state = 0x2545f4914f6cdd1d;

static uint32_t draw_below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 32) % n);
}

struct drawn_object {
	uint32_t size, type;
	double value;
};

/* Few sizes have many objects, and many have few. */
static void draw_objects(struct drawn_object *objects)
{
	for (int i = 0; i < OBJECTS; i++) {
		uint32_t step = draw_below(1 + draw_below(60));

		objects[i] = (struct drawn_object){.size = 24 + 16 * step,
						   .type = draw_below(1 + draw_below(4)),
						   .value = 1 + draw_below(100)};
	}
}

static void add_objects(struct hi_window_columns *c, const struct drawn_object *objects,
			double least)
{
	for (int i = 0; i < OBJECTS; i++)
		HI_ASSERT(hi_window_columns_add(c, objects[i].size, objects[i].type,
						objects[i].value));
	HI_ASSERT(hi_window_columns_merge(c, least));
}

static uint32_t count_alike(const struct drawn_object *objects, int i)
{
	uint32_t n = 0;

	for (int k = 0; k < OBJECTS; k++)
		n += objects[k].size == objects[i].size &&
		     objects[k].type == objects[i].type;
	return n;
}

/* The objects that are found in a column, by column. */
struct found_sums {
	uint64_t n[OBJECTS];
	double values[OBJECTS];
};

/* Columns of many objects have no others. */
static void sum_found(const struct hi_window_columns *c,
		      const struct drawn_object *objects, double least,
		      struct found_sums *sums)
{
	for (int i = 0; i < OBJECTS; i++) {
		uint32_t n = count_alike(objects, i);
		uint32_t at = hi_window_columns_find(c, objects[i].size, objects[i].type);

		HI_ASSERT(at < c->columns.count && c->columns.items[at].into == at);
		HI_ASSERT(c->columns.items[at].size == objects[i].size ||
			  c->columns.items[at].size == HI_WINDOW_SIZES);
		HI_ASSERT(n < least || n == c->columns.items[at].n);
		sums->n[at]++;
		sums->values[at] += objects[i].value;
	}
}

/* Each column has the sum of the objects that are found in it. */
static void check_columns(const struct hi_window_columns *c,
			  const struct drawn_object *objects, double least)
{
	static struct found_sums sums;
	uint64_t small = 0;

	sums = (struct found_sums){};
	HI_ASSERT(c->columns.count <= OBJECTS);
	sum_found(c, objects, least, &sums);
	for (size_t at = 0; at < c->columns.count; at++) {
		if (c->columns.items[at].into != at)
			continue;
		HI_ASSERT_EQ(sums.n[at], c->columns.items[at].n);
		HI_ASSERT(fabs(sums.values[at] - c->columns.items[at].truth) < 1e-6);
		small += (double)sums.n[at] < least;
	}
	/* Nothing that is left has another column that it could be taken into. */
	HI_ASSERT(small <= 1);
}

HI_TEST(window_columns, few_objects_are_taken_together)
{
	static struct drawn_object objects[OBJECTS];

	for (int i = 0; i < DRAWINGS; i++) {
		struct hi_window_columns c = {};
		double least = draw_below(300);

		draw_objects(objects);
		add_objects(&c, objects, least);
		check_columns(&c, objects, least);
		HI_ASSERT(hi_window_columns_find(&c, 7, 0) == UINT32_MAX);
		hi_window_columns_free(&c);
	}
}

HI_TEST(window_columns, cells_have_what_windows_saw)
{
	struct hi_window_columns c = {};
	const struct hi_window_value values[] = {
		{.group = 1, .window = 0, .value = 10, .length_s = 0.5},
		{.group = 1, .window = 0, .value = 20, .length_s = 0.5},
		{.group = 0, .window = 1, .value = 1, .length_s = 1},
		{.group = 1, .window = 2, .value = 30, .length_s = 0.25}};
	const struct hi_window_cell *cell;

	HI_ASSERT(hi_window_columns_add(&c, 64, 0, 100));
	HI_ASSERT(hi_window_columns_merge(&c, 0));
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		HI_ASSERT(hi_window_columns_see(&c, &values[i]));
	hi_window_columns_sort(&c);
	HI_ASSERT_EQ(2, c.columns.items[0].n_cells);
	cell = &c.cells.items[c.columns.items[0].first];
	HI_ASSERT(cell[0].group == 0 && cell[1].group == 1);
	HI_ASSERT_EQ(3, cell[1].n);
	HI_ASSERT(fabs(cell[1].seen - 60) < 1e-9);
	HI_ASSERT(fabs(cell[1].sum.rates - (60 + 120)) < 1e-9);
	HI_ASSERT(fabs(cell[1].sum.squares - (60 * 60 + 120 * 120)) < 1e-9);
	HI_ASSERT(fabs(cell[1].sum.chance - (20 * 20 + 40 * 40 + 120 * 120)) < 1e-9);
	hi_window_columns_free(&c);
}
