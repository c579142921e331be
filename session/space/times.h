/* SPDX-License-Identifier: BSD-2-Clause */
/* The samples of time of a space profile, for its report. */
#ifndef HI_SESSION_SPACE_TIMES_H
#define HI_SESSION_SPACE_TIMES_H

#include "report/reports/alloc/alloc_report.h"
#include "session/space/space_profile.h"

/* *times_ret: of each function of the profile, by number, out of the arena; NULL: no
 * samples were taken. HI_NO_MEMORY. */
enum hi_status hi_space_profile_times(const struct hi_space_profile *profile,
				      struct hi_arena *arena, struct hi_alloc_time *ret,
				      struct hi_space_time **times_ret,
				      struct hi_error *err);

#endif
