/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/snapshot/graphs_wanted.h"

#include <string.h>

#include "census/space/peaks.h"

static bool can_have_graph(const struct hi_snapshots_entry *e, size_t n, size_t i)
{
	return i == n - 1 || e[i].parts[HI_SNAPSHOTS_WHOLE].size;
}

/* The higher one of a point, if it can be chosen, and what was found; n is nothing. */
static size_t choose_higher(const struct hi_snapshots_entry *e, size_t n,
			    const bool *taken, size_t i, size_t best)
{
	if (taken[i] || !can_have_graph(e, n, i))
		return best;
	if (best == n || e[i].point.bytes > e[best].point.bytes)
		return i;
	return e[i].point.bytes == e[best].point.bytes && i < best ? i : best;
}

/* The highest peak that is not taken yet, the earlier of equal ones; n: there is none.
 * *pending_ret: as hi_peak_walk_pending(). */
static size_t find_highest_peak(const struct hi_snapshots_entry *e, size_t n,
				const bool *taken, size_t *pending_ret)
{
	struct hi_peak_walk walk = {};
	size_t best = n, peak;

	for (size_t i = 0; i < n; i++)
		if (hi_peak_walk_add(&walk, e[i].point.bytes, &peak))
			best = choose_higher(e, n, taken, peak, best);
	*pending_ret = hi_peak_walk_pending(&walk);
	return n ? choose_higher(e, n, taken, walk.top, best) : n;
}

static void choose_peaks(const struct hi_snapshots_entry *entries, size_t n,
			 uint32_t peaks, bool is_over, bool *keep)
{
	size_t pending = SIZE_MAX;

	for (uint32_t k = 0; k < peaks && k <= HI_GRAPHS_PEAKS_MAX; k++) {
		size_t i = find_highest_peak(entries, n, keep, &pending);

		if (i == n)
			break;
		keep[i] = true;
	}
	if (!is_over && pending < n && can_have_graph(entries, n, pending))
		keep[pending] = true;
}

void hi_graphs_choose(const struct hi_graphs_wanted *wanted,
		      const struct hi_snapshots_entry *entries, size_t n, bool is_over,
		      bool *keep)
{
	memset(keep, 0, n * sizeof(*keep));
	if (wanted->peak)
		choose_peaks(entries, n, wanted->peaks + 1, is_over, keep);
	for (size_t i = 0; i < n; i++)
		if ((wanted->first && i == 0) || (wanted->last && i == n - 1) ||
		    (wanted->every && (entries[i].point.number - 1) % wanted->every == 0))
			keep[i] = keep[i] || can_have_graph(entries, n, i);
}

/* ---- decimation ---- */

static size_t find_top(const struct hi_snapshots_entry *entries, size_t n)
{
	size_t top = 0;

	for (size_t i = 1; i < n; i++)
		if (entries[i].point.bytes > entries[top].point.bytes)
			top = i;
	return top;
}

static size_t drop_points(const struct hi_snapshots_entry *entries, const uint64_t *place,
			  const bool *graphs, size_t n, uint64_t stride, bool *points)
{
	size_t top = find_top(entries, n), taken = 0;

	for (size_t i = 0; i + 1 < n; i++)
		if (points[i] && place[i] % stride && !graphs[i] && i != top) {
			points[i] = false;
			taken++;
		}
	return taken;
}

size_t hi_points_halve(const struct hi_snapshots_entry *entries, const uint64_t *place,
		       const bool *graphs, size_t n, uint64_t *stride, bool *points)
{
	uint64_t most = n ? place[n - 1] : 0;

	for (uint64_t next = 2 * *stride; next / 2 <= most; next *= 2) {
		size_t taken = drop_points(entries, place, graphs, n, next, points);

		if (taken) {
			*stride = next;
			return taken;
		}
	}
	return 0;
}

void hi_points_drop(const struct hi_snapshots_entry *entries, const uint64_t *place,
		    const bool *graphs, size_t n, uint64_t stride, bool *points)
{
	(void)drop_points(entries, place, graphs, n, stride, points);
}

uint64_t hi_points_next(uint64_t last_place, uint64_t stride)
{
	return (last_place / stride + 1) * stride;
}

size_t hi_graphs_least(const struct hi_snapshots_entry *entries, const bool *graphs,
		       size_t n)
{
	size_t least = n;

	for (size_t i = 0; i + 1 < n; i++)
		if (graphs[i] &&
		    (least == n || entries[i].point.bytes < entries[least].point.bytes))
			least = i;
	return least == n && n && graphs[n - 1] ? n - 1 : least;
}
