/* SPDX-License-Identifier: BSD-2-Clause */
/* Hints over drawn heaps: lists, rings, and context that goes along edges. */
#include <stdio.h>

#include "harness.h"
#include "support/rules_world.h"

/* ---- rings ---- */

#define RINGS                                                                            \
	"struct link { link *next; link *prev; };\n"                                     \
	"struct item { long a; long b; };\n"                                             \
	"struct node 40 { long id; link l; item *x; };\n"                                \
	"struct owner { link head; long n; };\n"
#define UNTIL_SENTINEL                                                                   \
	"record owner { head.next each ((link *)$)->next until $ == (link *)this"        \
	" -> node in l; }\n"                                                             \
	"owner *o = &100\n"

/* The sentinel is the owner's first member. */
HI_TEST(rules_list, a_ring_ends_at_the_sentinel_in_its_owners_first_member)
{
	struct world *w = HI_DRAWN(RINGS UNTIL_SENTINEL
				   "100 (24): &208 &308        => owner -> 200:i 300:i\n"
				   "200 (40): 0 &308 &100 &400 => node -> 100 300:i 400\n"
				   "300 (40): 0 &100 &208 &500 => node\n"
				   "400..500 (24): => item\n");

	HI_ASSERT_EQ(0, w->typing->stats.bounded);
	HI_ASSERT_EQ(0, w->typing->stats.conflicts);
}

/* The ring was torn: 300 leads back to 200, never to the sentinel. */
HI_TEST(rules_list, a_ring_that_never_meets_its_sentinel_is_cut)
{
	struct world *w =
		HI_DRAWN(RINGS UNTIL_SENTINEL "100 (24): &208\n"
					      "200 (40): 0 &308 &308      => node\n"
					      "300 (40): 0 &208 &208 &500 => node\n"
					      "400 (24): => leaked\n"
					      "500 (24): => item\n");

	HI_ASSERT(w->typing->stats.bounded >= 1);
}

/* An `each` whose next is unreadable, or leads into the middle of nothing, ends. */
HI_TEST(rules_list, a_list_into_nowhere_ends)
{
	static const char *const ends[] = {"0", "8", "-1", "&7000", "&S3ffc"};

	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct world *w =
			HI_DRAWN(RINGS "record owner { head.next each ((link *)$)->next "
				       "-> node in l; }\n"
				       "owner *o = &100\n"
				       "100 (24): &208\n"
				       "200 (40): 0 %s => node\n",
				 ends[i]);

		HI_ASSERT_EQ(0, w->typing->stats.bounded);
	}
}

/*
 * Each node says that its neighbours are nodes. The head, at 108, looks like one: 100 is
 * where a node would be that has it. Not called a node, the larger type wins: this is
 * what `node` is for.
 */
HI_TEST(rules_list, a_node_loses_against_anything_else)
{
	static const char *const cases[][3] = {{"late", "node ", "late"},
					       {"small", "node ", "small"},
					       {"small", "", "node"}};

	for (unsigned i = 0; i < 3; i++)
		HI_DRAWN(RINGS "struct late { long n; link head; long y[2]; };\n"
			       "struct small { long n; link head; };\n"
			       "record node %s{ l.next -> node in l; "
			       "l.prev -> node in l; }\n"
			       "%s *o = &100\n"
			       "node *first = &200\n"
			       "100 (40): 0 &208 &308 => %s -> 200:i 300:i\n"
			       "200 (40): 0 &308 &108 => node\n"
			       "300 (40): 0 &108 &208 => node\n",
			 cases[i][1], cases[i][0], cases[i][2]);
}

/* ---- context that is a value ---- */

/* Keys are a str or an item by the kind of the dict that the entry is in. */
#define DICTS                                                                            \
	"struct kind { long keys; };\n"                                                  \
	"struct item { long a; long b; };\n"                                             \
	"struct str { char *text; long b; };\n"                                          \
	"struct entry { void *key; entry *next; };\n"                                    \
	"struct dict { kind *type; entry **table; long n; };\n"                          \
	"context dt : kind *;\n"                                                         \
	"record dict { table -> entry *[n] with dt = type; }\n"                          \
	"record entry { key switch dt->keys { 1: str; 2: item; } }\n"
/* A dict at x000 with one bucket and a chain of three entries; their keys are of this
 * type, and edges to them have this grade. */
static const char *dict(const char *x, const char *kind, const char *type,
			const char *grade)
{
	static char text[3][600];
	static unsigned turn;
	char *out = text[turn++ % 3];

	snprintf(out, sizeof(text[0]),
		 "dict *at%1$s = &%1$s000\n"
		 "%1$s000 (24): &%1$s800 &%1$s100 1\n"
		 "%1$s100 (24): &%1$s200\n"
		 "%1$s200 (24): &%1$s500 &%1$s300 => entry -> %1$s300 %1$s500%4$s\n"
		 "%1$s300 (24): &%1$s600 &%1$s400 => entry -> %1$s400 %1$s600%4$s\n"
		 "%1$s400 (24): &%1$s700          => entry -> %1$s700%4$s\n"
		 "%1$s500..%1$s700 (24):          => %3$s\n"
		 "%1$s800 (24): %2$s\n",
		 x, kind, type, grade);
	return out;
}

