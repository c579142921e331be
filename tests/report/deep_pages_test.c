/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of the worked example of the deep profile. Cells are checked one by one in
 * tests/report/deep_report_drawn_test.c. */
#include "tests/report/deep_profiles.h"
#include "tests/report/page_text.h"
#include "tests/support/golden.h"

static const char *text_of_query(const struct deep_made *made, const char *query)
{
	struct hi_page *page = page_new();

	hi_deep_display(ask_deep(made, query), page);
	return page_text(page, 100);
}

/* 757 B in 27 objects, by 4 functions of 3 modules: main 7 B, parse 190, expr 60, load
 * 500. Parse and expr call each other: the five cliques are they, the others, and the
 * root. */
HI_TEST(deep_pages, pages_of_the_worked_example)
{
	static const char *const queries[][2] = {
		{"deep-menu", "menu"},
		{"deep-root", "root/no"},
		{"deep-clique", "clique/3"},
		{"deep-recursion", "recursion_type_freq"},
		{"deep-proc", "proc/2"},
		{"deep-callers", "proc_callers/2/cs/1/20/nc"},
		{"deep-modules", "program_modules"},
		{"deep-module", "module/util"},
		{"deep-top", "top_procs/1-9/bytes/self/oa"},
		{"deep-dump", "dump_node/2"},
	};
	struct deep_made *made = make_deep_drawn();

	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++)
		HI_EXPECT_GOLDEN(queries[i][0], text_of_query(made, queries[i][1]));
}
