/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hints over drawn heaps: words, how far arrays live, tags, masks, weak words.
 * Each test draws its heap in a comment; blocks are named by their distance from
 * the heap's start, "100" is the block at WORLD_HEAP + 0x100.
 */
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

/* Blocks 100, 200, … of `usable` bytes. */
static void blocks(struct world *w, unsigned first, unsigned last, uint64_t usable)
{
	for (unsigned i = first; i <= last; i++)
		world_block(w, H(0x100ull * i), usable);
}

/* struct vec { item **d; long first, n; }; struct item { long id; item *other; }; */
static struct world *vectors(const char *hints)
{
	struct world *w = world_create();

	w->hints = hints;
	world_struct(w, "item", 16, "0 long : id", "8 item * : other", NULL);
	world_struct(w, "vec", 24, "0 item * * : d", "8 long : first", "16 long : n",
		     NULL);
	return w;
}

/*
 *	v -> 100 vec { d, 0, n = 2 }
 *	          `-> 200 [ &300, &400, &500, 0, 0 ]	300.other = &600
 *	                    live        dead		500.other = &700
 */
HI_TEST(rules, what_stands_only_in_the_dead_tail_of_an_array_is_leaked)
{
	struct world *w = vectors("hints x\nrecord vec { d -> item *[n]; }");

	blocks(w, 1, 1, 24);
	blocks(w, 2, 2, 40);
	blocks(w, 3, 7, 24);
	world_var(w, "v", "vec *", H(0x100));
	world_poke(w, H(0x100), H(0x200));
	world_poke(w, H(0x110), 2);
	world_poke(w, H(0x200), H(0x300));
	world_poke(w, H(0x208), H(0x400));
	world_poke(w, H(0x210), H(0x500));
	world_poke(w, H(0x308), H(0x600));
	world_poke(w, H(0x508), H(0x700));
	run(w);
	HI_ASSERT_STREQ("item *[]", world_type(w, H(0x200)));
	HI_ASSERT_EQ(HI_EVIDENCE_CONTAINER, world_evidence(w, H(0x200)));
	HI_ASSERT_STREQ("300:e 400:e", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x300)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x600)));
	HI_ASSERT_STREQ("", world_type(w, H(0x500)));
	HI_ASSERT_STREQ("500 700", world_leaks(w));
	HI_ASSERT_OK(
		world_run(w, &(struct hi_typing_options){.conservative = true}, &err),
		&err);
	HI_ASSERT_STREQ("", world_leaks(w));
}

