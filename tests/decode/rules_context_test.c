/* SPDX-License-Identifier: BSD-2-Clause */
/* Hints over drawn heaps: lists, rings, and context that goes along edges. */
#include <stdio.h>

#include "harness.h"
#include "support/typing_world.h"

#define H(offset) (WORLD_HEAP + (offset))

static struct hi_error err;

static void run(struct world *w)
{
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("", world_warning(w, 0));
	HI_ASSERT(hi_graph_is_valid(w->graph));
}

static void blocks(struct world *w, unsigned first, unsigned last, uint64_t usable)
{
	for (unsigned i = first; i <= last; i++)
		world_block(w, H(0x100ull * i), usable);
}

/* ---- rings ---- */

/* struct link { link *next, *prev; };  struct node { long id; link l; void *x; };
 * struct owner { link head; long n; };  struct late { long n; link head; }; */
static struct world *rings(const char *hints)
{
	struct world *w = world_create();

	w->hints = hints;
	world_struct(w, "link", 16, "0 link * : next", "8 link * : prev", NULL);
	world_struct(w, "item", 16, "0 long : a", "8 long : b", NULL);
	world_struct(w, "node", 40, "0 long : id", "8 link : l", "24 item * : x", NULL);
	world_struct(w, "owner", 24, "0 link : head", "16 long : n", NULL);
	world_struct(w, "late", 40, "0 long : n", "8 link : head", "24 long [2] : y",
		     NULL);
	return w;
}

static void tie(struct world *w, uint64_t a, uint64_t b)
{
	world_poke(w, a, b);
	world_poke(w, b + 8, a);
}

/*
 *	o -> 100 owner.head <-> 200 node.l <-> 300 node.l <-> back to 100
 *	     200.x = &400, 300.x = &500
 */
HI_TEST(rules_list, a_ring_ends_at_the_sentinel_in_its_owners_first_member)
{
	struct world *w = rings("hints x\nrecord owner {\n\thead.next each "
				"((link *)$)->next until $ == (link *)this"
				" -> node in l;\n}");

	blocks(w, 1, 1, 24);
	blocks(w, 2, 3, 40);
	blocks(w, 4, 5, 24);
	world_var(w, "o", "owner *", H(0x100));
	tie(w, H(0x100), H(0x208));
	tie(w, H(0x208), H(0x308));
	tie(w, H(0x308), H(0x100));
	world_poke(w, H(0x218), H(0x400));
	world_poke(w, H(0x318), H(0x500));
	run(w);
	HI_ASSERT_STREQ("owner", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("node", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("node", world_type(w, H(0x300)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x400)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x500)));
	HI_ASSERT_STREQ("200:i 300:i", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("100:e 300:i 400:e", world_edges(w, H(0x200)));
	HI_ASSERT_EQ(0, w->typing->stats.bounded);
	HI_ASSERT_EQ(0, w->typing->stats.conflicts);
}

/* The ring was torn: 300 leads back to 200, never to the sentinel. */
HI_TEST(rules_list, a_ring_that_never_meets_its_sentinel_is_cut)
{
	struct world *w = rings("hints x\nrecord owner {\n\thead.next each "
				"((link *)$)->next until $ == (link *)this"
				" -> node in l;\n}");

	blocks(w, 1, 1, 24);
	blocks(w, 2, 3, 40);
	blocks(w, 4, 5, 24);
	world_var(w, "o", "owner *", H(0x100));
	tie(w, H(0x100), H(0x208));
	tie(w, H(0x208), H(0x308));
	tie(w, H(0x308), H(0x208));
	world_poke(w, H(0x318), H(0x500));
	run(w);
	HI_ASSERT_STREQ("node", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("node", world_type(w, H(0x300)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x500)));
	HI_ASSERT_STREQ("400", world_leaks(w));
	HI_ASSERT(w->typing->stats.bounded >= 1);
}

/* An `each` whose next is unreadable, or leads into the middle of nothing, ends. */
HI_TEST(rules_list, a_list_into_nowhere_ends)
{
	static const uint64_t ends[] = {0, 8, 0xffffffffffffffff, H(0x7000),
					WORLD_STACK + 0x3ffc};

	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct world *w = rings("hints x\nrecord owner {\n\thead.next each "
					"((link *)$)->next -> node in l;\n}");

		blocks(w, 1, 1, 24);
		blocks(w, 2, 2, 40);
		world_var(w, "o", "owner *", H(0x100));
		world_poke(w, H(0x100), H(0x208));
		world_poke(w, H(0x208), ends[i]);
		run(w);
		HI_ASSERT_STREQ("node", world_type(w, H(0x200)));
		HI_ASSERT_EQ(0, w->typing->stats.bounded);
	}
}

