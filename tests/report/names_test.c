/* SPDX-License-Identifier: BSD-2-Clause */
/* Types are found by full, short and unqualified names, in this order. */
#include "report/type_search.h"

#include <stdio.h>
#include <string.h>

#include "tests/harness.h"

enum {
	NODE = 1,
	BLOCK,
	SHOP,
	BILL,
	STRING,
	PLAIN,
	HOSTILE,
	PYTHON,
	LIST,
	HASH,
	ITEMS,
	TYPES
};

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
	[PYTHON] = {.name = "app.views.Page"},
	[LIST] = {.name = "std::_List_node<shop::Order>"},
	[HASH] =
		{.name = "std::__detail::_Hash_node<std::pair<std::__cxx11::basic_string<"
			 "char, std::char_traits<char>, std::allocator<char> > const, "
			 "shop::Cart>, true>"},
	[ITEMS] = {.name = "pay::Card [16]"},
};

/* The bits of the types that are found; 0: none. `taken` gets what the name was taken
 * for, or the candidates. */
static unsigned find_types(const char *pattern, char taken[256])
{
	const struct hi_graph g = {.types = types, .n_types = TYPES};
	struct hi_type_set set;
	struct hi_error err;
	enum hi_status status = hi_types_select(&g, pattern, &set, NULL, &err);
	unsigned bits = 0;

	*taken = '\0';
	if (status != HI_OK) {
		HI_ASSERT(status == HI_NOT_FOUND || status == HI_USAGE);
		if (status == HI_USAGE)
			snprintf(taken, 256, "%s", err.text);
		return 0;
	}
	for (uint32_t i = 0; i < TYPES; i++)
		bits |= set.has[i] ? 1u << i : 0;
	snprintf(taken, 256, "%s", set.taken);
	hi_type_set_free(&set);
	return bits;
}

static unsigned find_one(const char *pattern)
{
	char taken[256];
	unsigned bits = find_types(pattern, taken);

	HI_ASSERT_STREQ("", taken);
	return bits;
}

static void check_taken(unsigned expected, const char *name, const char *pattern)
{
	char taken[256];

	HI_ASSERT_EQ(expected, find_types(pattern, taken));
	HI_ASSERT_STREQ(name, taken);
}

HI_TEST(report_names, short_names_are_found)
{
	HI_ASSERT_EQ(1u << NODE, find_one("map<int, Foo> node"));
	HI_ASSERT_EQ(1u << NODE, find_one("map<int,Foo> node"));
	HI_ASSERT_EQ(1u << BLOCK, find_one("shared_ptr<shop::Order> block"));
	HI_ASSERT_EQ(1u << STRING | 1u << HASH, find_one("std::string"));
	/* As another compiler writes it. */
	HI_ASSERT_EQ(1u << NODE,
		     find_one("std::_Rb_tree_node<std::pair<int const, Foo>>"));
	/* Short names have patterns, too. */
	HI_ASSERT_EQ(1u << NODE, find_one("map<*> node"));
	HI_ASSERT_EQ(1u << NODE, find_one("std::_Rb_tree_node*"));
}

HI_TEST(report_names, a_name_without_qualifiers_is_taken_if_it_is_one_type)
{
	check_taken(1u << BLOCK, "shared_ptr<shop::Order> block",
		    "shared_ptr<Order> block");
	check_taken(1u << STRING | 1u << HASH, "std::string", "string");
	check_taken(1u << PYTHON, "app.views.Page", "Page");
	check_taken(1u << PYTHON, "app.views.Page", "views.Page");
	check_taken(0, "", "iews.Page");
	/* A payload alone. */
	check_taken(1u << HASH, "shop::Cart", "Cart");
	check_taken(0, "Order is the last name of 2 types: shop::Order, bill::Order",
		    "Order");
	/* Another namespace is another type. */
	HI_ASSERT_EQ(0, find_one("other::Order"));
	check_taken(1u << PLAIN | 1u << STRING | 1u << HASH, "std::string",
		    "Plain, string");
	HI_ASSERT_EQ(0, find_one(""));
	HI_ASSERT_EQ(0, find_one("="));
	HI_ASSERT_EQ(0, find_one("struct "));
	HI_ASSERT_EQ(0, find_one("<"));
	HI_ASSERT_EQ(0, find_one("mapint, Foo> node"));
	HI_ASSERT_EQ(1u << HOSTILE, find_one("a<<<b"));
}

HI_TEST(report_names, a_type_is_found_wherever_it_lives)
{
	HI_ASSERT_EQ(1u << SHOP | 1u << BLOCK | 1u << LIST, find_one("shop::Order"));
	HI_ASSERT_EQ(1u << HASH, find_one("shop::Cart"));
	HI_ASSERT_EQ(1u << ITEMS, find_one("pay::Card"));
	HI_ASSERT_EQ(1u << NODE, find_one("Foo"));
	HI_ASSERT_EQ(1u << SHOP | 1u << BLOCK | 1u << LIST | 1u << HASH,
		     find_one("shop::*"));
	/* The type alone. */
	HI_ASSERT_EQ(1u << SHOP, find_one("=shop::Order"));
	HI_ASSERT_EQ(0, find_one("=shop::Cart"));
}

HI_TEST(report_names, types_after_an_exclamation_mark_are_left_out)
{
	const unsigned all = (1u << TYPES) - 1;

	HI_ASSERT_EQ(all & ~(1u << PLAIN), find_one("!Plain"));
	HI_ASSERT_EQ(all & ~(1u << PLAIN | 1u << STRING | 1u << HASH),
		     find_one("!Plain, !std::string"));
	HI_ASSERT_EQ(1u << STRING | 1u << HASH,
		     find_one("Plain,std::string,!struct Plain"));
	HI_ASSERT_EQ(all & ~(1u << SHOP | 1u << BLOCK | 1u << LIST),
		     find_one("!shop::Order"));
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
	/* Of a payload, once. */
	HI_ASSERT_STATUS(HI_NOT_FOUND,
			 hi_types_select(&g, "shop::Car", &set, &near, &err));
	HI_ASSERT_STREQ("shop::Cart", near.name[0]);
	HI_ASSERT(strcmp(near.name[1], near.name[0]) != 0);
}
