/* SPDX-License-Identifier: BSD-2-Clause */
/* The growth of memory over the censuses of a file (report/parts/trend.h). */
#ifndef HI_SESSION_SERIES_TREND_H
#define HI_SESSION_SERIES_TREND_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_series.h"
#include "report/parts/trend.h"

enum { HI_TREND_ROWS = 100 }; /* types that are followed, at most */

struct hi_series_trend {
	struct hi_trend trend;
	struct hi_arena arena; /* of its rows */
};

/* Reads the censuses up to entry `last` of the file. A census whose totals are damaged is
 * an error. HI_NO_MEMORY, HI_BAD_DATA. *ret: hi_series_trend_destroy(). */
enum hi_status hi_series_trend_read(const struct hi_snapshots *s, size_t last,
				    struct hi_series_trend **ret, struct hi_error *err);
void hi_series_trend_destroy(struct hi_series_trend *trend); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_series_trend *, hi_series_trend_destroy)

#endif
