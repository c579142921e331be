/* SPDX-License-Identifier: BSD-2-Clause */
/* Short names of types: names as compilers write them, and hostile ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/type_name.h"
#include "tests/harness.h"

#define STRING                                                                           \
	"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> " \
	">"
#define STRING1                                                                          \
	"std::__1::basic_string<char, std::__1::char_traits<char>, "                     \
	"std::__1::allocator<char> >"

struct pair {
	const char *full, *shorter;
};

static void check_pairs(const struct pair *pairs, size_t n)
{
	char out[HI_TYPE_SHORT_SIZE];

	for (size_t i = 0; i < n; i++) {
		HI_ASSERT_STREQ(pairs[i].shorter,
				hi_type_short(pairs[i].full, out, sizeof(out)));
		/* Shorter, and not shortened further. */
		HI_ASSERT_STREQ(pairs[i].shorter,
				hi_type_short(pairs[i].shorter, out, sizeof(out)));
	}
}
#define CHECK_PAIRS(pairs) check_pairs(pairs, sizeof(pairs) / sizeof((pairs)[0]))

HI_TEST(type_names, names_of_libstdcxx_values_are_shortened)
{
	static const struct pair pairs[] = {
		{STRING, "std::string"},
		{"std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
		 "std::string"},
		{"std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, "
		 "std::allocator<wchar_t> >",
		 "std::wstring"},
		{"std::vector<" STRING ", std::allocator<" STRING " > >",
		 "std::vector<string>"},
		{"std::vector<std::shared_ptr<shop::Order>, "
		 "std::allocator<std::shared_ptr<shop::Order> > >",
		 "std::vector<shared_ptr<shop::Order>>"},
		{"std::map<int, Foo, std::less<int>, std::allocator<std::pair<const int, "
		 "Foo> > >",
		 "std::map<int, Foo>"},
		/* No default: another order. */
		{"std::map<int, Foo, std::greater<int>, "
		 "std::allocator<std::pair<const int, Foo> > >",
		 "std::map<int, Foo, greater<int>>"},
		{"std::map<int, Foo, std::less<void>, "
		 "std::allocator<std::pair<const int, Foo> > >",
		 "std::map<int, Foo, less<void>>"},
		{"std::unordered_map<" STRING ", std::__cxx11::list<Item, "
		 "std::allocator<Item> >, std::hash<" STRING " >, std::equal_to<" STRING
		 " >, std::allocator<std::pair<const " STRING
		 ", std::__cxx11::list<Item, std::allocator<Item> > > > >",
		 "std::unordered_map<string, list<Item>>"},
		{"std::_List_iterator<Item>", "std::list<Item>::iterator"},
		{"std::unique_ptr<Order, std::default_delete<Order> >",
		 "std::unique_ptr<Order>"},
		{"std::unique_ptr<Order, Closer>", "std::unique_ptr<Order, Closer>"},
		{"std::optional<Order>", "std::optional<Order>"},
		{"std::variant<int, " STRING " >", "std::variant<int, string>"},
		{"std::any", "std::any"},
		{"std::function<void(int, const " STRING "&)>",
		 "std::function<void(int, const string&)>"},
		{"std::pair<const int, Foo>", "std::pair<const int, Foo>"},
		{"std::allocator<char>", "std::allocator<char>"},
	};

	CHECK_PAIRS(pairs);
}

