/* SPDX-License-Identifier: BSD-2-Clause */
/* Differences of deep profiles: every figure is drawn. */
#include "tests/report/deep_profiles.h"

enum { MAIN = 1, PARSE, EXPR, LOAD, NEW };

struct side {
	const char *name;
	uint64_t bytes;
};

/* Each is called by main; main itself has the one with its name. */
static struct deep_made *make_side(const struct side *sides, size_t n)
{
	struct deep_made *made = make_deep();
	struct deep_stack stacks[8] = {};

	add_deep_function(made, "main", "demo", true);
	add_deep_site(made, 1, "m");
	for (size_t i = 0; i < n; i++) {
		uint32_t f = 1, at = add_deep_site(made, 1, sides[i].name), place = 1;

		stacks[i].bytes = sides[i].bytes;
		stacks[i].count = 1;
		if (strcmp(sides[i].name, "main") != 0) {
			f = add_deep_function(made, sides[i].name, "demo", true);
			place = add_deep_site(made, f, "m");
			stacks[i].frames[stacks[i].n++] = (struct hi_deep_frame){1, at};
		}
		stacks[i].frames[stacks[i].n++] = (struct hi_deep_frame){f, place};
	}
	add_deep_stacks(made, stacks, n);
	return made;
}

static const struct hi_deep_report *diff_of(const struct deep_made *a,
					    const struct deep_made *b, const char *query,
					    uint32_t rows)
{
	static struct hi_deep_diff diff;
	struct hi_deep_report *report;
	struct hi_deep_query q;
	struct hi_error err;

	HI_ASSERT_OK(hi_deep_diff(&a->profile, &b->profile, &diff, &err), &err);
	hi_test_defer(hi_deep_diff_free, &diff);
	HI_ASSERT_OK(hi_deep_query_parse(query, &q, &err), &err);
	HI_ASSERT_OK(hi_deep_diff_report(&diff, &q, rows, &report, &err), &err);
	hi_test_defer(hi_deep_report_destroy, report);
	return report;
}

static const struct side before[] = {
	{"parse", 190}, {"expr", 60}, {"load", 500}, {"main", 7}};
static const struct side after[] = {
	{"new", 40}, {"load", 100}, {"expr", 60}, {"parse", 250}};

static void expect_delta(const struct hi_deep_table *t, size_t row, const char *key,
			 const char *name, int64_t delta)
{
	HI_ASSERT_STREQ(name, deep_cell_of(t, row, key)->text);
	HI_ASSERT_EQ(delta, (int64_t)deep_cell_of(t, row, "delta")->number);
}

HI_TEST(deep_diff, largest_differences_first)
{
	const struct hi_deep_report *r = diff_of(
		make_side(before, 4), make_side(after, 4), "menu&modules=never", 100);
	const struct hi_deep_table *t = deep_table_of(r, "functions");

	HI_ASSERT_EQ(5, deep_rows_of(t));
	expect_delta(t, 0, "function", "load", -400);
	expect_delta(t, 1, "function", "parse", 60);
	expect_delta(t, 2, "function", "new", 40);
	expect_delta(t, 3, "function", "main", -7);
	expect_delta(t, 4, "function", "expr", 0);
	HI_ASSERT_EQ(-307, (int64_t)deep_sum_of(t, "delta"));
	t = deep_table_of(r, "places");
	HI_ASSERT_EQ(5, deep_rows_of(t));
	expect_delta(t, 0, "path", "main load > load m", -400);
	expect_delta(t, 3, "path", "main m", -7);
	HI_ASSERT_STREQ("load m < main load", deep_cell_of(t, 0, "path")->shown);
	HI_ASSERT_STREQ("main m", deep_cell_of(t, 3, "path")->shown);
	HI_ASSERT_EQ(-307, (int64_t)deep_sum_of(t, "delta"));
	t = deep_table_of(r, "total");
	HI_ASSERT_EQ(757, deep_cell_of(t, 0, "before")->number);
	HI_ASSERT_EQ(450, deep_cell_of(t, 0, "after")->number);
	HI_ASSERT_EQ(-307, (int64_t)deep_cell_of(t, 0, "delta")->number);
}

HI_TEST(deep_diff, omitted_rows_are_reported)
{
	const struct hi_deep_table *t =
		deep_table_of(diff_of(make_side(before, 4), make_side(after, 4),
				      "menu&modules=never", 2),
			      "functions");

	HI_ASSERT_EQ(2, deep_rows_of(t));
	HI_ASSERT_STREQ("3 more, with a difference of 33 in all", t->note);
}

/* By objects: load and expr have one each in both. */
HI_TEST(deep_diff, differences_by_another_cost)
{
	struct deep_made *a = make_side(before, 4), *b = make_side(after, 4);
	const struct hi_deep_table *t = deep_table_of(
		diff_of(a, b, "menu&order=allocs&modules=never", 9), "functions");

	expect_delta(t, 0, "function", "new", 1);
	expect_delta(t, 1, "function", "main", -1);
	HI_ASSERT_EQ(0, (int64_t)deep_sum_of(t, "delta"));
}

HI_TEST(deep_diff, a_cost_that_one_does_not_know_is_an_error)
{
	struct deep_made *a = make_side(before, 4), *b = make_side(after, 4);
	struct hi_deep_report *report;
	struct hi_deep_diff diff;
	struct hi_deep_query q;
	struct hi_error err;

	a->profile.has[HI_DEEP_DRAG_BYTES] = true;
	HI_ASSERT_OK(hi_deep_diff(&a->profile, &b->profile, &diff, &err), &err);
	HI_ASSERT_OK(hi_deep_query_parse("menu&order=drag", &q, &err), &err);
	HI_ASSERT_STATUS(HI_USAGE, hi_deep_diff_report(&diff, &q, 9, &report, &err));
	HI_ASSERT(strstr(err.text, "drag") != NULL);
	hi_deep_diff_free(&diff);
}

HI_TEST(deep_diff, paths_go_through_recursion)
{
	struct deep_made *a = make_deep_drawn();
	const struct hi_deep_table *t =
		deep_table_of(diff_of(a, a, "menu", 100), "places");
	bool found = false;

	HI_ASSERT_EQ(5, deep_rows_of(t));
	for (size_t i = 0; i < deep_rows_of(t); i++) {
		HI_ASSERT_EQ(0, deep_cell_of(t, i, "delta")->number);
		found |= strcmp(deep_cell_of(t, i, "path")->text,
				"main a > parse … expr m1") == 0;
	}
	HI_ASSERT(found);
}
