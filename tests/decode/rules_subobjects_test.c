/* SPDX-License-Identifier: BSD-2-Clause */
/* Drawn heaps with pools: slots, interior pointers, arrays after their count. */
#include <stdio.h>

#include "harness.h"
#include "support/rules_world.h"

static uint64_t all_costs(const struct world *w)
{
	uint64_t sum = 0;

	for (hi_node i = 0; i < w->graph->n_objects; i++)
		sum += hi_objects_cost(w->graph->objects, i);
	return sum;
}

/* What the blocks cost as they were drawn. */
static uint64_t drawn_costs(const struct world *w)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < w->blocks.count; i++)
		sum += w->blocks.items[i].usable + 8;
	return sum;
}

#define THINGS                                                                           \
	"struct item { long used; thing *of; };\n"                                       \
	"struct thing { long a; thing *next; item *it; };\n"

/* ---- pools by hints ---- */

/* A pool of 520 bytes is at 1000; free slots have used == 0. */
#define SLAB                                                                             \
	THINGS "struct slab { void *slots; long n; };\n"                                 \
	       "slab *s = &100\n"
#define SLOTS_OF_32                                                                      \
	"record slab { slots pool n of 32 switch ((item *)$)->used { 1: item; } }\n"

/* Slots 0, 2, 4, 5 of 6 are taken. The rest lives as long as anything in it, with the
 * word of the free slot 1; a slot that is taken, and that nothing leads to, is leaked. */
HI_TEST(rules_pool, slots_that_are_taken_are_objects_and_free_ones_are_not)
{
	struct world *w =
		HI_DRAWN(SLAB SLOTS_OF_32 "100 (24): &1000 6\n"
					  "200 (24): => thing\n"
					  "300 (24):\n"
					  "1000 (520): 1 &200 => item (container)\n"
					  "1010: @24 &300 => size 48\n"
					  "1040: 1 => item, leaked\n"
					  "1050:   => size 48\n"
					  "1080: 1 => item, leaked\n"
					  "1090:   => size 16\n"
					  "10a0: 1 => item, leaked\n"
					  "10b0:   => size 344\n");

	HI_ASSERT_EQ(4, w->typing->stats.subobjects.count);
	HI_ASSERT_EQ(1, w->typing->stats.subobjects.pools);
	HI_ASSERT_EQ(drawn_costs(w), all_costs(w));
}

/* The first piece of the rest holds the others: every subobject leads to it. */
HI_TEST(rules_pool, pieces_of_a_pool_hold_together)
{
	struct world *w =
		HI_DRAWN(SLAB SLOTS_OF_32 "item *i = &1040\n"
					  "100 (24): &1000 6\n"
					  "200 (24):\n"
					  "300 (24): => leaked\n"
					  "1000 (520): 1  => size 16 -> 1010\n"
					  "1010:          => size 48 -> 1050\n"
					  "1040: 1 &200   => item size 16 -> 200 1010\n"
					  "1050:          => size 440\n");

	HI_ASSERT_EQ(520 - 32, w->typing->stats.subobjects.remainder_bytes);
	HI_ASSERT_EQ(32, w->typing->stats.subobjects.bytes);
}

/* Gaps of less than 16 bytes belong to the piece before them. */
HI_TEST(rules_pool, small_gaps_belong_to_the_object_before_them)
{
	struct world *w =
		HI_DRAWN(SLAB "record slab { slots pool n of 24 switch ((item *)$)->used"
			      " { 1: item; } }\n"
			      "100 (24): &1000 6\n"
			      "1000 (520): 1 => item size 24\n"
			      "1018: 1       => item size 24, leaked\n"
			      "1030: 1       => item size 16, leaked\n"
			      "1040:         => size 456\n");

	HI_ASSERT_EQ(drawn_costs(w), all_costs(w));
}

