/* SPDX-License-Identifier: BSD-2-Clause */
/* Drawn heaps with pools: slots, interior pointers, memory without allocator. */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "support/typing_world.h"

#define H(offset) (WORLD_HEAP + (offset))
#define FAR 0x20000000ull /* a mapping without allocator */
#define FAR_SIZE (1ull << 20)
#define F(offset) (FAR + (offset))

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

/* Usable bytes of the object that begins here; 0: none does. */
static uint64_t size_at(const struct world *w, uint64_t addr)
{
	uint64_t offset = 0;
	hi_node id = hi_objects_find(w->graph->objects, addr, &offset);

	return id == HI_NODE_NONE || offset ? 0
					    : hi_objects_usable(w->graph->objects, id);
}

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

static struct world *drawn(const char *hints)
{
	struct world *w = world_create();

	w->hints = hints;
	world_struct(w, "item", 16, "0 long : used", "8 thing * : of", NULL);
	world_struct(w, "thing", 24, "0 long : a", "8 thing * : next", "16 item * : it",
		     NULL);
	return w;
}

/* ---- pools by hints ---- */

/*
 * slab { item *slots; long n; } slots of 32 bytes; free ones have used == 0.
 *
 *	s -> 100 slab { &1000, n = 6 }
 *	1000: item, free, item, free, item, item, then rest up to 1000 + 504
 */
static struct world *slab(void)
{
	struct world *w = drawn("hints x\nrecord slab {\n"
				"\tslots pool n of 32 switch ((item *)$)->used"
				" { 1: item; }\n}");

	world_struct(w, "slab", 16, "0 void * : slots", "8 long : n", NULL);
	blocks(w, 1, 3, 24);
	world_block(w, H(0x1000), 504);
	world_var(w, "s", "slab *", H(0x100));
	world_poke(w, H(0x100), H(0x1000));
	world_poke(w, H(0x108), 6);
	return w;
}

HI_TEST(rules_pool, slots_that_are_taken_are_objects_and_free_ones_are_not)
{
	struct world *w = slab();

	w->blocks.items[3].usable = 520; /* large enough to be a pool */
	for (unsigned i = 0; i < 6; i++)
		if (i != 1 && i != 3)
			world_poke(w, H(0x1000) + 32 * i, 1);
	world_poke(w, H(0x1000) + 8, H(0x200));
	world_poke(w, H(0x1000) + 32 + 8, H(0x300)); /* a free slot's word: of the rest */
	run(w);
	for (unsigned i = 0; i < 6; i++)
		if (i != 1 && i != 3)
			HI_ASSERT_STREQ("item", world_type(w, H(0x1000) + 32 * i));
	HI_ASSERT_STREQ("thing", world_type(w, H(0x200)));
	HI_ASSERT_EQ(4, w->typing->stats.subobjects.count);
	HI_ASSERT_EQ(1, w->typing->stats.subobjects.pools);
	HI_ASSERT_EQ(drawn_costs(w), all_costs(w));
	/* The rest lives as long as anything in it, with the free slot's word; a slot
	 * that is taken, and that nothing leads to, is leaked. */
	HI_ASSERT_STREQ("1040 1080 10a0", world_leaks(w));
	HI_ASSERT_EQ(HI_EVIDENCE_CONTAINER, world_evidence(w, H(0x1000)));
}

