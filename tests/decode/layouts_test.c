/* SPDX-License-Identifier: BSD-2-Clause */
/* Types flattened to slots. */
#include <stdio.h>

#include "base/alloc.h"
#include "harness.h"
#include "support/typing_world.h"

static struct hi_error err;

static void free_layouts(void *arg)
{
	hi_layouts_destroy(arg);
}

static const struct hi_layout *layout_of(struct world *w, hi_type_id type)
{
	struct hi_layouts *layouts = NULL;
	uint32_t index;

	HI_ASSERT_OK(hi_layouts_create(w->source.types, &layouts, &err), &err);
	hi_test_defer(free_layouts, layouts);
	index = hi_layouts_of(layouts, type);
	HI_ASSERT(index >= HI_LAYOUT_FIRST);
	HI_ASSERT_EQ(index, hi_layouts_of(layouts, type));
	return hi_layouts_get(layouts, index);
}

/* "p 8*3/16 r 64*1/8": kind, offset, count and stride of each slot. */
static const char *slots_of(const struct hi_layout *layout)
{
	static char text[2000];
	size_t used = 0;

	text[0] = 0;
	for (uint32_t i = 0; i < layout->n_slots && used + 80 < sizeof(text); i++) {
		const struct hi_pointer_slot *s = &layout->slots[i];
		char count[24] = "...";

		if (s->count != HI_POINTER_SLOT_TO_END)
			snprintf(count, sizeof(count), "%llu",
				 (unsigned long long)s->count);
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%c %llu*%s/%llu", i ? " " : "",
					 s->kind == HI_POINTER_SLOT_TYPED ? 'p' : 'r',
					 (unsigned long long)s->offset, count,
					 (unsigned long long)s->stride);
	}
	return text;
}

HI_TEST(layouts, members_of_members_and_arrays_of_records_become_runs)
{
	struct world *w = world_create();
	hi_type_id number = world_scalar(w, HI_KIND_INTEGER, "int", 4);
	hi_type_id p = world_pointer(w, number);
	hi_type_id cell = world_record(w, HI_KIND_STRUCT, "cell", 24, "a", 0, p, "n", 8,
				       number, "b", 16, p, NULL);
	hi_type_id row = world_array(w, cell, 100);
	hi_type_id grid = world_array(w, row, 2);
	hi_type_id outer = world_record(w, HI_KIND_STRUCT, "outer", 8 + 4800, "first", 0,
					p, "grid", 8, grid, NULL);
	hi_type_id page = world_record(w, HI_KIND_STRUCT, "page", 2408, "row", 0, row,
				       "next", 2400, p, NULL);

	HI_ASSERT_STREQ("p 0*1/8 p 16*1/8", slots_of(layout_of(w, cell)));
	HI_ASSERT_STREQ("p 0*100/24 p 16*100/24", slots_of(layout_of(w, row)));
	HI_ASSERT_STREQ("p 0*1/8 p 8*200/24 p 24*200/24", slots_of(layout_of(w, outer)));
	HI_ASSERT_EQ(3, layout_of(w, outer)->n_pointers);
	HI_ASSERT_STREQ(
		"p 0*100/24 p 16*100/24 p 2400*2/2408 p 2408*100/24 p 2424*100/24",
		slots_of(layout_of(w, world_array(w, page, 2))));
}

HI_TEST(layouts, raw_storage_is_words_and_short_byte_arrays_are_nothing)
{
	struct world *w = world_create();
	hi_type_id byte = world_scalar(w, HI_KIND_CHAR, "char", 1);
	hi_type_id seven = world_array(w, byte, 7), twenty = world_array(w, byte, 20);
	hi_type_id address = world_scalar(w, HI_KIND_ADDRESS, "uintptr_t", 8);
	hi_type_id t = world_record(w, HI_KIND_STRUCT, "t", 48, "a", 0, seven, "b", 12,
				    twenty, "c", 32, address, "d", 40, seven, NULL);

	HI_ASSERT_STREQ("r 16*2/8 r 32*1/8", slots_of(layout_of(w, t)));
	HI_ASSERT_EQ(0, layout_of(w, t)->n_pointers);
}

