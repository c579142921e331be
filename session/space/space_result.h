/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of a space profile, as a report. */
#ifndef HI_SESSION_SPACE_SPACE_RESULT_H
#define HI_SESSION_SPACE_SPACE_RESULT_H

#include "report/reports/alloc/alloc_report.h"
#include "session/space/space_profile.h"

struct hi_space_result_options {
	/* Only functions that have this in their names, or match it as a pattern (* and
	 * ?); NULL: all. */
	const char *select;
	struct hi_manners manners;
	/* Calls that were counted; borrowed. */
	const struct hi_counted_calls *calls;
	size_t n_calls;
	uint64_t call_ns;
	bool callers;	/* of the functions that are shown */
	uint32_t depth; /* of their chains, at most; 0: none */
	/* Callers of libraries that something of the program has called are passed. */
	bool passes_libraries;
	size_t top;	   /* functions, by bytes and by time; SIZE_MAX: all */
	uint64_t min_size; /* bytes that they allocated */
	enum hi_alloc_order order;
};

/*
 * The censuses up to now. Fills lines, functions and amounts of *ret, out of the arena
 * and of *rows, which hi_space_result_free() frees later; its strings are the profile's.
 * HI_NOT_FOUND: `select` matches no function; the error names the nearest. HI_NO_MEMORY.
 */
enum hi_status hi_space_profile_report(const struct hi_space_profile *profile,
				       const struct hi_space_result_options *options,
				       struct hi_arena *arena,
				       struct hi_space_result *rows,
				       struct hi_alloc_report *ret, struct hi_error *err);

#endif
