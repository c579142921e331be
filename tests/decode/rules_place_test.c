/* SPDX-License-Identifier: BSD-2-Clause */
/* Hints over drawn heaps: what lies in place: unions, tails, variants, other layouts. */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "support/rules_world.h"

#define ITEMS                                                                            \
	"struct item { long a; long b; };\n"                                             \
	"struct pair { item *one; item *two; };\n"                                       \
	"struct numbers { long x; item *of; };\n"

/* At 700 no case has the tag: it is not known what is there. */
HI_TEST(rules_place, a_tag_says_which_member_of_a_union_lives)
{
	HI_DRAWN(ITEMS "union choice { pair p; numbers n; };\n"
		       "struct value { long tag; choice u; };\n"
		       "record value {\n\tu : switch tag { 1: pair; 2: numbers; }\n}\n"
		       "value *v[3] = &100 &200 &700\n"
		       "100 (24): 1 &300 &400 => -> 300 400\n"
		       "200 (24): 2 &500 &600 => -> 600\n"
		       "300..400 (24):        => item\n"
		       "500 (24):             => leaked\n"
		       "600 (24):             => item\n"
		       "700 (24): 3 &800      => -> 800:c\n"
		       "800 (24):\n"
		       "warning x.hints:3: no case has the value that was found; the "
		       "words are read conservatively (record value, u)\n");
}

/* The same for a word: 9 is no tag. What `else` takes is known. */
HI_TEST(rules_place, a_word_whose_tag_is_unknown_is_kept)
{
	HI_DRAWN(ITEMS "struct value { long tag; item *one; item *two; };\n"
		       "record value {\n"
		       "\tone switch tag { 1: item; }\n"
		       "\ttwo switch tag { 1: item; else: scalar; }\n}\n"
		       "value *a = &100\n"
		       "100 (24): 9 &200 &300 => -> 200:c\n"
		       "200 (24):\n"
		       "300 (24): => leaked\n"
		       "warning x.hints:3: no case has the value that was found; the "
		       "words are read conservatively (record value, one)\n");
}

/* A statement that is left out leaves its words as they are declared, also where
 * nothing else is to be followed, and what lies behind as unknown. */
HI_TEST(rules_place, a_statement_without_its_member_hides_nothing)
{
	HI_DRAWN(ITEMS "struct value { long tag; item *one; item *two; };\n"
		       "record value only {\n"
		       "\ttow -> item;\n\tone -> item;\n\ttail known;\n}\n"
		       "value *a = &100\n"
		       "100 (40): 0 &200 &300 &400 => -> 200 300 400:c\n"
		       "200..400 (24):\n"
		       "warning x.hints:3: … (record value, tow)\n");
}

/* A record and n pairs after it, then text. */
HI_TEST(rules_place, a_tail_is_what_its_places_say)
{
	static const char *const cases[][3] = {{"1", "", "leaked"},
					       {"2", " 500 600", "item"}};

	for (unsigned i = 0; i < 2; i++)
		HI_DRAWN(ITEMS "struct msg { long n; item *head; };\n"
			       "record msg { *(pair *)(this + 1) : pair[n]; "
			       "tail known; }\n"
			       "msg *m = &100\n"
			       "100 (56): %s &200 &300 &400 &500 &600 "
			       "=> msg -> 200 300 400%s\n"
			       "200..400 (24): => item\n"
			       "500..600 (24): => %s\n",
			 cases[i][0], cases[i][1], cases[i][2]);
}

/* Nothing is known of what lies behind: its words may be pointers. `tail known if`
 * goes by the record's own bytes. */
HI_TEST(rules_place, tail_is_conservative_unless_known)
{
	HI_DRAWN(ITEMS "struct msg { long n; item *head; };\n"
		       "record msg { tail known if n == 7; }\n"
		       "msg *m[2] = &100 &200\n"
		       "100 (56): 0 @32 &300 => -> 300:c\n"
		       "200 (56): 7 @32 &400 => -> nothing\n"
		       "300 (24):\n"
		       "400 (24): => leaked\n");
}

/*
 * The key is n bytes, aligned to 8; after it there are n children. Of more than the
 * block has room for, none is beyond its end.
 */
HI_TEST(rules_place, pointers_in_a_tail_stand_where_an_expression_says)
{
	static const char *const cases[][3] = {{"3", "-> 200 300 400", "tree"},
					       {"100", "-> nothing", "leaked"}};

	for (unsigned i = 0; i < 2; i++)
		HI_DRAWN(ITEMS "struct tree { int is_leaf; int n; char key[]; };\n"
			       "record tree {\n"
			       "\t((tree **)((char *)this + align8(8 + n)))[i]"
			       " for i in 0 .. n -> tree;\n\ttail known;\n}\n"
			       "tree *t = &100\n"
			       "100 (56): @4 %s @8 'abc' @16 &200 &300 &400 &500 => %s\n"
			       "200..400 (56): => %s\n"
			       "500 (56):      => leaked\n",
			 cases[i][0], cases[i][1], cases[i][2]);
}

/* box0 { long x; raw }: raw is a box1, whose raw is a box2, … the last one has the
 * pointer. Eight deep are followed; what lies deeper gets no name. */
