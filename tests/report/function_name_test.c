/* SPDX-License-Identifier: BSD-2-Clause */
/* Short names of functions: names as demanglers write them, and hostile ones. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/function_name.h"
#include "tests/harness.h"

struct function_pair {
	const char *full, *shorter;
};

static void check_functions(const struct function_pair *pairs, size_t n)
{
	char out[HI_FUNCTION_SHORT_SIZE];

	for (size_t i = 0; i < n; i++) {
		HI_ASSERT_STREQ(pairs[i].shorter,
				hi_function_short(pairs[i].full, out, sizeof(out)));
		/* Not shortened further. */
		HI_ASSERT_STREQ(pairs[i].shorter,
				hi_function_short(pairs[i].shorter, out, sizeof(out)));
	}
}
#define CHECK_FUNCTIONS(pairs) check_functions(pairs, sizeof(pairs) / sizeof((pairs)[0]))

HI_TEST(function_names, return_types_and_parameters_are_left_out)
{
	static const struct function_pair pairs[] = {
		{"main", "main"},
		{"shop::parse_coupon(int)", "shop::parse_coupon"},
		{"void shop::fill<shop::Item>(std::vector<shop::Item, "
		 "std::allocator<shop::Item> >&)",
		 "shop::fill<shop::Item>"},
		{"unsigned long shop::count<int>(int) const", "shop::count<int>"},
		{"decltype (f()) shop::call<int>(int)", "shop::call<int>"},
		{"shop::Cart::~Cart()", "shop::Cart::~Cart"},
		{"shop::name[abi:cxx11](int)", "shop::name"},
		{"(anonymous namespace)::load(char const*)",
		 "(anonymous namespace)::load"},
		{"shop::(anonymous namespace)::load(char const*)",
		 "shop::(anonymous namespace)::load"},
	};

	CHECK_FUNCTIONS(pairs);
}

HI_TEST(function_names, arguments_of_templates_become_short)
{
	static const struct function_pair pairs[] = {
		{"void std::vector<shop::Item, std::allocator<shop::Item> >::"
		 "_M_realloc_insert<shop::Item const&>(__gnu_cxx::__normal_iterator<"
		 "shop::Item*, std::vector<shop::Item, std::allocator<shop::Item> > >, "
		 "shop::Item const&)",
		 "std::vector<shop::Item>::_M_realloc_insert<shop::Item const&>"},
		{"std::__cxx11::basic_string<char, std::char_traits<char>, "
		 "std::allocator<char> >::_M_append(char const*, unsigned long)",
		 "std::string::_M_append"},
		{"std::function<void (int)>::operator()(int) const",
		 "std::function<void (int)>::operator()"},
	};

	CHECK_FUNCTIONS(pairs);
}

HI_TEST(function_names, operators_keep_their_symbols)
{
	static const struct function_pair pairs[] = {
		{"operator new(unsigned long)", "operator new"},
		{"operator new[](unsigned long)", "operator new[]"},
		{"shop::operator<<(std::ostream&, shop::Cart const&)",
		 "shop::operator<<"},
		{"bool shop::operator< <int>(shop::A<int>, shop::A<int>)",
		 "shop::operator<"},
		{"shop::Cart::operator()(int) const", "shop::Cart::operator()"},
		{"shop::Cart::operator std::string() const",
		 "shop::Cart::operator std::string"},
		{"shop::operators(int)", "shop::operators"},
	};
	char out[HI_FUNCTION_SHORT_SIZE];

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		HI_ASSERT_STREQ(pairs[i].shorter,
				hi_function_short(pairs[i].full, out, sizeof(out)));
}

HI_TEST(function_names, functions_in_functions_have_no_parameters)
{
	static const struct function_pair pairs[] = {
		{"shop::run(int)::{lambda(std::string const&, int)#2}::operator()("
		 "std::string const&, int) const",
		 "shop::run::{lambda#2}"},
		{"shop::Cart::run() const::{lambda()#1}::operator()() const",
		 "shop::Cart::run::{lambda#1}"},
		{"shop::run()::'lambda'(int)::operator()(int) const",
		 "shop::run::'lambda'::operator()"},
	};

	CHECK_FUNCTIONS(pairs);
}

HI_TEST(function_names, suffixes_of_compilers_are_left_out)
{
	static const struct function_pair pairs[] = {
		{"parse.constprop.0", "parse"},
		{"parse.isra.0.cold", "parse"},
		{"shop::parse(int) [clone .part.0]", "shop::parse"},
		{"parse [clone .cold]", "parse"},
		{"shop::main::h0123456789abcdef", "shop::main"},
		{"<alloc::vec::Vec<T> as core::clone::Clone>::clone",
		 "<Vec<T> as core::clone::Clone>::clone"},
		{"shop::main::{{closure}}", "shop::main::{{closure}}"},
	};

	CHECK_FUNCTIONS(pairs);
}

HI_TEST(function_names, other_names_stay)
{
	static const struct function_pair pairs[] = {
		{"", ""},
		{NULL, ""},
		{"(no stack)", "(no stack)"},
		{"(before the recording)", "(before the recording)"},
		{"...", "..."},
		{"<module>", "<module>"},
		{"Cart.add", "Cart.add"},
		{"/opt/my app/lib shop(1).so", "/opt/my app/lib shop(1).so"},
		{"malloc@plt", "malloc@plt"},
	};

	CHECK_FUNCTIONS(pairs);
}

HI_TEST(function_names, hostile_names_stay)
{
	static const char *const names[] = {"f(",    "f<",    "f<int",	  "f(int",
					    "a<<<b", "f)>]}", "{lambda(", "operator",
					    "(",     "[abi"};
	char out[HI_FUNCTION_SHORT_SIZE], small[4];
	char *deep = hi_calloc(1, 20000);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		HI_ASSERT(hi_function_short(names[i], out, sizeof(out)) == out);
	HI_ASSERT_STREQ("a<<<b", hi_function_short("a<<<b", out, sizeof(out)));
	HI_ASSERT_STREQ("mai", hi_function_short("main", small, sizeof(small)));
	memset(deep, '<', 200);
	HI_ASSERT_EQ(200, strlen(hi_function_short(deep, out, sizeof(out))));
	memset(deep, 'x', 19999);
	HI_ASSERT_EQ(sizeof(out) - 1, strlen(hi_function_short(deep, out, sizeof(out))));
	free(deep);
}
