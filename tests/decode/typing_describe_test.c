/* SPDX-License-Identifier: BSD-2-Clause */
/* Edges, fields and evidence in words. */
#include "harness.h"
#include "support/rules_world.h"

#define H(offset) (WORLD_HEAP + (offset))

static struct hi_error err;

static const char *edge(struct world *w, hi_node from, uint64_t to)
{
	static char text[4][300];
	static unsigned turn;
	char *out = text[turn++ % 4];

	hi_typing_describe_edge(w->typing, w->graph, from, world_node(w, to), out,
				sizeof(text[0]));
	return out;
}

/* Types are called "struct …", as in C. */
static struct world *draw_server(void)
{
	return HI_DRAWN(
		"union value { double number; void *any; };\n"
		"struct struct entry { char name[16]; value v; struct entry *next; };\n"
		"struct struct table { struct entry **slots[2]; long used; };\n"
		"struct db { struct table *dict; };\n"
		"struct server { long id; db db[2]; };\n"
		"server server = 5 0 &0\n"
		"0 (24): 0 &100\n"
		"100 (200): @136 &200\n"
		"200 (40): 'a\tname' @16 &400 &300\n"
		"300 (40):\n"
		"400 (40): @24 &308\n");
}

HI_TEST(typing_words, paths_read_like_c)
{
	struct world *w = draw_server();

	HI_ASSERT_EQ(1, w->graph->n_roots);
	HI_ASSERT_STREQ("thread 7 draw(): server.db[1].dict",
			edge(w, w->graph->first_root, H(0)));
	HI_ASSERT_STREQ("->slots[1]", edge(w, world_node(w, H(0)), H(0x100)));
	HI_ASSERT_STREQ("[17]", edge(w, world_node(w, H(0x100)), H(0x200)));
	HI_ASSERT_STREQ("->next", edge(w, world_node(w, H(0x200)), H(0x300)));
	HI_ASSERT_STREQ("->v.any", edge(w, world_node(w, H(0x200)), H(0x400)));
	HI_ASSERT_STREQ(" +0x18", edge(w, world_node(w, H(0x400)), H(0x300)));
	HI_ASSERT_STREQ("", edge(w, world_node(w, H(0x400)), H(0)));
	HI_ASSERT_STREQ("", edge(w, w->graph->super_root, H(0)));
}

HI_TEST(typing_words, fields_have_paths_types_and_values)
{
	struct world *w = draw_server();
	struct hi_field f[16];
	size_t n, total;

	HI_ASSERT_OK(hi_typing_fields(w->typing, w->graph, world_node(w, H(0x200)), f, 16,
				      &n, &total, &err),
		     &err);
	HI_ASSERT_EQ(4, n);
	HI_ASSERT_EQ(4, total);
	HI_ASSERT_STREQ("name", f[0].path);
	HI_ASSERT_STREQ("\"a\\tname\"", f[0].value);
	HI_ASSERT_STREQ("v.number", f[1].path);
	HI_ASSERT_STREQ("v.any", f[2].path);
	HI_ASSERT_STREQ("0x10000400", f[2].value);
	HI_ASSERT_EQ(world_node(w, H(0x400)), f[2].to);
	HI_ASSERT_STREQ("next", f[3].path);
	HI_ASSERT_EQ(HI_GRADE_EXACT, f[3].grade);
	HI_ASSERT_OK(hi_typing_fields(w->typing, w->graph, world_node(w, H(0x100)), f, 16,
				      &n, &total, &err),
		     &err);
	HI_ASSERT_EQ(16, n);
	HI_ASSERT_EQ(25, total);
	HI_ASSERT_STREQ("[15]", f[15].path);
	HI_ASSERT_OK(hi_typing_fields(w->typing, w->graph, world_node(w, H(0x400)), f, 16,
				      &n, &total, &err),
		     &err);
	HI_ASSERT_EQ(5, total);
	HI_ASSERT_STREQ("+0x18", f[3].path);
	HI_ASSERT_EQ(world_node(w, H(0x300)), f[3].to);
	HI_ASSERT_EQ(HI_GRADE_CONSERVATIVE, f[3].grade);
	HI_ASSERT_OK(hi_typing_fields(w->typing, w->graph, w->graph->first_root, f, 16,
				      &n, &total, &err),
		     &err);
	HI_ASSERT_EQ(3, n);
	HI_ASSERT_STREQ("5", f[0].value);
	HI_ASSERT_STREQ("db[1].dict", f[2].path);
}

HI_TEST(typing_words, evidence_names_a_pointer_that_has_the_type)
{
	struct world *w = draw_server();
	char text[300];

	hi_typing_explain_type(w->typing, w->graph, world_node(w, H(0)), text,
			       sizeof(text));
	HI_ASSERT_STREQ(
		"pointed to by thread 7 draw(): server.db[1].dict (struct table *)",
		text);
	hi_typing_explain_type(w->typing, w->graph, world_node(w, H(0x300)), text,
			       sizeof(text));
	HI_ASSERT_STREQ("pointed to by struct entry 0x10000200->next (struct entry *)",
			text);
	hi_typing_explain_type(w->typing, w->graph, world_node(w, H(0x400)), text,
			       sizeof(text));
	HI_ASSERT_STREQ("it has no type: no typed pointer and no vtable leads to it; it "
			"is what this field leads to: entry.v.any",
			text);
}

HI_TEST(typing_words, texts_are_cut_where_they_do_not_fit)
{
	struct world *w = draw_server();
	char whole[300], text[300];

	hi_typing_describe_edge(w->typing, w->graph, w->graph->first_root, 0, whole,
				sizeof(whole));
	for (size_t size = 1; size < sizeof(whole); size++) {
		size_t n;

		memset(text, '#', sizeof(text));
		n = hi_typing_describe_edge(w->typing, w->graph, w->graph->first_root, 0,
					    text, size);
		HI_ASSERT_EQ(strlen(text), n);
		HI_ASSERT(n < size);
		HI_ASSERT(text[size] == '#');
		if (size > strlen(whole))
			HI_ASSERT_STREQ(whole, text);
	}
}

HI_TEST(typing_words, a_member_that_is_a_pointer_is_named_before_raw_storage)
{
	struct world *w = HI_DRAWN("struct two { char raw[8]; two *real; };\n"
				   "two *a = &0\n"
				   "0 (24): &100 &100\n"
				   "100 (24):\n");

	HI_ASSERT_STREQ("->real", edge(w, world_node(w, H(0)), H(0x100)));
}
