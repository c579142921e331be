/* SPDX-License-Identifier: BSD-2-Clause */
/* Containers as values: the count that a program has, and counts that cannot be. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "harness.h"
#include "support/random.h"
#include "support/rules_world.h"

#define H(offset) (WORLD_HEAP + (offset))

static struct hi_error err;

/* A list with nodes of 24 bytes at 200 and 300, a range of longs in the block at 400, and
 * bits in it. */
static struct world *draw_holder(uint64_t n, const char *first, const char *last)
{
	return HI_DRAWN(
		"struct node { node *next; long value; };\n"
		"struct list { node *first; long n; };\n"
		"struct range { long *begin; long *end; };\n"
		"struct holder { long id; list l; range r; node *other; long *spare; };\n"
		"show list { count n; }\n"
		"show range { count end - begin in begin .. end; }\n"
		"holder *h = &100\n"
		"100 (64): 7 &200 0x%" PRIx64 " %s %s &300 &400\n"
		"200 (24): &300 1\n"
		"300 (24): 0 2\n"
		"400 (40): 1 2 3 4 5\n",
		n, first, last);
}

/* The field of the holder with this path. */
static struct hi_field field_of_holder(struct world *w, const char *path)
{
	struct hi_field f[16];
	size_t n, total;

	HI_ASSERT_OK(hi_typing_fields(w->typing, w->graph, world_node(w, H(0x100)), f, 16,
				      &n, &total, &err),
		     &err);
	HI_ASSERT_EQ(5, n);
	HI_ASSERT_EQ(5, total);
	for (size_t i = 0; i < n; i++)
		if (strcmp(f[i].path, path) == 0)
			return f[i];
	HI_ASSERT_MSG(false, "no field %s", path);
	return f[0];
}

static struct hi_field list_of(uint64_t n)
{
	return field_of_holder(draw_holder(n, "&400", "&400"), "l");
}

static struct hi_field range_of(const char *first, const char *last)
{
	return field_of_holder(draw_holder(0, first, last), "r");
}

HI_TEST(container_value, containers_are_one_field_each_and_lead_to_what_they_hold)
{
	struct world *w = draw_holder(2, "&400", "&400");
	struct hi_field list = field_of_holder(w, "l");

	HI_ASSERT_STREQ("2 elements", list.value);
	HI_ASSERT_EQ(world_node(w, H(0x200)), list.to);
	HI_ASSERT_EQ(HI_GRADE_EXACT, list.grade);
	HI_ASSERT_EQ(8, list.offset);
	HI_ASSERT_EQ(16, list.size);
	HI_ASSERT_STREQ("7", field_of_holder(w, "id").value);
}

HI_TEST(container_value, a_range_leads_to_its_block)
{
	struct world *w = draw_holder(2, "&400+8", "&400+40");
	struct hi_field range = field_of_holder(w, "r");

	HI_ASSERT_STREQ("4 elements", range.value);
	HI_ASSERT_EQ(world_node(w, H(0x400)), range.to);
	HI_ASSERT_EQ(HI_GRADE_INTERIOR, range.grade);
}

HI_TEST(container_value, one_element_and_none)
{
	HI_ASSERT_STREQ("1 element", list_of(1).value);
	HI_ASSERT_STREQ("0 elements", list_of(0).value);
	HI_ASSERT_STREQ("0 elements", range_of("0", "0").value);
	HI_ASSERT_EQ(HI_NODE_NONE, range_of("0", "0").to);
}

/* Two nodes of at least 16 bytes in 48: more than three there cannot be. */
HI_TEST(container_value, a_count_that_the_heap_has_no_room_for_is_a_claim)
{
	HI_ASSERT_STREQ("3 elements", list_of(3).value);
	HI_ASSERT_STREQ("claims 4 elements", list_of(4).value);
	HI_ASSERT_STREQ("claims 1,152,921,504,606,846,976 elements",
			list_of(UINT64_C(1) << 60).value);
	HI_ASSERT_STREQ("?", list_of(UINT64_MAX).value);
}

HI_TEST(container_value, a_range_that_is_in_no_object_is_a_claim)
{
	HI_ASSERT_STREQ("5 elements", range_of("&400", "&400+40").value);
	HI_ASSERT_STREQ("claims 64 elements", range_of("&200", "&400").value);
	HI_ASSERT_STREQ("claims 1 element", range_of("0", "8").value);
	HI_ASSERT_STREQ("claims 1,152,921,504,606,846,975 elements",
			range_of("8", "0x8000000000000000").value);
	HI_ASSERT_STREQ("?", range_of("&400+16", "&400").value);
}

/* Every drawn count is a number of elements, a claim or unknown, by its size alone. */
HI_TEST(container_value, drawn_counts_are_never_facts_above_what_fits)
{
	uint64_t state = 20;

	for (int i = 0; i < 60; i++) {
		uint64_t n = next_random(&state) >> random_below(&state, 64);
		const char *how = n <= 3 ? "" : "claims ";
		char number[32], expected[64] = "?";

		if (n <= INT64_MAX)
			snprintf(expected, sizeof(expected), "%s%s element%s", how,
				 hi_text_count(number, n), n == 1 ? "" : "s");
		HI_ASSERT_STREQ(expected, list_of(n).value);
	}
}
