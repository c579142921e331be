/* SPDX-License-Identifier: BSD-2-Clause */
/* The callers of the functions of a space profile, for its report. */
#ifndef HI_SESSION_SPACE_CALLERS_H
#define HI_SESSION_SPACE_CALLERS_H

#include "report/reports/alloc/alloc_report.h"
#include "session/space/space_profile.h"

/* Fills the callers of the n functions, by their numbers, out of the arena: chains of at
 * most so many callers, each before its own; with samples of time, if wanted. Libraries:
 * hi_chains_keep(). HI_NO_MEMORY. */
enum hi_status hi_space_callers(const struct hi_space_profile *profile,
				struct hi_alloc_function *functions, size_t n,
				uint32_t depth, bool passes_libraries, bool has_times,
				struct hi_arena *arena, struct hi_error *err);

#endif
