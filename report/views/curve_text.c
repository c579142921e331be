/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/views/curve_text.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum {
	ROWS = 10,
	AXIS = 10, /* columns of the values at the left */
	LEAST = 20,
	MOST = 400, /* columns of the plot */
};

struct curve_plot {
	unsigned width;
	uint64_t from_ns, length_ns, highest;
	uint64_t heights[MOST];
	char labels[MOST]; /* 0: none */
};

char hi_curve_label(size_t mark)
{
	return (char)(mark < 9	  ? '1' + (char)mark
		      : mark < 35 ? 'a' + (char)(mark - 9)
				  : '*');
}

static unsigned column_of(const struct curve_plot *plot, uint64_t time_ns)
{
	uint64_t at = time_ns - plot->from_ns;

	if (!plot->length_ns || at > plot->length_ns)
		return 0;
	return (unsigned)((double)at / (double)plot->length_ns * (plot->width - 1) + .5);
}

static void fill_curve_columns(struct curve_plot *plot,
			       const struct hi_curve_point *points, size_t n)
{
	unsigned last = 0;
	uint64_t before = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned column = column_of(plot, points[i].time_ns);

		for (unsigned c = last + 1; c < column; c++)
			plot->heights[c] = before;
		if (points[i].bytes > plot->heights[column])
			plot->heights[column] = points[i].bytes;
		if (points[i].bytes > plot->highest)
			plot->highest = points[i].bytes;
		before = points[i].bytes;
		last = column;
	}
}

/* Rows that are filled: 0 only for nothing. */
static unsigned rows_of(const struct curve_plot *plot, uint64_t bytes)
{
	unsigned rows =
		plot->highest
			? (unsigned)((double)bytes / (double)plot->highest * ROWS + .5)
			: 0;

	return rows || !bytes ? rows : 1;
}

/* row: from 1, at the bottom; the one above ROWS has labels alone. */
static void put_curve_row(const struct curve_plot *plot, unsigned row,
			  struct hi_page *page)
{
	char line[AXIS + 3 + MOST], value[24] = "";
	unsigned n;

	if (row == ROWS || row == ROWS / 2)
		hi_bytes(value,
			 plot->highest / ROWS * row + plot->highest % ROWS * row / ROWS);
	n = (unsigned)snprintf(line, sizeof(line), "%*s |", AXIS, value);
	for (unsigned c = 0; c < plot->width; c++) {
		unsigned rows = rows_of(plot, plot->heights[c]);

		line[n++] = row <= rows				 ? '#'
			    : plot->labels[c] && row == rows + 1 ? plot->labels[c]
								 : ' ';
	}
	while (n && line[n - 1] == ' ')
		n--;
	line[n] = '\0';
	hi_page_code(page, line);
}

static void put_curve_axis(const struct curve_plot *plot, struct hi_page *page)
{
	char line[AXIS + 3 + MOST], time[24];
	int n;

	n = snprintf(line, sizeof(line), "%*s +", AXIS, "0 B");
	memset(line + n, '-', plot->width);
	line[(unsigned)n + plot->width] = '\0';
	hi_page_code(page, line);
	hi_text_duration(time, plot->length_ns);
	hi_page_code(page,
		     hi_page_printf(page, "%*s0 s%*s", AXIS + 2, "", (int)plot->width - 3,
				    plot->length_ns ? time : ""));
}

static void put_labels(struct curve_plot *plot, const struct hi_curve_point *points,
		       const size_t *marks, size_t n_marks)
{
	for (size_t i = n_marks; i > 0; i--)
		plot->labels[column_of(plot, points[marks[i - 1]].time_ns)] =
			hi_curve_label(i - 1);
}

void hi_curve_display(const struct hi_curve_point *points, size_t n, const size_t *marks,
		      size_t n_marks, unsigned width, struct hi_page *page)
{
	struct curve_plot plot = {.width = width < AXIS + 4 + LEAST  ? LEAST
					   : width > AXIS + 4 + MOST ? MOST
								     : width - AXIS - 4};

	if (!n)
		return;
	plot.from_ns = points[0].time_ns;
	plot.length_ns = points[n - 1].time_ns - plot.from_ns;
	fill_curve_columns(&plot, points, n);
	put_labels(&plot, points, marks, n_marks);
	for (unsigned row = ROWS + 1; row > 0; row--)
		put_curve_row(&plot, row, page);
	put_curve_axis(&plot, page);
}
