/* SPDX-License-Identifier: BSD-2-Clause */
/* Types flattened to slots. */
#include <stdio.h>

#include "base/alloc.h"
#include "decode/inference/propagation.h"
#include "harness.h"
#include "support/typing_world.h"

static struct hi_error err;

static const struct hi_layout *layout_of(struct world *w, const char *type)
{
	hi_type_id id = world_named(w, type);
	struct hi_layouts *layouts = NULL;
	uint32_t index;

	HI_ASSERT_OK(hi_layouts_create(w->source.types, &layouts, &err), &err);
	hi_test_defer(hi_layouts_destroy, layouts);
	index = hi_layouts_of(layouts, id);
	HI_ASSERT(index >= HI_LAYOUT_FIRST);
	HI_ASSERT_EQ(index, hi_layouts_of(layouts, id));
	return hi_layouts_get(layouts, index);
}

/* "p 8*3/16 r 64*1/8": kind, offset, count and stride of each slot. */
static const char *slots_of(struct world *w, const char *type)
{
	const struct hi_layout *layout = layout_of(w, type);
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

	world_types(w, "struct cell { int *a; int n; int *b; };\n"
		       "struct outer { int *first; cell grid[2][100]; };\n"
		       "struct page { cell row[100]; int *next; };");
	HI_ASSERT_STREQ("p 0*1/8 p 16*1/8", slots_of(w, "cell"));
	HI_ASSERT_STREQ("p 0*100/24 p 16*100/24", slots_of(w, "cell[100]"));
	HI_ASSERT_STREQ("p 0*1/8 p 8*200/24 p 24*200/24", slots_of(w, "outer"));
	HI_ASSERT_EQ(3, layout_of(w, "outer")->n_pointers);
	HI_ASSERT_STREQ(
		"p 0*100/24 p 16*100/24 p 2400*2/2408 p 2408*100/24 p 2424*100/24",
		slots_of(w, "page[2]"));
}

HI_TEST(layouts, raw_storage_is_words_and_short_byte_arrays_are_nothing)
{
	struct world *w = world_create();

	world_types(w,
		    "struct t { char a[7]; @12 char b[20]; uintptr_t c; char d[7]; };");
	HI_ASSERT_STREQ("r 16*2/8 r 32*1/8", slots_of(w, "t"));
	HI_ASSERT_EQ(0, layout_of(w, "t")->n_pointers);
}

HI_TEST(layouts, unions_keep_one_slot_a_word_and_two_pointees_are_none)
{
	struct world *w = world_create();

	world_types(w, "union agree { long n; long *p; long *q; };\n"
		       "union differ { long *p; long **q; };\n"
		       "union over { char raw[24]; differ p; };");
	HI_ASSERT_STREQ("p 0*1/8", slots_of(w, "agree"));
	HI_ASSERT_EQ(world_named(w, "long"), layout_of(w, "agree")->slots[0].pointee);
	HI_ASSERT_STREQ("p 0*1/8", slots_of(w, "differ"));
	HI_ASSERT_EQ(0, layout_of(w, "differ")->slots[0].pointee);
	HI_ASSERT_STREQ("p 0*1/8 r 8*1/8 r 16*1/8", slots_of(w, "over"));
}

HI_TEST(layouts, pointers_beside_numbers_in_unions_may_be_numbers)
{
	static const uint8_t sizes[] = {0, 0, 8, 8, 4, 4, 0};
	struct world *w = world_create();
	const struct hi_layout *layout;

	world_types(
		w,
		"struct sized { long *p; long n; };\n"
		"union plain { long *p; char c; };\n"
		"union narrow { long *p; int i; };\n"
		"union value { long n; long *p; };\n"
		"union wide { sized s; double r[2]; };\n"
		"union slot { long n; sized *next; };\n"
		"struct t { long n; long *p; plain plain; value values[2]; wide wide;\n"
		"           narrow narrow; slot slot; long *q; };");
	HI_ASSERT_STREQ("p 8*1/8 p 16*1/8 p 24*2/8 p 40*1/8 p 56*1/8 p 64*1/8 p 72*1/8",
			slots_of(w, "t"));
	layout = layout_of(w, "t");
	for (uint32_t i = 0; i < layout->n_slots; i++)
		HI_ASSERT_EQ(sizes[i], layout->slots[i].number_size);
	HI_ASSERT(hi_pointer_slot_may_be_number(&layout->slots[2], 1ull << 40));
	HI_ASSERT(hi_pointer_slot_may_be_number(&layout->slots[4], UINT32_MAX));
	HI_ASSERT(!hi_pointer_slot_may_be_number(&layout->slots[4], 1ull << 40));
	HI_ASSERT(hi_pointer_slot_may_be_number(&layout->slots[5], UINT32_MAX));
	HI_ASSERT(!hi_pointer_slot_may_be_number(&layout->slots[5], 1ull << 40));
	HI_ASSERT(!hi_pointer_slot_may_be_number(&layout->slots[6], 16));
}