/*
 * Each node says that its neighbours are nodes. The head looks like one: &late is
 * where a node would be whose link is late.head.
 */
HI_TEST(rules_list, a_node_loses_against_anything_else)
{
	static const char *const others[] = {"late", "small"};

	for (unsigned i = 0; i < 2; i++) {
		struct world *w = rings("hints x\nrecord node node {\n"
					"\tl.next -> node in l; l.prev -> node in l;\n}");
		char type[20];

		world_struct(w, "small", 24, "0 long : n", "8 link : head", NULL);
		blocks(w, 1, 3, 40);
		snprintf(type, sizeof(type), "%s *", others[i]);
		world_var(w, "o", type, H(0x100));
		world_var(w, "first", "node *", H(0x200));
		tie(w, H(0x108), H(0x208));
		tie(w, H(0x208), H(0x308));
		tie(w, H(0x308), H(0x108));
		run(w);
		HI_ASSERT_STREQ(others[i], world_type(w, H(0x100)));
		HI_ASSERT_STREQ("node", world_type(w, H(0x200)));
		HI_ASSERT_STREQ("node", world_type(w, H(0x300)));
		HI_ASSERT_STREQ("200:i 300:i", world_edges(w, H(0x100)));
	}
}

/* Not called a node, the larger type wins: this is what `node` is for. */
HI_TEST(rules_list, without_node_the_head_is_taken_for_one)
{
	struct world *w = rings("hints x\nrecord node {\n"
				"\tl.next -> node in l; l.prev -> node in l;\n}");

	world_struct(w, "small", 24, "0 long : n", "8 link : head", NULL);
	blocks(w, 1, 2, 40);
	world_var(w, "o", "small *", H(0x100));
	world_var(w, "first", "node *", H(0x200));
	tie(w, H(0x108), H(0x208));
	tie(w, H(0x208), H(0x108));
	run(w);
	HI_ASSERT_STREQ("node", world_type(w, H(0x100)));
}

/* ---- context that is a value ---- */

/* struct dict { kind *type; entry **table; long n; };  struct kind { long keys; };
 * struct entry { void *key; entry *next; }; keys are a str or an item by the kind of
 * the dict that the entry is in. */
static struct world *dicts(void)
{
	struct world *w = world_create();

	w->hints = "hints x\ncontext dt : kind *;\n"
		   "record dict { table -> entry *[n] with dt = type; }\n"
		   "record entry { key switch dt->keys { 1: str; 2: item; } }\n";
	world_struct(w, "kind", 8, "0 long : keys", NULL);
	world_struct(w, "item", 16, "0 long : a", "8 long : b", NULL);
	world_struct(w, "str", 16, "0 char * : text", "8 long : b", NULL);
	world_struct(w, "entry", 16, "0 void * : key", "8 entry * : next", NULL);
	world_struct(w, "dict", 24, "0 kind * : type", "8 entry * * : table",
		     "16 long : n", NULL);
	return w;
}

/* A dict at 100 * at with one bucket and a chain of three entries, keys at the end. */
static void draw_dict(struct world *w, unsigned at, const char *name, uint64_t kind)
{
	uint64_t base = H(0x100ull * at);

	blocks(w, at, at + 8, 24);
	world_var(w, name, "dict *", base);
	world_poke(w, base, base + 0x800); /* the kind */
	world_poke(w, base + 8, base + 0x100);
	world_poke(w, base + 16, 1);
	world_poke(w, base + 0x800, kind);
	world_poke(w, base + 0x100, base + 0x200);
	for (uint64_t i = 2; i <= 4; i++) {
		world_poke(w, base + 0x100 * i, base + 0x100 * (i + 3));
		if (i < 4)
			world_poke(w, base + 0x100 * i + 8, base + 0x100 * (i + 1));
	}
}

