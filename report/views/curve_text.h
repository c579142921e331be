/* SPDX-License-Identifier: BSD-2-Clause */
/* A curve over time as lines of text, in ASCII. */
#ifndef HI_REPORT_VIEWS_CURVE_TEXT_H
#define HI_REPORT_VIEWS_CURVE_TEXT_H

#include "report/views/display.h"

struct hi_curve_point {
	uint64_t time_ns; /* does not decrease */
	uint64_t bytes;
};

/* Adds the curve to the page, in as many columns. Each column has the highest point of
 * its time, or the last one before. marks: points that have a label above them, which is
 * their number in this order: 1 to 9, a to z, then *. */
void hi_curve_display(const struct hi_curve_point *points, size_t n, const size_t *marks,
		      size_t n_marks, unsigned width, struct hi_page *page);
/* The label of a mark. */
char hi_curve_label(size_t mark);

#endif
