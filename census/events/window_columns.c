/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/window_columns.h"

#include <stdlib.h>

enum { LEVELS = 3 }; /* of merging; columns of these have keys of their own */

void hi_window_columns_free(struct hi_window_columns *c)
{
	hi_table_free(&c->column_of);
	hi_table_free(&c->cell_of);
	hi_vector_free(&c->columns);
	hi_vector_free(&c->cells);
}

static uint64_t key_of_column(uint32_t size, uint32_t type)
{
	return size | (uint64_t)type << 32;
}

static bool need_column(struct hi_table *table, struct hi_window_columns *c, uint64_t key,
			uint64_t size, uint64_t *ret)
{
	*ret = c->columns.count;
	return hi_table_get(table, key, ret) ||
	       (hi_vector_push(&c->columns,
			       (struct hi_window_column){.size = size,
							 .into = (uint32_t)*ret}) &&
		hi_table_put(table, key, *ret));
}

bool hi_window_columns_add(struct hi_window_columns *c, uint32_t size, uint32_t type,
			   double value)
{
	uint64_t i;

	if (!need_column(&c->column_of, c, key_of_column(size, type), size, &i))
		return false;
	c->columns.items[i].truth += value;
	c->columns.items[i].n++;
	return true;
}

/* ---- merging ---- */

static unsigned log2_of_size(uint64_t size)
{
	return size ? 63 - (unsigned)__builtin_clzll(size) : 0;
}

/* The key of the column that it is taken into at a level: all types of a size, sizes up
 * to twice as large, all. */
static uint64_t key_of_level(uint64_t size, int level)
{
	uint64_t part = level == 0 ? size : level == 1 ? log2_of_size(size) : 0;

	return (uint64_t)level << 40 | part;
}

static bool merge_column(struct hi_window_columns *c, struct hi_table *merged, size_t i,
			 int level)
{
	uint64_t size = c->columns.items[i].size, to;
	struct hi_window_column *from, *into;

	if (!need_column(merged, c, key_of_level(size, level), size, &to))
		return false;
	from = &c->columns.items[i];
	into = &c->columns.items[to];
	if (into->size != size)
		into->size = HI_WINDOW_SIZES;
	into->truth += from->truth;
	into->n += from->n;
	from->into = (uint32_t)to;
	return true;
}

bool hi_window_columns_merge(struct hi_window_columns *c, double least)
{
	struct hi_table merged = {};
	bool ok = true;

	for (int level = 0; level < LEVELS; level++) {
		size_t n = c->columns.count;

		for (size_t i = 0; i < n && ok; i++)
			if (c->columns.items[i].into == i &&
			    (double)c->columns.items[i].n < least)
				ok = merge_column(c, &merged, i, level);
	}
	hi_table_free(&merged);
	return ok;
}

uint32_t hi_window_columns_last(const struct hi_window_columns *c, uint32_t column)
{
	for (int level = 0; level < LEVELS; level++)
		column = c->columns.items[column].into;
	return column;
}

uint32_t hi_window_columns_find(const struct hi_window_columns *c, uint32_t size,
				uint32_t type)
{
	uint64_t i = 0;

	if (!hi_table_get(&c->column_of, key_of_column(size, type), &i))
		return UINT32_MAX;
	return hi_window_columns_last(c, (uint32_t)i);
}

/* ---- cells ---- */

static struct hi_window_cell *need_cell(struct hi_window_columns *c, uint32_t column,
					uint32_t group)
{
	uint64_t key = (uint64_t)column << 32 | group, i = c->cells.count;

	if (!hi_table_get(&c->cell_of, key, &i) &&
	    (!hi_vector_push(&c->cells,
			     (struct hi_window_cell){.column = column, .group = group}) ||
	     !hi_table_put(&c->cell_of, key, i)))
		return NULL;
	return &c->cells.items[i];
}

static void end_window_of_cell(struct hi_window_cell *cell)
{
	cell->sum.squares += cell->of_window * cell->of_window;
	cell->of_window = 0;
}

bool hi_window_columns_see(struct hi_window_columns *c, const struct hi_window_value *v)
{
	struct hi_window_cell *cell = need_cell(c, v->column, v->group);

	if (!cell)
		return false;
	if (cell->window != v->window)
		end_window_of_cell(cell);
	cell->window = v->window;
	cell->n++;
	cell->seen += v->value;
	cell->of_window += v->value / v->length_s;
	cell->sum.rates += v->value / v->length_s;
	cell->sum.chance += v->value * v->value / (v->length_s * v->length_s);
	return true;
}

static int compare_cells(const void *a, const void *b)
{
	const struct hi_window_cell *x = a, *y = b;

	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

void hi_window_columns_sort(struct hi_window_columns *c)
{
	struct hi_window_column *columns = c->columns.items;

	for (size_t i = 0; i < c->cells.count; i++)
		end_window_of_cell(&c->cells.items[i]);
	if (c->cells.count)
		qsort(c->cells.items, c->cells.count, sizeof(*c->cells.items),
		      compare_cells);
	for (uint32_t i = 0; i < c->cells.count; i++) {
		struct hi_window_column *column = &columns[c->cells.items[i].column];

		column->first = column->n_cells ? column->first : i;
		column->n_cells++;
	}
}
