/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bands over time, one on top of the other, in a plot: the times that are drawn, where
 * times and values lie, outlines of bands and ticks. Graphs (graph_svg.h) and pages
 * (render/html_picture.h) draw with it, each in its own style.
 *
 *	hi_stack_begin(&s, times, n, err);
 *	hi_stack_add(&s, values);			  of each band
 *	hi_stack_choose(&s, 2000);
 *	s.most = …;
 *	hi_stack_outline(&s, values, out);		  of each band, from the bottom
 *	hi_stack_free(&s);
 */
#ifndef HI_REPORT_PICTURES_STACK_H
#define HI_REPORT_PICTURES_STACK_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct hi_stack {
	double left, right, top, bottom; /* of the plot, in pixels; the caller's */
	double most;			 /* the value at the top; the caller's */
	double from, to;		 /* times at the left and at the right */
	bool is_instant;		 /* no time passes; from and to are around it */
	const double *times;		 /* borrowed */
	size_t n_times;
	double *totals; /* by time: of all bands */
	size_t *drawn;	/* times */
	size_t n_drawn;
	double *below; /* by drawn time: of the bands that are drawn already */
};

/* Begins with times that ascend, at least one. HI_NO_MEMORY. ret: hi_stack_free(). */
enum hi_status hi_stack_begin(struct hi_stack *ret, const double *times, size_t n,
			      struct hi_error *err);
void hi_stack_free(struct hi_stack *s);
/* Counts a band, before the times are chosen. values: one a time. */
void hi_stack_add(struct hi_stack *s, const double *values);
/* Draws all times, or at most `most` and the last one: of each few the one with the
 * highest total. A time that is alone is drawn at the left and at the right. */
void hi_stack_choose(struct hi_stack *s, size_t most);
/* Sets the times at the left and at the right. */
void hi_stack_range(struct hi_stack *s, double from, double to);

double hi_stack_x(const struct hi_stack *s, double time);
double hi_stack_y(const struct hi_stack *s, double value);
/* Writes the next band, on top of those before, as the data of a path. */
void hi_stack_outline(struct hi_stack *s, const double *values, FILE *out);
/* Finds the i-th tick of the axis of time, which has at most `most`, and its text.
 * Returns whether there is one. */
bool hi_stack_tick(const struct hi_stack *s, unsigned most, unsigned i, double *time,
		   char text[40]);

#endif