HI_TEST(layouts, unions_keep_one_slot_a_word_and_two_pointees_are_none)
{
	struct world *w = world_create();
	hi_type_id number = world_scalar(w, HI_KIND_INTEGER, "long", 8);
	hi_type_id one = world_pointer(w, number);
	hi_type_id two = world_pointer(w, one);
	hi_type_id raw = world_array(w, world_scalar(w, HI_KIND_CHAR, "char", 1), 24);
	hi_type_id agree = world_record(w, HI_KIND_UNION, "agree", 8, "n", 0, number, "p",
					0, one, "q", 0, one, NULL);
	hi_type_id differ = world_record(w, HI_KIND_UNION, "differ", 8, "p", 0, one, "q",
					 0, two, NULL);
	hi_type_id over = world_record(w, HI_KIND_UNION, "over", 24, "raw", 0, raw, "p",
				       0, differ, NULL);
	const struct hi_layout *layout = layout_of(w, agree);

	HI_ASSERT_STREQ("p 0*1/8", slots_of(layout));
	HI_ASSERT_EQ(number, layout->slots[0].pointee);
	layout = layout_of(w, differ);
	HI_ASSERT_STREQ("p 0*1/8", slots_of(layout));
	HI_ASSERT_EQ(0, layout->slots[0].pointee);
	HI_ASSERT_STREQ("p 0*1/8 r 8*1/8 r 16*1/8", slots_of(layout_of(w, over)));
}

HI_TEST(layouts, pointers_beside_numbers_in_unions_may_be_numbers)
{
	struct world *w = world_create();
	hi_type_id number = world_scalar(w, HI_KIND_INTEGER, "long", 8);
	hi_type_id half = world_scalar(w, HI_KIND_INTEGER, "int", 4);
	hi_type_id letter = world_scalar(w, HI_KIND_CHAR, "char", 1);
	hi_type_id real = world_scalar(w, HI_KIND_FLOAT, "double", 8);
	hi_type_id p = world_pointer(w, number);
	hi_type_id sized = world_record(w, HI_KIND_STRUCT, "sized", 16, "p", 0, p, "n", 8,
					number, NULL);
	hi_type_id reals = world_array(w, real, 2);
	hi_type_id plain = world_record(w, HI_KIND_UNION, "plain", 8, "p", 0, p, "c", 0,
					letter, NULL);
	hi_type_id narrow = world_record(w, HI_KIND_UNION, "narrow", 8, "p", 0, p, "i", 0,
					 half, NULL);
	hi_type_id value = world_record(w, HI_KIND_UNION, "value", 8, "n", 0, number, "p",
					0, p, NULL);
	hi_type_id wide = world_record(w, HI_KIND_UNION, "wide", 16, "s", 0, sized, "r",
				       0, reals, NULL);
	hi_type_id t =
		world_record(w, HI_KIND_STRUCT, "t", 72, "n", 0, number, "p", 8, p,
			     "plain", 16, plain, "values", 24, world_array(w, value, 2),
			     "wide", 40, wide, "narrow", 56, narrow, "q", 64, p, NULL);
	static const uint8_t sizes[] = {0, 0, 8, 8, 4, 0};
	const struct hi_layout *layout = layout_of(w, t);

	HI_ASSERT_STREQ("p 8*1/8 p 16*1/8 p 24*2/8 p 40*1/8 p 56*1/8 p 64*1/8",
			slots_of(layout));
	for (uint32_t i = 0; i < layout->n_slots; i++)
		HI_ASSERT_EQ(sizes[i], layout->slots[i].number_size);
	HI_ASSERT(hi_pointer_slot_may_be_number(&layout->slots[2], 1ull << 40));
	HI_ASSERT(hi_pointer_slot_may_be_number(&layout->slots[4], UINT32_MAX));
	HI_ASSERT(!hi_pointer_slot_may_be_number(&layout->slots[4], 1ull << 40));
	HI_ASSERT(!hi_pointer_slot_may_be_number(&layout->slots[5], 16));
}

HI_TEST(layouts, flexible_tails_go_on_to_the_end)
{
	struct world *w = world_create();
	hi_type_id number = world_scalar(w, HI_KIND_INTEGER, "long", 8);
	hi_type_id p = world_pointer(w, number);
	hi_type_id cell = world_record(w, HI_KIND_STRUCT, "cell", 16, "n", 0, number, "p",
				       8, p, NULL);
	hi_type_id tail = world_array(w, cell, 0);
	hi_type_id bytes = world_array(w, world_scalar(w, HI_KIND_CHAR, "char", 1), 0);
	hi_type_id t = world_record(w, HI_KIND_STRUCT, "t", 8, "n", 0, number, "tail", 8,
				    tail, NULL);
	hi_type_id u = world_record(w, HI_KIND_STRUCT, "u", 8, "n", 0, number, "tail", 5,
				    bytes, NULL);
	hi_type_id pad = world_record(w, HI_KIND_STRUCT, "pad", 24, "none", 0, bytes, "p",
				      16, p, NULL);

	HI_ASSERT_STREQ("p 16*.../16", slots_of(layout_of(w, t)));
	HI_ASSERT(layout_of(w, t)->open_ended);
	HI_ASSERT_STREQ("r 8*.../8", slots_of(layout_of(w, u)));
	HI_ASSERT_STREQ("p 16*1/8", slots_of(layout_of(w, pad)));
}

