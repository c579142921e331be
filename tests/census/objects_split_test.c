/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks cut into pieces, against a list of pieces and a linear search in it. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "census/graph/objects.h"
#include "tests/harness.h"
#include "tests/support/random.h"

#define OWNED HI_GUARD(hi_objects_destroy) struct hi_objects

enum { CLASS_MASK = 3 << HI_OBJECT_OVERHEAD_SHIFT, CLASS_3 = CLASS_MASK };

static uint64_t random_state;
/* ---- the truth: a list of objects, and of its subobjects ---- */

struct object {
	uint64_t addr, usable;
	uint32_t type;
	uint8_t flags;
	bool remainder;
	int pool; /* -1: none */
};
struct list HI_VECTOR(struct object);
struct subobjects HI_VECTOR(struct hi_subobject);

static void push(struct list *list, struct object object)
{
	HI_ASSERT(hi_vector_push(list, object));
}

static uint64_t random_usable(uint64_t room, bool huge)
{
	uint64_t size = 8 +
			8 * random_below(&random_state,
					 random_below(&random_state, 3) ? 30 : 3000) +
			random_below(&random_state, 3);

	if (random_below(&random_state, 20) == 0)
		size = 0;
	if (huge && random_below(&random_state, 3) == 0)
		size = random_below(&random_state, 6ull << 30);
	return size < room ? size : room;
}

/* Several regions of several objects, and some of one, with room between. */
static struct hi_objects *random_table(struct list *list, bool huge)
{
	uint64_t start = 0x10000 + 4096 * random_below(&random_state, 100);
	struct hi_objects_builder *b;
	unsigned n = (unsigned)random_below(&random_state, 6), region;
	struct hi_objects *o;
	struct hi_error err;

	HI_ASSERT_OK(hi_objects_builder_create(&b, &err), &err);
	hi_objects_builder_overhead(b, 0, 8);
	hi_objects_builder_overhead(b, 1, 16);
	for (unsigned r = 0; r < n; r++) {
		static const unsigned shifts[] = {4, 3, 4, 3, 4, 0, 6};
		unsigned shift = huge ? 4 : shifts[random_below(&random_state, 7)];
		uint64_t step = 1ull << shift,
			 addr = ((start + step - 1) & ~(step - 1)) +
				step * random_below(&random_state, 9);
		uint64_t end = start + (huge ? 6ull << 30
					     : 1 + random_below(&random_state, 60000));
		unsigned objects = random_below(&random_state, huge ? 2 : 4)
					   ? (unsigned)random_below(&random_state, 40)
					   : 1;

		end = end < start + 16 * step ? start + 16 * step : end;
		HI_ASSERT_OK(
			hi_objects_builder_region(b, start, end, shift, &region, &err),
			&err);
		for (; objects && addr < end; objects--) {
			uint64_t usable = random_usable(end - addr, huge);
			uint8_t flags = (uint8_t)((random_below(&random_state, 256) &
						   ~CLASS_MASK) |
						  random_below(&random_state, 3)
							  << HI_OBJECT_OVERHEAD_SHIFT);

			HI_ASSERT_OK(hi_objects_builder_add(b, region, addr, usable,
							    flags, &err),
				     &err);
			push(list, (struct object){addr, usable, 0, flags, false, -1});
			addr = (addr + (usable ? usable : 1) + step - 1) & ~(step - 1);
			addr += random_below(&random_state, 3)
					? 0
					: step * random_below(&random_state, 100);
		}
		start = end +
			8 * random_below(&random_state,
					 random_below(&random_state, 2) ? 4 : 40000);
	}
	HI_ASSERT_OK(hi_objects_seal(b, &o, &err), &err);
	for (size_t i = 0; i < list->count; i++)
		o->type[i] = list->items[i].type =
			(uint32_t)(1 + random_below(&random_state, 1000));
	return o;
}

