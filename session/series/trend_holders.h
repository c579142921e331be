/* SPDX-License-Identifier: BSD-2-Clause */
/* The growth of what single variables hold, over the graphs in a file. */
#ifndef HI_SESSION_SERIES_TREND_HOLDERS_H
#define HI_SESSION_SERIES_TREND_HOLDERS_H

#include "base/arena.h"
#include "census/snapshot/snapshot_series.h"
#include "report/parts/trend.h"

enum {
	HI_TREND_GRAPHS = 32, /* that are read, at most: evenly spread */
	HI_TREND_HOLDERS = 100,
};

/*
 * Fills the holders of the trend, in the arena, from the rows of `retained` that each
 * graph up to entry `last` has. A variable of the last graph has a row if it holds more
 * than in the first one, and is among these rows in each graph that has not all of them.
 * There are no holders if a graph is damaged or has no such rows (files of earlier
 * versions). HI_NO_MEMORY.
 */
enum hi_status hi_series_trend_holders(const struct hi_snapshots *s, size_t last,
				       struct hi_trend *to, struct hi_arena *arena,
				       struct hi_error *err);

#endif
