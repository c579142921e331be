/* SPDX-License-Identifier: BSD-2-Clause */
/* A curve over time as lines of text, in ASCII. */
#ifndef HI_REPORT_PICTURES_CURVE_TEXT_H
#define HI_REPORT_PICTURES_CURVE_TEXT_H

#include "report/display.h"
#include "report/heap_profile/hp_reader.h"

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

/* Samples of bands, one on top of the other. */
struct hi_stack {
	const uint64_t *times_ns; /* does not decrease */
	const uint64_t *totals;
	size_t n_samples;
	const size_t *starts; /* n_samples + 1: where a sample's points begin */
	const struct hi_hp_point *points;
	const size_t *letters; /* of each band; from the bottom of the stack on */
	size_t n_letters;      /* at most 26; bands from there on are one, drawn as '.' */
};
/* Adds them to the page as an area of letters, in the same way. */
void hi_stack_display(const struct hi_stack *stack, unsigned width, struct hi_page *page);
/* The letter of a band: A to Z. */
char hi_stack_letter(size_t band);

#endif
