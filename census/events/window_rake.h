/* SPDX-License-Identifier: BSD-2-Clause */
/* Shares of sites in a column of a known sum: Note [Blocks of windows] in window_live.h. */
#ifndef HI_CENSUS_EVENTS_WINDOW_RAKE_H
#define HI_CENSUS_EVENTS_WINDOW_RAKE_H

#include "census/events/windows.h"

/* One site in a column. */
struct hi_window_share {
	uint32_t group;
	bool is_trusted;
	double gone;		 /* so much may be another's by now: of trusted ones */
	double least;		 /* so much is its own */
	struct hi_bounded found; /* the estimate by windows alone; after hi_window_rake()
				    that by both */
};
/* The lower end of what was found if so much may be another's by now. */
double hi_window_low(const struct hi_bounded *found, double gone);
/* Shares of a column whose true sum is known. */
void hi_window_rake(double truth, struct hi_window_share *shares, size_t n);

#endif