/* Objects in [at, end), which no region or one block takes. */
static void random_subobjects(struct subobjects *subobjects, uint64_t at, uint64_t end)
{
	for (unsigned n = (unsigned)random_below(&random_state, 12); n; n--) {
		struct hi_subobject c;

		at = (at + 7) & ~7ull;
		at += random_below(&random_state, 2)
			      ? 0
			      : 8 * random_below(&random_state,
						 random_below(&random_state, 4) ? 4
										: 20000);
		c.size = 1 + random_below(&random_state,
					  random_below(&random_state, 9) ? 70 : 9000);
		if (random_below(&random_state, 20) == 0 && end > at)
			c.size = end - at;
		if (at >= end || c.size > end - at)
			return;
		c.addr = at;
		c.type = (uint32_t)(2000 + random_below(&random_state, 1000));
		c.flags = (uint8_t)random_below(&random_state, 256) &
			  (uint8_t)~HI_OBJECT_INTERNAL;
		HI_ASSERT(hi_vector_push(subobjects, c));
		at += c.size;
	}
}

static void split_at_random(const struct hi_objects *o, const struct list *list,
			    struct subobjects *subobjects)
{
	uint32_t r = 0;
	uint64_t after = 8;

	for (size_t i = 0; i <= list->count; i++) {
		uint64_t addr = i < list->count ? list->items[i].addr : 1ull << 46;

		while (r < o->n_regions && o->regions[r].start <= addr) {
			if (random_below(&random_state, 2) && o->regions[r].start > after)
				random_subobjects(subobjects, after, o->regions[r].start);
			after = o->regions[r++].end;
		}
		if (i < list->count && random_below(&random_state, 3) == 0)
			random_subobjects(subobjects, addr, addr + list->items[i].usable);
	}
	if (random_below(&random_state, 2))
		random_subobjects(subobjects, after, after + (9ull << 30));
}

/* One block of `from` that subobjects [c, end) are in. */
static void cut_block(struct list *to, const struct object *from,
		      const struct hi_subobject *c, const struct hi_subobject *end,
		      int pool)
{
	uint64_t block_end = from->addr + from->usable;
	uint8_t internal = from->flags & HI_OBJECT_INTERNAL;

	if (c->addr > from->addr) {
		push(to, *from);
		to->items[to->count - 1].usable = c->addr - from->addr;
		to->items[to->count - 1].remainder = true;
		to->items[to->count - 1].pool = pool;
	}
	for (; c < end; c++) {
		uint64_t next = c + 1 < end ? c[1].addr : block_end;
		uint64_t left = next - c->addr - c->size;
		uint8_t klass =
			c->addr == from->addr ? from->flags & CLASS_MASK : CLASS_3;
		struct object o = {
			c->addr, c->size + left,
			c->type, (uint8_t)((c->flags & ~CLASS_MASK) | klass | internal),
			false,	 pool};

		if (left < 16) {
			push(to, o);
			continue;
		}
		o.usable = (c->size + 7) / 8 * 8;
		push(to, o);
		push(to, (struct object){c->addr + o.usable, next - c->addr - o.usable, 0,
					 internal | CLASS_3, true, pool});
	}
}

static void cut(struct list *to, const struct list *from,
		const struct subobjects *subobjects)
{
	size_t c = 0, end;
	int pools = 0;

	for (size_t i = 0; i <= from->count; i++) {
		const struct object *o = i < from->count ? &from->items[i] : NULL;

		for (;
		     c < subobjects->count && (!o || subobjects->items[c].addr < o->addr);
		     c++)
			push(to, (struct object){subobjects->items[c].addr,
						 subobjects->items[c].size,
						 subobjects->items[c].type,
						 subobjects->items[c].flags | CLASS_3,
						 false, -1});
		if (!o)
			return;
		for (end = c; end < subobjects->count &&
			      subobjects->items[end].addr < o->addr + o->usable;
		     end++)
			;
		if (end > c)
			cut_block(to, o, subobjects->items + c, subobjects->items + end,
				  pools++);
		else
			push(to, *o);
		c = end;
	}
}

static void without_pools(struct list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		list->items[i].remainder = false;
		list->items[i].pool = -1;
	}
}

/* ---- comparing ---- */

