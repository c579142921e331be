/* SPDX-License-Identifier: BSD-2-Clause */
/* What a deep profile says that could be done: every figure is drawn. */
#include "tests/report/deep_profiles.h"

struct place {
	const char *name;
	uint64_t allocs, bytes, live, live_bytes, leaked, drag, redos;
};

/* A function for each place, which has the costs alone. */
static struct deep_made *make_places(const struct place *places, size_t n)
{
	struct deep_made *made = make_deep();
	struct hi_deep *deep;
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_create(&deep, &err), &err);
	for (size_t i = 0; i < n; i++) {
		uint32_t f = add_deep_function(made, places[i].name, "demo", true);
		struct hi_deep_frame frame = {f, add_deep_site(made, f, "m")};
		struct hi_deep_costs c = {};

		c.of[HI_DEEP_ALLOCS] = c.of[HI_DEEP_EXITS] = places[i].allocs;
		c.of[HI_DEEP_BYTES] = places[i].bytes;
		c.of[HI_DEEP_LIVE] = places[i].live;
		c.of[HI_DEEP_LIVE_BYTES] = places[i].live_bytes;
		c.of[HI_DEEP_LEAKED_BYTES] = places[i].leaked;
		c.of[HI_DEEP_DRAG_BYTES] = places[i].drag;
		c.of[HI_DEEP_REDOS] = places[i].redos;
		HI_ASSERT_OK(hi_deep_add(deep, &frame, 1, &c, &err), &err);
	}
	HI_ASSERT_OK(hi_deep_graph(deep, &made->profile.graph, &err), &err);
	hi_deep_destroy(deep);
	HI_ASSERT_OK(hi_deep_index_create(&made->profile, &made->index, &err), &err);
	for (int i = 0; i < HI_DEEP_COSTS; i++)
		made->profile.has[i] = true;
	return made;
}

static const struct hi_deep_report *advice_of(const struct deep_made *made, uint32_t rows)
{
	struct hi_deep_report *report;
	struct hi_deep_query query;
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_query_parse("menu&modules=never", &query, &err), &err);
	HI_ASSERT_OK(hi_deep_advice_report(&made->index, &query, rows, &report, &err),
		     &err);
	hi_test_defer(hi_deep_report_destroy, report);
	return report;
}

static const struct place places[] = {
	{"large", 10, 1000000, 10, 1000000, 0, 0, 0},
	{"lost", 100, 5000, 100, 5000, 5000, 0, 0},
	{"idle", 100, 40000, 100, 40000, 0, 30000, 0},
	{"string", 3000, 90000, 3000, 40000, 0, 0, 1500},
	{"scratch", 9000, 900000, 90, 9000, 0, 0, 0},
	{"node", 5000, 240000, 4000, 192000, 0, 0, 0},
	{"few", 999, 999, 999, 999, 0, 0, 999},
};

static void expect_advice(const struct hi_deep_report *r, const char *kind,
			  const char *function, uint64_t bytes)
{
	const struct hi_deep_table *t = deep_table_of(r, kind);

	HI_ASSERT_STREQ(function, deep_cell_of(t, 0, "function")->text);
	HI_ASSERT_EQ(bytes, deep_cell_of(t, 0, "bytes")->number);
}

HI_TEST(deep_advice, each_place_has_its_own)
{
	const struct hi_deep_report *r = advice_of(make_places(places, 7), 9);
	const struct hi_deep_table *t = deep_table_of(r, "pool");

	HI_ASSERT_EQ(6, deep_fact_of(r, "advice")->number);
	expect_advice(r, "leak", "lost", 5000);
	expect_advice(r, "unused", "idle", 30000);
	expect_advice(r, "grows", "string", 90000);
	expect_advice(r, "short-lived", "scratch", 900000);
	HI_ASSERT_EQ(2, deep_rows_of(t));
	expect_advice(r, "pool", "node", 240000);
	HI_ASSERT_EQ(240000, deep_cell_of(t, 0, "mean")->number);
	HI_ASSERT_EQ(5000, deep_cell_of(t, 0, "mean")->whole);
	HI_ASSERT_STREQ("string", deep_cell_of(t, 1, "function")->text);
	HI_ASSERT_EQ(0, r->notes.count);
	t = deep_table_of(advice_of(make_places(places, 7), 1), "pool");
	HI_ASSERT_EQ(1, deep_rows_of(t));
	HI_ASSERT_STREQ("1 more", t->note);
}

HI_TEST(deep_advice, unknown_costs_are_named)
{
	struct deep_made *made = make_places(places, 7);
	const struct hi_deep_report *r;

	made->profile.has[HI_DEEP_LIVE] = made->profile.has[HI_DEEP_DRAG_BYTES] = false;
	r = advice_of(made, 9);
	HI_ASSERT_EQ(2, r->notes.count);
	HI_ASSERT(strncmp(r->notes.items[0], "unused", 6) == 0);
	HI_ASSERT(strncmp(r->notes.items[1], "short-lived", 11) == 0);
	/* Without ages, what is freed at once is one of many small ones, too. */
	HI_ASSERT_EQ(3, deep_rows_of(deep_table_of(r, "pool")));
}

HI_TEST(deep_advice, empty_profile_gives_no_advice)
{
	const struct hi_deep_report *r = advice_of(make_places(places, 1), 9);

	HI_ASSERT_EQ(0, deep_fact_of(r, "advice")->number);
	HI_ASSERT_EQ(0, r->tables.count);
	r = advice_of(make_places(NULL, 0), 9);
	HI_ASSERT_EQ(0, deep_fact_of(r, "advice")->number);
}
