/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Drawn heaps beside which there is memory without allocator, from F0 on: objects are
 * split off where typed pointers lead. Names of objects by fields, and unions.
 */
#include "harness.h"
#include "support/rules_world.h"

#define THINGS                                                                           \
	"struct item { long a; long b; };\n"                                             \
	"struct thing { long n; thing *next; item *it; };\n"                             \
	"struct vec { item **d; long n; thing *t; };\n"                                  \
	"mapping F0 0x100000\n"

static bool is_in_conflict(const struct world *w, uint64_t addr)
{
	return w->graph->objects->flags[world_node(w, addr)] & HI_OBJECT_CONFLICT;
}

/* The part that is split off is no root, what lies beside it, at F500, still is. */
HI_TEST(rules_outside, objects_are_split_off_where_roots_and_objects_lead)
{
	for (unsigned i = 0; i < 2; i++) {
		struct world *w = HI_DRAWN(
			THINGS "thing *t = &F100\n"
			       "F100: 0 &F200 &F400 => thing size 24 -> F200 F400\n"
			       "F200: 0 &100        => thing size 24\n"
			       "F300:               => thing size 24\n"
			       "F400:               => item size 16\n"
			       "F500: %s\n"
			       "100 (24): 0 &F300   => thing -> F300\n"
			       "200 (24): => %s\n",
			i ? "&200" : "0", i ? "" : "leaked");

		HI_ASSERT_EQ(4, w->typing->stats.subobjects.outside);
		HI_ASSERT_EQ(3 * 24 + 16, w->typing->stats.subobjects.bytes);
		HI_ASSERT_EQ(0, w->typing->stats.subobjects.pools);
	}
}

/* The integers of a subobject are no pointers, as those of a block are none. */
HI_TEST(rules_outside, integers_of_subobjects_retain_nothing)
{
	HI_DRAWN(THINGS "thing *t = &F100\n"
			"F100: &100 => thing -> nothing\n"
			"100 (24):  => leaked\n");
}

HI_TEST(rules_outside, arrays_are_split_off_as_long_as_hints_say)
{
	HI_DRAWN(THINGS "record vec { d -> item *[n]; }\n"
			"vec *v = &F100\n"
			"F100: &F200 3       => vec\n"
			"F200: &F300 0 &100  => item *[] size 24 -> 100 F300\n"
			"F300:               => item\n"
			"100 (24):           => item\n"
			"200 (24):           => leaked\n");
}

/* A count from a torn record, up to 2^46 elements: no array, and no search of it; the
 * same into the inside of a pool. */
HI_TEST(rules_outside, arrays_that_are_larger_than_their_memory_are_none)
{
	static const uint64_t counts[] = {WORLD_FAR_SIZE / 8, 1ull << 36, 1ull << 46};

	for (unsigned i = 0; i < 3; i++) {
		unsigned long long n = counts[i];
		struct world *w = HI_DRAWN(THINGS "record vec { d -> item *[n]; }\n"
						  "vec *v = &F100\n"
						  "vec *u = &100\n"
						  "F100: &F200 %llu => vec\n"
						  "100 (24): &1080 %llu\n"
						  "1000 (1000):\n",
					   n, n);

		HI_ASSERT_EQ(1, w->typing->stats.subobjects.count);
	}
}

/* Pointers that are none: misaligned, or to what has no pointers where its type has
 * some, or with no room up to the mapping's end, or to code, or to nowhere. */
HI_TEST(rules_outside, garbage_splits_nothing)
{
	static const char *const garbage[] = {"&F101",	 "&F104",	"&F200",
					      "&Fffff0", "&F100000",	"0x1ffffff8",
					      "&M8",	 "0x1234567890"};

	for (unsigned i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		struct world *w = HI_DRAWN(THINGS "thing *t = %s\n"
						  "F208: 0x123456789abcdef\n"
						  "100 (24): => leaked\n",
					   garbage[i]);

		HI_ASSERT_EQ(0, w->typing->stats.subobjects.count);
	}
}

/* A record at F100, and pointers to its members: one object. */
HI_TEST(rules_outside, pointers_to_members_of_subobjects_are_explained)
{
	struct world *w =
		HI_DRAWN(THINGS "struct outer { long x; thing in; thing in2; };\n"
				"outer *o = &F100\n"
				"thing *i = &F108\n"
				"thing *j = &F120\n"
				"F100: => outer\n");

	HI_ASSERT_EQ(2, w->typing->stats.subobjects.explained);
	HI_ASSERT_EQ(0, w->typing->stats.subobjects.conflicts);
}

