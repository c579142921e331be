/* SPDX-License-Identifier: BSD-2-Clause */
/* Hints about records that lie in local variables, in memory and in registers. */
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

static void blocks(struct world *w, unsigned first, unsigned last, uint64_t usable)
{
	for (unsigned i = first; i <= last; i++)
		world_block(w, H(0x100ull * i), usable);
}

static struct world *drawn(const char *hints)
{
	struct world *w = world_create();

	w->hints = hints;
	world_struct(w, "item", 16, "0 long : a", "8 long : b", NULL);
	world_struct(w, "vec", 24, "0 void * : d", "8 long : n", "16 item * : last",
		     NULL);
	return w;
}

/* vec v = { d = &100, n = 2, last = &500 }; 100 [ &200, &300 | &400 ] */
HI_TEST(rules_roots, a_record_in_a_variable_follows_its_hints)
{
	struct world *w = drawn("hints x\nrecord vec { d -> item *[n]; }");
	uint64_t v;

	blocks(w, 1, 1, 40);
	blocks(w, 2, 6, 24);
	v = world_var(w, "v", "vec", H(0x100));
	world_poke(w, v + 8, 2);
	world_poke(w, v + 16, H(0x500));
	for (uint64_t i = 0; i < 3; i++)
		world_poke(w, H(0x100) + 8 * i, H(0x200) + 0x100 * i);
	run(w);
	HI_ASSERT_STREQ("item *[]", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("200:e 300:e", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x500)));
	HI_ASSERT_EQ(1, w->graph->n_roots);
	HI_ASSERT_STREQ("thread 7 draw(): v", w->graph->roots[0].name);
	HI_ASSERT_EQ(2, hi_graph_edges(w->graph, w->graph->first_root).count);
	HI_ASSERT_STREQ("400 600", world_leaks(w));
}

/* The same record in registers: its bytes are in no memory. */
HI_TEST(rules_roots, a_record_in_registers_follows_its_hints)
{
	struct world *w = drawn("hints x\nrecord pair { d -> item *[n]; }");
	uint64_t value[2] = {H(0x100), 1};
	struct hi_local *local;

	blocks(w, 1, 4, 24);
	world_struct(w, "pair", 16, "0 void * : d", "8 long : n", NULL);
	local = &w->locals[w->n_locals++];
	*local = (struct hi_local){.name = "p",
				   .function = "draw",
				   .type = world_named(w, "pair"),
				   .size = 16,
				   .value_mask = 0xffff};
	memcpy(local->value, value, sizeof(value));
	world_poke(w, H(0x100), H(0x200));
	world_poke(w, H(0x108), H(0x300));
	run(w);
	HI_ASSERT_STREQ("item *[]", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("200:e", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("300 400", world_leaks(w));
}

/* The sentinel of a ring is in the variable; weak words of it retain nothing. */
HI_TEST(rules_roots, a_ring_whose_sentinel_is_a_variable_ends_there)
{
	struct world *w = drawn("hints x\nrecord owner {\n\thead.next each "
				"((link *)$)->next until $ == (link *)this"
				" -> node in l;\n\thead.prev weak;\n}");
	uint64_t o;

	world_struct(w, "link", 16, "0 link * : next", "8 link * : prev", NULL);
	world_struct(w, "node", 40, "0 long : id", "8 link : l", "24 item * : it", NULL);
	world_struct(w, "owner", 24, "0 link : head", "16 long : n", NULL);
	blocks(w, 1, 3, 40);
	blocks(w, 4, 4, 24);
	o = world_var(w, "o", "owner", H(0x108));
	world_poke(w, H(0x108), H(0x208));
	world_poke(w, H(0x208), o);
	world_poke(w, H(0x218), H(0x400));
	world_poke(w, o + 8, H(0x308)); /* torn: prev leads to what next never meets */
	run(w);
	HI_ASSERT_STREQ("node", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("node", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x400)));
	HI_ASSERT_EQ(0, w->typing->stats.bounded);
	HI_ASSERT_STREQ("", world_type(w, H(0x300)));
	HI_ASSERT_STREQ("300", world_leaks(w));
}

/* A pool whose owner is a variable; the slots' items lead further. */
HI_TEST(rules_roots, slots_of_a_pool_that_a_variable_owns_are_split_off)
{
	struct world *w =
		drawn("hints x\nrecord slab {\n"
		      "\tslots pool n of 64 switch *(long *)$ { 1: holder; }\n}");
	uint64_t s;

	world_struct(w, "slab", 16, "0 void * : slots", "8 long : n", NULL);
	world_struct(w, "holder", 24, "0 long : used", "8 item * : it",
		     "16 holder * : next", NULL);
	blocks(w, 1, 3, 24);
	world_block(w, H(0x1000), 520);
	s = world_var(w, "s", "slab", H(0x1000));
	world_poke(w, s + 8, 4);
	world_poke(w, H(0x1000), 1);
	world_poke(w, H(0x1008), H(0x100));
	world_poke(w, H(0x1010), H(0x1080));
	world_poke(w, H(0x1080), 1);
	world_poke(w, H(0x1088), H(0x200));
	run(w);
	HI_ASSERT_STREQ("holder", world_type(w, H(0x1000)));
	HI_ASSERT_STREQ("holder", world_type(w, H(0x1080)));
	HI_ASSERT_EQ(2, w->typing->stats.subobjects.count);
	HI_ASSERT_STREQ("item", world_type(w, H(0x100)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("300", world_leaks(w));
}

/* A value goes along from a variable: dict d = { kind, first }; */
HI_TEST(rules_roots, context_comes_from_variables_too)
{
	struct world *w = drawn("hints x\ncontext on : long;\n"
				"record dict { first -> cell with on = kind; }\n"
				"record cell { v -> item if on == 5; }");
	uint64_t d;

	world_struct(w, "cell", 24, "0 cell * : next", "8 void * : v", "16 long : x",
		     NULL);
	world_struct(w, "dict", 16, "0 long : kind", "8 cell * : first", NULL);
	blocks(w, 1, 6, 24);
	for (uint64_t i = 0; i < 2; i++) {
		d = world_var(w, i ? "five" : "four", "dict", 4 + i);
		world_poke(w, d + 8, H(0x100 + 0x300 * i));
		world_poke(w, H(0x100 + 0x300 * i), H(0x200 + 0x300 * i));
		world_poke(w, H(0x208 + 0x300 * i), H(0x300 + 0x300 * i));
	}
	run(w);
	HI_ASSERT_STREQ("cell", world_type(w, H(0x200)));
	HI_ASSERT_STREQ("", world_type(w, H(0x300)));
	HI_ASSERT_STREQ("item", world_type(w, H(0x600)));
	HI_ASSERT_STREQ("300", world_leaks(w));
}
