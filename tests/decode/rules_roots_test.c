/* SPDX-License-Identifier: BSD-2-Clause */
/* Hints about records that lie in local variables, in memory and in registers. */
#include "harness.h"
#include "support/rules_world.h"

#define VEC                                                                              \
	"struct item { long a; long b; };\n"                                             \
	"struct vec { void *d; long n; item *last; };\n"

HI_TEST(rules_roots, a_record_in_a_variable_follows_its_hints)
{
	struct world *w = HI_DRAWN(VEC "record vec { d -> item *[n]; }\n"
				       "vec v = &100 2 &500\n"
				       "100 (40): &200 &300 &400 => item *[] -> 200 300\n"
				       "200..300 (24): => item\n"
				       "400 (24):      => leaked\n"
				       "500 (24):      => item\n"
				       "600 (24):      => leaked\n");

	HI_ASSERT_EQ(1, w->graph->n_roots);
	HI_ASSERT_STREQ("thread 7 draw(): v", w->graph->roots[0].name);
	HI_ASSERT_EQ(2, hi_graph_edges(w->graph, w->graph->first_root).count);
}

/* The same record in registers: its bytes are in no memory. */
HI_TEST(rules_roots, a_record_in_registers_follows_its_hints)
{
	HI_DRAWN("struct item { long a; long b; };\n"
		 "struct pair { void *d; long n; };\n"
		 "record pair { d -> item *[n]; }\n"
		 "register pair p = &100 1\n"
		 "100 (24): &200 &300 => item *[] -> 200\n"
		 "200 (24):           => item\n"
		 "300 (24):           => leaked\n"
		 "400 (24):           => leaked\n");
}

/* The sentinel of a ring is in the variable; weak words of it retain nothing. It is
 * torn: prev leads to what next never meets. */
HI_TEST(rules_roots, a_ring_whose_sentinel_is_a_variable_ends_there)
{
	struct world *w = HI_DRAWN("struct item { long a; long b; };\n"
				   "struct link { link *next; link *prev; };\n"
				   "struct node 40 { long id; link l; item *it; };\n"
				   "struct owner { link head; long n; };\n"
				   "record owner { head.next each ((link *)$)->next "
				   "until $ == (link *)this -> node in l; "
				   "head.prev weak; }\n"
				   "owner o = &108 &308\n" /* at S0 */
				   "100 (40): 0 &208        => node\n"
				   "200 (40): 0 &S0 0 &400  => node\n"
				   "300 (40): => untyped, leaked\n"
				   "400 (24): => item\n");

	HI_ASSERT_EQ(0, w->typing->stats.bounded);
}

/* A pool whose owner is a variable; the slots' items lead further. */
HI_TEST(rules_roots, slots_of_a_pool_that_a_variable_owns_are_split_off)
{
	struct world *w = HI_DRAWN(
		"struct item { long a; long b; };\n"
		"struct slab { void *slots; long n; };\n"
		"struct holder { long used; item *it; holder *next; };\n"
		"record slab { slots pool n of 64 switch *(long *)$ { 1: holder; } }\n"
		"slab s = &1000 4\n"
		"100..200 (24):      => item\n"
		"300 (24):           => leaked\n"
		"1000 (520): 1 &100 &1080 => holder size 24\n"
		"1018:               => size 104\n"
		"1080: 1 &200        => holder size 24\n"
		"1098:               => size 368\n");

	HI_ASSERT_EQ(2, w->typing->stats.subobjects.count);
}

/* A value goes along from a variable. */
HI_TEST(rules_roots, context_comes_from_variables_too)
{
	HI_DRAWN("struct item { long a; long b; };\n"
		 "struct cell { cell *next; void *v; long x; };\n"
		 "struct dict { long kind; cell *first; };\n"
		 "context on : long;\n"
		 "record dict { first -> cell with on = kind; }\n"
		 "record cell { v -> item if on == 5; }\n"
		 "dict four = 4 &100\n"
		 "dict five = 5 &400\n"
		 "100 (24): &200\n"
		 "200 (24): 0 &300 => cell\n"
		 "300 (24):        => untyped, leaked\n"
		 "400 (24): &500\n"
		 "500 (24): 0 &600 => cell\n"
		 "600 (24):        => item\n");
}
