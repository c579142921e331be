/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/graph/graphs_wanted.h"

#include <string.h>

/* The next one that differs, or n. */
static size_t next_different(const struct hi_snapshots_entry *e, size_t n, size_t i)
{
	size_t k = i + 1;

	while (k < n && e[k].point.bytes == e[i].point.bytes)
		k++;
	return k;
}

static bool can_have_graph(const struct hi_snapshots_entry *e, size_t n, size_t i)
{
	return i == n - 1 || e[i].parts[HI_SNAPSHOTS_WHOLE].size;
}

/* The highest peak that is not taken yet, the earlier of equal ones; n: there is none. */
static size_t find_highest_peak(const struct hi_snapshots_entry *e, size_t n,
				const bool *taken)
{
	size_t best = n;

	for (size_t i = 0, next; i < n; i = next) {
		uint64_t bytes = e[i].point.bytes;

		next = next_different(e, n, i);
		if ((i && e[i - 1].point.bytes > bytes) ||
		    (next < n && e[next].point.bytes > bytes))
			continue;
		if (!taken[i] && can_have_graph(e, n, i) &&
		    (best == n || bytes > e[best].point.bytes))
			best = i;
	}
	return best;
}

void hi_graphs_choose(const struct hi_graphs_wanted *wanted,
		      const struct hi_snapshots_entry *entries, size_t n, bool *keep)
{
	uint32_t peaks = wanted->peak ? wanted->peaks + 1 : 0;

	memset(keep, 0, n * sizeof(*keep));
	for (uint32_t k = 0; k < peaks && k <= HI_GRAPHS_PEAKS_MAX; k++) {
		size_t i = find_highest_peak(entries, n, keep);

		if (i == n)
			break;
		keep[i] = true;
	}
	for (size_t i = 0; i < n; i++)
		if ((wanted->first && i == 0) || (wanted->last && i == n - 1) ||
		    (wanted->every && (entries[i].point.number - 1) % wanted->every == 0))
			keep[i] = keep[i] || can_have_graph(entries, n, i);
}

size_t hi_points_halve(const bool *graphs, size_t n, bool *points)
{
	size_t taken = 0;
	bool is_second = false;

	for (size_t i = 0; i < n; i++) {
		if (!points[i])
			continue;
		if (is_second && !graphs[i] && i != n - 1) {
			points[i] = false;
			taken++;
		}
		is_second = !is_second;
	}
	return taken;
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
