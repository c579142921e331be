/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of types on one page: short, and full where short ones are equal. */
#include "report/display.h"
#include "tests/harness.h"

#define CHECKED "std::vector<Order, std::allocator<Order> >"
#define OTHER "std::vector<Order, std::allocator<Order>>"

HI_TEST(type_names, equal_short_names_are_told_apart)
{
	static struct hi_type_names names;
	char out[HI_TYPE_SHORT_SIZE];

	hi_test_defer(hi_type_names_free, &names);
	hi_type_names_add(&names, CHECKED);
	hi_type_names_add(&names, CHECKED);
	HI_ASSERT_STREQ("std::vector<Order>", hi_type_names_shown(&names, CHECKED, out));
	hi_type_names_add(&names, OTHER);
	HI_ASSERT_STREQ(CHECKED, hi_type_names_shown(&names, CHECKED, out));
	HI_ASSERT_STREQ(OTHER, hi_type_names_shown(&names, OTHER, out));
	HI_ASSERT_STREQ("struct dict", hi_type_names_shown(&names, "struct dict", out));
	HI_ASSERT_STREQ("", hi_type_names_shown(&names, NULL, out));
}

/* Without knowing what comes: the second one differs from the first. */
HI_TEST(type_names, the_second_of_equal_short_names_is_full)
{
	static struct hi_type_names names;
	char out[HI_TYPE_SHORT_SIZE];

	hi_test_defer(hi_type_names_free, &names);
	HI_ASSERT_STREQ("std::vector<Order>", hi_type_names_shown(&names, CHECKED, out));
	HI_ASSERT_STREQ(OTHER, hi_type_names_shown(&names, OTHER, out));
	HI_ASSERT_STREQ(OTHER, hi_type_names_shown(&names, OTHER, out));
}

HI_TEST(type_names, full_names_on_request)
{
	static struct hi_type_names names = {.keep_full = true};
	char out[HI_TYPE_SHORT_SIZE];

	hi_test_defer(hi_type_names_free, &names);
	hi_type_names_add(&names, CHECKED);
	HI_ASSERT_STREQ(CHECKED, hi_type_names_shown(&names, CHECKED, out));
}

/* What a page shows is escaped after it was shortened. */
HI_TEST(type_names, on_a_page_they_are_escaped)
{
	struct hi_page *page = hi_page_create();

	HI_ASSERT(page != NULL);
	HI_ASSERT_STREQ("list<a\\x1b> node",
			hi_page_type(page, "std::_List_node<a\x1b>"));
	HI_ASSERT_STREQ("", hi_page_type(page, ""));
	hi_page_destroy(page);
}

/* Above the commands, which end the page. */
HI_TEST(type_names, a_note_is_above_the_commands)
{
	struct hi_page *page = hi_page_create();

	HI_ASSERT(page != NULL);
	hi_page_text(page, "rows");
	hi_page_blank(page);
	hi_page_command(page, "heapinspect", "all");
	hi_page_note_above_commands(page, "note");
	HI_ASSERT_EQ(4, page->items.count);
	HI_ASSERT_STREQ("note", page->items.items[1].text);
	HI_ASSERT_EQ(HI_ITEM_COMMAND, page->items.items[3].kind);
	hi_page_destroy(page);
}
