/* SPDX-License-Identifier: BSD-2-Clause */
/* Which paths are one row, and what stands in it. */
#include <string.h>

#include "report/reports/paths/paths_merge.h"
#include "tests/harness.h"

enum { MOST = 8 };

static struct hi_arena arena;
static struct hi_paths_way ways[MOST];
static struct hi_paths_step roots[MOST];

static void free_arena(void *unused)
{
	(void)unused;
	hi_arena_free(&arena);
}

static size_t merge_texts(const char *const *texts, bool named_by_key)
{
	struct hi_error err = {};
	size_t n = 0;

	hi_test_defer(free_arena, NULL);
	for (; texts[n]; n++) {
		roots[n] = (struct hi_paths_step){.info = {.detail = ""}};
		ways[n] = (struct hi_paths_way){.text = texts[n],
						.steps = &roots[n],
						.nodes = &roots[n].info.node,
						.n_steps = 1,
						.named_by_key = named_by_key};
	}
	HI_ASSERT_OK(hi_paths_merge(ways, &n, &arena, &err), &err);
	return n;
}

static void check_one(const char *a, const char *b, const char *pattern)
{
	const char *const texts[] = {a, b, NULL};

	HI_ASSERT_EQ(1, merge_texts(texts, false));
	HI_ASSERT_STREQ(pattern, ways[0].pattern);
	HI_ASSERT_STREQ(a, ways[0].text);
	HI_ASSERT_EQ(2, ways[0].n_alike);
}

static void check_two(const char *a, const char *b, bool named_by_key)
{
	const char *const texts[] = {a, b, NULL};

	HI_ASSERT_EQ(2, merge_texts(texts, named_by_key));
	HI_ASSERT_STREQ(a, ways[0].pattern);
	HI_ASSERT_STREQ(b, ways[1].pattern);
	HI_ASSERT_EQ(1, ways[0].n_alike);
}

HI_TEST(paths_merge, ways_that_differ_in_keys_are_one)
{
	check_one("s->index[\"a\"]->items[0]", "s->index[\"b\"]->items[0]",
		  "s->index[*]->items[0]");
	check_one("s->index[\"a\"]->items[0]", "s->index[\"b\"]->items[12]",
		  "s->index[*]->items[*]");
	check_one("s[1]", "s[2]", "s[*]");
	check_one("s{\"x]y\"}.f", "s{\"q\\\"]\"}.f", "s[*].f");
	check_one("s[]", "s[1]", "s[*]");
	check_one("s[{1, 2}].a", "s[{1, 3}].a", "s[*].a");
	check_one("stack (no variable) 0x7f00->x", "stack (no variable) 0x7f08->x",
		  "stack (no variable) *->x");
	/* Not closed: all of the rest is the key. */
	check_one("s[\"a", "s[1", "s[*]");
}

HI_TEST(paths_merge, other_ways_stay_apart)
{
	check_two("s->a[1]", "s->b[1]", false);
	check_two("s->a[1]", "s->a[1].b", false);
	check_two("module m[\"X\"][1]", "module m[\"Y\"][1]", true);
	check_two("s->a +0x8", "s->a +0x10", false);
}

HI_TEST(paths_merge, a_text_counts_once)
{
	const char *const texts[] = {"s[1]", "s[1]", "s[2]", "s[1]", NULL};

	HI_ASSERT_EQ(1, merge_texts(texts, false));
	HI_ASSERT_EQ(2, ways[0].n_alike);
	HI_ASSERT_STREQ("s[*]", ways[0].pattern);
}

/* Elements of a list, or of a table with equal keys. */
HI_TEST(paths_merge, a_text_that_leads_to_several_objects_counts_for_each)
{
	const char *const texts[] = {"s->list[*]", "s->list[*]", "s->list[*]", NULL};
	struct hi_error err = {};
	size_t n = 3;

	HI_ASSERT_EQ(1, merge_texts(texts, false));
	for (size_t i = 0; i < n; i++) {
		ways[i] = (struct hi_paths_way){.text = texts[i],
						.steps = &roots[i],
						.nodes = &roots[i].info.node,
						.n_steps = 1};
		roots[i].info.node = (hi_node)(i / 2);
	}
	HI_ASSERT_OK(hi_paths_merge(ways, &n, &arena, &err), &err);
	HI_ASSERT_EQ(1, n);
	HI_ASSERT_EQ(2, ways[0].n_alike);
	HI_ASSERT_STREQ("s->list[*]", ways[0].pattern);
}

HI_TEST(paths_merge, grades_are_not_mixed)
{
	const char *const texts[] = {"s[1]", NULL};
	struct hi_error err = {};
	size_t n = 2;

	merge_texts(texts, false);
	ways[1] = ways[0];
	ways[1].worst = HI_GRADE_CONSERVATIVE;
	HI_ASSERT_OK(hi_paths_merge(ways, &n, &arena, &err), &err);
	HI_ASSERT_EQ(2, n);
}
