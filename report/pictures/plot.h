/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bands over time, one on top of the other, in a plot: the times that are drawn, where
 * times and values lie, outlines of bands and ticks. Graphs (graph_svg.h) and pages
 * (render/html_picture.h) draw with it, each in its own style.
 *
 *	hi_plot_begin(&p, times, n, err);
 *	hi_plot_add(&p, values);			  of each band
 *	hi_plot_choose(&p, 2000);
 *	p.most = …;
 *	hi_plot_outline(&p, values, out);		  of each band, from the bottom
 *	hi_plot_free(&p);
 */
#ifndef HI_REPORT_PICTURES_PLOT_H
#define HI_REPORT_PICTURES_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct hi_plot {
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

/* Begins with times that ascend, at least one. HI_NO_MEMORY. ret: hi_plot_free(). */
enum hi_status hi_plot_begin(struct hi_plot *ret, const double *times, size_t n,
			     struct hi_error *err);
void hi_plot_free(struct hi_plot *p);
/* Counts a band, before the times are chosen. values: one a time. */
void hi_plot_add(struct hi_plot *p, const double *values);
/* Draws all times, or at most `most` and the last one: of each few the one with the
 * highest total. A time that is alone is drawn at the left and at the right. */
void hi_plot_choose(struct hi_plot *p, size_t most);
/* Sets the times at the left and at the right. */
void hi_plot_range(struct hi_plot *p, double from, double to);

double hi_plot_x(const struct hi_plot *p, double time);
double hi_plot_y(const struct hi_plot *p, double value);
/* Writes the next band, on top of those before, as the data of a path. */
void hi_plot_outline(struct hi_plot *p, const double *values, FILE *out);
/* Finds the i-th tick of the axis of time, which has at most `most`, and its text.
 * Returns whether there is one. */
bool hi_plot_tick(const struct hi_plot *p, unsigned most, unsigned i, double *time,
		  char text[40]);

#endif
