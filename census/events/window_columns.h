/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of one figure over the objects of a walk, in columns: of one size (and one type),
 * or of several where there are few objects.
 *
 * Note [Columns of few objects]
 *
 * A block that windows of 2 % of the time saw stands for 50. In a column of five objects
 * it can stand for no more than these, and the others that it stands for lie in columns in
 * which no window saw one of its site. So columns of fewer objects than a seen block
 * stands for are taken together: all types of a size, then sizes up to twice as large, then
 * what is left. Internal to window_live.c.
 */
#ifndef HI_CENSUS_EVENTS_WINDOW_COLUMNS_H
#define HI_CENSUS_EVENTS_WINDOW_COLUMNS_H

#include <stdint.h>

#include "base/table.h"
#include "base/vector.h"
#include "census/events/windows.h"

/* A column of several sizes has this one. */
#define HI_WINDOW_SIZES UINT64_MAX

struct hi_window_column {
	uint64_t size;
	double truth;		 /* sum over its objects */
	uint64_t n;		 /* of them */
	uint32_t into;		 /* that it was taken into; itself: none */
	uint32_t first, n_cells; /* of its cells, once they are sorted */
};

/* Blocks of a site in a column that windows saw. */
struct hi_window_cell {
	uint32_t column, group;
	uint64_t n;
	double seen; /* sum of their values */
	struct hi_window_sum sum;
	double of_window; /* of the window whose blocks are being added */
	uint32_t window;
};

/* Zeros; hi_window_columns_free(). */
struct hi_window_columns {
	struct hi_table column_of, cell_of;
	struct HI_VECTOR(struct hi_window_column) columns;
	struct HI_VECTOR(struct hi_window_cell) cells;
};
void hi_window_columns_free(struct hi_window_columns *columns);

/* An object. False: no memory; so for all of these. */
bool hi_window_columns_add(struct hi_window_columns *columns, uint32_t size,
			   uint32_t type, double value);
/* Takes columns of fewer objects than least together, once all are added. */
bool hi_window_columns_merge(struct hi_window_columns *columns, double least);
/* The column that this one was taken into at last; itself: none. */
uint32_t hi_window_columns_last(const struct hi_window_columns *columns, uint32_t column);
/* The last column of an object; UINT32_MAX: none of its size and type was added. */
uint32_t hi_window_columns_find(const struct hi_window_columns *columns, uint32_t size,
				uint32_t type);

/* A value that a window of so many seconds saw. Windows come in their order. */
struct hi_window_value {
	uint32_t column, group, window;
	double value, length_s;
};
bool hi_window_columns_see(struct hi_window_columns *columns,
			   const struct hi_window_value *value);
/* No more is seen: the cells of each column come one after another, by group. */
void hi_window_columns_sort(struct hi_window_columns *columns);

#endif