/* The first piece of the rest holds the others: every subobject leads to it. */
HI_TEST(rules_pool, pieces_of_a_pool_hold_together)
{
	struct world *w = slab();
	uint64_t rest = H(0x1000) + 16;
	const char *edges;

	w->blocks.items[3].usable = 520;
	world_poke(w, H(0x1000), 1);
	world_poke(w, H(0x1000) + 64, 1);
	world_poke(w, H(0x1000) + 72, H(0x200));
	world_var(w, "i", "item *", H(0x1040));
	run(w);
	HI_ASSERT_STREQ("item", world_type(w, H(0x1040)));
	/* 1000 item 16, 1010 rest 48, 1040 item 16, 1050 rest to the end. */
	HI_ASSERT_EQ(16, size_at(w, H(0x1000)));
	HI_ASSERT_EQ(48, size_at(w, rest));
	HI_ASSERT_EQ(16, size_at(w, H(0x1040)));
	HI_ASSERT_EQ(520 - 80, size_at(w, H(0x1050)));
	HI_ASSERT_STREQ("1010:e", world_edges(w, H(0x1000)));
	HI_ASSERT_STREQ("200:e 1010:e", world_edges(w, H(0x1040)));
	edges = world_edges(w, rest);
	HI_ASSERT_MSG(strstr(edges, "1050:e"), "%s", edges);
	HI_ASSERT_EQ(520 - 32, w->typing->stats.subobjects.remainder_bytes);
	HI_ASSERT_EQ(32, w->typing->stats.subobjects.bytes);
	HI_ASSERT_STREQ("300", world_leaks(w));
}

/* Gaps of less than 16 bytes belong to the piece before them. */
HI_TEST(rules_pool, small_gaps_belong_to_the_object_before_them)
{
	struct world *w = slab();

	w->hints = "hints x\nrecord slab {\n"
		   "\tslots pool n of 24 switch ((item *)$)->used { 1: item; }\n}";
	w->blocks.items[3].usable = 520;
	for (unsigned i = 0; i < 3; i++)
		world_poke(w, H(0x1000) + 24 * i, 1);
	run(w);
	HI_ASSERT_EQ(24, size_at(w, H(0x1000)));
	HI_ASSERT_EQ(24, size_at(w, H(0x1018)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x1030)));
	HI_ASSERT_EQ(drawn_costs(w), all_costs(w));
}

/* A count of slots from a torn structure. */
HI_TEST(rules_pool, more_slots_than_there_is_room_for_end_with_the_block)
{
	struct world *w = slab();

	w->blocks.items[3].usable = 520;
	for (unsigned i = 0; i < 520 / 32; i++)
		world_poke(w, H(0x1000) + 32 * i, 1);
	world_poke(w, H(0x108), 1000);
	run(w);
	HI_ASSERT_EQ(520 / 32, w->typing->stats.subobjects.count);
	world_poke(w, H(0x108), INT64_MAX);
	run(w);
	HI_ASSERT_EQ(0, w->typing->stats.subobjects.count);
	HI_ASSERT(w->typing->stats.bounded > 0);
}

/* `size` says what a slot's object takes: the tail behind it too. */
HI_TEST(rules_pool, objects_in_slots_are_as_large_as_they_say)
{
	struct world *w = slab();

	w->hints = "hints x\nrecord slab { slots pool n of 64 switch ((item *)$)->used"
		   " { 16, 24, 40: item; } }\nrecord item { size used; tail known; }";
	w->blocks.items[3].usable = 520;
	world_poke(w, H(0x1000), 16);
	world_poke(w, H(0x1040), 24);
	world_poke(w, H(0x1080), 40);
	run(w);
	HI_ASSERT_EQ(16, size_at(w, H(0x1000)));
	HI_ASSERT_EQ(24, size_at(w, H(0x1040)));
	HI_ASSERT_EQ(40, size_at(w, H(0x1080)));
	HI_ASSERT_EQ(3, w->typing->stats.subobjects.count);
}

/* ---- pointers to the inside ---- */

