/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hints over drawn heaps: which elements of a buffer are live, where they are not all
 * in one run, and what a second pointer to such a buffer may say.
 */
#include "harness.h"
#include "support/rules_world.h"

/* 300 to 600 are items, or what was freed and is something else now; the control bytes
 * are at 800. */
#define TABLE                                                                            \
	"struct item { long id; item *other; };\n"                                       \
	"struct table { item **d; long at; long n; char *c; };\n"                        \
	"table *v = &100\n"
#define SLOTS "200 (40): &300 &400 &500 &600 "

HI_TEST(rules_live, only_full_slots_of_a_hash_table_lead_on)
{
	HI_DRAWN(TABLE "record table { d -> item *[n] full c; }\n"
		       "100 (40): &200 0 4 &800\n" SLOTS "=> item *[] -> 300 600\n"
		       "300 (24):      => item\n"
		       "400..500 (24): => untyped, leaked\n"
		       "600 (24):      => item\n"
		       "800 (24): 0x7f00ff8005\n");
}

/* The word leads to the end of the slots, whose control bytes count down: 00 ff 00 80 are
 * those of slots 3, 2, 1, 0. */
HI_TEST(rules_live, slots_may_lie_before_what_leads_to_them)
{
	HI_DRAWN(TABLE "record table { d -> item *[n] full (char *)d + n - 1 down "
		       "back n * 8; }\n"
		       "100 (40): &220 0 4 &800 => -> 200:i 800\n"
		       "200 (40): &300 &400 &500 &600 0x8000ff00 "
		       "=> item *[] -> 400 600\n"
		       "300 (24): => leaked\n"
		       "400 (24):\n"
		       "500 (24): => leaked\n"
		       "600 (24):\n"
		       "800 (24):\n");
}

/* Nothing is called leaked because a control byte cannot be read. */
HI_TEST(rules_live, slots_whose_control_bytes_are_unreadable_are_live)
{
	HI_DRAWN(TABLE "record table { d -> item *[n] full c; }\n"
		       "100 (40): &200 0 4 0x10\n" SLOTS "=> -> 300 400 500 600\n"
		       "300..600 (24):\n"
		       "800 (24): => leaked\n");
}

/* A ring goes on at its start. What no ring can be says nothing, and loses no edge. */
HI_TEST(rules_live, a_ring_goes_on_at_its_start)
{
	static const char live[] = "", dead[] = "leaked";
	static const struct {
		long long at, n;
		const char *edges, *first, *second, *third, *fourth;
	} cases[] = {
		{3, 2, "-> 300 600", live, dead, dead, live},
		{1, 2, "-> 400 500", dead, live, live, dead},
		{2, 4, "-> 300 400 500 600", live, live, live, live},
		{3, 0, "-> nothing", dead, dead, dead, dead},
		{5, 1, "", live, live, live, live},
		{0, 5, "", live, live, live, live},
		{-1, 2, "", live, live, live, live},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		HI_DRAWN(TABLE "record table { d -> item *[at .. at + n] ring 4; "
			       "c -> blob c; }\n"
			       "100 (40): &200 %lld %lld &800\n" SLOTS "=> %s\n"
			       "300 (24): => %s\n"
			       "400 (24): => %s\n"
			       "500 (24): => %s\n"
			       "600 (24): => %s\n"
			       "800 (24):\n",
			 cases[i].at, cases[i].n, cases[i].edges, cases[i].first,
			 cases[i].second, cases[i].third, cases[i].fourth);
}

/* A map of buffers: what its pointers lead to is said by others. */
HI_TEST(rules_live, pointers_of_an_array_may_give_no_types)
{
	HI_DRAWN(TABLE "record table { d -> item *[n] only; }\n"
		       "100 (40): &200 0 4\n" SLOTS "=> item *[] -> 300 400 500 600\n"
		       "300..600 (24): => untyped\n");
}

/* A second pointer to a buffer whose owner says that half of it is dead: what dead
 * slots lead to gets no type from it, whichever is seen first. */
HI_TEST(rules_live, a_second_pointer_to_a_buffer_makes_nothing_live)
{
	for (unsigned threads = 1; threads <= 4; threads *= 2)
		HI_DRAWN(TABLE "record table { d -> item *[n]; }\n"
			       "item **a = &200\n"
			       "threads %u\n"
			       "100 (40): &200 0 2\n" SLOTS "\n"
			       "300..400 (24): => item\n"
			       "500..600 (24): => untyped, leaked\n",
			 threads);
}

/* Where nothing says how many there are, all are followed, through several arrays. */
HI_TEST(rules_live, arrays_that_nothing_counts_are_followed)
{
	HI_DRAWN("struct item { long id; item *other; };\n"
		 "item ***rows = &100\n"
		 "100 (24): 0 &200   => item * *[]\n" SLOTS "=> item *[]\n"
		 "300..600 (24): => item\n");
}
