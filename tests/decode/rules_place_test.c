/* SPDX-License-Identifier: BSD-2-Clause */
/* Hints over drawn heaps: what lies in place: unions, tails, variants, other layouts. */
#include <stdio.h>
#include <string.h>

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

static struct world *drawn(const char *hints)
{
	struct world *w = world_create();

	w->hints = hints;
	world_struct(w, "item", 16, "0 long : a", "8 long : b", NULL);
	world_struct(w, "pair", 16, "0 item * : one", "8 item * : two", NULL);
	world_struct(w, "numbers", 16, "0 long : x", "8 item * : of", NULL);
	return w;
}

/*
 * struct value { long tag; union { pair p; numbers n; } u; };
 *
 *	100: tag 1, a pair { &300, &400 }	200: tag 2, numbers { 0x500 as a number,
 *&600 }
 */
HI_TEST(rules_place, a_tag_says_which_member_of_a_union_lives)
{
	struct world *w = drawn("hints x\nrecord value {\n"
				"\tu : switch tag { 1: pair; 2: numbers; }\n}");

	world_union(w, "choice", 16, "0 pair : p", "0 numbers : n", NULL);
	world_struct(w, "value", 24, "0 long : tag", "8 choice : u", NULL);
	blocks(w, 1, 8, 24);
	world_var(w, "a", "value *", H(0x100));
	world_var(w, "b", "value *", H(0x200));
	world_var(w, "c", "value *", H(0x700));
	world_poke(w, H(0x100), 1);
	world_poke(w, H(0x108), H(0x300));
	world_poke(w, H(0x110), H(0x400));
	world_poke(w, H(0x200), 2);
	world_poke(w, H(0x208), H(0x500));
	world_poke(w, H(0x210), H(0x600));
	world_poke(w, H(0x700), 3); /* no case: it is not known what is there */
	world_poke(w, H(0x708), H(0x800));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("300:e 400:e", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("600:e", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("800:c", world_edges(w, H(0x700)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x300)));
	HI_ASSERT_STREQ("500", world_leaks(w));
	HI_ASSERT_STREQ("x.hints:3: no case has the value that was found; the words "
			"are read conservatively (record value, u)",
			world_warning(w, 0));
	HI_ASSERT_STREQ("", world_warning(w, 1));
}

/* The same for a word: 9 is no tag. What `else` takes is known. */
HI_TEST(rules_place, a_word_whose_tag_is_unknown_is_kept)
{
	struct world *w = drawn("hints x\nrecord value {\n"
				"\tone switch tag { 1: item; }\n"
				"\ttwo switch tag { 1: item; else: scalar; }\n}");

	world_struct(w, "value", 24, "0 long : tag", "8 item * : one", "16 item * : two",
		     NULL);
	blocks(w, 1, 3, 24);
	world_var(w, "a", "value *", H(0x100));
	world_poke(w, H(0x100), 9);
	world_poke(w, H(0x108), H(0x200));
	world_poke(w, H(0x110), H(0x300));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("200:c", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("x.hints:3: no case has the value that was found; the words "
			"are read conservatively (record value, one)",
			world_warning(w, 0));
	HI_ASSERT_STREQ("", world_warning(w, 1));
}

/* A statement that is left out leaves its words as they are declared, also where
 * nothing else is to be followed, and what lies behind as unknown. */
HI_TEST(rules_place, a_statement_without_its_member_hides_nothing)
{
	struct world *w = drawn("hints x\nrecord value only {\n"
				"\ttow -> item;\n\tone -> item;\n\ttail known;\n}");

	world_struct(w, "value", 24, "0 long : tag", "8 item * : one", "16 item * : two",
		     NULL);
	world_block(w, H(0x100), 40);
	blocks(w, 2, 4, 24);
	world_var(w, "a", "value *", H(0x100));
	world_poke(w, H(0x108), H(0x200));
	world_poke(w, H(0x110), H(0x300));
	world_poke(w, H(0x118), H(0x400));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("200:e 300:e 400:c", world_edges(w, H(0x100)));
	HI_ASSERT_MSG(strncmp(world_warning(w, 0), "x.hints:3: ", 11) == 0 &&
			      strstr(world_warning(w, 0), "(record value, tow)"),
		      "%s", world_warning(w, 0));
}

/*
 * A record, n of something behind it, then text:
 *
 *	m -> 100 msg { n = 2, pair, pair, "text that looks like &600" }
 */
HI_TEST(rules_place, a_tail_is_what_its_places_say)
{
	struct world *w = drawn("hints x\nrecord msg {\n"
				"\t*(pair *)(this + 1) : pair[n]; tail known;\n}");

	world_struct(w, "msg", 16, "0 long : n", "8 item * : head", NULL);
	blocks(w, 1, 1, 56);
	blocks(w, 2, 6, 24);
	world_var(w, "m", "msg *", H(0x100));
	world_poke(w, H(0x100), 1);
	world_poke(w, H(0x108), H(0x200));
	world_poke(w, H(0x110), H(0x300));
	world_poke(w, H(0x118), H(0x400));
	world_poke(w, H(0x120), H(0x500));
	world_poke(w, H(0x128), H(0x600));
	run(w);
	HI_ASSERT_STREQ("msg", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("200:e 300:e 400:e", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x400)));
	HI_ASSERT_STREQ("500 600", world_leaks(w));
	world_poke(w, H(0x100), 2);
	run(w);
	HI_ASSERT_STREQ("200:e 300:e 400:e 500:e 600:e", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("", world_leaks(w));
}

/* Nothing is known of what lies behind: its words may be pointers. `tail known if`
 * goes by the record's own bytes. */
HI_TEST(rules_place, what_lies_behind_is_conservative_unless_it_is_known)
{
	struct world *w = drawn("hints x\nrecord msg { tail known if n == 7; }");

	world_struct(w, "msg", 16, "0 long : n", "8 item * : head", NULL);
	world_block(w, H(0x100), 56);
	world_block(w, H(0x200), 56);
	blocks(w, 3, 4, 24);
	world_var(w, "m", "msg *", H(0x100));
	world_var(w, "k", "msg *", H(0x200));
	world_poke(w, H(0x120), H(0x300));
	world_poke(w, H(0x200), 7);
	world_poke(w, H(0x220), H(0x400));
	run(w);
	HI_ASSERT_STREQ("300:c", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("400", world_leaks(w));
}

/*
 * struct tree { int is_leaf; int n; char key[]; } the key is n bytes, aligned to 8;
 * behind it n children.
 *
 *	t -> 100 tree { n = 3, "abc", pad, &200, &300, &400 | &500 }
 */
HI_TEST(rules_place, pointers_in_a_tail_stand_where_an_expression_says)
{
	struct world *w = drawn("hints x\nrecord tree {\n"
				"\t((tree **)((char *)this + align8(8 + n)))[i]"
				" for i in 0 .. n -> tree;\n\ttail known;\n}");

	world_struct(w, "tree", 8, "0 int : is_leaf", "4 int : n", "8 char [0] : key",
		     NULL);
	blocks(w, 1, 5, 56);
	world_var(w, "t", "tree *", H(0x100));
	world_poke(w, H(0x100), 3ull << 32);
	world_poke(w, H(0x108), 0x636261);
	for (uint64_t i = 0; i < 4; i++)
		world_poke(w, H(0x110) + 8 * i, H(0x200) + 0x100 * i);
	run(w);
	HI_ASSERT_STREQ("200:e 300:e 400:e", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("tree", world_type(w, H(0x300)));
	HI_ASSERT_STREQ("500", world_leaks(w));
	/* More children than the block has room for: none beyond its end. */
	world_poke(w, H(0x100), 100ull << 32);
	run(w);
	HI_ASSERT(hi_graph_is_valid(w->graph));
}

/* box0 { long x; raw }: raw is a box1, whose raw is a box2, … the last one has the
 * pointer. Eight deep are followed; what lies deeper gets no name, and is kept. */
static struct world *nested(char *hints, size_t size, unsigned depth)
{
	static char name[16][8];
	struct world *w = drawn(hints);
	size_t used = (size_t)snprintf(hints, size, "hints x\n");

	for (unsigned i = 0; i <= depth; i++)
		snprintf(name[i], sizeof(name[0]), "box%u", i);
	world_struct(w, name[0], 16, "0 long : x", "8 char [8] : raw", NULL);
	for (unsigned i = 1; i < depth; i++)
		world_struct(w, name[i], 8, "0 char [8] : raw", NULL);
	world_struct(w, name[depth], 8, "0 item * : p", NULL);
	for (unsigned i = 0; i < depth; i++)
		used += (size_t)snprintf(hints + used, size - used,
					 "record %s { raw : %s; }\n", name[i],
					 name[i + 1]);
	return w;
}

HI_TEST(rules_place, places_in_places_are_followed_to_a_bounded_depth)
{
	for (unsigned depth = 1; depth <= 12; depth++) {
		char hints[2000];
		struct world *w = nested(hints, sizeof(hints), depth);

		blocks(w, 1, 2, 24);
		world_var(w, "b", "box0 *", H(0x100));
		world_poke(w, H(0x108), H(0x200));
		run(w);
		HI_ASSERT_STREQ("box0", world_type(w, H(0x100)));
		HI_ASSERT_STREQ(depth <= 8 ? "item" : "", world_type(w, H(0x200)));
		if (depth <= 8)
			HI_ASSERT_STREQ("200:e", world_edges(w, H(0x100)));
		HI_ASSERT_STREQ("", world_leaks(w));
	}
}

/* A record whose place is itself: no end but ours. */
HI_TEST(rules_place, a_place_that_holds_its_own_kind_ends)
{
	struct world *w = drawn("hints x\nrecord node { *(node *)this : node; }\n"
				"record knot { *(knot *)((char *)this + 8) : knot; }");

	world_struct(w, "node", 24, "0 item * : p", "8 long : x", NULL);
	world_struct(w, "knot", 8, "0 knot * : p", NULL);
	world_block(w, H(0x100), 24);
	world_block(w, H(0x200), 504);
	world_var(w, "n", "node *", H(0x100));
	world_var(w, "k", "knot *", H(0x200));
	run(w);
	HI_ASSERT_STREQ("node", world_type(w, H(0x100)));
}

/* ---- variants ---- */

/* struct base { long kind; base *next; }; first { base; item *i; }, second { base; long;
 * pair *p; } */
static struct world *kinds(const char *hints)
{
	struct world *w = drawn(hints);

	world_struct(w, "base", 16, "0 long : kind", "8 base * : next", NULL);
	world_struct(w, "first", 24, "0 base : b", "16 item * : i", NULL);
	world_struct(w, "second", 40, "0 base : b", "16 long : x", "24 pair * : p", NULL);
	world_struct(w, "third", 40, "0 base : b", "16 long : x", "24 item * : q", NULL);
	return w;
}

/*	o -> 100 base, kind 1 -> 200 base, kind 2 -> 300 base, kind 5
 *	     first: i = &400	  second: p = &500
 */
HI_TEST(rules_variant, a_record_is_in_truth_what_its_bytes_say)
{
	struct world *w = kinds("hints x\nrecord base {\n"
				"\tvariant switch kind { 1: first; 2: second; }\n}");

	blocks(w, 1, 2, 40);
	blocks(w, 3, 5, 24);
	world_var(w, "o", "base *", H(0x100));
	world_poke(w, H(0x100), 1);
	world_poke(w, H(0x108), H(0x200));
	world_poke(w, H(0x110), H(0x400));
	world_poke(w, H(0x200), 2);
	world_poke(w, H(0x208), H(0x300));
	world_poke(w, H(0x218), H(0x500));
	world_poke(w, H(0x300), 5);
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("x.hints:3: no case has the value that was found; the words "
			"are read conservatively (record base, variant)",
			world_warning(w, 0));
	HI_ASSERT_STREQ("first", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("second", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("base", world_type(w, H(0x300)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x400)));
	HI_ASSERT_STREQ("pair", world_type(w, H(0x500)));
	HI_ASSERT_STREQ("300:e 500:e", world_edges(w, H(0x200)));
}

/* base -> second -> third: each looks at the bytes again. A variant that does not fit
 * into its block is no candidate. */
HI_TEST(rules_variant, a_variant_may_have_variants)
{
	struct world *w = kinds("hints x\nrecord base { variant second if kind == 2; }\n"
				"record second { variant third if x == 3; }");

	blocks(w, 1, 2, 40);
	blocks(w, 3, 5, 24);
	world_var(w, "o", "base *", H(0x100));
	world_var(w, "p", "base *", H(0x200));
	world_var(w, "small", "base *", H(0x500));
	world_poke(w, H(0x100), 2);
	world_poke(w, H(0x110), 3);
	world_poke(w, H(0x118), H(0x300));
	world_poke(w, H(0x200), 2);
	world_poke(w, H(0x218), H(0x400));
	world_poke(w, H(0x500), 2);
	run(w);
	HI_ASSERT_STREQ("third", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("second", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x300)));
	HI_ASSERT_STREQ("pair", world_type(w, H(0x400)));
	HI_ASSERT(strcmp("second", world_type(w, H(0x500))) != 0);
}

/* second says third, third says second: it ends, at one of them. */
HI_TEST(rules_variant, variants_in_a_cycle_end)
{
	struct world *w = kinds("hints x\nrecord base { variant second; }\n"
				"record second { variant third; }\n"
				"record third { variant second; }");

	blocks(w, 1, 1, 40);
	world_var(w, "o", "base *", H(0x100));
	run(w);
	HI_ASSERT(strcmp("second", world_type(w, H(0x100))) == 0 ||
		  strcmp("third", world_type(w, H(0x100))) == 0);
}

/* ---- is ---- */

/*
 * struct membuf { char bytes[16]; } is pair; struct hnode { hnode *next; membuf m; };
 *
 *	h -> 100 hnode { 0, &200, &300 }
 */
HI_TEST(rules_is, raw_storage_is_laid_out_as_another_type)
{
	struct world *w = drawn("hints x\nrecord membuf { is pair; }");

	world_struct(w, "membuf", 16, "0 char [16] : bytes", NULL);
	world_struct(w, "hnode", 24, "0 hnode * : next", "8 membuf : m", NULL);
	blocks(w, 1, 3, 24);
	world_var(w, "h", "hnode *", H(0x100));
	world_poke(w, H(0x108), H(0x200));
	world_poke(w, H(0x110), H(0x300));
	run(w);
	HI_ASSERT_STREQ("200:e 300:e", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x300)));
}

/* The same by template arguments: membuf<$T> is $T, for each on its own. */
HI_TEST(rules_is, a_template_is_what_its_argument_says)
{
	struct world *w = drawn("hints x\nrecord membuf<$T> { is $T; }");

	world_struct(w, "membuf<pair>", 16, "0 char [16] : bytes", NULL);
	world_arg(w, "membuf<pair>", "pair", 0);
	world_struct(w, "membuf<numbers>", 16, "0 char [16] : bytes", NULL);
	world_arg(w, "membuf<numbers>", "numbers", 0);
	world_struct(w, "both", 40, "0 long : x", "8 membuf<pair> : p",
		     "24 membuf<numbers> : n", NULL);
	blocks(w, 1, 1, 40);
	blocks(w, 2, 5, 24);
	world_var(w, "b", "both *", H(0x100));
	for (uint64_t i = 0; i < 4; i++)
		world_poke(w, H(0x108) + 8 * i, H(0x200) + 0x100 * i);
	run(w);
	HI_ASSERT_STREQ("200:e 300:e 500:e", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x500)));
	HI_ASSERT_STREQ("400", world_leaks(w));
}

/* vec<$T, $N> { long n; void *d; }: the number is an argument too. */
HI_TEST(rules_is, template_arguments_are_types_and_numbers)
{
	struct world *w =
		drawn("hints x\nrecord vec<$T, $N> { d -> $T[n < $N ? n : $N]; }");

	world_struct(w, "vec<pair, 2>", 16, "0 long : n", "8 void * : d", NULL);
	world_arg(w, "vec<pair, 2>", "pair", 0);
	world_arg(w, "vec<pair, 2>", NULL, 2);
	blocks(w, 1, 1, 24);
	blocks(w, 2, 2, 56);
	blocks(w, 3, 5, 24);
	world_var(w, "v", "vec<pair, 2> *", H(0x100));
	world_poke(w, H(0x100), 3);
	world_poke(w, H(0x108), H(0x200));
	world_poke(w, H(0x200), H(0x300));
	world_poke(w, H(0x218), H(0x400));
	world_poke(w, H(0x220), H(0x500)); /* the third */
	run(w);
	HI_ASSERT_STREQ("pair[]", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("300:e 400:e", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("500", world_leaks(w));
}
