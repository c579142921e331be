/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hints over drawn heaps: which elements of a buffer are live, where they are not all
 * in one run, and what a second pointer to such a buffer may say. Blocks are named by
 * their distance from the heap's start, "100" is the block at WORLD_HEAP + 0x100.
 */
#include "harness.h"
#include "support/typing_world.h"

#define H(offset) (WORLD_HEAP + (offset))

static struct hi_error err;

static void run(struct world *w)
{
	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
	HI_ASSERT_STREQ("", world_warning(w, 0));
	HI_ASSERT(hi_graph_is_valid(w->graph));
}

/*
 * v -> 100 table { at, c, n } -> 200 [ &300, &400, &500, &600 ], control bytes at
 * 800. 300 … 600 are items, or what was freed and is something else now.
 */
static struct world *table(const char *hints, uint64_t at, uint64_t n, uint64_t usable)
{
	struct world *w = world_create();

	w->hints = hints;
	world_struct(w, "item", 16, "0 long : id", "8 item * : other", NULL);
	world_struct(w, "table", 32, "0 item * * : d", "8 long : at", "16 long : n",
		     "24 char * : c", NULL);
	world_block(w, H(0x100), 40);
	world_block(w, H(0x200), usable);
	for (uint64_t i = 3; i <= 6; i++) {
		world_block(w, H(0x100 * i), 24);
		world_poke(w, H(0x200) + 8 * (i - 3), H(0x100 * i));
	}
	world_block(w, H(0x800), 24);
	world_var(w, "v", "table *", H(0x100));
	world_poke(w, H(0x100), H(0x200));
	world_poke(w, H(0x108), at);
	world_poke(w, H(0x110), n);
	world_poke(w, H(0x118), H(0x800));
	return w;
}

HI_TEST(rules_live, only_full_slots_of_a_hash_table_lead_on)
{
	struct world *w =
		table("hints x\nrecord table { d -> item *[n] full c; }", 0, 4, 40);

	world_poke(w, H(0x800), 0x7f00ff80ull << 8 | 0x05);
	run(w);
	HI_ASSERT_STREQ("item *[]", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("300:e 600:e", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x300)));
	HI_ASSERT_STREQ("", world_type(w, H(0x400)));
	HI_ASSERT_STREQ("400 500", world_leaks(w));
}

/* The word leads behind the slots, whose control bytes count down. */
HI_TEST(rules_live, slots_may_lie_before_what_leads_to_them)
{
	struct world *w = table("hints x\nrecord table { d -> item *[n] full (char *)d + "
				"n - 1 down back n * 8; }",
				0, 4, 40);

	world_poke(w, H(0x100), H(0x220));
	world_poke(w, H(0x220), 0x8000ff00);
	run(w);
	HI_ASSERT_STREQ("200:i 800:e", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("item *[]", world_type(w, H(0x200)));
	/* Bytes 00 ff 00 80: slots 3, 2, 1, 0. */
	HI_ASSERT_STREQ("400:e 600:e", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("300 500", world_leaks(w));
}

/* Nothing is called leaked because a control byte cannot be read. */
HI_TEST(rules_live, slots_whose_control_bytes_are_unreadable_are_live)
{
	struct world *w =
		table("hints x\nrecord table { d -> item *[n] full c; }", 0, 4, 40);

	world_poke(w, H(0x118), 0x10);
	run(w);
	HI_ASSERT_STREQ("300:e 400:e 500:e 600:e", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("800", world_leaks(w));
}

HI_TEST(rules_live, a_ring_goes_on_at_its_start)
{
	static const struct {
		uint64_t at, n;
		const char *edges, *leaks;
	} cases[] = {
		{3, 2, "300:e 600:e", "400 500"},
		{1, 2, "400:e 500:e", "300 600"},
		{2, 4, "300:e 400:e 500:e 600:e", ""},
		{3, 0, "", "300 400 500 600"},
	};

	for (unsigned i = 0; i < 4; i++) {
		struct world *w = table("hints x\nrecord table { d -> item *[at .. at + "
					"n] ring 4; c -> blob c; }",
					cases[i].at, cases[i].n, 40);

		run(w);
		HI_ASSERT_STREQ(cases[i].edges, world_edges(w, H(0x200)));
		HI_ASSERT_STREQ(cases[i].leaks, world_leaks(w));
	}
}

/* What no ring can be says nothing, and loses no edge. */
HI_TEST(rules_live, a_ring_that_cannot_be_loses_no_edge)
{
	static const uint64_t cases[][2] = {{5, 1}, {0, 5}, {UINT64_MAX, 2}};

	for (unsigned i = 0; i < 3; i++) {
		struct world *w = table("hints x\nrecord table { d -> item *[at .. at + "
					"n] ring 4; c -> blob c; }",
					cases[i][0], cases[i][1], 40);

		run(w);
		HI_ASSERT_STREQ("", world_leaks(w));
	}
}

/* A map of buffers: what its pointers lead to is said by others. */
HI_TEST(rules_live, pointers_of_an_array_may_give_no_types)
{
	struct world *w =
		table("hints x\nrecord table { d -> item *[n] only; }", 0, 4, 40);

	run(w);
	HI_ASSERT_STREQ("item *[]", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("300:e 400:e 500:e 600:e", world_edges(w, H(0x200)));
	HI_ASSERT_STREQ("", world_type(w, H(0x300)));
	HI_ASSERT_STREQ("", world_leaks(w));
}

/* A second pointer to a buffer whose owner says that half of it is dead: what dead
 * slots lead to gets no type from it, whichever is seen first. */
HI_TEST(rules_live, a_second_pointer_to_a_buffer_makes_nothing_live)
{
	for (unsigned threads = 1; threads <= 4; threads *= 2) {
		struct hi_typing_options options = {.threads = threads};
		struct world *w =
			table("hints x\nrecord table { d -> item *[n]; }", 0, 2, 40);

		world_var(w, "a", "item * *", H(0x200));
		HI_ASSERT_OK(world_run(w, &options, &err), &err);
		HI_ASSERT_STREQ("item", world_type(w, H(0x300)));
		HI_ASSERT_STREQ("item", world_type(w, H(0x400)));
		HI_ASSERT_STREQ("", world_type(w, H(0x500)));
		HI_ASSERT_STREQ("500 600", world_leaks(w));
	}
}

/* Where nothing says how many there are, all are followed, through several arrays. */
HI_TEST(rules_live, arrays_that_nothing_counts_are_followed)
{
	struct world *w = table(NULL, 0, 0, 40);

	world_struct(w, "outer", 16, "0 item * * * : rows", "8 long : n", NULL);
	world_block(w, H(0x900), 24);
	world_poke(w, H(0x908), H(0x200));
	world_var(w, "rows", "item * * *", H(0x900));
	world_poke(w, H(0x100), 0);
	run(w);
	HI_ASSERT_STREQ("item * *[]", world_type(w, H(0x900)));
	HI_ASSERT_STREQ("item *[]", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x600)));
}