/* Counts of slots from a torn structure: up to the block's end, or none at all. */
HI_TEST(rules_pool, more_slots_than_there_is_room_for_end_with_the_block)
{
	for (int is_huge = 0; is_huge < 2; is_huge++) {
		char slots[1000];
		size_t n = 0;
		struct world *w;

		for (unsigned i = 1; i < 520 / 32; i++)
			n += (size_t)snprintf(slots + n, sizeof(slots) - n,
					      is_huge ? "1%03x: 1\n"
						      : "1%03x: 1 => item, leaked\n",
					      32 * i);
		for (unsigned i = 0; i < 520 / 32 && !is_huge; i++)
			n += (size_t)snprintf(slots + n, sizeof(slots) - n,
					      "1%03x: => untyped\n", 32 * i + 16);
		w = HI_DRAWN(SLAB SLOTS_OF_32 "100 (24): &1000 %s\n"
					      "1000 (520): 1 => %s\n%s",
			     is_huge ? "0x7fffffffffffffff" : "1000",
			     is_huge ? "untyped" : "item", slots);
		HI_ASSERT_EQ(is_huge ? 0 : 520 / 32, w->typing->stats.subobjects.count);
		HI_ASSERT(!is_huge || w->typing->stats.bounded > 0);
	}
}

/* `size` says what a slot's object takes: the tail behind it too. */
HI_TEST(rules_pool, objects_in_slots_are_as_large_as_they_say)
{
	struct world *w =
		HI_DRAWN(SLAB "record slab { slots pool n of 64 switch ((item *)$)->used"
			      " { 16, 24, 40: item; } }\n"
			      "record item { size used; tail known; }\n"
			      "100 (24): &1000 6\n"
			      "1000 (520): 16 => size 16\n"
			      "1010:          => size 48\n"
			      "1040: 24       => size 24, leaked\n"
			      "1058:          => size 40\n"
			      "1080: 40       => size 40, leaked\n"
			      "10a8:          => size 352\n");

	HI_ASSERT_EQ(3, w->typing->stats.subobjects.count);
}

/* ---- pointers to the inside ---- */

/* Pointers into a block that nothing types: objects, if it is a pool's size. */
HI_TEST(rules_inside, pointers_into_large_blocks_split_them_and_into_small_ones_do_not)
{
	struct world *w =
		HI_DRAWN(THINGS "thing *t = &1080\n"
				"1000 (184): @136 &10a0 @176 &2000 => size 184\n"
				"2000 (24):\n"
				"2100 (24): => leaked\n");

	HI_ASSERT_EQ(0, w->typing->stats.subobjects.count);
	w = HI_DRAWN(THINGS "thing *t = &1080\n"
			    "1000 (520): => size 128\n"
			    "1080: 0 &1100   => thing (pointer) -> 1000 1100\n"
			    "1098:           => size 104\n"
			    "1100: 0 0 &2000 => thing -> 1000 2000\n"
			    "1118:           => size 240\n"
			    "2000 (24):      => item\n"
			    "2100 (24):      => leaked\n");
	HI_ASSERT_EQ(2, w->typing->stats.subobjects.count);
	HI_ASSERT_EQ(drawn_costs(w), all_costs(w));
}

/* A last member of a few bytes, or of one element, stands for what follows the record:
 * chunks of obstacks have `char contents[4]`. The first object lies there. */
HI_TEST(rules_inside, a_chunk_ends_where_its_contents_begin)
{
	static const char *const contents[] = {"char contents[4]", "char contents[1]",
					       "char contents[0]", "long contents[1]"};

	for (size_t i = 0; i < sizeof(contents) / sizeof(*contents); i++)
		HI_DRAWN(THINGS "struct chunk { chunk *before; void *limit; %s; };\n"
				"chunk *c = &1000\n"
				"thing *t = &1028\n"
				"1000 (520): 0 0   => chunk (pointer) size 16\n"
				"1010: 0 0 &2000   => thing -> 1000 2000\n"
				"1028: 0 &1010     => thing -> 1000 1010\n"
				"1040:             => size 456\n"
				"2000 (24):        => item\n",
			 contents[i]);
}

/* A member of more bytes is one, and no object lies in it. */
HI_TEST(rules_inside, a_member_is_no_place_for_objects)
{
	HI_DRAWN(THINGS
		 "struct chunk { chunk *before; void *limit; long contents[3]; };\n"
		 "chunk *c = &1000\n"
		 "thing *t = &1010\n"
		 "1000 (536): 0 0 0 0 &2000 => chunk size 536\n"
		 "2000 (24):                => untyped\n");
}