HI_TEST(rules_context, a_value_goes_along_next_pointers_to_every_entry)
{
	struct world *w = dicts();

	draw_dict(w, 0x10, "strings", 1);
	draw_dict(w, 0x20, "items", 2);
	draw_dict(w, 0x30, "neither", 3);
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	for (uint64_t i = 2; i <= 4; i++) {
		HI_ASSERT_STREQ("entry", world_type(w, H(0x1000 + 0x100 * i)));
		HI_ASSERT_STREQ("str", world_type(w, H(0x1300 + 0x100 * i)));
		HI_ASSERT_STREQ("entry", world_type(w, H(0x2000 + 0x100 * i)));
		HI_ASSERT_STREQ("item", world_type(w, H(0x2300 + 0x100 * i)));
		HI_ASSERT_STREQ("entry", world_type(w, H(0x3000 + 0x100 * i)));
		HI_ASSERT_STREQ("", world_type(w, H(0x3300 + 0x100 * i)));
	}
	HI_ASSERT_STREQ("1300:e 1500:e", world_edges(w, H(0x1200)));
	HI_ASSERT_STREQ("3300:e 3500:c", world_edges(w, H(0x3200)));
	HI_ASSERT_STREQ("", world_leaks(w));
}

/* A pointer to an entry that knows of no dict says less than the dict. */
HI_TEST(rules_context, an_entry_keeps_its_context_whoever_else_leads_to_it)
{
	struct world *w = dicts();

	world_var(w, "cursor", "entry *", H(0x1300));
	draw_dict(w, 0x10, "strings", 1);
	world_var(w, "other_cursor", "entry *", H(0x1300));
	run(w);
	HI_ASSERT_STREQ("str", world_type(w, H(0x1600)));
	HI_ASSERT_STREQ("1400:e 1600:e", world_edges(w, H(0x1300)));
	HI_ASSERT_STREQ("", world_leaks(w));
}

/* An expression that cannot be worked out says nothing: the word may be a pointer. */
HI_TEST(rules_context, without_the_context_the_word_is_kept_and_the_rule_is_named)
{
	struct world *w = dicts();

	blocks(w, 1, 3, 24);
	world_var(w, "lone", "entry *", H(0x100));
	world_poke(w, H(0x100), H(0x200));
	world_poke(w, H(0x108), H(0x300));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("200:c 300:e", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("", world_leaks(w));
	HI_ASSERT_STREQ("x.hints:4: context 'dt' is missing; the words are read "
			"conservatively (record entry, key)",
			world_warning(w, 0));
	HI_ASSERT_STREQ("", world_warning(w, 1));
}

/* ---- context that is a target ---- */

/* struct list { cell *first; long what; };  struct cell { cell *next; void *v; }; */
static struct world *lists(const char *hints)
{
	struct world *w = world_create();

	w->hints = hints;
	world_struct(w, "item", 16, "0 long : a", "8 long : b", NULL);
	world_struct(w, "str", 16, "0 char * : text", "8 long : b", NULL);
	world_struct(w, "cell", 24, "0 cell * : next", "8 void * : v", "16 long : x",
		     NULL);
	world_struct(w, "list", 24, "0 cell * : first", "8 long : what",
		     "16 list * : more", NULL);
	return w;
}

/* list at 100 * at -> two cells, v of each two blocks further. */
static void draw_list(struct world *w, unsigned at, const char *name, uint64_t what)
{
	uint64_t base = H(0x100ull * at);

	blocks(w, at, at + 4, 24);
	world_var(w, name, "list *", base);
	world_poke(w, base, base + 0x100);
	world_poke(w, base + 8, what);
	world_poke(w, base + 0x100, base + 0x200);
	world_poke(w, base + 0x108, base + 0x300);
	world_poke(w, base + 0x208, base + 0x400);
}

static void check_lists(struct world *w)
{
	draw_list(w, 0x10, "strings", 1);
	draw_list(w, 0x20, "items", 2);
	draw_list(w, 0x30, "blobs", 3);
	run(w);
	for (uint64_t i = 3; i <= 4; i++) {
		HI_ASSERT_STREQ("cell", world_type(w, H(0x1000 + 0x100 * (i - 2))));
		HI_ASSERT_STREQ("str", world_type(w, H(0x1000 + 0x100 * i)));
		HI_ASSERT_STREQ("item", world_type(w, H(0x2000 + 0x100 * i)));
		HI_ASSERT_STREQ("bytes", world_type(w, H(0x3000 + 0x100 * i)));
	}
	HI_ASSERT_STREQ("1200:e 1300:e", world_edges(w, H(0x1100)));
	HI_ASSERT_STREQ("1400:e", world_edges(w, H(0x1200)));
}

/* No owner leads to the first list: what its cells hold is kept. */
HI_TEST(rules_context, without_a_target_in_the_context_the_word_is_kept)
{
	struct world *w = lists("hints x\ncontext el;\nrecord cell { v -> ?el; }\n");

	draw_list(w, 0x10, "cells", 1);
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("1200:e 1300:c", world_edges(w, H(0x1100)));
	HI_ASSERT_STREQ("", world_leaks(w));
	HI_ASSERT_STREQ("x.hints:3: context 'el' is missing; the words are read "
			"conservatively (record cell, v)",
			world_warning(w, 0));
}

HI_TEST(rules_context, without_a_target_in_the_context_the_next_case_is_taken)
{
	struct world *w =
		lists("hints x\ncontext el;\nrecord cell { v -> ?el; v -> item; }\n");

	draw_list(w, 0x10, "cells", 1);
	run(w);
	HI_ASSERT_STREQ("1200:e 1300:e", world_edges(w, H(0x1100)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x1300)));
}