/* The same without hints: the whole block is the array. */
HI_TEST(rules, without_a_hint_all_of_the_array_is_live)
{
	struct world *w = vectors(NULL);

	blocks(w, 1, 1, 24);
	blocks(w, 2, 2, 40);
	blocks(w, 3, 3, 24);
	world_var(w, "v", "vec *", H(0x100));
	world_poke(w, H(0x100), H(0x200));
	world_poke(w, H(0x220), H(0x300));
	run(w);
	HI_ASSERT_STREQ("300:e", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("", world_leaks(w));
}

/* v -> 100 { d, first = 1, n = 3 } -> 200 [ dead &300, &400, &500, dead &600 ] */
HI_TEST(rules, an_array_may_live_in_its_middle_only)
{
	struct world *w = vectors("hints x\nrecord vec { d -> item *[first .. n]; }");

	blocks(w, 1, 1, 24);
	blocks(w, 2, 2, 40);
	blocks(w, 3, 6, 24);
	world_var(w, "v", "vec *", H(0x100));
	world_poke(w, H(0x100), H(0x200));
	world_poke(w, H(0x108), 1);
	world_poke(w, H(0x110), 3);
	for (uint64_t i = 0; i < 4; i++)
		world_poke(w, H(0x200) + 8 * i, H(0x300) + 0x100 * i);
	run(w);
	HI_ASSERT_STREQ("400:e 500:e", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("300 600", world_leaks(w));
}

/* Counts that cannot be: beyond the block, negative, torn; each says nothing of what
 * is there, and what is there stays reachable. */
HI_TEST(rules, a_count_that_cannot_be_loses_no_edge)
{
	static const uint64_t counts[] = {6, UINT64_MAX, 1ull << 60, (1ull << 47) - 1};

	for (unsigned i = 0; i < 4; i++) {
		struct world *w = vectors("hints x\nrecord vec { d -> item *[n]; }");

		blocks(w, 1, 1, 24);
		blocks(w, 2, 2, 40); /* room for 5 */
		blocks(w, 3, 3, 24);
		world_var(w, "v", "vec *", H(0x100));
		world_poke(w, H(0x100), H(0x200));
		world_poke(w, H(0x110), counts[i]);
		world_poke(w, H(0x220), H(0x300));
		run(w);
		HI_ASSERT_STREQ("200:e", world_edges(w, H(0x100)));
		HI_ASSERT_STREQ("", world_leaks(w));
	}
}

HI_TEST(rules, an_array_of_no_elements_holds_nothing)
{
	struct world *w = vectors("hints x\nrecord vec { d -> item *[n]; }");

	blocks(w, 1, 1, 24);
	blocks(w, 2, 2, 40);
	blocks(w, 3, 3, 24);
	world_var(w, "v", "vec *", H(0x100));
	world_poke(w, H(0x100), H(0x200));
	world_poke(w, H(0x200), H(0x300));
	run(w);
	HI_ASSERT_STREQ("item *[]", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("300", world_leaks(w));
}

/*
 * struct dict { entry **table[2]; long exp[2]; };  table[i] has 1 << exp[i] entries
 *
 *	d -> 100 { &200, &300, 1, 2 }	200 [ &400, &500 | dead &600 ]
 *					300 [ &700, &800, 0, &900 | dead &a00 ]
 */
HI_TEST(rules, a_loop_over_a_member_array_counts_each_on_its_own)
{
	struct world *w = world_create();

	w->hints = "hints x\nrecord dict {\n"
		   "\ttable[i] for i in 0 .. 2 -> entry *[1 << exp[i]];\n}";
	world_struct(w, "entry", 16, "0 long : key", "8 entry * : next", NULL);
	world_struct(w, "dict", 32, "0 entry * * [2] : table", "16 long [2] : exp", NULL);
	blocks(w, 1, 3, 40);
	blocks(w, 4, 10, 24);
	world_var(w, "d", "dict *", H(0x100));
	world_poke(w, H(0x100), H(0x200));
	world_poke(w, H(0x108), H(0x300));
	world_poke(w, H(0x110), 1);
	world_poke(w, H(0x118), 2);
	for (uint64_t i = 0; i < 3; i++)
		world_poke(w, H(0x200) + 8 * i, H(0x400) + 0x100 * i);
	world_poke(w, H(0x300), H(0x700));
	world_poke(w, H(0x308), H(0x800));
	world_poke(w, H(0x318), H(0x900));
	world_poke(w, H(0x320), H(0xa00));
	run(w);
	HI_ASSERT_STREQ("200:e 300:e", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("400:e 500:e", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("700:e 800:e 900:e", world_edges(w, H(0x300)));
	HI_ASSERT_STREQ("entry", world_type(w, H(0x900)));
	HI_ASSERT_STREQ("600 a00", world_leaks(w));
}

/* A loop that says fewer words than the member has: the others are not followed. */
HI_TEST(rules, words_of_a_member_array_beyond_its_loop_are_dead)
{
	struct world *w = world_create();

	w->hints = "hints x\nrecord table { slots[i] for i in from .. to -> item; }";
	world_struct(w, "item", 16, "0 long : id", "8 long : x", NULL);
	world_struct(w, "table", 56, "0 long : from", "8 long : to",
		     "16 void * [5] : slots", NULL);
	blocks(w, 1, 1, 56);
	blocks(w, 2, 6, 24);
	world_var(w, "t", "table *", H(0x100));
	world_poke(w, H(0x100), 1);
	world_poke(w, H(0x108), 4);
	for (uint64_t i = 0; i < 5; i++)
		world_poke(w, H(0x110) + 8 * i, H(0x200) + 0x100 * i);
	run(w);
	HI_ASSERT_STREQ("300:e 400:e 500:e", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x400)));
	HI_ASSERT_STREQ("200 600", world_leaks(w));
	/* From behind the end, and more than there ever are. */
	world_poke(w, H(0x100), 4);
	world_poke(w, H(0x108), 1);
	run(w);
	HI_ASSERT_STREQ("", world_edges(w, H(0x100)));
	world_poke(w, H(0x100), 0);
	world_poke(w, H(0x108), INT64_MAX);
	run(w);
	HI_ASSERT(w->typing->stats.bounded > 0);
}

/* struct value { long tag; void *p; }; */
static struct world *values(const char *hints)
{
	struct world *w = world_create();

	w->hints = hints;
	world_struct(w, "value", 16, "0 long : tag", "8 void * : p", NULL);
	world_struct(w, "str", 24, "0 long : length", "8 char * : text", "16 long : x",
		     NULL);
	world_struct(w, "pair", 24, "0 value * : a", "8 value * : b", "16 long : x",
		     NULL);
	return w;
}

/* Values 100, 200, … of tags 0, 1, …; value n leads to n + 0x800. */
static void draw_values(struct world *w, unsigned n)
{
	static const char *const names[] = {"v0", "v1", "v2", "v3", "v4", "v5"};

	blocks(w, 1, n, 24);
	blocks(w, 9, 8 + n, 24);
	for (unsigned i = 0; i < n; i++) {
		world_var(w, names[i], "value *", H(0x100) + 0x100ull * i);
		world_poke(w, H(0x100) + 0x100ull * i, i);
		world_poke(w, H(0x108) + 0x100ull * i, H(0x900) + 0x100ull * i);
	}
}

HI_TEST(rules, a_tag_says_what_a_void_pointer_leads_to)
{
	struct world *w = values("hints x\nconst STR = 1, PAIR = 2;\n"
				 "record value { p switch tag { STR, 4: str; PAIR: pair;"
				 " 3: scalar; 5: any; } }");

	draw_values(w, 6);
	world_poke(w, H(0xb00), H(0x200)); /* the pair's a */
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("str", world_type(w, H(0xa00)));
	HI_ASSERT_STREQ("pair", world_type(w, H(0xb00)));
	HI_ASSERT_STREQ("str", world_type(w, H(0xd00)));
	HI_ASSERT_STREQ("", world_type(w, H(0xe00)));
	HI_ASSERT_STREQ("200:e", world_edges(w, H(0xb00)));
	HI_ASSERT_STREQ("e00:e", world_edges(w, H(0x600)));
	/* Tag 0 has no case, so it may be one; tag 3 says that it is no pointer. */
	HI_ASSERT_STREQ("900:c", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("", world_edges(w, H(0x400)));
	HI_ASSERT_STREQ("c00", world_leaks(w));
}

HI_TEST(rules, statements_about_one_word_are_tried_in_their_order)
{
	struct world *w = values("hints x\nrecord value {\n"
				 "\tp -> pair if tag == 1; p -> str if tag < 3;\n"
				 "\tp -> pair if tag < 4;\n}");

	draw_values(w, 5);
	run(w);
	HI_ASSERT_STREQ("str", world_type(w, H(0x900)));
	HI_ASSERT_STREQ("pair", world_type(w, H(0xa00)));
	HI_ASSERT_STREQ("str", world_type(w, H(0xb00)));
	HI_ASSERT_STREQ("pair", world_type(w, H(0xc00)));
	HI_ASSERT_STREQ("d00", world_leaks(w));
}

/* Addresses with a tag in their three low bits; tag 1 is a str, 2 a pair. */
HI_TEST(rules, masked_bits_are_no_part_of_the_address)
{
	struct world *w =
		values("hints x\nrecord value {\n"
		       "\tp mask ~7 -> str if (tag & 7) == 1;\n"
		       "\tp mask ~7 -> pair if ((unsigned long)p & 7) == 2;\n}");

	draw_values(w, 3);
	world_poke(w, H(0x208), H(0xa00) + 1);
	world_poke(w, H(0x308), H(0xb00) + 2);
	run(w);
	HI_ASSERT_STREQ("str", world_type(w, H(0xa00)));
	HI_ASSERT_STREQ("pair", world_type(w, H(0xb00)));
	HI_ASSERT_STREQ("a00:e", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("b00:e", world_edges(w, H(0x300)));
	HI_ASSERT_STREQ("900", world_leaks(w));
}

/*
 *	n -> 100 node { next = &200, parent = &300 (weak) }
 *	     200 node { next = 0,    parent = &100 (weak) }	300 is only weakly held
 */
HI_TEST(rules, weak_words_are_edges_that_say_and_retain_nothing)
{
	struct world *w = world_create();

	w->hints = "hints x\nrecord node { parent weak; }";
	world_struct(w, "node", 24, "0 node * : next", "8 node * : parent",
		     "16 long : id", NULL);
	blocks(w, 1, 3, 24);
	world_var(w, "n", "node *", H(0x100));
	world_poke(w, H(0x100), H(0x200));
	world_poke(w, H(0x108), H(0x300));
	world_poke(w, H(0x208), H(0x100));
	run(w);
	HI_ASSERT_STREQ("200:e 300:w", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("100:w", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("", world_type(w, H(0x300)));
	HI_ASSERT_STREQ("", world_named_type(w, H(0x300)));
	HI_ASSERT_STREQ("300", world_leaks(w));
}

/*
 * struct header { long size; long refs; } lies in front of what buf.data leads to:
 *
 *	b -> 100 buf { data = &200 + 16, end = &300 + 8 }
 *	     200 header, then bytes		300 item { id, link: end leads here }
 */
HI_TEST(rules, an_object_may_begin_before_the_address)
{
	struct world *w = world_create();

	w->hints = "hints x\nrecord buf { data -> header back sizeof(header);\n"
		   "\tend -> item in link; }\nrecord header { tail known; }";
	world_struct(w, "link", 16, "0 link * : next", "8 link * : prev", NULL);
	world_struct(w, "item", 24, "0 long : id", "8 link : link", NULL);
	world_struct(w, "header", 16, "0 long : size", "8 item * : owner", NULL);
	world_struct(w, "buf", 16, "0 char * : data", "8 link * : end", NULL);
	blocks(w, 1, 1, 24);
	blocks(w, 2, 2, 56);
	blocks(w, 3, 5, 24);
	world_var(w, "b", "buf *", H(0x100));
	world_poke(w, H(0x100), H(0x210));
	world_poke(w, H(0x108), H(0x308));
	world_poke(w, H(0x208), H(0x400));
	world_poke(w, H(0x218), H(0x500)); /* a byte buffer: no pointer */
	run(w);
	HI_ASSERT_STREQ("header", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x300)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x400)));
	HI_ASSERT_STREQ("200:i 300:i", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("400:e", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("500", world_leaks(w));
}

/* Members that no statement names are followed; with `only` they are not. */
HI_TEST(rules, only_what_is_said_is_followed_where_that_is_said)
{
	for (int only = 0; only < 2; only++) {
		struct world *w = values(only ? "hints x\nrecord node only { p -> str; }"
					      : "hints x\nrecord node { p -> str; }");

		world_struct(w, "node", 24, "0 node * : next", "8 void * : p",
			     "16 uintptr_t : x", NULL);
		blocks(w, 1, 4, 24);
		world_var(w, "n", "node *", H(0x100));
		for (uint64_t i = 0; i < 3; i++)
			world_poke(w, H(0x100) + 8 * i, H(0x200) + 0x100 * i);
		run(w);
		HI_ASSERT_STREQ(only ? "" : "node", world_type(w, H(0x200)));
		HI_ASSERT_STREQ("str", world_type(w, H(0x300)));
		HI_ASSERT_STREQ(only ? "300:e" : "200:e 300:e 400:c",
				world_edges(w, H(0x100)));
		HI_ASSERT_STREQ(only ? "200 400" : "", world_leaks(w));
	}
}