/* GLib's slabs have 8 slots: 248 bytes for slots of 16, 504 for slots of 32. */
HI_TEST(rules_inside, a_small_block_is_a_pool_of_8_slots)
{
	HI_DRAWN(THINGS "item *i = &1010\n"
			"thing *t = &2020\n"
			"1000 (248): => size 16\n"
			"1010: 0 &2048 => item -> 1000 2048\n"
			"1020:         => size 216\n"
			"2000 (504): => size 32\n"
			"2020: 0 0 0   => thing -> 2000\n"
			"2038:         => size 16\n"
			"2048: 0 0 0   => thing -> 2000\n"
			"2060:         => size 408\n");
	HI_DRAWN(THINGS "thing *t = &1018\n"
			"1000 (200): => size 24\n"
			"1018: 0 0 0 => thing -> 1000\n"
			"1030:       => size 152\n");
	HI_DRAWN(THINGS "thing *t = &1018\n"
			"1000 (184): => size 184\n");
	HI_DRAWN("struct large { long n[8]; large *next; };\n"
		 "large *t = &2020\n"
		 "2000 (504): => size 504\n");
}

/* ---- headers before records ---- */

/* Things lie 8 bytes into their blocks, items at the start of theirs. */
#define BLOCKS_OF_THINGS                                                                 \
	"100 (40): 7 0 &208 &1000 => thing (shape) -> 200:i 1000\n"                      \
	"200 (40): 7 0 &308 &1000 => thing\n"                                            \
	"300 (40): 7 0 &408 &1100 => thing\n"                                            \
	"400 (40): 7 0 &508 &1200 => thing\n"                                            \
	"500 (40): 7 0 &608 &1300 => thing\n"                                            \
	"600 (40): 7 0 &708 &1400 => thing\n"

HI_TEST(rules_inside, records_of_one_type_may_have_a_header_where_others_have_none)
{
	HI_DRAWN(THINGS "thing *t = &108\n" BLOCKS_OF_THINGS
			"700 (40): 7 0 &808 &1500 => thing\n"
			"800 (40): 7 0 0 &1600    => thing\n"
			"1000..1600 (24):         => item (shape)\n");
}

HI_TEST(rules_inside, few_records_show_no_header)
{
	HI_DRAWN(THINGS "thing *t = &108\n"
			"100 (40): 7 0 &208 &1000 => untyped\n"
			"200 (40): 8 0 &308 &1000 => untyped\n"
			"300 (40): 9 0 0 &1000    => untyped\n"
			"1000 (24):               => untyped\n");
	/* Unless they begin alike. */
	HI_DRAWN(THINGS "thing *t = &108\n"
			"100 (40): 7 0 &208 &1000 => thing (shape)\n"
			"200 (40): 7 0 &308 &1000 => thing (shape)\n"
			"300 (40): 7 0 0 &1000    => thing (shape)\n"
			"1000 (24):               => item\n");
}

/* A collector's header, which a list leads to, and what it is of. Both are objects. */
HI_TEST(rules_inside, a_header_with_a_type_and_the_record_after_it_are_two_objects)
{
	HI_DRAWN(THINGS
		 "struct gc { gc *next; long tag; };\n"
		 "gc *all = &100\n"
		 "thing *t = &110\n"
		 "100 (40): &200 7      => gc (pointer) size 16 -> 200\n"
		 "110: 0 &210 &1000     => thing (pointer) size 24 -> 100 210 1000\n"
		 "200 (40): &300 7      => gc\n210: 0 &310 => thing\n"
		 "300 (40): &400 7      => gc\n310: 0 &410 => thing\n"
		 "400 (40): &500 7      => gc\n410: 0 &510 => thing\n"
		 "500 (40): &600 7      => gc\n510: 0 &610 => thing\n"
		 "600 (40): &700 7      => gc\n610: 0 &710 => thing\n"
		 "700 (40): &800 7      => gc\n710: 0 &810 => thing\n"
		 "800 (40): 0 7         => gc\n810: 0 0 => thing\n"
		 "1000 (24):            => item\n");
}

/* One such block is enough: two types that fill it together. It would do as an array of
 * headers, whose words would then be numbers. */
HI_TEST(rules_inside, a_few_such_blocks_are_no_arrays_of_headers)
{
	HI_DRAWN(THINGS "struct gc { gc *next; long tag; };\n"
			"gc *all = &100\n"
			"thing *t = &110\n"
			"100 (40): &200 7  => gc size 16\n"
			"110: 0 &210 &1000 => thing -> 100 210 1000\n"
			"200 (40): 0 7     => gc size 16\n"
			"210: 0 0 &1100    => thing -> 200 1100\n"
			"1000..1100 (24):  => item\n");
}

