/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of biographies, as a report. */
#ifndef HI_SESSION_BIOGRAPHY_BIO_RESULT_H
#define HI_SESSION_BIOGRAPHY_BIO_RESULT_H

#include "base/arena.h"
#include "report/reports/bio/bio_report.h"
#include "session/options.h"

struct hi_lives_result_options {
	enum hi_lives_by by;
	uint32_t bands; /* of the groups; 0: those of what is not used */
	size_t top;	/* groups; SIZE_MAX: all */
	uint64_t min_size;
};

/* Fills all of *ret but the target, out of the arena; it borrows from the biographies.
 * HI_NO_MEMORY. */
enum hi_status hi_lives_result(const struct hi_bio_summary *lives,
			       const struct hi_lives_result_options *options,
			       struct hi_arena *arena, struct hi_bio_report *ret,
			       struct hi_error *err);

#endif
