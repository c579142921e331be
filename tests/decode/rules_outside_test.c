/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Drawn heaps beside which there is memory without allocator: objects are split off
 * where typed pointers lead. Names of objects by fields, and unions.
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "support/typing_world.h"

#define H(offset) (WORLD_HEAP + (offset))
#define FAR 0x20000000ull /* a mapping without allocator */
#define FAR_SIZE (1ull << 20)
#define F(offset) (FAR + (offset))
#define FAR_HEX(hex) "10000" hex /* its addresses, from the heap's start */

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

static bool is_object(const struct world *w, uint64_t addr)
{
	uint64_t offset = 0;

	return hi_objects_find(w->graph->objects, addr, &offset) != HI_NODE_NONE &&
	       offset == 0;
}

static struct world *drawn(const char *hints)
{
	struct world *w = world_create();

	w->hints = hints;
	world_struct(w, "item", 16, "0 long : a", "8 long : b", NULL);
	world_struct(w, "thing", 24, "0 long : n", "8 thing * : next", "16 item * : it",
		     NULL);
	world_struct(w, "vec", 24, "0 item * * : d", "8 long : n", "16 thing * : t",
		     NULL);
	world_mapping(w, FAR, FAR_SIZE);
	return w;
}

/*
 *	t (local) -> F100 thing -> F200 thing -> 100 thing (a block) -> F300 thing
 *			`-> F400 item
 */
HI_TEST(rules_outside, objects_are_split_off_where_roots_and_objects_lead)
{
	struct world *w = drawn(NULL);

	blocks(w, 1, 2, 24);
	world_var(w, "t", "thing *", F(0x100));
	world_poke(w, F(0x108), F(0x200));
	world_poke(w, F(0x110), F(0x400));
	world_poke(w, F(0x208), H(0x100));
	world_poke(w, H(0x108), F(0x300));
	run(w);
	HI_ASSERT_STREQ("thing", world_type(w, F(0x100)));
	HI_ASSERT_STREQ("thing", world_type(w, F(0x200)));
	HI_ASSERT_STREQ("thing", world_type(w, F(0x300)));
	HI_ASSERT_STREQ("item", world_type(w, F(0x400)));
	HI_ASSERT_STREQ("thing", world_type(w, H(0x100)));
	HI_ASSERT_STREQ(FAR_HEX("200") ":e " FAR_HEX("400") ":e",
			world_edges(w, F(0x100)));
	HI_ASSERT_STREQ(FAR_HEX("300") ":e", world_edges(w, H(0x100)));
	HI_ASSERT_EQ(4, w->typing->stats.subobjects.outside);
	HI_ASSERT_EQ(3 * 24 + 16, w->typing->stats.subobjects.bytes);
	HI_ASSERT_EQ(0, w->typing->stats.subobjects.pools);
	HI_ASSERT_EQ(6, w->graph->n_objects);
	HI_ASSERT_STREQ("200", world_leaks(w));
	/* Split off memory is no root, what lies beside it still is. */
	world_poke(w, F(0x500), H(0x200));
	run(w);
	HI_ASSERT_STREQ("", world_leaks(w));
	HI_ASSERT_EQ(6, w->graph->n_objects);
}

/* The integers of a subobject are no pointers, as those of a block are none. */
HI_TEST(rules_outside, integers_of_subobjects_retain_nothing)
{
	struct world *w = drawn(NULL);

	blocks(w, 1, 1, 24);
	world_var(w, "t", "thing *", F(0x100));
	world_poke(w, F(0x100), H(0x100));
	run(w);
	HI_ASSERT_STREQ("", world_edges(w, F(0x100)));
	HI_ASSERT_STREQ("100", world_leaks(w));
}