HI_TEST(rules_context, a_value_goes_along_next_pointers_to_every_entry)
{
	HI_DRAWN(DICTS "%s%s%s"
		       "warning x.hints:4: no case has the value that was found; the "
		       "words are read conservatively (record entry, key)\n",
		 dict("1", "1", "str", ""), dict("2", "2", "item", ""),
		 dict("3", "3", "untyped", ":c"));
}

/* A pointer to an entry that knows of no dict says less than the dict. */
HI_TEST(rules_context, entry_keeps_its_context_for_all_referrers)
{
	HI_DRAWN(DICTS "entry *cursor = &1300\n"
		       "%s"
		       "entry *other_cursor = &1300\n",
		 dict("1", "1", "str", ""));
}

/* An expression that cannot be worked out says nothing: the word may be a pointer. */
HI_TEST(rules_context, without_the_context_the_word_is_kept_and_the_rule_is_named)
{
	HI_DRAWN(DICTS "entry *lone = &100\n"
		       "100 (24): &200 &300 => -> 200:c 300\n"
		       "200 (24): => untyped\n"
		       "300 (24):\n"
		       "warning x.hints:4: context 'dt' is missing; the words are read "
		       "conservatively (record entry, key)\n");
}

/* ---- context that is a target ---- */

#define LISTS                                                                            \
	"struct item { long a; long b; };\n"                                             \
	"struct str { char *text; long b; };\n"                                          \
	"struct cell { cell *next; void *v; long x; };\n"                                \
	"struct list { cell *first; long what; list *more; };\n"
/* A list at x000 of two cells, whose values are of this type. */
static const char *list(const char *x, const char *what, const char *type,
			const char *grade)
{
	static char text[3][400];
	static unsigned turn;
	char *out = text[turn++ % 3];

	snprintf(out, sizeof(text[0]),
		 "%1$s000 (24): &%1$s100 %2$s\n"
		 "%1$s100 (24): &%1$s200 &%1$s300 => cell -> %1$s200 %1$s300%4$s\n"
		 "%1$s200 (24): 0 &%1$s400        => cell -> %1$s400%4$s\n"
		 "%1$s300..%1$s400 (24):          => %3$s\n",
		 x, what, type, grade);
	return out;
}

/* No owner leads to this list: what its cells hold is kept. */
HI_TEST(rules_context, without_a_target_in_the_context_the_word_is_kept)
{
	HI_DRAWN(LISTS "context el;\n"
		       "record cell { v -> ?el; }\n"
		       "list *cells = &1000\n%s"
		       "warning x.hints:3: context 'el' is missing; the words are read "
		       "conservatively (record cell, v)\n",
		 list("1", "1", "untyped", ":c"));
}

HI_TEST(rules_context, without_a_target_in_the_context_the_next_case_is_taken)
{
	HI_DRAWN(LISTS "context el;\n"
		       "record cell { v -> ?el; v -> item; }\n"
		       "list *cells = &1000\n%s",
		 list("1", "1", "item", ""));
}

/* Only its owner knows how much of `few` is live, and nothing else is followed. One
 * owner says 1; nobody says it of the second one. */
HI_TEST(rules_context, without_the_bounds_of_a_loop_the_whole_record_is_kept)
{
	HI_DRAWN(LISTS "struct few { long x; item *items[2]; };\n"
		       "struct holder { few *f; long zero; };\n"
		       "context n : long;\n"
		       "record holder { f -> few with n = zero + 1; }\n"
		       "record few only { items[i] for i in 0 .. n -> item; }\n"
		       "holder *owner = &100\n"
		       "few *lone = &500\n"
		       "100 (24): &200\n"
		       "200 (24): 0 &300 &400 => -> 300\n"
		       "300 (24):\n"
		       "400 (24): => leaked\n"
		       "500 (24): 0 &600 &700 => -> 600:c 700:c\n"
		       "600..700 (24):\n"
		       "warning x.hints:4: context 'n' is missing; the words are read "
		       "conservatively (record few, items[i])\n");
}

/* The same, whether a record with rules of its own lies in it before or after the loop.
 */
HI_TEST(rules_context, a_record_is_kept_whatever_lies_in_it)
{
	static const char *const orders[][3] = {
		{"items[i] for i in 0 .. n -> item;", "raw : inner;", "3"},
		{"raw : inner;", "items[i] for i in 0 .. n -> item;", "4"},
	};

	for (int i = 0; i < 2; i++)
		HI_DRAWN(LISTS
			 "struct inner { item *p; };\n"
			 "struct few { long x; item *items[2]; char raw[8]; };\n"
			 "context n : long;\n"
			 "record few only { %s\n%s }\n"
			 "record inner { p -> item; }\n"
			 "few *lone = &100\n"
			 "100 (40): 0 &200 &300 &400 => -> 200:c 300:c 400\n"
			 "200..400 (24):\n"
			 "warning x.hints:%s: context 'n' is missing; the words are "
			 "read conservatively (record few, items[i])\n",
			 orders[i][0], orders[i][1], orders[i][2]);
}