/*
 * struct few { long n; item *items[2]; } that only its owner knows the number of, and
 * nothing else is followed. The owner says 1; nobody says it of the second one.
 *
 *	owner -> 100 holder -> 200 few -> 300, (stale) 400
 *	lone                -> 500 few -> 600, 700
 */
HI_TEST(rules_context, without_the_bounds_of_a_loop_the_whole_record_is_kept)
{
	struct world *w =
		lists("hints x\ncontext n : long;\n"
		      "record holder { f -> few with n = zero + 1; }\n"
		      "record few only { items[i] for i in 0 .. n -> item; }\n");

	world_struct(w, "few", 24, "0 long : x", "8 item * [2] : items", NULL);
	world_struct(w, "holder", 16, "0 few * : f", "8 long : zero", NULL);
	blocks(w, 1, 7, 24);
	world_var(w, "owner", "holder *", H(0x100));
	world_poke(w, H(0x100), H(0x200));
	world_var(w, "lone", "few *", H(0x500));
	for (uint64_t at = 0x200; at <= 0x500; at += 0x300) {
		world_poke(w, H(at + 8), H(at + 0x100));
		world_poke(w, H(at + 16), H(at + 0x200));
	}
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("300:e", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("600:c 700:c", world_edges(w, H(0x500)));
	HI_ASSERT_STREQ("400", world_leaks(w));
	HI_ASSERT_STREQ("x.hints:4: context 'n' is missing; the words are read "
			"conservatively (record few, items[i])",
			world_warning(w, 0));
}

/* A value of 0 has arrived: nothing is live in it. */
HI_TEST(rules_context, zero_is_a_value)
{
	struct world *w =
		lists("hints x\ncontext n : long;\n"
		      "record holder { f -> few with n = zero; }\n"
		      "record few only { items[i] for i in 0 .. n -> item; }\n");

	world_struct(w, "few", 24, "0 long : x", "8 item * [2] : items", NULL);
	world_struct(w, "holder", 16, "0 few * : f", "8 long : zero", NULL);
	blocks(w, 1, 3, 24);
	world_var(w, "owner", "holder *", H(0x100));
	world_poke(w, H(0x100), H(0x200));
	world_poke(w, H(0x208), H(0x300));
	run(w);
	HI_ASSERT_STREQ("300", world_leaks(w));
}

HI_TEST(rules_context, a_target_goes_along_next_pointers)
{
	check_lists(lists("hints x\ncontext el;\nrecord cell { v -> ?el; }\n"
			  "record list {\n"
			  "\tfirst -> cell with el : str if what == 1;\n"
			  "\tfirst -> cell with el : item if what == 2;\n"
			  "\tfirst -> cell with el : blob bytes;\n}"));
}

HI_TEST(rules_context, a_target_goes_along_a_list_that_is_walked)
{
	check_lists(lists("hints x\ncontext el;\nrecord cell { v -> ?el; }\n"
			  "record list {\n"
			  "\tfirst each ((cell *)$)->next -> cell with el : str"
			  " if what == 1;\n"
			  "\tfirst each ((cell *)$)->next -> cell with el : item"
			  " if what == 2;\n"
			  "\tfirst each ((cell *)$)->next -> cell with el : blob bytes;\n"
			  "}"));
}

/*
 * Both lists share the cells 500 -> 600: what they hold is said twice, and both are
 * followed; which of the two the cells keep does not depend on the order of locals.
 *
 *	a -> 100 list (what 1) -> 300 cell -> 500 cell -> 600 cell
 *	b -> 200 list (what 2) -> 400 cell ---^  v = &700    v = &800
 */
HI_TEST(rules_context, two_owners_with_different_contexts_over_the_same_nodes)
{
	static const char *const hints =
		"hints x\ncontext el;\nrecord cell { v -> ?el; }\n"
		"record list {\n\tfirst -> cell with el : str if what == 1;\n"
		"\tfirst -> cell with el : item if what == 2;\n}";
	char first[2][40];

	for (int order = 0; order < 2; order++) {
		struct world *w = lists(hints);

		blocks(w, 1, 8, 24);
		world_var(w, "a", "list *", H(order ? 0x200 : 0x100));
		world_var(w, "b", "list *", H(order ? 0x100 : 0x200));
		world_poke(w, H(0x100), H(0x300));
		world_poke(w, H(0x108), 1);
		world_poke(w, H(0x200), H(0x400));
		world_poke(w, H(0x208), 2);
		world_poke(w, H(0x300), H(0x500));
		world_poke(w, H(0x400), H(0x500));
		world_poke(w, H(0x500), H(0x600));
		world_poke(w, H(0x508), H(0x700));
		world_poke(w, H(0x608), H(0x800));
		run(w);
		HI_ASSERT_STREQ("cell", world_type(w, H(0x600)));
		HI_ASSERT_STREQ("600:e 700:e", world_edges(w, H(0x500)));
		HI_ASSERT_STREQ("", world_leaks(w));
		snprintf(first[order], sizeof(first[0]), "%s %s", world_type(w, H(0x700)),
			 world_type(w, H(0x800)));
	}
	HI_ASSERT(strcmp(first[0], "str str") == 0 || strcmp(first[0], "item item") == 0);
	HI_ASSERT_STREQ(first[0], first[1]);
}

/* A context that a record gives itself hides the one that came with it. */
HI_TEST(rules_context, the_nearest_owner_says_what_the_context_is)
{
	struct world *w =
		lists("hints x\ncontext el;\nrecord cell { v -> ?el; }\n"
		      "record list {\n\tfirst -> cell with el : str if what == 1;\n"
		      "\tfirst -> cell with el : item if what == 2;\n"
		      "\tmore -> list with el : list;\n}");

	draw_list(w, 0x10, "outer", 1);
	blocks(w, 0x20, 0x24, 24);
	world_poke(w, H(0x1010), H(0x2000));
	world_poke(w, H(0x2000), H(0x2100));
	world_poke(w, H(0x2008), 2);
	world_poke(w, H(0x2108), H(0x2300));
	run(w);
	HI_ASSERT_STREQ("str", world_type(w, H(0x1300)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x2300)));
}

/*
 * Shared cells again: their owner's flag says whether v is a pointer at all. The two
 * candidates differ in nothing but the context, and one of them must always win.
 */
HI_TEST(rules_context, of_two_contexts_the_same_one_wins_whoever_comes_first)
{
	char first[2][40];

	for (int order = 0; order < 2; order++) {
		struct world *w = lists("hints x\ncontext on : long;\n"
					"record cell { v -> item if on == 1; }\n"
					"record list { first -> cell with on = what; }");

		blocks(w, 1, 4, 24);
		world_var(w, "a", "list *", H(order ? 0x200 : 0x100));
		world_var(w, "b", "list *", H(order ? 0x100 : 0x200));
		world_poke(w, H(0x100), H(0x300));
		world_poke(w, H(0x108), 1);
		world_poke(w, H(0x200), H(0x300));
		world_poke(w, H(0x208), 2);
		world_poke(w, H(0x308), H(0x400));
		run(w);
		snprintf(first[order], sizeof(first[0]), "%s", world_edges(w, H(0x300)));
	}
	HI_ASSERT_STREQ(first[0], first[1]);
}