/* v -> F100 vec { d = F200, n = 3 }: an array that a hint counts. */
HI_TEST(rules_outside, arrays_are_split_off_as_long_as_hints_say)
{
	struct world *w = drawn("hints x\nrecord vec { d -> item *[n]; }");

	blocks(w, 1, 2, 24);
	world_var(w, "v", "vec *", F(0x100));
	world_poke(w, F(0x100), F(0x200));
	world_poke(w, F(0x108), 3);
	world_poke(w, F(0x200), F(0x300));
	world_poke(w, F(0x210), H(0x100));
	run(w);
	HI_ASSERT_STREQ("vec", world_type(w, F(0x100)));
	HI_ASSERT_STREQ("item *[]", world_type(w, F(0x200)));
	HI_ASSERT_EQ(24, hi_objects_usable(w->graph->objects, world_node(w, F(0x200))));
	HI_ASSERT_STREQ("item", world_type(w, F(0x300)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("100:e " FAR_HEX("300") ":e", world_edges(w, F(0x200)));
	HI_ASSERT_STREQ("200", world_leaks(w));
}

/* A count from a torn record, up to 2^46 elements: no array, and no search of it. */
HI_TEST(rules_outside, arrays_that_are_larger_than_their_memory_are_none)
{
	static const uint64_t counts[] = {FAR_SIZE / 8, 1ull << 36, 1ull << 46};

	for (unsigned i = 0; i < 3; i++) {
		struct world *w = drawn("hints x\nrecord vec { d -> item *[n]; }");

		blocks(w, 1, 1, 24);
		world_block(w, H(0x1000), 1000);
		world_var(w, "v", "vec *", F(0x100));
		world_var(w, "u", "vec *", H(0x100));
		world_poke(w, F(0x100), F(0x200));
		world_poke(w, F(0x108), counts[i]);
		world_poke(w, H(0x100), H(0x1080)); /* the inside of a pool */
		world_poke(w, H(0x108), counts[i]);
		run(w);
		HI_ASSERT_STREQ("vec", world_type(w, F(0x100)));
		HI_ASSERT_EQ(1, w->typing->stats.subobjects.count);
	}
}

/* Pointers that are none: misaligned, or to what has no pointers where its type has
 * some, or with no room up to the mapping's end, or to code, or to nowhere. */
HI_TEST(rules_outside, garbage_splits_nothing)
{
	static const uint64_t garbage[] = {F(0x101),	     F(0x104),	  F(0x200),
					   F(FAR_SIZE - 16), F(FAR_SIZE), FAR - 8,
					   WORLD_MODULE + 8, 0x1234567890};

	for (unsigned i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		struct world *w = drawn(NULL);

		blocks(w, 1, 1, 24);
		world_var(w, "t", "thing *", garbage[i]);
		world_poke(w, F(0x208), 0x123456789abcdef);
		run(w);
		HI_ASSERT_EQ(0, w->typing->stats.subobjects.count);
		HI_ASSERT_EQ(1, w->graph->n_objects);
	}
}

/* A record at F100, and a pointer to its member: one object. */
HI_TEST(rules_outside, pointers_to_members_of_subobjects_are_explained)
{
	struct world *w = drawn(NULL);

	world_struct(w, "outer", 56, "0 long : x", "8 thing : in", "32 thing : in2",
		     NULL);
	world_var(w, "o", "outer *", F(0x100));
	world_var(w, "i", "thing *", F(0x108));
	world_var(w, "j", "thing *", F(0x120));
	run(w);
	HI_ASSERT_EQ(1, w->graph->n_objects);
	HI_ASSERT_STREQ("outer", world_type(w, F(0x100)));
	HI_ASSERT_EQ(2, w->typing->stats.subobjects.explained);
	HI_ASSERT_EQ(0, w->typing->stats.subobjects.conflicts);
}

/* Two records that cannot both be there: the larger one is, and it is counted. */
HI_TEST(rules_outside, of_two_candidates_that_overlap_the_better_one_is_split_off)
{
	for (int order = 0; order < 2; order++) {
		struct world *w = drawn(NULL);

		world_struct(w, "wide", 48, "0 long : x", "8 thing * : t",
			     "16 long [4] : y", NULL);
		world_var(w, "a", order ? "wide *" : "thing *", F(order ? 0x100 : 0x110));
		world_var(w, "b", order ? "thing *" : "wide *", F(order ? 0x110 : 0x100));
		world_var(w, "c", "thing *", F(0x130));
		run(w);
		HI_ASSERT(is_object(w, F(0x100)) && !is_object(w, F(0x110)));
		HI_ASSERT_STREQ("wide", world_type(w, F(0x100)));
		HI_ASSERT_STREQ("thing", world_type(w, F(0x130)));
		HI_ASSERT_EQ(2, w->graph->n_objects);
		HI_ASSERT_EQ(1, w->typing->stats.subobjects.conflicts);
		HI_ASSERT(w->graph->objects->flags[world_node(w, F(0x100))] &
			  HI_OBJECT_CONFLICT);
		HI_ASSERT(!(w->graph->objects->flags[world_node(w, F(0x130))] &
			    HI_OBJECT_CONFLICT));
	}
}

/* What a stack holds are variables. */
HI_TEST(rules_outside, nothing_is_split_off_on_a_stack)
{
	struct world *w = drawn(NULL);

	world_var(w, "t", "thing *", WORLD_STACK + 0x3000);
	blocks(w, 1, 1, 24);
	run(w);
	HI_ASSERT_EQ(1, w->graph->n_objects);
}

/* ---- unions ---- */

/* struct box { union { thing *t; wide *w; } u; }; */
static struct world *unions(void)
{
	struct world *w = world_create();

	world_struct(w, "item", 16, "0 long : a", "8 long : b", NULL);
	world_struct(w, "thing", 24, "0 item * : it", "8 long [2] : n", NULL);
	world_struct(w, "wide", 56, "0 long : n", "8 item * : it", "16 long [5] : y",
		     NULL);
	world_union(w, "either", 8, "0 thing * : t", "0 wide * : w", NULL);
	world_struct(w, "box", 8, "0 either : u", NULL);
	return w;
}

HI_TEST(rules_union, the_size_of_the_block_tells_which_pointer_lives)
{
	struct world *w = unions();

	world_block(w, H(0x100), 24);
	world_block(w, H(0x200), 24); /* thing */
	world_block(w, H(0x300), 24);
	world_block(w, H(0x400), 24); /* item of thing */
	world_block(w, H(0x500), 56); /* wide */
	world_block(w, H(0x600), 24); /* item of wide */
	world_var(w, "a", "box *", H(0x100));
	world_var(w, "b", "box *", H(0x300));
	world_poke(w, H(0x100), H(0x200));
	world_poke(w, H(0x300), H(0x500));
	world_poke(w, H(0x200), H(0x400));
	world_poke(w, H(0x508), H(0x600));
	run(w);
	HI_ASSERT_STREQ("thing", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("wide", world_type(w, H(0x500)));
	HI_ASSERT_EQ(HI_EVIDENCE_SHAPE, world_evidence(w, H(0x200)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x400)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x600)));
	HI_ASSERT_STREQ("200:e", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("", world_leaks(w));
}

/* Both fit, none fits, or the one that fits is not plausible: no type, but an edge. */
HI_TEST(rules_union, where_the_size_does_not_tell_there_is_no_type)
{
	for (int what = 0; what < 3; what++) {
		struct world *w = unions();

		if (what == 0) /* wide as small as thing */
			w->types[world_named(w, "wide")].size = 24;
		world_block(w, H(0x100), 24);
		world_block(w, H(0x200), what == 1 ? 40 : 24);
		world_var(w, "a", "box *", H(0x100));
		world_poke(w, H(0x100), H(0x200));
		if (what == 2)
			world_poke(w, H(0x200), 0x1122334455667788);
		run(w);
		HI_ASSERT_STREQ("", world_type(w, H(0x200)));
		HI_ASSERT_STREQ("200:e", world_edges(w, H(0x100)));
		HI_ASSERT_STREQ("", world_leaks(w));
	}
}

/* ---- names by field ---- */

HI_TEST(rules_names, what_has_no_type_is_named_by_the_field_that_leads_there)
{
	struct world *w = world_create();

	w->hints = "hints x\nrecord node {\n\tslots[i] for i in 0 .. 2 -> any;\n"
		   "\tback weak;\n}";
	world_struct(w, "node", 40, "0 void * : any", "8 void * [2] : slots",
		     "24 void * : back", "32 uintptr_t : raw", NULL);
	world_block(w, H(0x100), 40);
	blocks(w, 2, 9, 24);
	world_var(w, "n", "node *", H(0x100));
	world_var(w, "lone", "void *", H(0x800));
	world_poke(w, H(0x100), H(0x200));
	world_poke(w, H(0x108), H(0x300));
	world_poke(w, H(0x110), H(0x400));
	world_poke(w, H(0x118), H(0x500));
	world_poke(w, H(0x120), H(0x600));
	world_poke(w, H(0x208), H(0x700)); /* untyped leads to untyped */
	world_poke(w, H(0x808), H(0x200)); /* and to what has a better name */
	run(w);
	HI_ASSERT_STREQ("node", world_named_type(w, H(0x100)));
	HI_ASSERT_STREQ("via node.any, 24 B", world_named_type(w, H(0x200)));
	HI_ASSERT_STREQ("via node.slots[i], 24 B", world_named_type(w, H(0x300)));
	HI_ASSERT_STREQ("via node.slots[i], 24 B", world_named_type(w, H(0x400)));
	HI_ASSERT_STREQ("", world_named_type(w, H(0x500))); /* weak */
	HI_ASSERT_STREQ("via node.raw, 24 B", world_named_type(w, H(0x600)));
	HI_ASSERT_STREQ("via node.any …, 24 B", world_named_type(w, H(0x700)));
	HI_ASSERT_STREQ("via draw(): lone, 24 B", world_named_type(w, H(0x800)));
	HI_ASSERT_STREQ("", world_named_type(w, H(0x900)));
	HI_ASSERT_EQ(HI_EVIDENCE_NONE, world_evidence(w, H(0x200)));
	HI_ASSERT_STREQ("500 900", world_leaks(w));
}

/* ---- conflicts ---- */

/* 100 is a thing for one, a wide for another; 200 too; 300 is a link in a holder. */
HI_TEST(rules_conflicts, two_types_for_one_block_are_listed)
{
	struct world *w = world_create();
	const struct hi_typing_conflict *rows;

	world_struct(w, "item", 16, "0 item * : a", "8 long : b", NULL);
	world_struct(w, "thing", 24, "0 long : n", "8 item * : it", "16 long : x", NULL);
	world_struct(w, "wide", 40, "0 long : n", "8 long : m", "16 item * : it",
		     "24 long [2] : y", NULL);
	world_struct(w, "holder", 40, "0 item : i", "16 long [3] : x", NULL);
	blocks(w, 1, 4, 40);
	world_var(w, "t1", "thing *", H(0x100));
	world_var(w, "w1", "wide *", H(0x100));
	world_var(w, "w2", "wide *", H(0x200));
	world_var(w, "t2", "thing *", H(0x200));
	world_var(w, "h3", "holder *", H(0x300)); /* begins with an item */
	world_var(w, "i3", "item *", H(0x300));
	world_var(w, "h4", "holder *", H(0x400));
	world_var(w, "t4", "thing *", H(0x400));
	run(w);
	HI_ASSERT_EQ(2, hi_typing_conflicts(w->typing, &rows));
	HI_ASSERT_STREQ("wide", rows[0].type);
	HI_ASSERT_STREQ("thing", rows[0].other);
	HI_ASSERT_EQ(2, rows[0].objects);
	HI_ASSERT_EQ(H(0x100), rows[0].example);
	HI_ASSERT_STREQ("holder", rows[1].type);
	HI_ASSERT_STREQ("thing", rows[1].other);
	HI_ASSERT_EQ(1, rows[1].objects);
	HI_ASSERT_EQ(H(0x400), rows[1].example);
	HI_ASSERT_EQ(3, w->typing->stats.conflicts);
	HI_ASSERT_STREQ("holder", world_type(w, H(0x300)));
	HI_ASSERT(!(w->graph->objects->flags[world_node(w, H(0x300))] &
		    HI_OBJECT_CONFLICT));
}
