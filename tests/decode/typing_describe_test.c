/* SPDX-License-Identifier: BSD-2-Clause */
/* Edges, fields and evidence in words. */
#include <stdio.h>

#include "attach/mock.h"
#include "harness.h"
#include "support/typing_world.h"

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

/*
 * struct table { struct entry **slots[2]; long used; };
 * struct entry { char name[16]; union { void *any; double number; } v; entry *next; };
 * struct server { long id; struct { struct table *dict; } db[2]; } server;
 */
static struct world *draw_server(void)
{
	struct world *w = world_create();
	hi_type_id integer = world_scalar(w, HI_KIND_INTEGER, "long", 8);
	hi_type_id text = world_array(w, world_scalar(w, HI_KIND_CHAR, "char", 1), 16);
	hi_type_id number = world_scalar(w, HI_KIND_FLOAT, "double", 8);
	hi_type_id any = world_pointer(w, world_scalar(w, HI_KIND_VOID, "void", 0));
	hi_type_id entry = any + 4, entry_pointer, v, slots, table, db, dbs, server;

	entry_pointer = world_pointer(w, entry);
	v = world_record(w, HI_KIND_UNION, "", 8, "number", 0, number, "any", 0, any,
			 NULL);
	world_scalar(w, HI_KIND_INTEGER, "bool", 1);
	HI_ASSERT_EQ(entry,
		     world_record(w, HI_KIND_STRUCT, "struct entry", 32, "name", 0, text,
				  "v", 16, v, "next", 24, entry_pointer, NULL));
	slots = world_array(w, world_pointer(w, entry_pointer), 2);
	table = world_record(w, HI_KIND_STRUCT, "struct table", 24, "slots", 0, slots,
			     "used", 16, integer, NULL);
	db = world_record(w, HI_KIND_STRUCT, "struct db", 8, "dict", 0,
			  world_pointer(w, table), NULL);
	w->types[db].members = &w->members[w->n_members - 1];
	dbs = world_array(w, db, 2);
	server = world_record(w, HI_KIND_STRUCT, "struct server", 24, "id", 0, integer,
			      "db", 8, dbs, NULL);
	world_block(w, H(0x000), 24);  /* table */
	world_block(w, H(0x100), 200); /* entry *[25] */
	world_block(w, H(0x200), 40);  /* entry */
	world_block(w, H(0x300), 40);  /* entry */
	world_block(w, H(0x400), 40);  /* anything */
	world_poke(w, world_local(w, "server", server, 5) + 16, H(0));
	world_poke(w, H(0x008), H(0x100));
	world_poke(w, H(0x100 + 17 * 8), H(0x200));
	memcpy(hi_memory_mock_at(w->memory, H(0x200)), "a\tname", 6);
	world_poke(w, H(0x210), H(0x400));
	world_poke(w, H(0x218), H(0x300));
	world_poke(w, H(0x418), H(0x308));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	return w;
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

/* struct two { char raw[8]; two *real; }: both words lead to the same block. */
HI_TEST(typing_words, a_member_that_is_a_pointer_is_named_before_raw_storage)
{
	struct world *w = world_create();
	hi_type_id raw = world_array(w, world_scalar(w, HI_KIND_CHAR, "char", 1), 8);
	hi_type_id pointer = world_pointer(w, raw + 2);

	world_record(w, HI_KIND_STRUCT, "struct two", 16, "raw", 0, raw, "real", 8,
		     pointer, NULL);
	world_block(w, H(0), 24);
	world_block(w, H(0x100), 24);
	world_local(w, "a", pointer, H(0));
	world_poke(w, H(0), H(0x100));
	world_poke(w, H(8), H(0x100));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("->real", edge(w, world_node(w, H(0)), H(0x100)));
}
