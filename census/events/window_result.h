/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording by windows as its report and its file have it: estimates for each site
 * (window_live.h), and what the windows were. Plain data.
 */
#ifndef HI_CENSUS_EVENTS_WINDOW_RESULT_H
#define HI_CENSUS_EVENTS_WINDOW_RESULT_H

#include "census/events/frames.h"
#include "census/events/window_live.h"

struct hi_window_row {
	bool has_site;
	struct hi_frame_row site; /* else all texts are "" */
	struct hi_window_site figures;
};
struct hi_window_result {
	struct hi_windows_choice choice;
	const struct hi_window_row *rows; /* by site; the one without a site is first */
	size_t n_rows;
	struct hi_window_totals totals;
	struct hi_window_load load;
	uint64_t late_hits, duration_ns;
	/* At the end of it: the first thread of the program had ended, and windows saw
	 * nothing. */
	uint64_t blind_ns;
	uint64_t events, lost_events;
	const char *allocator;	   /* that was followed; "": not known */
	uint64_t objects, bytes;   /* live: all that the walk has found */
	uint64_t lost, lost_bytes; /* leaked: the same */
};

#endif
