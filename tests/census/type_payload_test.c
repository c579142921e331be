/* SPDX-License-Identifier: BSD-2-Clause */
/* The payloads of names as compilers write them. */
#include "census/graph/type_payload.h"

#include <stdio.h>
#include <string.h>

#include "tests/harness.h"

/* "2 shop::Order, 1 int": with the count of each. */
static const char *payload_text(const char *name, char text[1024])
{
	struct hi_payload found[HI_PAYLOADS_MAX];
	size_t n = hi_type_payloads(name, found), used = 0;

	*text = '\0';
	for (size_t i = 0; i < n; i++)
		used += (size_t)snprintf(text + used, 1024 - used, "%s%llu %.*s",
					 i ? "; " : "",
					 (unsigned long long)found[i].count,
					 (int)found[i].length, found[i].name);
	return text;
}

struct payload_case {
	const char *name, *expected;
};

static void check_payloads(const struct payload_case *cases, size_t n)
{
	char text[1024];

	for (size_t i = 0; i < n; i++)
		HI_ASSERT_MSG(
			strcmp(payload_text(cases[i].name, text), cases[i].expected) == 0,
			"%s: %s", cases[i].name, text);
}
#define CHECK_PAYLOADS(cases) check_payloads(cases, sizeof(cases) / sizeof(*(cases)))

HI_TEST(type_payload, nodes_and_blocks_are_around_values)
{
	static const struct payload_case cases[] = {
		{"std::_List_node<shop::Session>", "1 shop::Session"},
		{"std::_Fwd_list_node<shop::Session>", "1 shop::Session"},
		{"std::_Rb_tree_node<std::pair<const int, shop::Order> >",
		 "1 std::pair<const int, shop::Order>; 1 int; 1 shop::Order"},
		{"struct std::__detail::_Hash_node<std::pair<shop::Key const, "
		 "shop::Order>, "
		 "true>",
		 "1 std::pair<shop::Key const, shop::Order>; 1 shop::Key; 1 shop::Order"},
		{"std::_Sp_counted_ptr_inplace<shop::Order, std::allocator<void>, "
		 "(__gnu_cxx::_Lock_policy)2>",
		 "1 shop::Order"},
		{"std::__1::__list_node<shop::Session, void *>", "1 shop::Session"},
		{"std::__1::__tree_node<std::__1::__value_type<int, shop::Order>, void*>",
		 "1 std::__1::__value_type<int, shop::Order>; 1 int; 1 shop::Order"},
		{"std::__ndk1::__hash_node<std::__ndk1::__hash_value_type<int, a::B>, "
		 "void*>",
		 "1 std::__ndk1::__hash_value_type<int, a::B>; 1 int; 1 a::B"},
		{"std::__1::__shared_ptr_emplace<shop::Order, std::__1::allocator<shop::"
		 "Order> >",
		 "1 shop::Order"},
		{"alloc::sync::ArcInner<core::cell::RefCell<shop::Order>>",
		 "1 core::cell::RefCell<shop::Order>; 1 shop::Order"},
		{"alloc::rc::RcBox<shop::Order>", "1 shop::Order"},
		{"boost::detail::sp_counted_impl_pd<shop::Order*, "
		 "boost::detail::sp_ms_deleter<shop::Order> >",
		 "1 boost::detail::sp_ms_deleter<shop::Order>; 1 shop::Order"},
	};

	CHECK_PAYLOADS(cases);
}

HI_TEST(type_payload, arrays_have_counts)
{
	static const struct payload_case cases[] = {
		{"shop::Item [16]", "16 shop::Item"},
		{"struct item[4][8]", "32 item"},
		{"shop::Item []", "1 shop::Item"},
		{"std::array<shop::Item, 3ul>", "3 shop::Item"},
		{"std::_List_node<std::array<std::pair<a::B, c::D[2]>, 5> >",
		 "1 std::array<std::pair<a::B, c::D[2]>, 5>; 5 std::pair<a::B, c::D[2]>; "
		 "5 "
		 "a::B; 10 c::D"},
		{"std::_List_node<int [99999999999999999999]>", "1 int"},
		{"std::tuple<int, shop::Item, std::optional<a::B> >",
		 "1 int; 1 shop::Item; 1 std::optional<a::B>; 1 a::B"},
	};

	CHECK_PAYLOADS(cases);
}