/* Pointers into a block that nothing types: objects, if it is a pool's size. */
HI_TEST(rules_inside, pointers_into_large_blocks_split_them_and_into_small_ones_do_not)
{
	static const uint64_t sizes[] = {504, 520};

	for (unsigned i = 0; i < 2; i++) {
		struct world *w = drawn(NULL);

		world_block(w, H(0x1000), sizes[i]);
		blocks(w, 0x20, 0x21, 24);
		world_var(w, "t", "thing *", H(0x1080));
		world_poke(w, H(0x1088), H(0x1100)); /* next: in the same pool */
		world_poke(w, H(0x1110), H(0x2000)); /* its item */
		run(w);
		if (i == 0) {
			HI_ASSERT_EQ(0, w->typing->stats.subobjects.count);
			HI_ASSERT_EQ(504, size_at(w, H(0x1000)));
			continue;
		}
		HI_ASSERT_EQ(2, w->typing->stats.subobjects.count);
		HI_ASSERT_STREQ("thing", world_type(w, H(0x1080)));
		HI_ASSERT_STREQ("thing", world_type(w, H(0x1100)));
		HI_ASSERT_EQ(HI_EVIDENCE_POINTER, world_evidence(w, H(0x1080)));
		HI_ASSERT_STREQ("item", world_type(w, H(0x2000)));
		HI_ASSERT_EQ(128, size_at(w, H(0x1000)));
		HI_ASSERT_EQ(104, size_at(w, H(0x1098)));
		HI_ASSERT_STREQ("1000:e 1100:e", world_edges(w, H(0x1080)));
		HI_ASSERT_STREQ("1000:e 2000:e", world_edges(w, H(0x1100)));
		HI_ASSERT_EQ(drawn_costs(w), all_costs(w));
		HI_ASSERT_STREQ("2100", world_leaks(w));
	}
}

HI_TEST(rules_inside, a_tag_in_the_low_bits_is_no_pointer_to_the_inside)
{
	for (uint64_t tag = 1; tag < 8; tag++) {
		struct world *w = drawn(NULL);

		blocks(w, 1, 2, 24);
		world_var(w, "t", "thing *", H(0x100) + tag);
		world_poke(w, H(0x108), H(0x200));
		run(w);
		HI_ASSERT_STREQ("thing", world_type(w, H(0x100)));
		HI_ASSERT_STREQ("200:e", world_edges(w, H(0x100)));
	}
}

