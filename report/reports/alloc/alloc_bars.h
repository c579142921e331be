/* SPDX-License-Identifier: BSD-2-Clause */
/* The bars of the report `alloc`, in text and as a picture: what both of them draw. */
#ifndef HI_REPORT_REPORTS_ALLOC_ALLOC_BARS_H
#define HI_REPORT_REPORTS_ALLOC_ALLOC_BARS_H

#include <stdio.h>

#include "base/arena.h"
#include "census/space/bars.h"
#include "report/reports/alloc/alloc_report.h"

struct hi_alloc_bar {
	const struct hi_alloc_function *function;
	double time, space; /* parts of the height, per cent */
};

/* In the order of the report. The bars that are left out have the least heights. */
struct hi_alloc_bars {
	struct hi_alloc_bar *items;
	size_t n, n_left_out;
	double highest;
};

static inline double hi_alloc_bar_height(const struct hi_alloc_bar *bar)
{
	return bar->time + bar->space;
}
/* False: out of memory. */
bool hi_alloc_bars_choose(const struct hi_alloc_report *report, struct hi_arena *arena,
			  struct hi_alloc_bars *ret);
/* "", or what is missing in the bars. */
const char *hi_alloc_bars_note(const struct hi_alloc_report *report);

/* One SVG file: no script, no font and no picture from elsewhere. A bar is <g
 * class="bar"> with its figures in its tooltip. Errors of the stream stay in it.
 * HI_NO_MEMORY. */
enum hi_status hi_alloc_bars_svg(const struct hi_alloc_report *report, FILE *out,
				 struct hi_error *err);
/* The same as an element of a page, in which bars are links to #function-N, by the number
 * of the function in the report, from 1. */
enum hi_status hi_alloc_bars_svg_linked(const struct hi_alloc_report *report, FILE *out,
					struct hi_error *err);

#endif