/* The variable leads into a pool, and only what lies there to blocks with headers, in
 * which the size of the request is. */
HI_TEST(rules_inside, headers_are_found_behind_objects_in_pools)
{
	HI_DRAWN(THINGS "thing *t = &1020\n"
			"200 (40): 24 0 0 &310 &3000 => thing (base)\n"
			"300 (40): 24 0 0 &410 &3000 => thing (base)\n"
			"400 (40): 24 0 0 0 &3000    => thing (base)\n"
			"1000 (520):                 => size 32\n"
			"1020: 0 &210 0              => thing\n"
			"1038:                       => size 464\n"
			"3000 (24):                  => item\n");
}

/* ---- arrays that are none ---- */

/* The last free slot lies at the start of the pool, and its size divides the block: the
 * things would be numbers of an array. */
HI_TEST(rules_inside, a_block_with_other_records_inside_is_no_array)
{
	HI_DRAWN(THINGS "struct head { head *next; long n; };\n"
			"head *free = &1000\n"
			"thing *t = &2010\n"
			"1000 (536): 0 0 7    => head size 24\n"
			"1018: 0 0 &3000      => thing -> 1000 3000\n"
			"1030:                => size 488\n"
			"2000 (536): 7 7      => size 16\n"
			"2010: 0 &1018 0      => thing -> 1018 2000\n"
			"2028:                => size 496\n"
			"3000 (24):           => item\n");
}

/* Pointers to its elements, and to their members, lead into an array. */
HI_TEST(rules_inside, pointers_to_elements_leave_an_array_as_it_is)
{
	HI_DRAWN(THINGS "struct two { item a; item b; };\n"
			"struct refs { two *of; item *in; two *at; };\n"
			"refs *r = &100\n"
			"100 (24): &1000 &1030 &1040  => refs\n"
			"1000 (552): 0 0 0 &3000      => two[] (shape) size 552 -> 3000\n"
			"3000 (24):                   => thing\n");
}

HI_TEST(rules_inside, a_tag_in_the_low_bits_is_no_pointer_to_the_inside)
{
	for (unsigned tag = 1; tag < 8; tag++)
		HI_DRAWN(THINGS "thing *t = &100+%u\n"
				"100 (24): 0 &200 => thing -> 200\n"
				"200 (24):\n",
			 tag);
}

/* new thing[3] writes 3 before the first one, where the pointer leads; the block has
 * room for 8 bytes more. That it is one is a guess: the rest may be a pointer.
 * Another number is no count. */
HI_TEST(rules_inside, an_array_behind_its_cookie_is_an_array)
{
	static const char words[] = "@16 &200 @40 &300 @64 &400 @80 &500";

	HI_DRAWN(THINGS "thing *t = &108\n"
			"100 (88): 3 %s => thing[] (shape) -> 200 300 400 500:c\n"
			"200..500 (24):\n",
		 words);
	HI_DRAWN(THINGS "thing *t = &108\n"
			"100 (88): 2 %s => untyped\n"
			"200..500 (24):\n",
		 words);
}

/* ---- what a member is in ---- */

#define MEMBERS                                                                          \
	THINGS "struct link { link *next; long x; };\n"                                  \
	       "struct holder { long a; long b; link l; thing *t; };\n"                  \
	       "knows records\n"

HI_TEST(rules_inside, the_only_record_with_this_member_there_is_the_container)
{
	HI_DRAWN(MEMBERS "link *head = &110\n"
			 "100 (40): @16 &210 0 &300 => holder (shape) -> 200:i 300\n"
			 "200 (40): @32 &400        => holder\n"
			 "300..400 (24): => thing\n");
}

HI_TEST(rules_inside, two_fitting_records_give_no_container)
{
	HI_DRAWN(MEMBERS "struct other { long a; thing *p; link l; long t; };\n"
			 "link *head = &110\n"
			 "100 (40): => untyped\n");
}

/* The only record that fits has a pointer where this block has none. */
HI_TEST(rules_inside, a_container_whose_pointers_are_none_is_not_believed)
{
	HI_DRAWN(MEMBERS "link *head = &110\n"
			 "100 (40): &300 @32 0x1234567812345678 => untyped -> 300:c\n"
			 "300 (24):\n");
}

/* A pointer to the base: the block is larger than it, and only one record begins so
 * and has this size. (The sizes are no multiples of the base's: no arrays.) */
