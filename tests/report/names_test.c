/* SPDX-License-Identifier: BSD-2-Clause */
/* Types are found by full, short and unqualified names, in this order. */
#include "report/type_search.h"
#include "tests/harness.h"

enum { NODE = 1, BLOCK, SHOP, BILL, STRING, PLAIN, HOSTILE, TYPES };

static const struct hi_type_name types[TYPES] = {
	{.name = ""},
	[NODE] = {.name = "std::_Rb_tree_node<std::pair<const int, Foo> >"},
	[BLOCK] = {.name = "std::_Sp_counted_ptr_inplace<shop::Order, "
			   "std::allocator<void>, (__gnu_cxx::_Lock_policy)2>"},
	[SHOP] = {.name = "shop::Order"},
	[BILL] = {.name = "bill::Order"},
	[STRING] = {.name = "std::__cxx11::basic_string<char, std::char_traits<char>, "
			    "std::allocator<char> >"},
	[PLAIN] = {.name = "struct Plain"},
	[HOSTILE] = {.name = "a<<<b"},
};

/* The bits of the types that are found; 0: none. */
static unsigned find_types(const char *pattern, bool *ambiguous)
{
	const struct hi_graph g = {.types = types, .n_types = TYPES};
	struct hi_type_set set;
	struct hi_error err;
	enum hi_status status = hi_types_select(&g, pattern, &set, NULL, &err);
	unsigned bits = 0;

	*ambiguous = false;
	if (status != HI_OK) {
		HI_ASSERT_EQ(HI_NOT_FOUND, status);
		return 0;
	}
	for (uint32_t i = 0; i < TYPES; i++)
		bits |= set.has[i] ? 1u << i : 0;
	*ambiguous = set.ambiguous;
	hi_type_set_free(&set);
	return bits;
}

static unsigned find_one(const char *pattern)
{
	bool ambiguous;
	unsigned bits = find_types(pattern, &ambiguous);

	HI_ASSERT(!ambiguous);
	return bits;
}

HI_TEST(report_names, short_names_are_found)
{
	HI_ASSERT_EQ(1u << NODE, find_one("map<int, Foo> node"));
	HI_ASSERT_EQ(1u << NODE, find_one("map<int,Foo> node"));
	HI_ASSERT_EQ(1u << BLOCK, find_one("shared_ptr<shop::Order> block"));
	HI_ASSERT_EQ(1u << STRING, find_one("std::string"));
	/* As another compiler writes it. */
	HI_ASSERT_EQ(1u << NODE,
		     find_one("std::_Rb_tree_node<std::pair<int const, Foo>>"));
	/* Short names have patterns, too. */
	HI_ASSERT_EQ(1u << NODE, find_one("map<*> node"));
	HI_ASSERT_EQ(1u << NODE, find_one("std::_Rb_tree_node*"));
}

HI_TEST(report_names, unqualified_names_are_found)
{
	bool ambiguous;

	HI_ASSERT_EQ(1u << BLOCK, find_one("shared_ptr<Order> block"));
	HI_ASSERT_EQ(1u << STRING, find_one("string"));
	HI_ASSERT_EQ(1u << SHOP, find_one("shop::Order"));
	HI_ASSERT_EQ(1u << SHOP | 1u << BILL, find_types("Order", &ambiguous));
	HI_ASSERT(ambiguous);
	/* Another namespace is another type. */
	HI_ASSERT_EQ(0, find_one("other::Order"));
	HI_ASSERT_EQ(1u << PLAIN | 1u << STRING, find_one("Plain, string"));
	HI_ASSERT_EQ(0, find_one(""));
	HI_ASSERT_EQ(0, find_one("struct "));
	HI_ASSERT_EQ(0, find_one("<"));
	HI_ASSERT_EQ(0, find_one("mapint, Foo> node"));
	HI_ASSERT_EQ(1u << HOSTILE, find_one("a<<<b"));
}

HI_TEST(report_names, types_after_an_exclamation_mark_are_left_out)
{
	const unsigned all = (1u << TYPES) - 1;

	HI_ASSERT_EQ(all & ~(1u << PLAIN), find_one("!Plain"));
	HI_ASSERT_EQ(all & ~(1u << PLAIN | 1u << STRING), find_one("!Plain, !string"));
	HI_ASSERT_EQ(1u << STRING, find_one("Plain,string,!struct Plain"));
	HI_ASSERT_EQ(0, find_one("!no such type"));
}

HI_TEST(report_names, near_ones_are_short)
{
	const struct hi_graph g = {.types = types, .n_types = TYPES};
	struct hi_types_near near;
	struct hi_type_set set;
	struct hi_error err;

	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_select(&g, "map<int, Fooo> node", &set, &near, &err));
	HI_ASSERT_STREQ("map<int, Foo> node", near.name[0]);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_types_select(&g, "shared_ptr<Oder> block", &set,
						       &near, &err));
	HI_ASSERT_STREQ("shared_ptr<shop::Order> block", near.name[0]);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_types_select(&g, "Oder", &set, &near, &err));
	HI_ASSERT_STREQ("shop::Order", near.name[0]);
	HI_ASSERT_STREQ("bill::Order", near.name[1]);
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_select(&g, "bil::Order", &set, &near, &err));
	HI_ASSERT_STREQ("bill::Order", near.name[0]);
}