HI_TEST(type_names, names_of_libstdcxx_nodes_are_shortened)
{
	static const struct pair pairs[] = {
		{"std::_Sp_counted_ptr_inplace<Order, std::allocator<void>, "
		 "(__gnu_cxx::_Lock_policy)2>",
		 "shared_ptr<Order> block"},
		{"std::_Sp_counted_ptr_inplace<Order, std::allocator<Order>, "
		 "__gnu_cxx::_S_atomic>",
		 "shared_ptr<Order> block"},
		{"std::_Sp_counted_ptr<Order*, (__gnu_cxx::_Lock_policy)2>",
		 "shared_ptr<Order> control block"},
		{"std::_Sp_counted_ptr<Order *, __gnu_cxx::_S_atomic>",
		 "shared_ptr<Order> control block"},
		{"std::_Sp_counted_deleter<Order*, Closer, std::allocator<void>, "
		 "(__gnu_cxx::_Lock_policy)2>",
		 "shared_ptr<Order> control block, Closer"},
		{"std::_Sp_counted_deleter<Order*, std::default_delete<Order>, "
		 "std::allocator<void>, (__gnu_cxx::_Lock_policy)2>",
		 "shared_ptr<Order> control block"},
		{"std::__detail::_Hash_node<std::pair<const " STRING
		 ", std::shared_ptr<Order> >, true>",
		 "unordered_map<string, shared_ptr<Order>> node"},
		{"std::__detail::_Hash_node<std::pair<long int const, std::vector<int, "
		 "std::allocator<int> > >, false>",
		 "unordered_map<long int, vector<int>> node"},
		{"std::__detail::_Hash_node<std::pair<shop::Order* const, int>, false>",
		 "unordered_map<shop::Order*, int> node"},
		{"std::__detail::_Hash_node<std::pair<shop::Order *const, int>, false>",
		 "unordered_map<shop::Order*, int> node"},
		{"std::__detail::_Hash_node<std::pair<const char* const, int>, false>",
		 "unordered_map<const char*, int> node"},
		{"std::__detail::_Hash_node<int, false>", "unordered_set<int> node"},
		{"std::__detail::_Hash_node<" STRING ", true>",
		 "unordered_set<string> node"},
		{"std::__detail::_Hash_node_base *", "hash buckets"},
		{"std::_Rb_tree_node<std::pair<const int, Foo> >", "map<int, Foo> node"},
		{"std::_Rb_tree_node<std::pair<const std::pair<int, int>, "
		 "std::unique_ptr<Foo, std::default_delete<Foo> > > >",
		 "map<pair<int, int>, unique_ptr<Foo>> node"},
		/* A set of pairs whose first is not const. */
		{"std::_Rb_tree_node<std::pair<int, Foo> >", "set<pair<int, Foo>> node"},
		{"std::_Rb_tree_node<" STRING " >", "set<string> node"},
		{"std::_List_node<Item>", "list<Item> node"},
		{"std::_List_node<std::pair<" STRING ", Item*> >",
		 "list<pair<string, Item*>> node"},
		{"std::_Fwd_list_node<int>", "forward_list<int> node"},
		{"std::_Rb_tree_node<std::pair<const " STRING
		 ", std::map<int, std::vector<" STRING ", std::allocator<" STRING
		 " > >, std::less<int>, std::allocator<std::pair<const int, "
		 "std::vector<" STRING ", std::allocator<" STRING " > > > > > > >",
		 "map<string, map<int, vector<string>>> node"},
		{"std::thread::_State_impl<std::thread::_Invoker<std::tuple<main()::<"
		 "lambda()> > > >",
		 "thread state of main()::<lambda()>"},
	};

	CHECK_PAIRS(pairs);
}

HI_TEST(type_names, names_of_libcxx_are_shortened)
{
	static const struct pair pairs[] = {
		{STRING1, "std::string"},
		{"std::__1::vector<" STRING1 ", std::__1::allocator<" STRING1 " > >",
		 "std::vector<string>"},
		{"std::__1::__hash_node<std::__1::__hash_value_type<" STRING1
		 ", std::__1::shared_ptr<shop::Order> >, void *>",
		 "unordered_map<string, shared_ptr<shop::Order>> node"},
		{"std::__1::__hash_node<int, void *>", "unordered_set<int> node"},
		{"std::__1::__hash_node_base<std::__1::__hash_node<int, void *> *> *",
		 "hash buckets"},
		{"std::__1::__tree_node<std::__1::__value_type<int, shop::Order>, void "
		 "*>",
		 "map<int, shop::Order> node"},
		{"std::__1::__tree_node<" STRING1 ", void *>", "set<string> node"},
		{"std::__1::__list_node<shop::Order, void *>", "list<shop::Order> node"},
		{"std::__1::__forward_list_node<int, void *>", "forward_list<int> node"},
		{"std::__1::__shared_ptr_emplace<shop::Order, "
		 "std::__1::allocator<shop::Order> >",
		 "shared_ptr<shop::Order> block"},
		{"std::__1::__shared_ptr_pointer<shop::Order *, "
		 "std::__1::shared_ptr<shop::Order>::__shared_ptr_default_delete<shop::"
		 "Order, shop::Order>, std::__1::allocator<shop::Order> >",
		 "shared_ptr<shop::Order> control block"},
		{"std::__1::__function::__func<(lambda at /usr/src/a.cc:43:198), "
		 "std::__1::allocator<(lambda at /usr/src/a.cc:43:198)>, void (int)>",
		 "function<void (int)> of (lambda at a.cc:43:198)"},
	};

	CHECK_PAIRS(pairs);
}

