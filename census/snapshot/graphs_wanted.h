/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which censuses of a series keep their whole graph, and which points of it go when it
 * must become smaller. Only figures of the points are looked at.
 *
 * A peak is one of the curve of live bytes (census/space/peaks.h): it falls by 5 % on
 * both sides. The global maximum always is one.
 */
#ifndef HI_CENSUS_SNAPSHOT_GRAPHS_WANTED_H
#define HI_CENSUS_SNAPSHOT_GRAPHS_WANTED_H

#include "census/snapshot/snapshot_series.h"

enum { HI_GRAPHS_PEAKS_MAX = 1000 };

struct hi_graphs_wanted {
	bool first, last;
	uint64_t every; /* censuses 1, 1 + every, …; 0: none of them for that */
	bool peak;	/* the global maximum, and */
	uint32_t peaks; /* so many other peaks, the highest; the earlier of equal ones */
};

/* keep[i]: entry i is to keep its graph. Only entries that have a graph can be chosen,
 * and the last one, whose graph is not written yet: so keep[n - 1] decides whether the
 * newest census is written with its graph. Unless the series is over, the census that
 * becomes a peak if there is a fall now is kept, too. */
void hi_graphs_choose(const struct hi_graphs_wanted *wanted,
		      const struct hi_snapshots_entry *entries, size_t n, bool is_over,
		      bool *keep);

/*
 * Decimation. place[i]: the index of entry i in the sequence of all censuses that could
 * have been made, from 0, ascending; one of `stride` of them is made. When there is no
 * room, the points at even multiples of the stride stay and the stride is doubled, as
 * often as is needed to take one: so points stay equally far apart. Others stay in
 * addition: those in `graphs`, the global maximum, and the last one, until a later one
 * comes. Clears what goes in points (those that are true), returns how many these are,
 * and sets *stride, which stays as it is if there are none.
 */
size_t hi_points_halve(const struct hi_snapshots_entry *entries, const uint64_t *place,
		       const bool *graphs, size_t n, uint64_t *stride, bool *points);
/* Clears points that are at no multiple of the stride and have no reason of their own
 * (any more). */
void hi_points_drop(const struct hi_snapshots_entry *entries, const uint64_t *place,
		    const bool *graphs, size_t n, uint64_t stride, bool *points);
/* Returns the place of the census that is made after the last one. */
uint64_t hi_points_next(uint64_t last_place, uint64_t stride);
/* The graph of `graphs` to remove next: the one of fewest live bytes, but the last
 * entry's only when no other is left; n: there is none. */
size_t hi_graphs_least(const struct hi_snapshots_entry *entries, const bool *graphs,
		       size_t n);

#endif
