/* SPDX-License-Identifier: BSD-2-Clause */
/* Manners of the space profile: what is parsed, and which one counts. */
#include "report/reports/alloc/alloc_manner.h"

#include <stdio.h>
#include <string.h>

#include "tests/harness.h"

static bool parse_manner(const char *text, struct hi_manner *ret, const char **why,
			 const char **where)
{
	static char copies[16][64];
	static unsigned next;
	char *copy = copies[next++ % 16];

	snprintf(copy, sizeof(copies[0]), "%s", text);
	return hi_manner_parse(copy, ret, why, where);
}

HI_TEST(alloc_manner, columns_and_patterns_are_parsed)
{
	static const struct {
		const char *text, *pattern;
		unsigned columns;
		int depth; /* -1: none */
	} cases[] = {
		{"calls", NULL, HI_ALLOC_CALLS, -1},
		{"calls,time,space", NULL, HI_ALLOC_USUAL, -1},
		{"parse=copies,types", "parse", HI_ALLOC_COPIES | HI_ALLOC_TYPES, -1},
		{"parse*=space,depth=3", "parse*", HI_ALLOC_SPACE, 3},
		{"depth=15", NULL, 0, 15},
		{"space,depth=0", NULL, HI_ALLOC_SPACE, 0},
		{"f=depth=2", "f", 0, 2},
		{"ns::operator===types", "ns::operator==", HI_ALLOC_TYPES, -1},
		{"f(int, int)=time", "f(int, int)", HI_ALLOC_TIME, -1},
		{"*=calls,time,space,copies,types", "*", HI_ALLOC_COLUMNS, -1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *why, *where;
		struct hi_manner m;

		HI_ASSERT_MSG(parse_manner(cases[i].text, &m, &why, &where), "%s: %s",
			      cases[i].text, why);
		HI_ASSERT_EQ(cases[i].columns, m.columns);
		HI_ASSERT_EQ(cases[i].depth >= 0, m.has_depth);
		HI_ASSERT(!m.has_depth || m.depth == (unsigned)cases[i].depth);
		HI_ASSERT_EQ(!cases[i].pattern, !m.pattern);
		if (m.pattern)
			HI_ASSERT_STREQ(cases[i].pattern, m.pattern);
	}
}

HI_TEST(alloc_manner, unknown_columns_are_refused)
{
	static const char *const wrong[][2] = {{"", ""},
					       {"call", "call"},
					       {"f=", ""},
					       {"f=space,", ""},
					       {"f=,space", ""},
					       {"f=spaces", "spaces"},
					       {"depth", "depth"},
					       {"depth=", "depth="},
					       {"depth=16", "depth=16"},
					       {"f=depth=x", "depth=x"},
					       {"space types", "space types"}};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		const char *why, *where;
		struct hi_manner m;

		HI_ASSERT_MSG(!parse_manner(wrong[i][0], &m, &why, &where), "%s",
			      wrong[i][0]);
		HI_ASSERT_STREQ(wrong[i][1], where);
		HI_ASSERT(strstr(why, "not one of calls, time, space, copies, types"));
	}
}

HI_TEST(alloc_manner, a_pattern_must_not_be_empty)
{
	const char *why, *where;
	struct hi_manner m;

	HI_ASSERT(!parse_manner("=space", &m, &why, &where));
	HI_ASSERT_STREQ("the function is missing before =", why);
}

HI_TEST(alloc_manner, the_last_one_that_matches_counts)
{
	const struct hi_manner items[] = {{NULL, HI_ALLOC_SPACE, 0, false},
					  {"p*", HI_ALLOC_TYPES, 2, true},
					  {"parse", HI_ALLOC_CALLS, 0, false}};
	const struct hi_manners all = {items, 3}, some = {items + 1, 2}, none = {NULL, 0};

	HI_ASSERT_EQ(HI_ALLOC_CALLS, hi_manner_of(&all, "parse").columns);
	HI_ASSERT(!hi_manner_of(&all, "parse").has_depth);
	HI_ASSERT_EQ(HI_ALLOC_TYPES, hi_manner_of(&all, "pool").columns);
	HI_ASSERT_EQ(2, hi_manner_of(&all, "pool").depth);
	HI_ASSERT_EQ(HI_ALLOC_SPACE, hi_manner_of(&all, "cache").columns);
	HI_ASSERT_EQ(HI_ALLOC_USUAL, hi_manner_of(&some, "cache").columns);
	HI_ASSERT_EQ(HI_ALLOC_COLUMNS, hi_manner_of(&none, "cache").columns);
}
