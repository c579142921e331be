/* SPDX-License-Identifier: BSD-2-Clause */
/* The check of all pages: what it makes, and that it finds what is wrong. */
#include "tests/report/deep_profiles.h"

static const struct hi_deep_report *check_deep(const struct deep_made *made,
					       uint32_t most)
{
	struct hi_deep_report *report;
	struct hi_deep_query query;
	struct hi_error err;

	hi_deep_query_init(&query);
	HI_ASSERT_OK(hi_deep_check_report(&made->index, &query, most, &report, &err),
		     &err);
	hi_test_defer(hi_deep_report_destroy, report);
	return report;
}

/* 6 single ones; 5 cliques, twice; 5 functions, and 4 lists of callers of each; modules;
 * 4 of each known cost, of which words are one; dumps. Per call needs calls. */
HI_TEST(deep_check, makes_every_page)
{
	struct deep_made *made = make_deep_drawn();
	const struct hi_deep_report *r = check_deep(made, 100);
	uint64_t pages =
		6 + 5 * 2 + 5 * 5 + made->index.n_modules + 3 * 2 + (6 + 6 + 5 + 10 + 5);

	HI_ASSERT_EQ(0, r->n_failed);
	HI_ASSERT_EQ(pages, deep_fact_of(r, "pages")->number);
	HI_ASSERT_EQ(0, deep_fact_of(r, "left_out")->number);
	HI_ASSERT(deep_fact_of(r, "links")->number > pages);
	HI_ASSERT_EQ(0, deep_rows_of(deep_table_of(r, "errors")));
}

HI_TEST(deep_check, says_what_it_leaves_out)
{
	const struct hi_deep_report *r = check_deep(make_deep_drawn(), 2);

	HI_ASSERT_EQ(0, r->n_failed);
	HI_ASSERT(deep_fact_of(r, "left_out")->number > 20);
}

HI_TEST(deep_check, finds_sums_that_are_wrong)
{
	struct deep_made *made = make_deep_drawn();
	const struct hi_deep_report *r;

	made->profile.graph.total.of[HI_DEEP_BYTES]++;
	r = check_deep(made, 100);
	HI_ASSERT_EQ(2, r->n_failed);
	HI_ASSERT_EQ(2, deep_rows_of(deep_table_of(r, "errors")));
	HI_ASSERT_STREQ("top_procs",
			deep_cell_of(deep_table_of(r, "errors"), 0, "asked")->text);
}
