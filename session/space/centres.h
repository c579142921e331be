/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Approximate cost centres: functions that are chosen after the fact, on stored stacks. A
 * context belongs to the outermost function of its stack that matches a pattern.
 */
#ifndef HI_SESSION_SPACE_CENTRES_H
#define HI_SESSION_SPACE_CENTRES_H

#include "base/interner.h"
#include "base/vector.h"
#include "census/snapshot/snapshot_births.h"

/* Names or patterns of functions (hi_frame_matches()); borrowed. n 0: no centres. */
struct hi_centre_choice {
	const char *const *patterns;
	size_t n;
};

/* Zeros and a choice are a valid one. */
struct hi_space_centres {
	struct hi_centre_choice choice;
	struct HI_VECTOR(bool) found;	/* by pattern: some function matched it */
	struct HI_VECTOR(bool) matches; /* by row of the last frames */
	struct hi_interner names;	/* of the functions of all frames */
};
/* Looks at the frames of a census, before its contexts are asked for. False: out of
 * memory. */
bool hi_space_centres_look(struct hi_space_centres *centres,
			   const struct hi_frames *frames);
/* The row of the frames that is the centre of a context; UINT32_MAX: there is none. */
uint32_t hi_space_centre_of(const struct hi_space_centres *centres,
			    const struct hi_recorded *recorded, uint32_t context);
/* HI_NOT_FOUND: a pattern matched no function of any frame; the error names the nearest.
 * If there were no frames at all there is nothing to match. */
enum hi_status hi_space_centres_check(const struct hi_space_centres *centres,
				      struct hi_error *err);
void hi_space_centres_free(struct hi_space_centres *centres);

#endif
