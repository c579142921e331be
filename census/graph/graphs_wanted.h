/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which censuses of a series keep their whole graph, and which points of it go when it
 * must become smaller. Only figures of the points are looked at.
 *
 * A peak is a census with more live bytes than the one before it and than the next one
 * that differs; the ends of the series have nothing beyond them, and of equal ones in a
 * row the first counts. The global maximum is the highest peak.
 */
#ifndef HI_CENSUS_GRAPH_GRAPHS_WANTED_H
#define HI_CENSUS_GRAPH_GRAPHS_WANTED_H

#include "census/snapshot/snapshot_series.h"

enum { HI_GRAPHS_PEAKS_MAX = 1000 };

struct hi_graphs_wanted {
	bool first, last;
	uint64_t every; /* censuses 1, 1 + every, …; 0: none of them for that */
	bool peak;	/* the global maximum, and */
	uint32_t peaks; /* so many other peaks, the highest; the earlier of equal ones */
};

/* keep[i]: entry i is to keep its graph. Only entries that have a graph can be chosen,
 * and the last one, whose graph is not written yet: so keep[n - 1] says whether the
 * newest census is written with its graph. */
void hi_graphs_choose(const struct hi_graphs_wanted *wanted,
		      const struct hi_snapshots_entry *entries, size_t n, bool *keep);
/* Takes every second one out of points (those that are true), beginning with the second,
 * but none that is in `graphs` and not the last. Returns how many it took. */
size_t hi_points_halve(const bool *graphs, size_t n, bool *points);
/* The graph of `graphs` to remove next: the one of fewest live bytes, but the last
 * entry's only when no other is left; n: there is none. */
size_t hi_graphs_least(const struct hi_snapshots_entry *entries, const bool *graphs,
		       size_t n);

#endif
