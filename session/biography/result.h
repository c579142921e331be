/* SPDX-License-Identifier: BSD-2-Clause */
/* What biographies amount to, as a report. */
#ifndef HI_SESSION_BIOGRAPHY_RESULT_H
#define HI_SESSION_BIOGRAPHY_RESULT_H

#include "report/views/bio_report.h"
#include "session/biography/lives.h"

struct hi_lives_result_options {
	enum hi_lives_by by;
	uint32_t bands; /* of the groups; 0: those of what is not used */
	size_t top;	/* groups; SIZE_MAX: all */
	uint64_t min_size;
};

/* The censuses up to now; what still lives counts as if it ended here. Fills lines,
 * groups, idle, amounts, checks and
 * what is watched of *ret, out of the arena; its strings are the lives'.
 * HI_NO_MEMORY. */
enum hi_status hi_lives_result(struct hi_lives *lives,
			       const struct hi_lives_result_options *options,
			       struct hi_arena *arena, struct hi_bio_report *ret,
			       struct hi_error *err);
/* The last census alone. HI_NO_MEMORY. */
enum hi_status hi_lives_last_line(struct hi_lives *lives, struct hi_bio_line *ret,
				  struct hi_error *err);

#endif