static void check_columns(const struct hi_objects *o, const struct list *list)
{
	HI_ASSERT_EQ(list->count, o->count);
	for (hi_node i = 0; i < o->count; i++) {
		HI_ASSERT_EQ(list->items[i].addr, hi_objects_address(o, i));
		HI_ASSERT_EQ(list->items[i].usable, hi_objects_usable(o, i));
		HI_ASSERT_EQ(list->items[i].type, o->type[i]);
		HI_ASSERT_EQ(list->items[i].flags, o->flags[i]);
	}
}

static void check_address(const struct hi_objects *o, const struct list *list,
			  uint64_t addr)
{
	hi_node expected = HI_NODE_NONE, found;
	uint64_t offset = 0, expected_offset = 0;
	struct hi_hit hit;
	size_t n;

	for (hi_node i = 0; i < list->count; i++) {
		const struct object *at = &list->items[i];

		if (addr != at->addr && addr - at->addr >= at->usable)
			continue;
		expected = i;
		expected_offset = addr - at->addr;
		break;
	}
	found = hi_objects_find(o, addr, &offset);
	HI_ASSERT_MSG(found == expected, "0x%llx: expected %u, got %u",
		      (unsigned long long)addr, expected, found);
	n = hi_objects_find_many(o, &addr, 1, &hit);
	HI_ASSERT_EQ(expected != HI_NODE_NONE, n);
	if (!n)
		return;
	HI_ASSERT_EQ(expected_offset, offset);
	HI_ASSERT_EQ(expected, hit.id);
	HI_ASSERT_EQ(expected_offset != 0, hit.interior);
}

static void check_lookup(const struct hi_objects *o, const struct list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct object *at = &list->items[i];

		check_address(o, list, at->addr);
		check_address(o, list, at->addr - 1);
		check_address(o, list, at->addr + at->usable);
		check_address(o, list,
			      at->addr + at->usable + random_below(&random_state, 40));
		if (at->usable)
			check_address(o, list, at->addr + at->usable - 1);
		if (at->usable)
			check_address(o, list,
				      at->addr + random_below(&random_state, at->usable));
	}
	for (uint32_t i = 0; i < o->n_regions; i++) {
		check_address(o, list, o->regions[i].start - 1);
		check_address(o, list, o->regions[i].end);
		HI_ASSERT(i == 0 || o->regions[i - 1].end <= o->regions[i].start);
	}
	for (unsigned i = 0; i < 50 && o->count; i++)
		check_address(o, list,
			      o->low - 8 +
				      random_below(&random_state, o->high - o->low + 16));
}

static void check_pools(const struct hi_pools *pools, const struct list *list)
{
	hi_node id = 0;

	for (size_t p = 0; p < pools->count; p++) {
		hi_node remainder = HI_NODE_NONE;

		for (; list->items[id].pool != (int)p; id++)
			HI_ASSERT_EQ(-1, list->items[id].pool);
		HI_ASSERT_EQ(id, pools->items[p].first);
		for (; id < list->count && list->items[id].pool == (int)p; id++)
			if (list->items[id].remainder && remainder == HI_NODE_NONE)
				remainder = id;
		HI_ASSERT_EQ(id - 1, pools->items[p].last);
		HI_ASSERT_EQ(remainder, pools->items[p].remainder);
	}
	for (; id < list->count; id++)
		HI_ASSERT_EQ(-1, list->items[id].pool);
	for (id = 0; id < list->count; id++)
		HI_ASSERT_EQ(list->items[id].remainder,
			     pools->is_remainder[id / 64] >> id % 64 & 1);
}

/* All pieces of a block cost together what it did. */
static void check_costs(const struct hi_objects *old, const struct hi_objects *o,
			const struct list *before)
{
	hi_node id = 0;

	for (hi_node i = 0; i < before->count; i++) {
		const struct object *block = &before->items[i];
		uint64_t cost = 0;

		while (hi_objects_address(o, id) < block->addr)
			id++;
		for (; id < o->count &&
		       (hi_objects_address(o, id) == block->addr ||
			hi_objects_address(o, id) - block->addr < block->usable);
		     id++)
			cost += hi_objects_cost(o, id);
		HI_ASSERT_EQ(hi_objects_cost(old, i), cost);
	}
}

static struct hi_objects *split(const struct hi_objects *old,
				const struct subobjects *subobjects,
				struct hi_pools *pools)
{
	struct hi_objects *o;
	struct hi_error err;

