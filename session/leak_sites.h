/* SPDX-License-Identifier: BSD-2-Clause */
/* Which lines of a program can have made its leaks, without a recording. */
#ifndef HI_SESSION_LEAK_SITES_H
#define HI_SESSION_LEAK_SITES_H

#include "census/analysis/alloc_sites.h"
#include "report/reports/leaks/leaks_report.h"
#include "session/inspection.h"

/*
 * Finds the sites that fit each row and root of the report. *ret is what they borrow
 * from: hi_alloc_sites_destroy() after the report was shown; NULL: nothing is leaked, or
 * the file has no sites. Warns where the code cannot be read.
 */
enum hi_status hi_leak_sites_find(struct hi_inspection *in,
				  struct hi_leaks_report *report,
				  struct hi_alloc_sites **ret, struct hi_error *err);

#endif
