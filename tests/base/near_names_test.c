/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/near_names.h"
#include "tests/harness.h"

static unsigned distance(const char *a, const char *b)
{
	return hi_edit_distance(a, strlen(a), b, strlen(b));
}

HI_TEST(near_names, edits_are_counted)
{
	HI_ASSERT_EQ(0, distance("", ""));
	HI_ASSERT_EQ(0, distance("Census", "census"));
	HI_ASSERT_EQ(3, distance("", "abc"));
	HI_ASSERT_EQ(3, distance("kitten", "sitting"));
	/* Neighbours that are swapped are one edit. */
	HI_ASSERT_EQ(1, distance("cesnus", "census"));
	HI_ASSERT_EQ(1, distance("ab", "ba"));
	HI_ASSERT_EQ(distance("saturday", "sunday"), distance("sunday", "saturday"));
}

HI_TEST(near_names, long_names_are_compared_up_to_a_bound)
{
	char a[200], b[200];

	memset(a, 'x', sizeof(a) - 1);
	memset(b, 'x', sizeof(b) - 1);
	a[199] = b[199] = 0;
	b[150] = 'y';
	HI_ASSERT_EQ(0, distance(a, b));
	b[0] = 'y';
	HI_ASSERT_EQ(1, distance(a, b));
}

static const char *nth_of_list(void *arg, uint32_t i)
{
	return ((const char *const *)arg)[i];
}

HI_TEST(near_names, nearest_come_first)
{
	static const char *const names[] = {"struct mode", NULL, "struct node", "other",
					    "a_node_list_that_is_long"};
	const char *near[HI_NAMES_NEAREST];
	char text[HI_NEAR_TEXT];

	hi_names_nearest("node", nth_of_list, (void *)(uintptr_t)names, 5, near);
	HI_ASSERT_STREQ("struct node", near[0]);
	HI_ASSERT_STREQ("struct mode", near[1]);
	HI_ASSERT_STREQ("a_node_list_that_is_long", near[2]);
	HI_ASSERT_STREQ("; near it: struct node, struct mode, a_node_list_that_is_long",
			hi_names_near_text("node", nth_of_list, (void *)(uintptr_t)names,
					   5, text));
	HI_ASSERT_STREQ("", hi_names_near_text("zzzzzz", nth_of_list,
					       (void *)(uintptr_t)names, 5, text));
}