/* A value of 0 has arrived: nothing is live in it. */
HI_TEST(rules_context, zero_is_a_value)
{
	HI_DRAWN(LISTS "struct few { long x; item *items[2]; };\n"
		       "struct holder { few *f; long zero; };\n"
		       "context n : long;\n"
		       "record holder { f -> few with n = zero; }\n"
		       "record few only { items[i] for i in 0 .. n -> item; }\n"
		       "holder *owner = &100\n"
		       "100 (24): &200\n"
		       "200 (24): 0 &300\n"
		       "300 (24): => leaked\n");
}

static void check_three_lists(const char *hints)
{
	HI_DRAWN(LISTS "context el;\n"
		       "record cell { v -> ?el; }\n"
		       "%s"
		       "list *of[3] = &1000 &2000 &3000\n%s%s%s",
		 hints, list("1", "1", "str", ""), list("2", "2", "item", ""),
		 list("3", "3", "bytes", ""));
}

HI_TEST(rules_context, a_target_goes_along_next_pointers)
{
	check_three_lists("record list {\n"
			  "\tfirst -> cell with el : str if what == 1;\n"
			  "\tfirst -> cell with el : item if what == 2;\n"
			  "\tfirst -> cell with el : blob bytes;\n}\n");
}

HI_TEST(rules_context, a_target_goes_along_a_list_that_is_walked)
{
	check_three_lists(
		"record list {\n"
		"\tfirst each ((cell *)$)->next -> cell with el : str if what == 1;\n"
		"\tfirst each ((cell *)$)->next -> cell with el : item if what == 2;\n"
		"\tfirst each ((cell *)$)->next -> cell with el : blob bytes;\n}\n");
}

#define STR_OR_ITEM                                                                      \
	"context el;\n"                                                                  \
	"record cell { v -> ?el; }\n"                                                    \
	"record list {\n"                                                                \
	"\tfirst -> cell with el : str if what == 1;\n"                                  \
	"\tfirst -> cell with el : item if what == 2;\n"                                 \
	"\tmore -> list with el : list;\n}\n"

/* Both lists share the cells 500 and 600: what they hold is said twice, and both are
 * followed; which of the two the cells keep does not depend on the order of locals. */
HI_TEST(rules_context, two_owners_with_different_contexts_over_the_same_nodes)
{
	char found[2][40];

	for (int order = 0; order < 2; order++) {
		struct world *w =
			HI_DRAWN(LISTS STR_OR_ITEM "list *a = &%s\n"
						   "list *b = &%s\n"
						   "100 (24): &300 1\n"
						   "200 (24): &400 2\n"
						   "300 (24): &500\n"
						   "400 (24): &500\n"
						   "500 (24): &600 &700 => -> 600 700\n"
						   "600 (24): 0 &800    => cell\n"
						   "700..800 (24):\n",
				 order ? "200" : "100", order ? "100" : "200");

		snprintf(found[order], sizeof(found[0]), "%s %s",
			 world_type(w, WORLD_HEAP + 0x700),
			 world_type(w, WORLD_HEAP + 0x800));
	}
	HI_ASSERT(strcmp(found[0], "str str") == 0 || strcmp(found[0], "item item") == 0);
	HI_ASSERT_STREQ(found[0], found[1]);
}

/* A context that a record gives itself hides the one that came with it. */
HI_TEST(rules_context, the_nearest_owner_says_what_the_context_is)
{
	HI_DRAWN(LISTS STR_OR_ITEM "list *outer = &1000\n%s%s",
		 list("1", "1 &2000", "str", ""), list("2", "2", "item", ""));
}

/*
 * Shared cells again: their owner's flag says whether v is a pointer at all. The two
 * candidates differ in nothing but the context, and one of them must always win.
 */
HI_TEST(rules_context, winner_of_two_contexts_does_not_depend_on_their_order)
{
	char found[2][40];

	for (int order = 0; order < 2; order++) {
		struct world *w =
			HI_DRAWN(LISTS "context on : long;\n"
				       "record cell { v -> item if on == 1; }\n"
				       "record list { first -> cell with on = what; }\n"
				       "list *a = &%s\n"
				       "list *b = &%s\n"
				       "void *v = &400\n"
				       "100 (24): &300 1\n"
				       "200 (24): &300 2\n"
				       "300 (24): 0 &400\n"
				       "400 (24):\n",
				 order ? "200" : "100", order ? "100" : "200");

		snprintf(found[order], sizeof(found[0]), "%s",
			 world_edges(w, WORLD_HEAP + 0x300));
	}
	HI_ASSERT_STREQ(found[0], found[1]);
}
