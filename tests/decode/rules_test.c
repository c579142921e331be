/* SPDX-License-Identifier: BSD-2-Clause */
/* Hints over drawn heaps: words, how far arrays live, tags, masks, weak words. */
#include "harness.h"
#include "support/rules_world.h"

#define VECTORS                                                                          \
	"struct item { long id; item *other; };\n"                                       \
	"struct vec { item **d; long first; long n; };\n"                                \
	"vec *v = &100\n"

HI_TEST(rules, objects_referred_to_by_a_dead_tail_alone_are_leaked)
{
	struct hi_typing_options all = {.conservative = true};
	struct hi_error err;
	struct world *w = HI_DRAWN(VECTORS "record vec { d -> item *[n]; }\n"
					   "100 (24): &200 0 2\n"
					   "200 (40): &300 &400 &500 "
					   "=> item *[] (container) -> 300 400\n"
					   "300 (24): 0 &600 => item\n"
					   "400 (24):\n"
					   "500 (24): 0 &700 => untyped, leaked\n"
					   "600 (24):        => item\n"
					   "700 (24):        => leaked\n");

	HI_ASSERT_OK(world_run(w, &all, &err), &err);
	HI_ASSERT_STREQ("", world_leaks(w));
}

HI_TEST(rules, without_a_hint_all_of_the_array_is_live)
{
	HI_DRAWN(VECTORS "100 (24): &200\n"
			 "200 (40): @32 &300 => -> 300\n"
			 "300 (24):\n");
}

HI_TEST(rules, an_array_may_live_in_its_middle_only)
{
	HI_DRAWN(VECTORS "record vec { d -> item *[first .. n]; }\n"
			 "100 (24): &200 1 3\n"
			 "200 (40): &300 &400 &500 &600 => -> 400 500\n"
			 "300 (24):      => leaked\n"
			 "400..500 (24): => item\n"
			 "600 (24):      => leaked\n");
}

/* Counts that cannot be: beyond the block, negative, torn; each says nothing of what
 * is there, and what is there stays reachable. */
HI_TEST(rules, a_count_that_cannot_be_loses_no_edge)
{
	static const int64_t counts[] = {6, -1, 1ll << 60, (1ll << 47) - 1};

	for (unsigned i = 0; i < 4; i++)
		HI_DRAWN(VECTORS "record vec { d -> item *[n]; }\n"
				 "100 (24): &200 0 %lld => -> 200\n"
				 "200 (40): @32 &300\n"
				 "300 (24):\n",
			 (long long)counts[i]);
}

HI_TEST(rules, an_array_of_no_elements_holds_nothing)
{
	HI_DRAWN(VECTORS "record vec { d -> item *[n]; }\n"
			 "100 (24): &200\n"
			 "200 (40): &300 => item *[] -> nothing\n"
			 "300 (24):      => leaked\n");
}

HI_TEST(rules, a_loop_over_a_member_array_counts_each_on_its_own)
{
	HI_DRAWN("struct entry { long key; entry *next; };\n"
		 "struct dict { entry **table[2]; long exp[2]; };\n"
		 "record dict { table[i] for i in 0 .. 2 -> entry *[1 << exp[i]]; }\n"
		 "dict *d = &100\n"
		 "100 (40): &200 &300 1 2             => -> 200 300\n"
		 "200 (40): &400 &500 &600            => -> 400 500\n"
		 "300 (40): &700 &800 0 &900 &a00     => -> 700 800 900\n"
		 "400..500 (24): => entry\n"
		 "600 (24):      => leaked\n"
		 "700..900 (24): => entry\n"
		 "a00 (24):      => leaked\n");
}

/* The words that a loop leaves out are not followed; it may begin after its end, and
 * one that is longer than any is cut, and says nothing. */
HI_TEST(rules, words_of_a_member_array_beyond_its_loop_are_dead)
{
	static const struct {
		long long from, to;
		const char *edges, *outer, *inner;
	} cases[] = {
		{1, 4, "-> 300 400 500", "leaked", "item"},
		{4, 1, "-> nothing", "leaked", "leaked"},
		{0, INT64_MAX, "", "", ""},
	};

	for (unsigned i = 0; i < 3; i++) {
		struct world *w = HI_DRAWN(
			"struct item { long id; long x; };\n"
			"struct table { long from; long to; void *slots[5]; };\n"
			"record table { slots[i] for i in from .. to -> item; }\n"
			"table *t = &100\n"
			"100 (56): %lld %lld &200 &300 &400 &500 &600 => %s\n"
			"200 (24):      => %s\n"
			"300..500 (24): => %s\n"
			"600 (24):      => %s\n",
			cases[i].from, cases[i].to, cases[i].edges, cases[i].outer,
			cases[i].inner, cases[i].outer);

		HI_ASSERT_EQ(i == 2, w->typing->stats.bounded > 0);
	}
}

#define VALUES                                                                           \
	"struct value { long tag; void *p; };\n"                                         \
	"struct str { long length; char *text; long x; };\n"                             \
	"struct pair { value *a; value *b; long x; };\n"

