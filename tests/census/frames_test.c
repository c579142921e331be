/* SPDX-License-Identifier: BSD-2-Clause */
/* Which functions only allocate for their caller, and rows of frames. */
#include "base/cleanup.h"
#include "census/events/frames.h"
#include "tests/harness.h"

/* As libiberty and libstdc++ demangle them. */
HI_TEST(census_frames, functions_that_allocate_for_their_caller_are_known)
{
	static const char *const allocate[] = {
		"malloc",
		"xmalloc",
		"strdup",
		"malloc@plt",
		"operator new(unsigned long)",
		"operator new[](unsigned long, std::nothrow_t const&)",
		"std::__new_allocator<int>::allocate(unsigned long, void const*)",
		"std::allocator_traits<std::allocator<char> >::allocate(std::allocator<"
		"char>&, unsigned long)",
		"void std::vector<int, std::allocator<int> "
		">::_M_realloc_insert<int>(__gnu_cxx::__normal_iterator<int*, "
		"std::vector<int> >, int&&)",
		"std::unique_ptr<item, std::default_delete<item> > "
		"std::make_unique<item>()",
		"g_malloc0",
		"zmalloc_usable",
	};
	static const char *const others[] = {
		"",
		"main",
		"my_malloc_pool_user",
		"mallocs",
		"xmallocs",
		"stdx::f()",
		"worker(std::vector<int>&)",
		"std_like",
		"store::operator new_item",
		"(anonymous namespace)::fill(std::string)",
		"std::vector<int> parse(char const*)",
		"std::shared_ptr<a> ns::make<std::allocator<a> >(int)",
		"app::operator()(int) const",
		"f<std::string>(int)",
		"<",
		">>>(",
		"operator",
	};

	for (size_t i = 0; i < sizeof(allocate) / sizeof(*allocate); i++)
		HI_ASSERT_MSG(hi_frame_allocates(allocate[i]), "%s", allocate[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		HI_ASSERT_MSG(!hi_frame_allocates(others[i]), "%s", others[i]);
}

HI_TEST(census_frames, rows_keep_names_and_say_what_is_inlined)
{
	HI_GUARD(hi_frames_builder_destroy) struct hi_frames_builder *b = NULL;
	char name[] = "parse";
	const struct hi_frame_row two[] = {
		{.function = "xmalloc", .file = "x.h", .line = 3, .flags = 99},
		{.function = name, .module = "/bin/app", .offset = 0x1234}};
	const struct hi_frame_row one = {.module = "/bin/app"};
	struct hi_frames f;
	struct hi_error err;

	HI_ASSERT_OK(hi_frames_builder_create(&b, &err), &err);
	HI_ASSERT_OK(hi_frames_builder_add(b, two, 2, &err), &err);
	HI_ASSERT_OK(hi_frames_builder_add(b, &one, 1, &err), &err);
	name[0] = 'X';
	f = hi_frames_builder_view(b);
	HI_ASSERT_EQ(2, f.n_frames);
	HI_ASSERT_EQ(3, f.n_rows);
	HI_ASSERT_EQ(0, f.first[0]);
	HI_ASSERT_EQ(2, f.first[1]);
	HI_ASSERT_EQ(3, f.first[2]);
	HI_ASSERT_EQ(HI_FRAME_ALLOCATES | HI_FRAME_INLINED, f.rows[0].flags);
	HI_ASSERT_STREQ("", f.rows[0].module);
	HI_ASSERT_STREQ("x.h", f.rows[0].file);
	HI_ASSERT_EQ(3, f.rows[0].line);
	HI_ASSERT_EQ(0, f.rows[1].flags);
	HI_ASSERT_STREQ("parse", f.rows[1].function);
	HI_ASSERT_EQ(0x1234, f.rows[1].offset);
	HI_ASSERT_STREQ("", f.rows[2].function);
	HI_ASSERT(f.rows[1].module == f.rows[2].module);
}

HI_TEST(census_frames, names_and_patterns_find_functions)
{
	static const struct {
		const char *function, *pattern;
		bool matches;
	} cases[] = {
		{"make_node", "make_node", true},
		{"make_node", "make", false},
		{"make_node", "make*", true},
		{"make_node", "m?ke_node", true},
		{"make_node.constprop.0", "make_node", true},
		{"shop::basket::add(int)", "shop::basket::add", true},
		{"shop::basket::add(int)", "shop::basket::add(int)", true},
		{"shop::basket::add(int)", "shop::*", true},
		{"shop::basket::add(int)", "add", false},
		{"void shop::put<int>(int)", "shop::put<int>", true},
		{"", "make_node", false},
		{"", "*", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		HI_ASSERT_MSG(hi_frame_matches(cases[i].function, cases[i].pattern) ==
				      cases[i].matches,
			      "%s and %s", cases[i].function, cases[i].pattern);
}

/* Its entries, which time is taken by; not what only calls them for its caller. */
HI_TEST(census_frames, functions_of_allocators_are_told_from_those_that_call_them)
{
	static const char *const allocators[] = {
		"malloc",
		"malloc@plt",
		"__libc_malloc",
		"__libc_free",
		"free",
		"cfree",
		"calloc",
		"realloc",
		"_int_malloc",
		"_int_free_maybe_consolidate",
		"sysmalloc.constprop.0",
		"operator new(unsigned long)",
		"operator new[](unsigned long, std::nothrow_t const&)",
		"operator delete(void*)",
		"operator delete[](void*, unsigned long)",
		"je_malloc",
		"mi_free",
		"tc_malloc",
		"PyObject_Free",
		"__rust_dealloc"};
	static const char *const others[] = {
		"",
		"main",
		"xmalloc",
		"strdup",
		"my_free",
		"free_list",
		"malloc_stats_mine",
		"std::vector<int, std::allocator<int> >::push_back(int const&)",
		"std::allocator<int>::allocate(unsigned long)",
		"brk",
		"mmap",
		"void std::sort<int*>(int*, int*)",
		"operator==(node const&, node const&)",
		"pool::free(void*)",
		"newton"};

	for (size_t i = 0; i < sizeof(allocators) / sizeof(*allocators); i++)
		HI_ASSERT_MSG(hi_frame_is_allocator(allocators[i]), "%s", allocators[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		HI_ASSERT_MSG(!hi_frame_is_allocator(others[i]), "%s", others[i]);
}
