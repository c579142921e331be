/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimates of a site by windows (window_live.h), and what they are made of. */
#ifndef HI_CENSUS_EVENTS_WINDOW_SITE_H
#define HI_CENSUS_EVENTS_WINDOW_SITE_H

#include "census/events/birth_groups.h"
#include "census/events/windows.h"

/* A group of births (birth_groups.h), by windows. */
struct hi_window_site {
	struct hi_window_rate rate;
	uint64_t seen_live, seen_lost; /* blocks that the walk has found */
	uint64_t unseen_frees;	       /* blocks that it has not, or another in place */
	uint64_t seen_frees;	       /* blocks that windows saw allocated and freed */
	bool keeps_all;		       /* there are hardly any of these */
	/* Sums of the recording. lost: leaked blocks. */
	struct hi_bounded live_bytes, lost, lost_bytes;
};

struct hi_window_blocks {
	const struct hi_windows *windows;
	const struct hi_objects *objects;
	const struct hi_births *births;	       /* of these */
	const struct hi_birth_groups *groups;  /* by site or context */
	const uint64_t *live_bits, *lost_bits; /* of the objects */
	struct hi_bounded speed;     /* of the program in windows (hi_window_speed()) */
	const uint64_t *outstanding; /* by context: blocks that no window saw freed */
	/* Length of the time that windows are of; 0: the whole recording. */
	uint64_t duration_ns;
};

#endif
