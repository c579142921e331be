/* SPDX-License-Identifier: BSD-2-Clause */
/* Which graphs a series keeps, against the definition taken at its word. */
#include <stdlib.h>

#include "census/snapshot/graphs_wanted.h"
#include "tests/census/snapshots.h"

enum { MOST = 24 };

static struct hi_snapshots_entry entries[MOST];

/* Heights of few values, so that many are equal, or nearly; now and then one without a
 * graph. */
static size_t draw(uint64_t *state, bool all)
{
	size_t n = 1 + random_below(state, MOST - 1);
	bool close = random_below(state, 2);

	for (size_t i = 0; i < n; i++) {
		entries[i] = (struct hi_snapshots_entry){
			.point = {.number = (uint32_t)(1 + 2 * i),
				  .bytes = close ? 95 + random_below(state, 11)
						 : random_below(state, 6)}};
		entries[i].parts[HI_SNAPSHOTS_WHOLE].size =
			all || random_below(state, 4) ? 1000 : 0;
	}
	return n;
}

/* Does the curve fall by 5 % before it is higher, or, to the left, as high? */
static bool falls_from(size_t n, size_t i, int step)
{
	uint64_t height = entries[i].point.bytes;

	for (size_t k = i + (size_t)step; k < n; k += (size_t)step) {
		uint64_t other = entries[k].point.bytes;

		if (other > height || (step < 0 && other == height))
			return false;
		if (other < height && (height - other) * 20 >= height)
			return true;
	}
	return false;
}

static bool is_peak(size_t n, size_t i)
{
	size_t top = 0;

	for (size_t k = 1; k < n; k++)
		if (entries[k].point.bytes > entries[top].point.bytes)
			top = k;
	return i == top || (falls_from(n, i, -1) && falls_from(n, i, 1));
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

HI_TEST(census_graphs_wanted, kept_graphs_are_those_of_the_definition)
{
	uint64_t state = 99;

	for (unsigned round = 0; round < 20000; round++) {
		size_t n = draw(&state, false);
		struct hi_graphs_wanted w = {.first = random_below(&state, 2),
					     .last = random_below(&state, 2),
					     .every = random_below(&state, 5),
					     .peaks = random_below(&state, 4)};
		bool keep[MOST];

		w.peak = w.peaks != 0;
		hi_graphs_choose(&w, entries, n, true, keep);
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
HI_TEST(census_graphs_wanted, graphs_wanted_later_were_written_at_their_census)
{
	uint64_t state = 7;

	for (unsigned round = 0; round < 5000; round++) {
		size_t n = draw(&state, true);
		struct hi_graphs_wanted w = {.peak = true,
					     .peaks = random_below(&state, 4)};
		bool with_all[MOST], keep[MOST];

		hi_graphs_choose(&w, entries, n, true, with_all);
		for (size_t i = 0; i < n; i++)
			entries[i].parts[HI_SNAPSHOTS_WHOLE].size = 0;
		for (size_t i = 1; i <= n; i++) {
			hi_graphs_choose(&w, entries, i, false, keep);
			for (size_t k = 0; k < i; k++)
				entries[k].parts[HI_SNAPSHOTS_WHOLE].size = keep[k];
		}
		hi_graphs_choose(&w, entries, n, true, keep);
		HI_ASSERT(memcmp(keep, with_all, n * sizeof(*keep)) == 0);
	}
}

/* ---- decimation ---- */

/* A series in which only `capacity` points fit, as a file has them. */
struct thinned {
	struct hi_snapshots_entry entries[MOST];
	uint64_t place[MOST], stride;
	bool graphs[MOST], points[MOST];
	size_t n, capacity;
};

static void leave_points(struct thinned *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->points[i]) {
			t->entries[n] = t->entries[i];
			t->graphs[n] = t->graphs[i];
			t->place[n++] = t->place[i];
		}
	t->n = n;
}

/* Sample `at`, of so many bytes, if it is one of those that are made. */
static void add_sample(struct thinned *t, uint64_t at, uint64_t bytes, bool graph)
{
	if (at != (t->n ? hi_points_next(t->place[t->n - 1], t->stride) : 0))
		return;
	t->entries[t->n] = (struct hi_snapshots_entry){.point.bytes = bytes};
	t->graphs[t->n] = graph;
	t->place[t->n++] = at;
	memset(t->points, 1, sizeof(t->points));
	hi_points_drop(t->entries, t->place, t->graphs, t->n, t->stride, t->points);
	leave_points(t);
	while (t->n > t->capacity && hi_points_halve(t->entries, t->place, t->graphs,
						     t->n, &t->stride, t->points))
		leave_points(t);
}

/* M5 of SPEC section 4. */
HI_TEST(census_graphs_wanted, ten_samples_in_room_for_four_keep_0_4_and_8)
{
	static const uint64_t places[] = {0, 4, 8};
	struct thinned t = {.capacity = 4, .stride = 1};

	for (uint64_t i = 0; i < 10; i++)
		add_sample(&t, i, 100, false);
	HI_ASSERT_EQ(4, t.stride);
	HI_ASSERT_EQ(3, t.n);
	HI_ASSERT(memcmp(t.place, places, sizeof(places)) == 0);
}

HI_TEST(census_graphs_wanted, points_stay_equally_far_apart_beside_graphs)
{
	static const uint64_t places[] = {0, 3, 4, 8};
	struct thinned t = {.capacity = 4, .stride = 1};

	for (uint64_t i = 0; i < 10; i++)
		add_sample(&t, i, 100, i == 3);
	HI_ASSERT_EQ(4, t.stride);
	HI_ASSERT_EQ(4, t.n);
	HI_ASSERT(memcmp(t.place, places, sizeof(places)) == 0);
}

HI_TEST(census_graphs_wanted, the_global_maximum_stays_whatever_goes)
{
	uint64_t state = 17;

	for (unsigned round = 0; round < 2000; round++) {
		size_t capacity = 3 + random_below(&state, 10), found = 0;
		struct thinned t = {.capacity = capacity, .stride = 1};
		uint64_t made[200], highest = 0, place = 0;

		for (uint64_t i = 0; i < 200; i++) {
			uint64_t last = t.n ? t.place[t.n - 1] : UINT64_MAX;

			made[i] = random_below(&state, 50);
			add_sample(&t, i, made[i], false);
			/* Of those that were made. */
			if (t.n && t.place[t.n - 1] != last && made[i] > highest) {
				highest = made[i];
				place = i;
			}
		}
		HI_ASSERT(t.n <= capacity + 1);
		for (size_t i = 0; i < t.n; i++) {
			found += t.place[i] == place;
			HI_ASSERT(t.place[i] % t.stride == 0 || t.place[i] == place ||
				  i == t.n - 1);
			HI_ASSERT_EQ(made[t.place[i]], t.entries[i].point.bytes);
		}
		HI_ASSERT_EQ(1, found);
	}
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