HI_TEST(rules_inside, the_only_derived_record_that_fits_is_it)
{
	HI_DRAWN(MEMBERS "struct base { base *next; long n[2]; };\n"
			 "struct derived { base b; thing *t; long x; };\n"
			 "struct large { base b; long n[8]; };\n"
			 "struct large2 { base b; long n[7]; thing *x; };\n"
			 "base *of[3] = &100 &200 &300\n"
			 "100 (40): @24 &400 => derived (shape)\n"
			 "200 (88):          => base\n"
			 "300 (136):         => base\n"
			 "400 (24):          => thing\n");
}

/* A free slot of a pool has only a link in it. The block is no array of links, though it
 * divides by one and all that lies in it looks like pointers. */
HI_TEST(rules_inside, a_pool_that_begins_with_a_free_slot_is_no_array_of_links)
{
	HI_DRAWN("struct slot { slot *next; };\n"
		 "slot *free = &100\n"
		 "100 (88): @32 &200 &300 => -> 200:c 300:c\n"
		 "200 (24): => untyped\n"
		 "300 (24):\n");
}

/* Arenas: a header of 24 bytes with the size of the block, then pieces. The first piece
 * is no record after the header of an allocation wrapper, since others follow it. */
HI_TEST(rules_inside, pieces_after_the_header_of_an_arena_are_pieces)
{
	HI_DRAWN("struct leaf { long n; long m; leaf *up; long rest; };\n"
		 "struct piece { long id; leaf *one; leaf *two; piece *next; long r[4]; "
		 "};\n"
		 "piece *first = &1018\n"
		 "void *arenas = &100\n"
		 "100 (24): &1000 &2000 &3000\n"
		 "1000 (1032): &2000 0 1032 1 &1058 &1100 &2018\n"
		 "1018: => piece size 64\n"
		 "1058: => leaf size 32\n"
		 "1078: => size 136\n"
		 "1100: => leaf size 32\n"
		 "1120: => size 744\n"
		 "2000 (1032): &3000 0 1032 2 &2058 &2100 &3018\n"
		 "2018: => piece size 64\n"
		 "2058: => leaf size 32\n"
		 "2078: => size 136\n"
		 "2100: => leaf size 32\n"
		 "2120: => size 744\n"
		 "3000 (1032): 0 0 1032 3 &3058 &3100 0\n"
		 "3018: => piece size 64\n"
		 "3058: => leaf size 32\n"
		 "3078: => size 136\n"
		 "3100: => leaf size 32\n"
		 "3120: => size 744\n");
}

#define CLASSES                                                                          \
	"struct leaf { long n; long m; leaf *up; };\n"                                   \
	"struct base { void *vptr; long n; };\n"                                         \
	"struct derived { base b; leaf *one; long r[3]; };\n"                            \
	"vtable derived M100\n"                                                          \
	"derived *other = &f00\n"
#define OTHER "f00 (48): &M100 => derived (vtable)\n"

/* A pointer to a base class into a pool: the vtable there names the whole object. */
HI_TEST(rules_inside, pieces_have_the_class_of_their_vtable)
{
	HI_DRAWN(CLASSES
		 "base *b = &1080\n" OTHER "1000 (1032):           => size 128\n"
		 "1080: &M100 5 &2000    => derived (vtable) size 48 -> 1000 2000\n"
		 "10b0:                  => size 856\n"
		 "2000 (24):             => leaf\n");
	HI_DRAWN(CLASSES "base *b = &1080\n" OTHER "1000 (1032):           => size 128\n"
			 "1080: &M108 5          => base (pointer) size 16\n"
			 "1090: &2000            => size 888\n"
			 "2000 (24):             => untyped\n");
}

/* The member of a union whose class the vtable names. */
HI_TEST(rules_inside, a_vtable_tells_where_a_union_leads)
{
	HI_DRAWN(CLASSES
		 "union either { leaf *l; derived *d; };\n"
		 "struct holder { long tag; either e; };\n"
		 "holder *h = &100\n"
		 "100 (24): 1 &1080      => holder\n" OTHER
		 "1000 (1032):           => size 128\n"
		 "1080: &M100 5 &2000    => derived (vtable) size 48 -> 1000 2000\n"
		 "10b0:                  => size 856\n"
		 "2000 (24):             => leaf\n");
}
