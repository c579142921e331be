/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/pictures/curve_text.h"

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
	size_t samples[MOST]; /* the one of that height */
	char labels[MOST];    /* 0: none */
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

	for (size_t i = 0; i < n; i++) {
		unsigned column = column_of(plot, points[i].time_ns);

		for (unsigned c = last + 1; c < column; c++) {
			plot->heights[c] = points[i - 1].bytes;
			plot->samples[c] = i - 1;
		}
		if (!i || column != last || points[i].bytes > plot->heights[column]) {
			plot->heights[column] = points[i].bytes;
			plot->samples[column] = i;
		}
		if (points[i].bytes > plot->highest)
			plot->highest = points[i].bytes;
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

/* Columns of the axis, with the value of the row where it has one. */
static unsigned begin_plot_row(const struct curve_plot *plot, unsigned row, char *line,
			       size_t size)
{
	char value[24] = "";

	if (row == ROWS || row == ROWS / 2)
		hi_bytes(value,
			 plot->highest / ROWS * row + plot->highest % ROWS * row / ROWS);
	return (unsigned)snprintf(line, size, "%*s |", AXIS, value);
}

static void put_plot_row(char *line, unsigned n, struct hi_page *page)
{
	while (n && line[n - 1] == ' ')
		n--;
	line[n] = '\0';
	hi_page_code(page, line);
}

/* row: from 1, at the bottom; the one above ROWS has labels alone. */
static void put_curve_row(const struct curve_plot *plot, unsigned row,
			  struct hi_page *page)
{
	char line[AXIS + 3 + MOST];
	unsigned n = begin_plot_row(plot, row, line, sizeof(line));

	for (unsigned c = 0; c < plot->width; c++) {
		unsigned rows = rows_of(plot, plot->heights[c]);

		line[n++] = row <= rows				 ? '#'
			    : plot->labels[c] && row == rows + 1 ? plot->labels[c]
								 : ' ';
	}
	put_plot_row(line, n, page);
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
	hi_page_code(page, hi_page_printf(page, "%*s0 s%*s", AXIS + 2, "",
					  plot->length_ns ? (int)plot->width - 3 : 0,
					  plot->length_ns ? time : ""));
}

static void put_labels(struct curve_plot *plot, const struct hi_curve_point *points,
		       const size_t *marks, size_t n_marks)
{
	for (size_t i = n_marks; i > 0; i--)
		plot->labels[column_of(plot, points[marks[i - 1]].time_ns)] =
			hi_curve_label(i - 1);
}

static void begin_plot(struct curve_plot *plot, unsigned width,
		       const struct hi_curve_point *points, size_t n)
{
	*plot = (struct curve_plot){.width = width < AXIS + 4 + LEAST  ? LEAST
					     : width > AXIS + 4 + MOST ? MOST
								       : width - AXIS - 4,
				    .from_ns = points[0].time_ns,
				    .length_ns =
					    points[n - 1].time_ns - points[0].time_ns};
	fill_curve_columns(plot, points, n);
}

void hi_curve_display(const struct hi_curve_point *points, size_t n, const size_t *marks,
		      size_t n_marks, unsigned width, struct hi_page *page)
{
	struct curve_plot plot;

	if (!n)
		return;
	begin_plot(&plot, width, points, n);
	put_labels(&plot, points, marks, n_marks);
	for (unsigned row = ROWS + 1; row > 0; row--)
		put_curve_row(&plot, row, page);
	put_curve_axis(&plot, page);
}

/* ---- bands ---- */

enum { STACK_ROWS = 2 * ROWS, LETTERS_MOST = 26 };

char hi_stack_letter(size_t band)
{
	return (char)('A' + (char)band);
}

/* The letters of a column, from the bottom on. */
static void fill_stack_column(const struct hi_stack *stack, size_t sample,
			      uint64_t highest, char column[STACK_ROWS])
{
	uint64_t sums[LETTERS_MOST + 1] = {}, below = 0;
	unsigned from = 0;

	for (size_t k = stack->starts[sample]; k < stack->starts[sample + 1]; k++)
		sums[stack->letters[stack->points[k].band]] += stack->points[k].value;
	memset(column, ' ', STACK_ROWS);
	for (size_t i = 0; i <= stack->n_letters; i++) {
		unsigned to;

		below += sums[i];
		to = highest ? (unsigned)((double)below / (double)highest * STACK_ROWS +
					  .5)
			     : 0;
		for (; from < to && from < STACK_ROWS; from++)
			column[from] = i < stack->n_letters ? hi_stack_letter(i) : '.';
	}
}

static void put_stack_row(const struct curve_plot *plot, char (*columns)[STACK_ROWS],
			  unsigned row, struct hi_page *page)
{
	char line[AXIS + 3 + MOST];
	unsigned n = begin_plot_row(plot, row % 2 ? 0 : row / 2, line, sizeof(line));

	for (unsigned c = 0; c < plot->width; c++)
		line[n++] = columns[c][row - 1];
	put_plot_row(line, n, page);
}

void hi_stack_display(const struct hi_stack *stack, unsigned width, struct hi_page *page)
{
	size_t n = stack->n_samples;
	struct hi_curve_point *points = hi_arena_alloc(&page->arena, n * sizeof(*points));
	char(*columns)[STACK_ROWS] =
		hi_arena_alloc(&page->arena, MOST * sizeof(*columns));
	struct curve_plot plot;

	if (!points || !columns) {
		page->failed = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		points[i] = (struct hi_curve_point){stack->times_ns[i], stack->totals[i]};
	begin_plot(&plot, width, points, n);
	for (unsigned c = 0; c < plot.width; c++)
		fill_stack_column(stack, plot.samples[c], plot.highest, columns[c]);
	for (unsigned row = STACK_ROWS; row > 0; row--)
		put_stack_row(&plot, columns, row, page);
	put_curve_axis(&plot, page);
}