HI_TEST(layouts, hostile_types_end_and_stay_inside_themselves)
{
	struct world *w = world_create();
	hi_type_id number = world_scalar(w, HI_KIND_INTEGER, "long", 8);
	hi_type_id p = world_pointer(w, number);
	hi_type_id itself = p + 1, outside, huge, wide;

	world_record(w, HI_KIND_STRUCT, "itself", 64, "p", 0, p, "me", 8, itself,
		     "me too", 16, itself, NULL);
	outside = world_record(w, HI_KIND_STRUCT, "outside", 16, "p", 8, p, "q", 12, p,
			       "r", 4096, p, NULL);
	huge = world_array(w, p, 0);
	w->types[huge].count = UINT64_MAX;
	w->types[huge].flexible = false;
	w->types[huge].size = 64;
	wide = world_record(w, HI_KIND_STRUCT, "wide", 64, "a", 0, huge, NULL);
	HI_ASSERT_STREQ("r 0*8/8", slots_of(layout_of(w, itself)));
	HI_ASSERT(layout_of(w, itself)->truncated);
	HI_ASSERT_STREQ("p 8*1/8", slots_of(layout_of(w, outside)));
	HI_ASSERT_STREQ("r 0*8/8", slots_of(layout_of(w, wide)));
}

HI_TEST(layouts, base_classes_and_vptrs_bit_fields_and_code)
{
	struct world *w = world_create();
	hi_type_id number = world_scalar(w, HI_KIND_INTEGER, "long", 8);
	hi_type_id p = world_pointer(w, number);
	hi_type_id base = world_record(w, HI_KIND_STRUCT, "Base", 16, NULL);
	hi_type_id derived;

	world_member(w, (struct hi_member){.name = "_vptr", .type = p, .is_vptr = true});
	world_member(w, (struct hi_member){.name = "p", .offset = 8, .type = p});
	derived = world_record(w, HI_KIND_STRUCT, "Derived", 32, NULL);
	world_member(w,
		     (struct hi_member){.name = "Base", .type = base, .is_base = true});
	world_member(w, (struct hi_member){
				.name = "bits", .offset = 16, .type = p, .bit_size = 3});
	world_member(w, (struct hi_member){.name = "q", .offset = 24, .type = p});
	HI_ASSERT_STREQ("p 8*1/8 p 24*1/8", slots_of(layout_of(w, derived)));
}

HI_TEST(layouts, the_order_of_type_candidates_is_total)
{
	struct world *w = world_create();
	hi_type_id number = world_scalar(w, HI_KIND_INTEGER, "long", 8);
	hi_type_id p = world_pointer(w, number);
	hi_type_id types[5] = {
		world_scalar(w, HI_KIND_CHAR, "char", 1),
		number,
		p,
		world_record(w, HI_KIND_STRUCT, "one", 8, "p", 0, p, NULL),
		world_record(w, HI_KIND_STRUCT, "two", 16, "p", 0, p, NULL),
	};

	for (int i = 0; i < 5; i++)
		for (int k = 0; k < 5; k++) {
			int order = hi_layout_compare(layout_of(w, types[i]),
						      layout_of(w, types[k]));

			HI_ASSERT_EQ(i > k, order > 0 && i != k);
		}
}

HI_TEST(layouts, sizes_that_the_allocator_gives)
{
	const struct hi_block_sizes glibc = {};

	HI_ASSERT_EQ(24, hi_fit_usable(&glibc, 0));
	HI_ASSERT_EQ(24, hi_fit_usable(&glibc, 24));
	HI_ASSERT_EQ(40, hi_fit_usable(&glibc, 25));
	HI_ASSERT_EQ(40, hi_fit_usable(&glibc, 40));
	HI_ASSERT_EQ(200008, hi_fit_usable(&glibc, 200000));
}