HI_TEST(layouts, flexible_tails_go_on_to_the_end)
{
	struct world *w = world_create();

	world_types(w, "struct cell { long n; long *p; };\n"
		       "struct t { long n; cell tail[]; };\n"
		       "struct u { long n; @5 char tail[]; };\n"
		       "struct pad { char none[]; @16 long *p; };");
	HI_ASSERT_STREQ("p 16*.../16", slots_of(w, "t"));
	HI_ASSERT(layout_of(w, "t")->open_ended);
	HI_ASSERT_STREQ("r 8*.../8", slots_of(w, "u"));
	HI_ASSERT_STREQ("p 16*1/8", slots_of(w, "pad"));
}

HI_TEST(layouts, hostile_types_end_and_stay_inside_themselves)
{
	struct world *w = world_create();
	struct hi_type *huge;

	world_types(w, "struct itself 64 { long *p; @8 itself me; @16 itself me_too; };\n"
		       "struct outside 16 { @8 long *p; @12 long *q; @4096 long *r; };\n"
		       "struct wide 64 { long *a[]; };");
	huge = &w->types[world_named(w, "long *[]")];
	huge->count = UINT64_MAX;
	huge->flexible = false;
	huge->size = 64;
	HI_ASSERT_STREQ("r 0*8/8", slots_of(w, "itself"));
	HI_ASSERT(layout_of(w, "itself")->truncated);
	HI_ASSERT_STREQ("p 8*1/8", slots_of(w, "outside"));
	HI_ASSERT_STREQ("r 0*8/8", slots_of(w, "wide"));
}

HI_TEST(layouts, base_classes_and_vptrs_bit_fields_and_code)
{
	struct world *w = world_create();

	world_types(w, "struct Base { long *_vptr; long *p; };\n"
		       "struct Derived { Base base; long *bits; long *q; };");
	w->members[0].is_vptr = true;
	w->members[2].is_base = true;
	w->members[3].bit_size = 3;
	HI_ASSERT_STREQ("p 8*1/8 p 24*1/8", slots_of(w, "Derived"));
}

HI_TEST(layouts, the_order_of_type_candidates_is_total)
{
	static const char *const types[] = {"char", "long", "long *", "one", "two"};
	struct world *w = world_create();

	world_types(w, "struct one { long *p; };\n"
		       "struct two 16 { long *p; };");
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

/* A record and what it begins with are one, whichever is asked about first. */
HI_TEST(layouts, conflict_where_neither_begins_with_the_other)
{
	struct world *w = world_create();
	struct hi_layouts *layouts = NULL;
	hi_type_id types[3];

	world_types(w, "struct base { long *a; long n; };"
		       "struct derived { base b; long *p; };"
		       "struct other { long n; base b; };");
	types[0] = world_named(w, "base");
	types[1] = world_named(w, "derived");
	types[2] = world_named(w, "other");
	HI_ASSERT_OK(hi_layouts_create(w->source.types, &layouts, &err), &err);
	hi_test_defer(hi_layouts_destroy, layouts);
	for (unsigned i = 0; i < 3; i++)
		for (unsigned k = 0; k < 3; k++) {
			const struct hi_layout *a, *b;

			a = hi_layouts_get(layouts, hi_layouts_of(layouts, types[i]));
			b = hi_layouts_get(layouts, hi_layouts_of(layouts, types[k]));
			HI_ASSERT_EQ(i != k && (i == 2 || k == 2),
				     hi_layouts_conflict(layouts, a, b));
		}
}
