/* SPDX-License-Identifier: BSD-2-Clause */
/* The growth over the censuses of drawn files, whose slopes are known. */
#include "session/series/trend.h"

#include <math.h>

#include "tests/harness.h"
#include "tests/report/page_text.h"
#include "tests/report/sample.h"
#include "tests/support/temporary.h"

enum { CENSUSES = 6, ENTRY = 1, CLIENT = 6 };

static const uint64_t drawn_hits[CENSUSES] = {10, 30, 40, 80, 90, 120};

/* Each hit leaves 1,024 B of dictEntry and 960 B of client, in 11 objects; all else stays.
 * A census every ten seconds; leaks from the third on. */
static struct hi_census_point draw_heap(struct sample *s, uint32_t number)
{
	uint64_t hits = drawn_hits[number - 1], n_types = s->census.n_rows;
	struct hi_census_point point = {.number = number,
					.wall_ns = number * 10000000000ull,
					.objects = 100 + 11 * hits,
					.leaked = number < 3 ? 0 : 64 * number};

	s->rows[ENTRY].shallow = 4096 + 1024 * hits;
	s->rows[CLIENT].shallow = 960 * hits;
	for (size_t i = 0; i < n_types; i++)
		point.bytes += s->rows[i].shallow;
	return point;
}

static void put_drawn_census(struct hi_snapshots_writer *w, struct sample *s,
			     uint32_t number, bool has_hits)
{
	struct hi_snapshot_options options = {.at = w->end};
	struct hi_census_point point = draw_heap(s, number);
	struct hi_snapshot_graph graph = {.graph = s->graph, .reach = &s->reach};
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *to = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_snapshot_create(w->fd, &options, &to, &err), &err);
	HI_ASSERT_OK(hi_snapshot_put_text(to, "head.safepoint", "handle%return", &err),
		     &err);
	if (has_hits)
		HI_ASSERT_OK(hi_snapshot_put_number(to, "stop.hits",
						    drawn_hits[number - 1], &err),
			     &err);
	HI_ASSERT_OK(hi_snapshot_put_number(to, "head.limit.kind", HI_LIMIT_CGROUP, &err),
		     &err);
	HI_ASSERT_OK(hi_snapshot_put_number(to, "head.limit.most", 1 << 20, &err), &err);
	HI_ASSERT_OK(hi_snapshot_put_number(to, "head.limit.used", number << 10, &err),
		     &err);
	HI_ASSERT_OK(hi_snapshot_put_outline(to, &graph, &err), &err);
	HI_ASSERT_OK(hi_snapshot_put_census(to, &s->census, &err), &err);
	HI_ASSERT_OK(hi_snapshot_finish(to, &err), &err);
	HI_ASSERT_OK(hi_snapshots_commit(w, HI_SNAPSHOTS_TOTALS, &point, &err), &err);
}

/* Up to census `last`; the test frees it. */
static const struct hi_trend *drawn_trend_of(bool has_hits, size_t last)
{
	HI_GUARD(hi_snapshots_writer_destroy) struct hi_snapshots_writer *w = NULL;
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *file = NULL;
	struct sample *s = sample_make();
	struct hi_series_trend *trend = NULL;
	struct hi_error err;
	char name[256];

	snprintf(name, sizeof(name), "%s/a.hisnap", temporary_directory());
	HI_ASSERT_OK(hi_snapshots_create(name, &w, &err), &err);
	for (uint32_t i = 1; i <= CENSUSES; i++)
		put_drawn_census(w, s, i, has_hits);
	HI_ASSERT_OK(hi_snapshots_finish(w, HI_SNAPSHOTS_OVER, &err), &err);
	HI_ASSERT_OK(hi_snapshots_open(name, &file, &err), &err);
	HI_ASSERT_OK(hi_series_trend_read(file, last, &trend, &err), &err);
	hi_test_defer(hi_series_trend_destroy, trend);
	return &trend->trend;
}

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

HI_TEST(series_trend, each_hit_leaves_what_was_drawn)
{
	const struct hi_trend *t = drawn_trend_of(true, CENSUSES - 1);
	const struct hi_slope *left = &t->live.per_hit;
	struct hi_page *page = page_new();

	HI_ASSERT_EQ(110, t->hits);
	HI_ASSERT(is_near(left->rate, 1984) && is_near(left->low, 1984) &&
		  is_near(left->high, 1984));
	HI_ASSERT(is_near(t->objects_per_hit.rate, 11));
	HI_ASSERT_EQ(2, t->n_rows);
	HI_ASSERT_STREQ("struct dictEntry", t->rows[0].name);
	HI_ASSERT(is_near(t->rows[0].per_hit.rate, 1024));
	HI_ASSERT_STREQ("struct client", t->rows[1].name);
	HI_ASSERT(is_near(t->rows[1].per_hit.rate, 960));
	HI_ASSERT_STREQ("each handle%return leaves 1.9 KiB (1.9 KiB to 1.9 KiB) in 11.0 "
			"objects: struct dictEntry, struct client",
			hi_trend_per_hit_text(t, page));
}

HI_TEST(series_trend, rates_limits_and_leaks_are_those_of_the_censuses)
{
	const struct hi_trend *t = drawn_trend_of(false, CENSUSES - 1);

	HI_ASSERT(t->place == NULL);
	HI_ASSERT_STREQ("", hi_trend_per_hit_text(t, page_new()));
	HI_ASSERT_EQ(CENSUSES, t->censuses);
	HI_ASSERT_EQ(50000000000, t->wall_ns);
	HI_ASSERT_EQ(4096 + 10240, t->rows[0].first);
	HI_ASSERT_EQ(4096 + 1024 * 120, t->rows[0].last);
	/* 110 hits in 50 seconds are 132 a minute, and the slopes lie around it. */
	HI_ASSERT(t->live.rate.low < 132 * 1984.0 && 132 * 1984.0 < t->live.rate.high);
	HI_ASSERT_EQ(3, t->leaked_since);
	HI_ASSERT_EQ(64 * 6, t->leaked.last);
	HI_ASSERT(t->leaks_known);
	HI_ASSERT_EQ(HI_LIMIT_CGROUP, t->limit.kind);
	HI_ASSERT_EQ(6 << 10, t->limit.used);
}

HI_TEST(series_trend, an_earlier_census_is_compared_with_those_before)
{
	const struct hi_trend *t = drawn_trend_of(true, 1);

	HI_ASSERT_EQ(2, t->censuses);
	HI_ASSERT_EQ(4096 + 1024 * 30, t->rows[0].last);
	HI_ASSERT_EQ(0, t->leaked_since);
	HI_ASSERT(t->live.rate.n < HI_SLOPE_LEAST);
	HI_ASSERT_STREQ("", hi_trend_per_hit_text(t, page_new()));
}
