/* SPDX-License-Identifier: BSD-2-Clause */
/* What lies in an allocator's own memory is no reference of the program. */
#include "decode/inference/verdict.h"
#include "harness.h"
#include "support/typing_world.h"

#define H(offset) (WORLD_HEAP + (offset))
#define FAR 0x20000000ull /* a mapping without blocks: its words are roots */
#define PAGE 4096ull

static struct hi_error err;

static struct world *draw_caches(struct hi_allocator *a, const struct hi_range *own,
				 size_t n)
{
	struct world *w = world_create();

	a->own = own;
	a->n_own = n;
	w->allocator = a;
	for (uint64_t i = 1; i <= 6; i++)
		world_block(w, H(0x100 * i), 40);
	world_mapping(w, FAR, 4 * PAGE);
	world_poke(w, FAR, H(0x100));
	world_poke(w, FAR + 0x808, H(0x200)); /* the first word of its own */
	world_poke(w, FAR + PAGE, H(0x300));
	world_poke(w, FAR + 2 * PAGE - 8, H(0x400)); /* the last one */
	world_poke(w, FAR + 2 * PAGE, H(0x500));
	world_poke(w, FAR + 4 * PAGE - 8, H(0x600));
	return w;
}

static void run_caches(struct world *w)
{
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT(hi_graph_is_valid(w->graph));
}

HI_TEST(allocator_own, a_word_in_its_own_memory_keeps_no_leak_alive)
{
	const struct hi_range own[] = {{FAR + PAGE, FAR + 2 * PAGE},
				       {FAR + 0x808, FAR + PAGE + 16}};
	struct hi_allocator a = {};
	struct world *w = draw_caches(&a, own, 2);

	run_caches(w);
	HI_ASSERT_STREQ("200 300 400", world_leaks(w));
	a.n_own = 0;
	run_caches(w);
	HI_ASSERT_STREQ("", world_leaks(w));
}

/* A range over all of it, ranges beside it, and an empty one. */
HI_TEST(allocator_own, ranges_may_be_wider_than_what_is_searched)
{
	const struct hi_range own[] = {{FAR - PAGE, FAR + 5 * PAGE},
				       {FAR + PAGE, FAR + PAGE},
				       {1, PAGE},
				       {UINT64_MAX - PAGE, UINT64_MAX}};
	struct hi_allocator a = {};
	struct world *w = draw_caches(&a, own, 4);

	run_caches(w);
	HI_ASSERT_STREQ("100 200 300 400 500 600", world_leaks(w));
	a.own = own + 1;
	a.n_own = 3;
	run_caches(w);
	HI_ASSERT_STREQ("", world_leaks(w));
}

/* A variable of the allocator is typed, and still no root. */
HI_TEST(allocator_own, a_variable_in_it_is_no_root)
{
	struct hi_allocator a = {};
	struct hi_range own;
	struct world *w = world_create();
	uint64_t cache, other;

	world_types(w, "struct cache { void *first; void *last; };");
	world_block(w, H(0x100), 40);
	world_block(w, H(0x200), 40);
	cache = world_var(w, "cache", "cache", H(0x100));
	other = world_var(w, "other", "cache", H(0x200));
	own = (struct hi_range){cache, cache + 16};
	w->allocator = &a;
	HI_ASSERT(other >= cache + 16);
	run_caches(w);
	HI_ASSERT_STREQ("", world_leaks(w));
	a.own = &own;
	a.n_own = 1;
	run_caches(w);
	HI_ASSERT_STREQ("100", world_leaks(w));
}

/* The slots of a thread cache keep pointers that were taken out of it. */
HI_TEST(allocator_own, an_internal_block_refers_to_nothing)
{
	struct world *w = world_create();

	world_block(w, H(0x100), 200);
	world_block(w, H(0x200), 40);
	world_block(w, H(0x300), 40);
	world_var(w, "tcache", "void *", H(0x100));
	world_poke(w, H(0x108), H(0x200));
	run_caches(w);
	HI_ASSERT_STREQ("300", world_leaks(w));
	w->blocks.items[0].state = HI_BLOCK_INTERNAL;
	run_caches(w);
	HI_ASSERT_STREQ("200 300", world_leaks(w));
}