HI_TEST(type_names, names_of_other_libraries_are_shortened)
{
	static const struct pair pairs[] = {
		{"QMapNode<QString, Order>", "QMap<QString, Order> node"},
		{"QHashNode<QString, QVector<int> >",
		 "QHash<QString, QVector<int>> node"},
		{"QListData::Data", "QList data"},
		{"QTypedArrayData<unsigned short>", "QString data"},
		{"absl::lts_20220623::container_internal::map_slot_type<" STRING ", int>",
		 "flat_hash_map<string, int> slot"},
		{"boost::detail::sp_counted_impl_p<Order>",
		 "boost::shared_ptr<Order> control block"},
		{"alloc::string::String", "String"},
		{"alloc::vec::Vec<shop::Order, alloc::alloc::Global>",
		 "Vec<shop::Order>"},
		{"alloc::vec::Vec<alloc::string::String, alloc::alloc::Global>",
		 "Vec<String>"},
		{"alloc::sync::ArcInner<std::sync::poison::mutex::Mutex<alloc::vec::Vec<"
		 "r::Order, alloc::alloc::Global>>>",
		 "Arc<Mutex<Vec<r::Order>>> block"},
		{"alloc::collections::btree::node::LeafNode<u32, alloc::string::String>",
		 "BTreeMap<u32, String> node"},
		{"alloc::collections::btree::node::LeafNode<alloc::string::String, "
		 "alloc::collections::btree::set_val::SetValZST>",
		 "BTreeSet<String> node"},
		{"alloc::boxed::Box<dyn r::Shape, alloc::alloc::Global>",
		 "Box<dyn r::Shape>"},
		{"&dyn r::Shape", "&dyn r::Shape"},
		{"(alloc::string::String, r::Order)", "(String, r::Order)"},
		{"std::collections::hash::map::HashMap<alloc::string::String, r::Order, "
		 "std::hash::random::RandomState>",
		 "HashMap<String, r::Order>"},
		{"fn(i32) -> alloc::string::String", "fn(i32) -> String"},
	};

	CHECK_PAIRS(pairs);
}

HI_TEST(type_names, other_names_stay_as_they_are)
{
	static const char *const names[] = {
		"",
		"struct dict",
		"char []",
		"struct {...} *[4]",
		"app.Session",
		"map[string]*main.Order",
		"dict (list)",
		"Foo::operator<(Foo const&)::Local",
		"Foo::operator->()::Local",
		"operator<< <int>",
		"main()::<lambda(int)>",
		"{anonymous}::Anon",
		"(anonymous namespace)::Anon",
		"Fixed<(lambda at a.cc:1:2)>",
		"Shift<(a < b), (x >> 2)>",
		"Char<'<'>",
		"void (*)(Order*)",
		"alloc::Mine<int>",
		"core::Order",
		"stdx::string",
		"mine::__1::Order",
	};
	char out[HI_TYPE_SHORT_SIZE];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		HI_ASSERT_STREQ(names[i], hi_type_short(names[i], out, sizeof(out)));
	HI_ASSERT_STREQ("", hi_type_short(NULL, out, sizeof(out)));
}

HI_TEST(type_names, unqualified)
{
	static const struct pair pairs[] = {
		{"shop::Order", "Order"},
		{"shop::Outer<shop::Key>::Node", "Node"},
		{"{anonymous}::Anon", "Anon"},
		{"(anonymous namespace)::Anon", "Anon"},
		{"main()::Local", "Local"},
		{STRING, "string"},
		{"std::_Sp_counted_ptr_inplace<shop::Order, std::allocator<void>, "
		 "(__gnu_cxx::_Lock_policy)2>",
		 "shared_ptr<Order> block"},
		{"struct dict", "struct dict"},
	};
	char out[HI_TYPE_SHORT_SIZE];

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		HI_ASSERT_STREQ(pairs[i].shorter,
				hi_type_unqualified(pairs[i].full, out, sizeof(out)));
}

/* `n` times unit, in memory of exactly that size. */
static char *repeat_unit(const char *unit, size_t n)
{
	size_t length = strlen(unit);
	char *text = hi_alloc(n * length + 1);

	HI_ASSERT(text != NULL);
	for (size_t i = 0; i < n; i++)
		memcpy(text + i * length, unit, length);
	text[n * length] = 0;
	return text;
}

/* Whatever comes: terminated, and within the buffer. */
static void shorten_hostile(const char *unit, size_t count)
{
	char *text = repeat_unit(unit, count), *out = hi_alloc(200);
	char small[64];

	HI_ASSERT(out != NULL);
	HI_ASSERT(strnlen(hi_type_short(text, out, 200), 200) < 200);
	hi_type_unqualified(text, small, sizeof(small));
	HI_ASSERT(strnlen(small, sizeof(small)) < sizeof(small));
	HI_ASSERT_STREQ("", hi_type_short(text, small, 1));
	free(out);
	free(text);
}

HI_TEST(type_names, hostile_names_are_bounded)
{
	static const char *const units[] = {
		"<",
		"(",
		">",
		"::",
		"std::",
		"std::vector<",
		"operator<",
		"a<b,",
		"(lambda at ",
		"'",
		"\\",
		"std::pair<const ",
		" ",
		"$T",
		"\xff",
		"std::_Rb_tree_node<",
		"__1::",
		"...",
		"std::allocator<>,",
	};
	static const size_t counts[] = {1, 2, 40, 1000, 65536};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
			shorten_hostile(units[i], counts[k]);
}

HI_TEST(type_names, deep_names_stay)
{
	char *open = repeat_unit("std::vector<", 200), *close = repeat_unit(">", 200);
	char full[8000], out[8000];

	snprintf(full, sizeof(full), "%sint%s", open, close);
	HI_ASSERT_STREQ(full, hi_type_short(full, out, sizeof(out)));
	free(open);
	free(close);
}