/* Two records that cannot both be there: the larger one is, and it is counted. */
HI_TEST(rules_outside, better_of_two_overlapping_candidates_is_split_off)
{
	static const char *const orders[] = {"wide *a = &F100\nthing *b = &F110",
					     "thing *b = &F110\nwide *a = &F100"};

	for (int i = 0; i < 2; i++) {
		struct world *w =
			HI_DRAWN(THINGS "struct wide { long x; thing *t; long y[4]; };\n"
					"%s\n"
					"thing *c = &F130\n"
					"F100: => wide\n"
					"F110: => nothing\n"
					"F130: => thing\n",
				 orders[i]);

		HI_ASSERT_EQ(1, w->typing->stats.subobjects.conflicts);
		HI_ASSERT(is_in_conflict(w, WORLD_FAR + 0x100));
		HI_ASSERT(!is_in_conflict(w, WORLD_FAR + 0x130));
	}
}

/* What a stack holds are variables. */
HI_TEST(rules_outside, nothing_is_split_off_on_a_stack)
{
	HI_DRAWN(THINGS "thing *t = &S3000\n"
			"100 (24): => leaked\n");
}

/* ---- unions ---- */

#define UNIONS                                                                           \
	"struct item { long a; long b; };\n"                                             \
	"struct thing { item *it; long n[2]; };\n"                                       \
	"struct wide { long n; item *it; long y[%u]; };\n"                               \
	"union either { thing *t; wide *w; };\n"                                         \
	"struct box { either u; };\n"

HI_TEST(rules_union, the_size_of_the_block_tells_which_pointer_lives)
{
	HI_DRAWN(UNIONS "box *b[2] = &100 &300\n"
			"100 (24): &200   => -> 200\n"
			"200 (24): &400   => thing (shape)\n"
			"300 (24): &500\n"
			"400 (24):        => item\n"
			"500 (56): 0 &600 => wide\n"
			"600 (24):        => item\n",
		 5);
}

/* Both fit, none fits, or the one that fits is not plausible: no type, but an edge. */
HI_TEST(rules_union, ambiguous_size_gives_no_type)
{
	static const struct {
		unsigned wide, usable;
		unsigned long long word;
	} cases[] = {{1, 24, 0}, {5, 40, 0}, {5, 24, 0x1122334455667788}};

	for (int i = 0; i < 3; i++)
		HI_DRAWN(UNIONS "box *a = &100\n"
				"100 (24): &200  => -> 200\n"
				"200 (%u): 0x%llx => untyped\n",
			 cases[i].wide, cases[i].usable, cases[i].word);
}

/* ---- names by field ---- */

/* An untyped root gives its name to what it leads to, but 200 has a better one. */
HI_TEST(rules_names, untyped_object_is_named_by_its_field)
{
	HI_DRAWN(
		"struct node { void *any; void *slots[2]; void *back; uintptr_t raw; };\n"
		"record node { slots[i] for i in 0 .. 2 -> any; back weak; }\n"
		"node *n = &100\n"
		"void *lone = &800\n"
		"100 (40): &200 &300 &400 &500 &600 => 'node'\n"
		"200 (24): 0 &700 => 'via node.any, 24 B' (none)\n"
		"300 (24):        => 'via node.slots[i], 24 B'\n"
		"400 (24):        => 'via node.slots[i], 24 B'\n"
		"500 (24):        => '', leaked\n"
		"600 (24):        => 'via node.raw, 24 B'\n"
		"700 (24):        => 'via node.any …, 24 B'\n"
		"800 (24): 0 &200 => 'via draw(): lone, 24 B'\n"
		"900 (24):        => '', leaked\n");
}

/* ---- conflicts ---- */

/* 100 is a thing for one, a wide for another; 200 too; a holder begins with an item, so
 * that is none at 300. */
HI_TEST(rules_conflicts, two_types_for_one_block_are_listed)
{
	struct world *w =
		HI_DRAWN("struct item { item *a; long b; };\n"
			 "struct thing { long n; item *it; long x; };\n"
			 "struct wide { long n; long m; item *it; long y[2]; };\n"
			 "struct holder { item i; long x[3]; };\n"
			 "thing *t1 = &100\n"
			 "wide *w1 = &100\n"
			 "wide *w2 = &200\n"
			 "thing *t2 = &200\n"
			 "holder *h3 = &300\n"
			 "item *i3 = &300\n"
			 "holder *h4 = &400\n"
			 "thing *t4 = &400\n"
			 "100..200 (40):\n"
			 "300 (40): => holder\n"
			 "400 (40):\n");
	const struct hi_typing_conflict *rows;

	HI_ASSERT_EQ(2, hi_typing_conflicts(w->typing, &rows));
	HI_ASSERT_STREQ("wide", rows[0].type);
	HI_ASSERT_STREQ("thing", rows[0].other);
	HI_ASSERT_EQ(2, rows[0].objects);
	HI_ASSERT_EQ(WORLD_HEAP + 0x100, rows[0].example);
	HI_ASSERT_STREQ("holder", rows[1].type);
	HI_ASSERT_STREQ("thing", rows[1].other);
	HI_ASSERT_EQ(1, rows[1].objects);
	HI_ASSERT_EQ(WORLD_HEAP + 0x400, rows[1].example);
	HI_ASSERT_EQ(3, w->typing->stats.conflicts);
	HI_ASSERT(!is_in_conflict(w, WORLD_HEAP + 0x300));
}
