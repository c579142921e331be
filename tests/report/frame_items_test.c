/* SPDX-License-Identifier: BSD-2-Clause */
/* Call stacks as people read them: frames of libraries are folded, tails shown once. */
#include <string.h>

#include "report/parts/births_report.h"
#include "report/parts/frame_text.h"
#include "tests/harness.h"
#include "tests/report/page_text.h"
#include "tests/report/sample.h"

#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define VECTOR "/usr/include/c++/12/bits/stl_vector.h"
#define APP .module = "/opt/app/bin/app"

/* Frames: 0 main, 1 serve, 2 load, which has push_back inlined, 3 store, 4 malloc, 5 the
 * code that calls main. */
static const struct hi_frame_row stack_rows[] = {
	{APP, .function = "main", .file = "main.cc", .line = 9},
	{APP, .function = "app::serve(int)", .file = "serve.cc", .line = 20},
	{APP, .function = "std::vector<int, std::allocator<int> >::_M_grow(int)",
	 .file = VECTOR, .line = 1, .flags = HI_FRAME_INLINED | HI_FRAME_ALLOCATES},
	{APP, .function = "std::vector<int, std::allocator<int> >::push_back(int)",
	 .file = VECTOR, .line = 2, .flags = HI_FRAME_INLINED | HI_FRAME_ALLOCATES},
	{APP, .function = "app::load(char const*)", .file = "load.cc", .line = 3},
	{APP, .function = "app::store(char const*)", .file = "store.cc", .line = 4},
	{.module = LIBC,
	 .function = "malloc",
	 .file = "malloc.c",
	 .line = 5,
	 .flags = HI_FRAME_ALLOCATES},
	{.module = LIBC, .function = "__libc_start_call_main", .file = "start.h"},
};
static const uint32_t first_rows[] = {0, 1, 2, 5, 6, 7, 8};

/* Contexts: 1 malloc in load; 2 malloc in store; both are called by serve. */
static const struct hi_context_node stack_nodes[] = {
	{0, HI_FRAME_NONE}, {0, 5}, {1, 0}, {2, 1}, {3, 2}, {4, 4}, {3, 3}, {6, 4}};
static const struct hi_context stack_contexts[] = {
	{}, {.stack = 1, .node = 5}, {.stack = 2, .node = 7, .flags = HI_CONTEXT_CUT}};
static const struct hi_context_view stacks_drawn = {stack_nodes, stack_contexts, 8, 3, 6};
static const struct hi_frames frames_drawn = {stack_rows, first_rows, 6, 8};

/* The texts of the items of context 1, one a line. */
static const char *items_text(bool folds, const struct hi_frame_row *kept)
{
	struct hi_frame_items items = {.folds = folds};
	struct hi_page *page = page_new();
	const char *text = "";

	hi_frame_items_add_context(&items, &stacks_drawn, &frames_drawn, 1, kept);
	HI_ASSERT(!items.failed && !items.left_out);
	for (size_t i = 0; i < items.of.count; i++)
		text = hi_page_printf(page, "%s%s\n", text,
				      hi_frame_item_text(&items.of.items[i], page));
	hi_frame_items_free(&items);
	return text;
}

HI_TEST(frame_items, frames_of_libraries_are_one)
{
	HI_ASSERT_STREQ("3 frames of libc, libstdc++\napp::load\napp::serve\nmain\n"
			"__libc_start_call_main\n",
			items_text(true, NULL));
}

HI_TEST(frame_items, a_kept_frame_is_not_folded)
{
	HI_ASSERT_STREQ("2 frames of libc, libstdc++\n"
			"std::vector<int>::push_back\napp::load\napp::serve\nmain\n"
			"__libc_start_call_main\n",
			items_text(true, &stack_rows[3]));
}

HI_TEST(frame_items, without_folds_each_frame_is_one)
{
	HI_ASSERT_STREQ("malloc\nstd::vector<int>::_M_grow\n"
			"std::vector<int>::push_back\napp::load\napp::serve\nmain\n"
			"__libc_start_call_main\n",
			items_text(false, NULL));
}