/* Tag 0 has no case, so it may be a pointer; tag 3 says that it is none. */
HI_TEST(rules, a_tag_says_what_a_void_pointer_leads_to)
{
	HI_DRAWN(VALUES "const STR = 1, PAIR = 2;\n"
			"record value { p switch tag { STR, 4: str; PAIR: pair;"
			" 3: scalar; 5: any; } }\n"
			"value *v[6] = &100 &200 &300 &400 &500 &600\n"
			"100 (24): 0 &900 => -> 900:c\n"
			"200 (24): 1 &a00\n"
			"300 (24): 2 &b00\n"
			"400 (24): 3 &c00 => -> nothing\n"
			"500 (24): 4 &d00\n"
			"600 (24): 5 &e00 => -> e00\n"
			"900 (24):\n"
			"a00 (24):        => str\n"
			"b00 (24): &200   => pair -> 200\n"
			"c00 (24):        => leaked\n"
			"d00 (24):        => str\n"
			"e00 (24):        => untyped\n"
			"warning x.hints:3: no case has the value that was found; the "
			"words are read conservatively (record value, p)\n");
}

HI_TEST(rules, statements_about_one_word_are_tried_in_their_order)
{
	HI_DRAWN(VALUES "record value {\n"
			"\tp -> pair if tag == 1; p -> str if tag < 3;\n"
			"\tp -> pair if tag < 4;\n}\n"
			"value *v[5] = &100 &200 &300 &400 &500\n"
			"100 (24): 0 &900\n"
			"200 (24): 1 &a00\n"
			"300 (24): 2 &b00\n"
			"400 (24): 3 &c00\n"
			"500 (24): 4 &d00\n"
			"900 (24): => str\n"
			"a00 (24): => pair\n"
			"b00 (24): => str\n"
			"c00 (24): => pair\n"
			"d00 (24): => leaked\n");
}

/* Addresses with a tag in their three low bits; tag 1 is a str, 2 a pair. Statements
 * about one word are one rule: one of them says the mask for all. */
HI_TEST(rules, masked_bits_are_no_part_of_the_address)
{
	static const char *const masks[][2] = {
		{"mask ~7 ", "mask ~7 "}, {"mask ~7 ", ""}, {"", "mask ~7 "}};

	for (int i = 0; i < 3; i++)
		HI_DRAWN(VALUES "record value {\n"
				"\tp %s-> str if (tag & 7) == 1;\n"
				"\tp %s-> pair if ((unsigned long)p & 7) == 2;\n}\n"
				"value *v[3] = &100 &200 &300\n"
				"100 (24): 0 &900\n"
				"200 (24): 1 &a00+1 => -> a00\n"
				"300 (24): 2 &b00+2 => -> b00\n"
				"900 (24): => leaked\n"
				"a00 (24): => str\n"
				"b00 (24): => pair\n",
			 masks[i][0], masks[i][1]);
}

HI_TEST(rules, weak_words_are_edges_that_say_and_retain_nothing)
{
	HI_DRAWN("struct node { node *next; node *parent; long id; };\n"
		 "record node { parent weak; }\n"
		 "node *n = &100\n"
		 "100 (24): &200 &300 => -> 200 300:w\n"
		 "200 (24): 0 &100    => -> 100:w\n"
		 "300 (24):           => '', leaked\n");
}

/* A header lies before what buf.data leads to; buf.end leads into an item. What is
 * after the header is a byte buffer. */
HI_TEST(rules, an_object_may_begin_before_the_address)
{
	HI_DRAWN("struct link { link *next; link *prev; };\n"
		 "struct item { long id; link link; };\n"
		 "struct header { long size; item *owner; };\n"
		 "struct buf { char *data; link *end; };\n"
		 "record buf { data -> header back sizeof(header); end -> item in link; "
		 "}\n"
		 "record header { tail known; }\n"
		 "buf *b = &100\n"
		 "100 (24): &210 &308     => -> 200:i 300:i\n"
		 "200 (56): 0 &400 0 &500 => header -> 400\n"
		 "300 (24):               => item\n"
		 "400 (24):               => item\n"
		 "500 (24):               => leaked\n");
}

/* Members that no statement names are followed; with `only` they are not. */
HI_TEST(rules, only_stated_members_are_followed)
{
	static const char *const cases[][4] = {
		{"", "200 300 400:c", "node", ""},
		{"only ", "300", "untyped, leaked", "leaked"},
	};

	for (int i = 0; i < 2; i++)
		HI_DRAWN(VALUES "struct node { node *next; void *p; uintptr_t x; };\n"
				"record node %s{ p -> str; }\n"
				"node *n = &100\n"
				"100 (24): &200 &300 &400 => -> %s\n"
				"200 (24): => %s\n"
				"300 (24): => str\n"
				"400 (24): => %s\n",
			 cases[i][0], cases[i][1], cases[i][2], cases[i][3]);
}