HI_TEST(type_payload, arguments_are_split_at_their_commas)
{
	static const struct payload_case cases[] = {
		{"std::pair<a::F<int, long>, b::G<(x > y)> >",
		 "1 a::F<int, long>; 1 b::G<(x > y)>"},
		{"std::pair<a::F<'>'>, b::G<'\\''> >", "1 a::F<'>'>; 1 b::G<'\\''>"},
		{"std::_List_node<a::F<&a::operator< > >", "1 a::F<&a::operator< >"},
		{"std::_List_node<a::F<&a::operator()> >", "1 a::F<&a::operator()>"},
		{"std::_List_node<main::{lambda(int, char)#1}>",
		 "1 main::{lambda(int, char)#1}"},
		{"std::_List_node<(anonymous namespace)::Session>",
		 "1 (anonymous namespace)::Session"},
		{"std::_List_node<a::F<(b < c), d> >", "1 a::F<(b < c), d>"},
		{"std::_List_node<a::F<decltype(p->q)> >", "1 a::F<decltype(p->q)>"},
	};

	CHECK_PAYLOADS(cases);
}

HI_TEST(type_payload, tuples_of_rust_are_around_values)
{
	static const struct payload_case cases[] = {
		{"(alloc::string::String, shop::Order)",
		 "1 alloc::string::String; 1 shop::Order"},
		{"alloc::sync::ArcInner<(u64, (shop::Order, [u8; 4]))>",
		 "1 (u64, (shop::Order, [u8; 4])); 1 u64; 1 (shop::Order, [u8; 4]); 1 "
		 "shop::Order"},
		{"(&str, *const shop::Order)", ""},
		{"(lambda at shop.cc:3:4)", ""},
		{"()", ""},
		{"(a, b))", ""},
		{"(anonymous namespace)::Session", ""},
	};

	CHECK_PAYLOADS(cases);
}

HI_TEST(type_payload, other_types_have_none)
{
	static const struct payload_case cases[] = {
		{NULL, ""},
		{"", ""},
		{"shop::Session", ""},
		{"std::vector<shop::Session>", ""},
		{"std::unique_ptr<shop::Session>", ""},
		{"std::shared_ptr<shop::Session>", ""},
		{"std::_List_node<shop::Session*>", ""},
		{"std::_List_node<shop::Session *const>", ""},
		{"std::_List_node<void (*)(int)>", ""},
		{"std::_List_node<shop::Session> *", ""},
		{"std::_List_node<shop::Session>::_Inner", ""},
		{"std::_List_nodes<shop::Session>", ""},
		{"my::std::_List_node<shop::Session>", ""},
		{"std::_Sp_counted_ptr<shop::Order*, (__gnu_cxx::_Lock_policy)2>", ""},
		{"std::pair<>", ""},
	};

	CHECK_PAYLOADS(cases);
}

HI_TEST(type_payload, hostile_names_have_none_or_few)
{
	static char deep[20000];
	static const struct payload_case cases[] = {
		{"std::_List_node<", ""},
		{"std::_List_node<a", ""},
		{"std::_List_node<>", ""},
		{"std::_List_node<a))>", ""},
		{"std::_List_node<(a>", ""},
		{"std::_List_node<'", ""},
		{"std::_List_node<operator", ""},
		{"[", ""},
		{"std::_List_node<a>)", ""},
		{"(a, b", ""},
		{"(,", ""},
		{"]", ""},
		{"a]", ""},
		{"a[[[", ""},
		{"std::pair<,>", ""},
	};
	struct hi_payload found[HI_PAYLOADS_MAX];
	size_t n = 0;

	CHECK_PAYLOADS(cases);
	while (n < 8000) {
		memcpy(deep + n, "std::tuple<", 11);
		n += 11;
	}
	HI_ASSERT_EQ(0, hi_type_payloads(deep, found));
	memset(deep, 0, sizeof(deep));
	n = (size_t)sprintf(deep, "std::tuple<a0");
	for (int i = 1; i < 100; i++)
		n += (size_t)sprintf(deep + n, ", std::pair<a%d, b%d>", i, i);
	sprintf(deep + n, ">");
	HI_ASSERT(hi_type_payloads(deep, found) == HI_PAYLOADS_MAX);
}