HI_TEST(frame_items, libraries_are_known_by_source_module_and_name)
{
	static const struct {
		struct hi_frame_row row;
		const char *library; /* NULL: the program */
	} cases[] = {
		{{.function = "f", .file = VECTOR, .module = "/opt/app"}, "libstdc++"},
		{{.function = "f",
		  .file = "/opt/llvm/include/c++/v1/vector",
		  .module = "/opt/app"},
		 "libc++"},
		{{.function = "f",
		  .file = "/usr/include/boost/any.hpp",
		  .module = "/opt/app"},
		 "boost"},
		{{.function = "f",
		  .file = "/rustc/90b35a6/library/std/src/rt.rs",
		  .module = "/opt/app"},
		 "Rust's std"},
		{{.function = "f", .file = "malloc.c", .module = LIBC}, "libc"},
		{{.function = "f", .file = "", .module = "/lib/libc-2.31.so"}, "libc"},
		{{.function = "f", .file = "", .module = "/usr/lib/libssl.so.3"},
		 "libssl"},
		{{.function = "void std::sort<int*>(int*, int*)",
		  .file = "",
		  .module = "/opt/app"},
		 "libstdc++"},
		{{.function = "f", .file = "", .module = "/usr/local/lib/libown.so"},
		 NULL},
		{{.function = "f", .file = "", .module = "/usr/bin/redis-server"}, NULL},
		/* A specialization of the program's own. */
		{{.function = "std::hash<app::Key>::operator()(app::Key) const",
		  .file = "key.h",
		  .module = "/opt/app"},
		 NULL},
		{{.function = "stdlike::f()", .file = "", .module = "/opt/app"}, NULL},
		{{.function = "f",
		  .file = "",
		  .module = "/usr/bin/python3.11",
		  .flags = HI_FRAME_INTERPRETER},
		 "the interpreter"},
		{{.function = "loads",
		  .file = "/usr/lib/python3.11/json/decoder.py",
		  .module = "",
		  .flags = HI_FRAME_SCRIPT},
		 "the script's library"},
		{{.function = "f",
		  .file = "/srv/app.py",
		  .module = "",
		  .flags = HI_FRAME_SCRIPT},
		 NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char library[HI_FRAME_LIBRARY_SIZE] = "";

		HI_ASSERT_EQ(cases[i].library != NULL,
			     hi_frame_library(&cases[i].row, library));
		HI_ASSERT_STREQ(cases[i].library ? cases[i].library : "", library);
	}
}

/* Of the only table of a page: the first cells, one a line. */
static const char *first_cells(struct hi_page *page)
{
	const struct hi_report_table *t = page->tables.items[0];
	const char *text = "";

	for (size_t i = 0; i < t->cells.count; i += t->n_columns)
		text = hi_page_printf(page, "%s%s\n", text, t->cells.items[i].text);
	return text;
}

/* Both contexts have live objects; those of load are larger. */
HI_TEST(frame_items, a_table_by_context_has_callers_and_shows_tails_once)
{
	struct hi_births births = {.end_ns = 1};
	struct hi_context_totals totals[3] = {};
	struct hi_recorded recorded = {.births = &births,
				       .contexts = stacks_drawn,
				       .totals = totals,
				       .frames = frames_drawn};
	struct hi_birth_group items[HI_GROUPS_FIXED + 2] = {[HI_GROUPS_FIXED] = {1},
							    [HI_GROUPS_FIXED + 1] = {2}};
	struct hi_birth_groups groups = {.by = HI_BORN_BY_CONTEXT,
					 .n_groups = HI_GROUPS_FIXED + 2,
					 .groups = items};
	struct hi_births_line lines[] = {
		{.group = HI_GROUPS_FIXED, .objects = 2, .bytes = 64},
		{.group = HI_GROUPS_FIXED + 1, .objects = 1, .bytes = 32}};
	struct sample *s = sample_make();
	struct hi_births_report report = {
		.header = &s->header,
		.recorded = &recorded,
		.groups = &groups,
		.objects = 3,
		.bytes = 96,
		.rows = lines,
		.n_rows = 2,
		.pieces = {.recorded = &recorded, .groups = &groups}};
	struct hi_page *page = page_new();

	hi_births_display(&report, page);
	HI_ASSERT_STREQ("1  app::load\n"
			"through 3 frames of libc, libstdc++\n"
			"app::serve\n"
			"main\n"
			"__libc_start_call_main\n"
			"2  app::store\n"
			"through malloc\n"
			"… from app::serve on as in 1\n"
			"(outer frames are not known)\n",
			first_cells(page));
}

HI_TEST(frame_items, full_names_have_all_frames)
{
	struct hi_page *page = page_new();

	page->type_names.keep_full = true;
	hi_frames_show(&stacks_drawn, &frames_drawn, 1, 4, page);
	HI_ASSERT_STREQ("malloc\n"
			"std::vector<int, std::allocator<int> >::_M_grow(int)\n"
			"std::vector<int, std::allocator<int> >::push_back(int)\n"
			"app::load(char const*)\n",
			first_cells(page));
}
