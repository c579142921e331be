/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The invariants of SPEC section 2, "Invariants", over bounds. Each field counts the
 * places where one does not hold; all 0 is sound. Nothing aborts (FEATURES 92: GHC's
 * assertion void_total <= not_used).
 */
#ifndef HI_CENSUS_BIOGRAPHY_CHECKS_H
#define HI_CENSUS_BIOGRAPHY_CHECKS_H

#include "census/biography/view.h"

struct hi_bio_checks {
	uint64_t live;	    /* the bands of a census do not add up to what it counted:
			       the proved ones to at most, the possible ones to at least */
	uint64_t inherent;  /* INHERENT_USE is not what the census counted */
	uint64_t evidence;  /* the kinds of evidence do not add up to used and notUsed */
	uint64_t void_band; /* not 0 <= void <= notUsed */
	uint64_t drag_band; /* not 0 <= drag <= used */
	uint64_t use_band;  /* USE and DRAG are not all of used */
	uint64_t bounds;    /* proved > possible, or above what is live */
	uint64_t balance;   /* groups whose differences do not add up to 0 */
	uint64_t
		void_area; /* the sum of VOID is not size * periods of the void objects */
	uint64_t order;	   /* objects whose phases do not only advance */
	uint64_t groups;   /* the groups of a census do not add up to all of it */
};
/* Takes time for every census and group of the view. The view must have been made of bio
 * as it is now. */
void hi_bio_check(const struct hi_bio *bio, const struct hi_bio_view *view,
		  struct hi_bio_checks *ret);
/* The same of the last census alone, without void_area: takes time for every group. */
void hi_bio_check_last(const struct hi_bio *bio, const struct hi_bio_view *view,
		       struct hi_bio_checks *ret);
/* The sum of the fields. */
uint64_t hi_bio_checks_failed(const struct hi_bio_checks *checks);

#endif