/* new thing[3]: 100 { 3, thing, thing, thing }, the pointer leads to the first one. */
HI_TEST(rules_inside, an_array_behind_its_cookie_is_an_array)
{
	struct world *w = drawn(NULL);

	world_block(w, H(0x100), 88); /* 8 + 3 * 24 = 80: 88 usable */
	blocks(w, 2, 5, 24);
	world_var(w, "t", "thing *", H(0x108));
	world_poke(w, H(0x100), 3);
	for (uint64_t i = 0; i < 3; i++)
		world_poke(w, H(0x110) + 24 * i, H(0x200) + 0x100 * i);
	world_poke(w, H(0x150), H(0x500)); /* behind the third */
	run(w);
	HI_ASSERT_STREQ("thing[]", world_type(w, H(0x100)));
	/* That it is one is a guess: what lies behind may be a pointer. */
	HI_ASSERT_STREQ("200:e 300:e 400:e 500:c", world_edges(w, H(0x100)));
	HI_ASSERT_EQ(HI_EVIDENCE_SHAPE, world_evidence(w, H(0x100)));
	HI_ASSERT_STREQ("", world_leaks(w));
	/* Another number is no cookie. */
	world_poke(w, H(0x100), 2);
	run(w);
	HI_ASSERT_STREQ("", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("", world_leaks(w));
}

/* ---- what a member is in ---- */

/* struct link { link *next; long x; }; struct holder { long a, b; link l; thing *t; }; */
static struct world *members(void)
{
	struct world *w = drawn(NULL);

	world_struct(w, "link", 16, "0 link * : next", "8 long : x", NULL);
	world_struct(w, "holder", 40, "0 long : a", "8 long : b", "16 link : l",
		     "32 thing * : t", NULL);
	world_knows_records(w);
	return w;
}

/* head -> 100 + 16 (holder.l) -> 200 + 16, holder.t of both lead to things */
HI_TEST(rules_inside, the_only_record_with_this_member_there_is_the_container)
{
	struct world *w = members();

	blocks(w, 1, 2, 40);
	blocks(w, 3, 4, 24);
	world_var(w, "head", "link *", H(0x110));
	world_poke(w, H(0x110), H(0x210));
	world_poke(w, H(0x120), H(0x300));
	world_poke(w, H(0x220), H(0x400));
	run(w);
	HI_ASSERT_STREQ("holder", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("holder", world_type(w, H(0x200)));
	HI_ASSERT_EQ(HI_EVIDENCE_SHAPE, world_evidence(w, H(0x100)));
	HI_ASSERT_STREQ("thing", world_type(w, H(0x300)));
	HI_ASSERT_STREQ("thing", world_type(w, H(0x400)));
	HI_ASSERT_STREQ("200:i 300:e", world_edges(w, H(0x100)));
}

HI_TEST(rules_inside, of_two_records_that_fit_none_is_the_container)
{
	struct world *w = members();

	world_struct(w, "other", 40, "0 long : a", "8 thing * : p", "16 link : l",
		     "32 long : t", NULL);
	blocks(w, 1, 1, 40);
	world_var(w, "head", "link *", H(0x110));
	run(w);
	HI_ASSERT_STREQ("", world_type(w, H(0x100)));
}

/* The only record that fits has a pointer where this block has none. */
HI_TEST(rules_inside, a_container_whose_pointers_are_none_is_not_believed)
{
	struct world *w = members();

	blocks(w, 1, 1, 40);
	blocks(w, 3, 3, 24);
	world_var(w, "head", "link *", H(0x110));
	world_poke(w, H(0x120), 0x1234567812345678);
	world_poke(w, H(0x100), H(0x300));
	run(w);
	HI_ASSERT_STREQ("", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("300:c", world_edges(w, H(0x100)));
}

/* A pointer to the base: the block is larger than it, and only one record begins so
 * and has this size. (The sizes are no multiples of the base's: no arrays.) */
HI_TEST(rules_inside, the_only_derived_record_that_fits_is_it)
{
	struct world *w = members();

	world_struct(w, "base", 24, "0 base * : next", "8 long [2] : n", NULL);
	world_struct(w, "derived", 40, "0 base : b", "24 thing * : t", "32 long : x",
		     NULL);
	world_struct(w, "large", 88, "0 base : b", "24 long [8] : n", NULL);
	world_struct(w, "large2", 88, "0 base : b", "24 long [7] : n", "80 thing * : x",
		     NULL);
	world_block(w, H(0x100), 40);
	world_block(w, H(0x200), 88);
	world_block(w, H(0x300), 136);
	blocks(w, 4, 4, 24);
	world_var(w, "a", "base *", H(0x100));
	world_var(w, "b", "base *", H(0x200));
	world_var(w, "c", "base *", H(0x300));
	world_poke(w, H(0x118), H(0x400));
	run(w);
	HI_ASSERT_STREQ("derived", world_type(w, H(0x100)));
	HI_ASSERT_EQ(HI_EVIDENCE_SHAPE, world_evidence(w, H(0x100)));
	HI_ASSERT_STREQ("thing", world_type(w, H(0x400)));
	HI_ASSERT_STREQ("base", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("base", world_type(w, H(0x300)));
}

/*
 * A free slot of a pool has only a link in it. The block is no array of links, though it
 * divides by one and all that lies in it looks like pointers.
 *
 *	free -> 100 slot { next = 0 }, words that lead to 200 and 300
 */
HI_TEST(rules_inside, a_pool_that_begins_with_a_free_slot_is_no_array_of_links)
{
	struct world *w = world_create();

	world_struct(w, "slot", 8, "0 slot * : next", NULL);
	world_block(w, H(0x100), 88);
	world_block(w, H(0x200), 24);
	world_block(w, H(0x300), 24);
	world_var(w, "free", "slot *", H(0x100));
	world_poke(w, H(0x120), H(0x200));
	world_poke(w, H(0x128), H(0x300));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("200:c 300:c", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("", world_leaks(w));
}
