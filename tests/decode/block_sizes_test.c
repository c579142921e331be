/* SPDX-License-Identifier: BSD-2-Clause */
/* How allocators round sizes up, and what the types of blocks make of it. */
#include "decode/allocator.h"
#include "harness.h"
#include "support/typing_world.h"

#define H(offset) (WORLD_HEAP + (offset))

static struct hi_error err;
static const uint64_t classes[] = {16, 32, 48, 64, 80, 4096};

HI_TEST(block_sizes, requests_are_rounded_to_classes_and_beyond_them_to_steps)
{
	struct hi_allocator a = {.sizes = classes, .n_sizes = 6, .size_step = 8192};
	struct hi_block_sizes sizes;

	hi_block_sizes_of(&a, &sizes);
	HI_ASSERT_EQ(1, sizes.n);
	HI_ASSERT_EQ(16, hi_fit_usable(&sizes, 0));
	HI_ASSERT_EQ(16, hi_fit_usable(&sizes, 16));
	HI_ASSERT_EQ(32, hi_fit_usable(&sizes, 17));
	HI_ASSERT_EQ(4096, hi_fit_usable(&sizes, 81));
	HI_ASSERT_EQ(8192, hi_fit_usable(&sizes, 4097));
	HI_ASSERT_EQ(16384, hi_fit_usable(&sizes, 8193));
	HI_ASSERT_EQ(UINT64_MAX, hi_fit_usable(&sizes, UINT64_MAX));
	HI_ASSERT(hi_fit_is(&sizes, 72, 80));
	HI_ASSERT(!hi_fit_is(&sizes, 72, 72)); /* as glibc */
	a.size_step = 0;
	hi_block_sizes_of(&a, &sizes);
	HI_ASSERT_EQ(4097, hi_fit_usable(&sizes, 4097));
}

HI_TEST(block_sizes, sizes_of_mallocng_are_those_requested)
{
	struct hi_allocator a = {.size_step = 1};
	struct hi_block_sizes sizes;

	hi_block_sizes_of(&a, &sizes);
	HI_ASSERT_EQ(0, hi_fit_usable(&sizes, 0));
	HI_ASSERT_EQ(17, hi_fit_usable(&sizes, 17));
	hi_block_sizes_of(NULL, &sizes);
	HI_ASSERT_EQ(24, hi_fit_usable(&sizes, 17));
	a.size_step = 0;
	hi_block_sizes_of(&a, &sizes); /* says nothing: as glibc */
	HI_ASSERT_EQ(24, hi_fit_usable(&sizes, 17));
}

HI_TEST(block_sizes, several_allocators_may_have_given_a_block)
{
	struct hi_allocator glibc = {.bytes = {[HI_BLOCK_LIVE] = 100}};
	struct hi_allocator other = {
		.sizes = classes, .n_sizes = 6, .bytes = {[HI_BLOCK_LIVE] = 1000}};
	struct hi_allocator *parts[] = {&glibc, &other};
	struct hi_allocator all = {.parts = parts, .n_parts = 2};
	struct hi_block_sizes sizes;

	hi_block_sizes_of(&all, &sizes);
	HI_ASSERT_EQ(80, hi_fit_usable(&sizes, 72));
	HI_ASSERT(hi_fit_is(&sizes, 72, 80));
	HI_ASSERT(hi_fit_is(&sizes, 72, 72));
	HI_ASSERT(!hi_fit_is(&sizes, 72, 88));
	glibc.bytes[HI_BLOCK_LIVE] = 2000;
	hi_block_sizes_of(&all, &sizes);
	HI_ASSERT_EQ(72, hi_fit_usable(&sizes, 72));
}

/* head -> three nodes of 24 bytes in 80; one -> a node in 32, with an integer
 * that looks like a pointer. */
static struct world *draw_classes(struct hi_allocator *a)
{
	static const struct hi_heap_region heap = {.start = WORLD_HEAP,
						   .end = WORLD_HEAP + WORLD_HEAP_SIZE};
	struct world *w = world_create();

	a->regions = &heap; /* no roots in it */
	a->n_regions = 1;
	w->allocator = a;
	world_types(w, "struct node { node *next; long a; long b; };");
	world_block(w, H(0x100), 80);
	world_block(w, H(0x200), 32);
	world_block(w, H(0x300), 32);
	world_var(w, "head", "node *", H(0x100));
	world_var(w, "one", "node *", H(0x200));
	world_poke(w, H(0x118), H(0x200)); /* the second one's next */
	world_poke(w, H(0x208), H(0x300)); /* an integer */
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	return w;
}

HI_TEST(block_sizes, arrays_and_padding_are_those_of_the_allocator)
{
	struct hi_allocator slabs = {.sizes = classes, .n_sizes = 6}, glibc = {};
	struct world *w = draw_classes(&slabs);

	HI_ASSERT_STREQ("node[]", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("200:e", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("300", world_leaks(w));
	/* glibc gives 72 and 24: these blocks have something behind the nodes. */
	w = draw_classes(&glibc);
	HI_ASSERT_STREQ("node", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("300:c", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("", world_leaks(w));
}

/* If blocks lie side by side, the end of one is the start of the next: pairs of a
 * begin and an end, in a variable and in a block. */
HI_TEST(block_sizes, one_past_the_end_of_an_array_leads_to_no_element)
{
	struct hi_allocator slabs = {.sizes = classes, .n_sizes = 6};
	static const struct hi_heap_region heap = {.start = WORLD_HEAP,
						   .end = WORLD_HEAP + WORLD_HEAP_SIZE};
	struct world *w = world_create();

	slabs.regions = &heap;
	slabs.n_regions = 1;
	w->allocator = &slabs;
	world_types(w, "struct item { item *next; long n; };\n"
		       "struct range { item *b; item *e; };");
	world_block(w, H(0x100), 32);
	world_block(w, H(0x120), 32);
	world_block(w, H(0x200), 32);
	world_block(w, H(0x220), 32);
	world_block(w, H(0x300), 16);
	world_poke(w, world_var(w, "all", "range", H(0x100)) + 8, H(0x120));
	world_poke(w, world_var(w, "more", "range *", H(0x300)), H(0x300));
	world_poke(w, H(0x300), H(0x200));
	world_poke(w, H(0x308), H(0x220));
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("item[]", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("", world_type(w, H(0x120)));
	HI_ASSERT_STREQ("item[]", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("", world_type(w, H(0x220)));
}
