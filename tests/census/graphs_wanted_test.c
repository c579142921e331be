/* SPDX-License-Identifier: BSD-2-Clause */
/* Which graphs a series keeps, against the definition taken at its word. */
#include <stdlib.h>

#include "census/graph/graphs_wanted.h"
#include "tests/census/snapshots.h"

enum { MOST = 24 };

static struct hi_snapshots_entry entries[MOST];

/* Heights of few values, so that many are equal; now and then one without a graph. */
static size_t draw(uint64_t *state, bool all)
{
	size_t n = 1 + drawn_number(state, MOST - 1);

	for (size_t i = 0; i < n; i++) {
		entries[i] = (struct hi_snapshots_entry){
			.point = {.number = (uint32_t)(1 + 2 * i),
				  .bytes = drawn_number(state, 6)}};
		entries[i].parts[HI_SNAPSHOTS_WHOLE].size =
			all || drawn_number(state, 4) ? 1000 : 0;
	}
	return n;
}

/* Lower ones on both sides of a run of equal ones, of which this is the first. */
static bool is_peak(size_t n, size_t i)
{
	uint64_t height = entries[i].point.bytes;
	size_t left = i, right = i;

	if (i && entries[i - 1].point.bytes == height)
		return false;
	while (left > 0 && entries[left].point.bytes == height)
		left--;
	while (right < n - 1 && entries[right].point.bytes == height)
		right++;
	return entries[left].point.bytes <= height &&
	       entries[right].point.bytes <= height;
}

/* How many peaks that can be kept come before this one in rank. */
static size_t rank_of(size_t n, size_t i)
{
	size_t rank = 0;

	for (size_t k = 0; k < n; k++) {
		uint64_t a = entries[k].point.bytes, b = entries[i].point.bytes;

		if (k == i || !is_peak(n, k) ||
		    !(entries[k].parts[HI_SNAPSHOTS_WHOLE].size || k == n - 1))
			continue;
		rank += a > b || (a == b && k < i);
	}
	return rank;
}

HI_TEST(census_graphs_wanted, what_is_kept_is_what_the_definition_says)
{
	uint64_t state = 99;

	for (unsigned round = 0; round < 20000; round++) {
		size_t n = draw(&state, false);
		struct hi_graphs_wanted w = {.first = drawn_number(&state, 2),
					     .last = drawn_number(&state, 2),
					     .every = drawn_number(&state, 5),
					     .peaks = drawn_number(&state, 4)};
		bool keep[MOST];

		w.peak = w.peaks != 0;
		hi_graphs_choose(&w, entries, n, keep);
		for (size_t i = 0; i < n; i++) {
			bool can =
				entries[i].parts[HI_SNAPSHOTS_WHOLE].size || i == n - 1;
			bool want = (w.first && i == 0) || (w.last && i == n - 1) ||
				    (w.every &&
				     (entries[i].point.number - 1) % w.every == 0) ||
				    (w.peak && is_peak(n, i) && rank_of(n, i) <= w.peaks);

			HI_ASSERT_MSG(keep[i] == (can && want), "round %u, %zu of %zu",
				      round, i, n);
		}
	}
}

/* The newest is written when it is wanted: later, then, all that is wanted is there. */
HI_TEST(census_graphs_wanted, what_is_wanted_later_was_written_when_it_came)
{
	uint64_t state = 7;

	for (unsigned round = 0; round < 5000; round++) {
		size_t n = draw(&state, true);
		struct hi_graphs_wanted w = {.peak = true,
					     .peaks = drawn_number(&state, 4)};
		bool with_all[MOST], keep[MOST];

		hi_graphs_choose(&w, entries, n, with_all);
		for (size_t i = 0; i < n; i++)
			entries[i].parts[HI_SNAPSHOTS_WHOLE].size = 0;
		for (size_t i = 1; i <= n; i++) {
			hi_graphs_choose(&w, entries, i, keep);
			for (size_t k = 0; k < i; k++)
				entries[k].parts[HI_SNAPSHOTS_WHOLE].size = keep[k];
		}
		HI_ASSERT(memcmp(keep, with_all, n * sizeof(*keep)) == 0);
	}
}

HI_TEST(census_graphs_wanted, every_second_point_goes_but_those_with_graphs)
{
	bool points[] = {1, 1, 1, 1, 1, 1, 1, 1}, graphs[8] = {[3] = true};
	const bool want[] = {1, 0, 1, 1, 1, 0, 1, 1}, again[] = {1, 0, 0, 1, 0, 0, 1, 1};

	HI_ASSERT_EQ(2, hi_points_halve(graphs, 8, points)); /* the last one stays */
	HI_ASSERT(memcmp(points, want, 8) == 0);
	HI_ASSERT_EQ(2, hi_points_halve(graphs, 8, points));
	HI_ASSERT(memcmp(points, again, 8) == 0);
}

HI_TEST(census_graphs_wanted, the_least_graph_goes_first_and_the_last_one_last)
{
	const struct hi_snapshots_entry e[] = {{.point.bytes = 50},
					       {.point.bytes = 70},
					       {.point.bytes = 10},
					       {.point.bytes = 5}};
	bool graphs[] = {true, true, false, true};

	HI_ASSERT_EQ(0, hi_graphs_least(e, graphs, 4));
	graphs[0] = false;
	HI_ASSERT_EQ(1, hi_graphs_least(e, graphs, 4));
	graphs[1] = false;
	HI_ASSERT_EQ(3, hi_graphs_least(e, graphs, 4));
	graphs[3] = false;
	HI_ASSERT_EQ(4, hi_graphs_least(e, graphs, 4));
}