HI_TEST(rules_place, places_in_places_are_followed_to_a_bounded_depth)
{
	for (unsigned depth = 1; depth <= 12; depth++) {
		char types[1000], hints[1000] = "";
		size_t n = 0, m = 0;

		n += (size_t)snprintf(types, sizeof(types),
				      "struct box0 { long x; char raw[8]; };\n");
		for (unsigned i = 1; i < depth; i++)
			n += (size_t)snprintf(types + n, sizeof(types) - n,
					      "struct box%u 8 { char raw[8]; };\n", i);
		for (unsigned i = 0; i < depth; i++)
			m += (size_t)snprintf(hints + m, sizeof(hints) - m,
					      "record box%u { raw : box%u; }\n", i,
					      i + 1);
		HI_DRAWN(ITEMS "%sstruct box%u { item *p; };\n%s"
			       "box0 *b = &100\n"
			       "100 (24): 0 &200 => box0%s\n"
			       "200 (24): => %s\n",
			 types, depth, hints, depth <= 8 ? " -> 200" : "",
			 depth <= 8 ? "item" : "untyped");
	}
}

/* A record whose place is itself: no end but ours. */
HI_TEST(rules_place, a_place_that_holds_its_own_kind_ends)
{
	HI_DRAWN(ITEMS "struct node { item *p; long x; };\n"
		       "struct knot { knot *p; };\n"
		       "record node { *(node *)this : node; }\n"
		       "record knot { *(knot *)((char *)this + 8) : knot; }\n"
		       "node *n = &100\n"
		       "knot *k = &200\n"
		       "100 (24):  => node\n"
		       "200 (504):\n");
}

/* ---- variants ---- */

#define KINDS                                                                            \
	ITEMS "struct base { long kind; base *next; };\n"                                \
	      "struct first { base b; item *i; };\n"                                     \
	      "struct second 40 { base b; long x; pair *p; };\n"                         \
	      "struct third 40 { base b; long x; item *q; };\n"

/* Kind 5 is no case. */
HI_TEST(rules_variant, a_record_is_in_truth_what_its_bytes_say)
{
	HI_DRAWN(KINDS "record base {\n"
		       "\tvariant switch kind { 1: first; 2: second; }\n}\n"
		       "base *o = &100\n"
		       "100 (40): 1 &200 &400   => first\n"
		       "200 (40): 2 &300 0 &500 => second -> 300 500\n"
		       "300 (24): 5             => base\n"
		       "400 (24):               => item\n"
		       "500 (24):               => pair\n"
		       "warning x.hints:3: no case has the value that was found; the "
		       "words are read conservatively (record base, variant)\n");
}

/* base -> second -> third: each looks at the bytes again. A variant that does not fit
 * into its block, as at 500, is no candidate. */
HI_TEST(rules_variant, a_variant_may_have_variants)
{
	struct world *w = HI_DRAWN(KINDS "record base { variant second if kind == 2; }\n"
					 "record second { variant third if x == 3; }\n"
					 "base *o[3] = &100 &200 &500\n"
					 "100 (40): 2 0 3 &300 => third\n"
					 "200 (40): 2 0 0 &400 => second\n"
					 "300 (24):            => item\n"
					 "400 (24):            => pair\n"
					 "500 (24): 2\n");

	HI_ASSERT(strcmp("second", world_type(w, WORLD_HEAP + 0x500)) != 0);
}

/* second says third, third says second: it ends, at one of them. */
HI_TEST(rules_variant, variants_in_a_cycle_end)
{
	struct world *w = HI_DRAWN(KINDS "record base { variant second; }\n"
					 "record second { variant third; }\n"
					 "record third { variant second; }\n"
					 "base *o = &100\n"
					 "100 (40):\n");
	const char *type = world_type(w, WORLD_HEAP + 0x100);

	HI_ASSERT(strcmp("second", type) == 0 || strcmp("third", type) == 0);
}

/* ---- is ---- */

HI_TEST(rules_is, raw_storage_is_laid_out_as_another_type)
{
	HI_DRAWN(ITEMS "struct membuf { char bytes[16]; };\n"
		       "struct hnode { hnode *next; membuf m; };\n"
		       "record membuf { is pair; }\n"
		       "hnode *h = &100\n"
		       "100 (24): 0 &200 &300 => -> 200 300\n"
		       "200..300 (24): => item\n");
}

/* The same by template arguments: membuf<$T> is $T, for each on its own. */
HI_TEST(rules_is, a_template_is_what_its_argument_says)
{
	HI_DRAWN(ITEMS "struct membuf<pair> { char bytes[16]; };\n"
		       "struct membuf<numbers> { char bytes[16]; };\n"
		       "struct both { long x; membuf<pair> p; membuf<numbers> n; };\n"
		       "record membuf<$T> { is $T; }\n"
		       "both *b = &100\n"
		       "100 (40): 0 &200 &300 &400 &500 => -> 200 300 500\n"
		       "200..300 (24): => item\n"
		       "400 (24):      => leaked\n"
		       "500 (24):      => item\n");
}

/* The number is an argument too. */
HI_TEST(rules_is, template_arguments_are_types_and_numbers)
{
	HI_DRAWN(ITEMS "struct vec<pair, 2> { long n; void *d; };\n"
		       "record vec<$T, $N> { d -> $T[n < $N ? n : $N]; }\n"
		       "vec<pair, 2> *v = &100\n"
		       "100 (24): 3 &200\n"
		       "200 (56): &300 0 0 &400 &500 => pair[] -> 300 400\n"
		       "300..400 (24): => item\n"
		       "500 (24):      => leaked\n");
}