	HI_ASSERT_OK(hi_objects_split(old, subobjects->items, subobjects->count, &o,
				      pools, &err),
		     &err);
	return o;
}

static void one_random_table(bool huge)
{
	struct list before = {}, after = {}, again = {};
	struct subobjects subobjects = {}, more = {};
	struct hi_pools pools, more_pools;
	OWNED *old = random_table(&before, huge);
	OWNED *o = NULL, *twice = NULL;

	split_at_random(old, &before, &subobjects);
	o = split(old, &subobjects, &pools);
	cut(&after, &before, &subobjects);
	check_columns(old, &before);
	check_lookup(old, &before);
	check_columns(o, &after);
	check_lookup(o, &after);
	check_pools(&pools, &after);
	check_costs(old, o, &before);
	without_pools(&after);
	split_at_random(o, &after, &more);
	twice = split(o, &more, &more_pools);
	cut(&again, &after, &more);
	check_columns(twice, &again);
	check_lookup(twice, &again);
	check_pools(&more_pools, &again);
	check_costs(o, twice, &after);
	hi_pools_free(&pools);
	hi_pools_free(&more_pools);
	hi_vector_free(&before);
	hi_vector_free(&after);
	hi_vector_free(&again);
	hi_vector_free(&subobjects);
	hi_vector_free(&more);
}

static void random_tables(unsigned n, bool huge)
{
	for (unsigned i = 0; i < n; i++) {
		random_state = 0x9e3779b97f4a7c15 + i;
		one_random_table(huge);
	}
}

HI_TEST(objects_split, random_tables_agree_with_a_list_of_pieces)
{
	random_tables(400, false);
}

HI_TEST(objects_split, random_tables_beyond_4_gib_agree_with_a_list_of_pieces)
{
	random_tables(1, true);
}

/* ---- drawn ones ---- */

/* One region of blocks of 512 usable bytes, 528 apart. */
static struct hi_objects *blocks(unsigned n)
{
	struct hi_objects_builder *b;
	struct hi_objects *o;
	struct hi_error err;
	unsigned region;

	HI_ASSERT_OK(hi_objects_builder_create(&b, &err), &err);
	hi_objects_builder_overhead(b, 0, 8);
	HI_ASSERT_OK(hi_objects_builder_region(b, 0x1000, 0x1000 + 528ull * n, 4, &region,
					       &err),
		     &err);
	for (unsigned i = 0; i < n; i++)
		HI_ASSERT_OK(hi_objects_builder_add(b, region, 0x1000 + 528ull * i, 512,
						    0, &err),
			     &err);
	HI_ASSERT_OK(hi_objects_seal(b, &o, &err), &err);
	return o;
}

static enum hi_status split_two(struct hi_objects *old, struct hi_subobject first,
				struct hi_subobject second)
{
	struct hi_subobject subobjects[] = {first, second};
	struct hi_pools pools;
	struct hi_objects *o;
	struct hi_error err;
	enum hi_status status = hi_objects_split(old, subobjects, 2, &o, &pools, &err);

	if (status == HI_OK) {
		hi_objects_destroy(o);
		hi_pools_free(&pools);
	}
	return status;
}

HI_TEST(objects_split, misplaced_subobjects_are_refused)
{
	OWNED *old = blocks(3);
	struct hi_subobject good = {.addr = 0x1010, .size = 16};

	HI_ASSERT_EQ(HI_OK, split_two(old, good,
				      (struct hi_subobject){.addr = 0x1020, .size = 8}));
	HI_ASSERT_STATUS(HI_BAD_DATA, split_two(old, good, good));
	HI_ASSERT_STATUS(
		HI_BAD_DATA,
		split_two(old, good, (struct hi_subobject){.addr = 0x101c, .size = 8}));
	HI_ASSERT_STATUS(
		HI_BAD_DATA,
		split_two(old, good, (struct hi_subobject){.addr = 0x1024, .size = 8}));
	HI_ASSERT_STATUS(
		HI_BAD_DATA,
		split_two(old, good, (struct hi_subobject){.addr = 0x1020, .size = 0}));
	/* Beyond its block, between two, over the end of space. */
	HI_ASSERT_STATUS(
		HI_BAD_DATA,
		split_two(old, good, (struct hi_subobject){.addr = 0x11f8, .size = 9}));
	HI_ASSERT_STATUS(
		HI_BAD_DATA,
		split_two(old, good, (struct hi_subobject){.addr = 0x1200, .size = 8}));
	HI_ASSERT_STATUS(
		HI_BAD_DATA,
		split_two(old, good, (struct hi_subobject){.addr = ~7ull, .size = 8}));
	HI_ASSERT_STATUS(
		HI_BAD_DATA,
		split_two(old, (struct hi_subobject){.addr = 0xff8, .size = 9}, good));
	old->overhead[3] = 1;
	HI_ASSERT_STATUS(
		HI_BAD_DATA,
		split_two(old, good, (struct hi_subobject){.addr = 0x1020, .size = 8}));
}

HI_TEST(objects_split, a_header_keeps_the_blocks_type)
{
	OWNED *old = blocks(2), *o = NULL;
	struct hi_subobject subobjects = {
		.addr = 0x1000 + 528 + 64, .size = 448, .type = 7};
	struct hi_pools pools;
	struct hi_error err;

	old->type[1] = 5;
	HI_ASSERT_OK(hi_objects_split(old, &subobjects, 1, &o, &pools, &err), &err);
	HI_ASSERT_EQ(3, o->count);
	HI_ASSERT_EQ(5, o->type[1]);
	HI_ASSERT_EQ(64, hi_objects_usable(o, 1));
	HI_ASSERT_EQ(72, hi_objects_cost(o, 1));
	HI_ASSERT_EQ(7, o->type[2]);
	HI_ASSERT_EQ(448, hi_objects_cost(o, 2));
	HI_ASSERT_EQ(1, pools.count);
	HI_ASSERT_EQ(1, pools.items[0].remainder);
	hi_pools_free(&pools);
}

/* Objects far apart in a mapping of any size cost no entries for what is between. */
HI_TEST(objects_split, a_few_objects_in_terabytes_cost_little)
{
	OWNED *old = blocks(1), *o = NULL;
	struct hi_subobject subobjects[64];
	struct hi_pools pools;
	struct hi_error err;

	for (unsigned i = 0; i < 64; i++)
		subobjects[i] = (struct hi_subobject){.addr = 0x100000000000 +
							      ((uint64_t)i << 38),
						      .size = i % 2 ? 24 : 1ull << 37};
	HI_ASSERT_OK(hi_objects_split(old, subobjects, 64, &o, &pools, &err), &err);
	HI_ASSERT_EQ(65, o->count);
	HI_ASSERT_EQ(65, o->n_regions);
	for (unsigned i = 0; i < 64; i++) {
		HI_ASSERT_EQ(i + 1, hi_objects_find(o, subobjects[i].addr, NULL));
		HI_ASSERT_EQ(i + 1,
			     hi_objects_find(o,
					     subobjects[i].addr + subobjects[i].size - 1,
					     NULL));
		HI_ASSERT_EQ(HI_NODE_NONE,
			     hi_objects_find(o, subobjects[i].addr + subobjects[i].size,
					     NULL));
	}
	hi_pools_free(&pools);
}

HI_TEST(objects_split, any_allocation_may_fail)
{
	struct list before = {};
	struct subobjects subobjects = {};
	struct hi_objects *o;
	struct hi_pools pools;
	struct hi_error err;
	OWNED *old = NULL;
	uint64_t nth = 0;
	enum hi_status status;

	random_state = 6;
	while (subobjects.count < 20) {
		hi_objects_destroy(old);
		before.count = subobjects.count = 0;
		old = random_table(&before, false);
		split_at_random(old, &before, &subobjects);
	}
	do {
		hi_alloc_fail_at(++nth);
		status = hi_objects_split(old, subobjects.items, subobjects.count, &o,
					  &pools, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
	} while (status != HI_OK);
	HI_ASSERT(nth > 10);
	hi_objects_destroy(o);
	hi_pools_free(&pools);
	hi_vector_free(&before);
	hi_vector_free(&subobjects);
}
