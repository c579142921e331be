/* SPDX-License-Identifier: BSD-2-Clause */
/* Note [Certain records]: what a word must have against it to be no pointer. */
#include "tests/harness.h"
#include "tests/support/typing_world.h"

#define H(offset) (WORLD_HEAP + (offset))

static void run(struct world *w)
{
	struct hi_error err;

	HI_ASSERT_OK(world_run(w, NULL, &err), &err);
}

/* struct holder { Object o; holder *next; } with a vtable in its first member */
HI_TEST(trust, the_vtable_of_a_first_member_does_not_name_the_block)
{
	for (int pointed = 0; pointed < 2; pointed++) {
		struct world *w = world_create();
		hi_type_id object =
			world_struct(w, "Object", 24, "8 long [2] : fd", NULL);

		world_struct(w, "holder", 40, "0 Object : o", "32 holder * : next", NULL);
		w->vtable_of[object] = WORLD_MODULE + 0x100;
		world_block(w, H(0), 40);
		world_block(w, H(0x100), 40);
		world_poke(w, H(0), WORLD_MODULE + 0x100);
		world_poke(w, H(0x20), H(0x100));
		world_var(w, "p", pointed ? "holder *" : "void *", H(0));
		run(w);
		HI_ASSERT_STREQ(pointed ? "holder" : "Object", world_type(w, H(0)));
		HI_ASSERT_EQ(pointed ? HI_EVIDENCE_POINTER : HI_EVIDENCE_SHAPE,
			     world_evidence(w, H(0)));
		HI_ASSERT_STREQ(pointed ? "100:e" : "100:c", world_edges(w, H(0)));
	}
}

HI_TEST(trust, the_record_with_that_member_is_found_by_its_size)
{
	struct world *w = world_create();
	hi_type_id object = world_struct(w, "Object", 24, "8 long [2] : fd", NULL);

	world_struct(w, "holder", 40, "0 Object : o", "32 holder * : next", NULL);
	world_knows_records(w);
	w->vtable_of[object] = WORLD_MODULE + 0x100;
	world_block(w, H(0), 40);
	world_block(w, H(0x100), 40);
	world_poke(w, H(0), WORLD_MODULE + 0x100);
	world_poke(w, H(0x20), H(0x100));
	world_var(w, "p", "void *", H(0));
	run(w);
	HI_ASSERT_STREQ("holder", world_type(w, H(0)));
	HI_ASSERT_EQ(HI_EVIDENCE_SHAPE, world_evidence(w, H(0)));
}

HI_TEST(trust, a_pointer_to_a_number_describes_nothing_behind_it)
{
	static const char *const types[] = {"long *", "int *", "char *"};

	for (int i = 0; i < 3; i++) {
		struct world *w = world_create();

		world_block(w, H(0), 40);
		world_block(w, H(0x100), 40);
		world_poke(w, H(0), 0x616263); /* "cba" */
		world_poke(w, H(0x18), H(0x100));
		world_var(w, "count", types[i], H(0));
		run(w);
		HI_ASSERT_STREQ("100:c", world_edges(w, H(0)));
		HI_ASSERT_EQ(HI_EVIDENCE_SHAPE, world_evidence(w, H(0)));
	}
}

HI_TEST(trust, a_text_that_fills_its_block_holds_no_pointers)
{
	struct world *w = world_create();

	world_block(w, H(0), 24);
	world_block(w, H(0x100), 40);
	world_poke(w, H(0), 0x6161616161616161);
	world_poke(w, H(8), 0x6161);
	world_poke(w, H(0x10), H(0x100));
	world_var(w, "text", "char *", H(0));
	run(w);
	HI_ASSERT_STREQ("", world_edges(w, H(0)));
	HI_ASSERT_EQ(HI_EVIDENCE_POINTER, world_evidence(w, H(0)));
}

/* struct list { list *next; long n[2]; }: of its own size n is a number, else it may be
 * anything. */
HI_TEST(trust, a_record_that_does_not_fill_its_block_is_inferred)
{
	for (int fits = 0; fits < 2; fits++) {
		struct world *w = world_create();

		world_struct(w, "list", 24, "0 list * : next", "8 long [2] : n", NULL);
		world_block(w, H(0), fits ? 24 : 40);
		world_block(w, H(0x100), 24);
		world_poke(w, H(8), H(0x100));
		world_var(w, "head", "list *", H(0));
		run(w);
		HI_ASSERT_STREQ("list", world_type(w, H(0)));
		HI_ASSERT_EQ(fits ? HI_EVIDENCE_POINTER : HI_EVIDENCE_SHAPE,
			     world_evidence(w, H(0)));
		HI_ASSERT_STREQ(fits ? "" : "100:c", world_edges(w, H(0)));
	}
}

/* Words that are pointers are no less so in it, and lead there once. */
HI_TEST(trust, pointers_of_an_inferred_record_are_typed_and_found_once)
{
	struct world *w = world_create();

	world_struct(w, "list", 24, "0 list * : next", "8 long [2] : n", NULL);
	world_block(w, H(0), 40);
	world_block(w, H(0x100), 24);
	world_block(w, H(0x200), 24);
	world_poke(w, H(0), H(0x100));
	world_poke(w, H(0x20), H(0x200));
	world_var(w, "head", "list *", H(0));
	run(w);
	HI_ASSERT_STREQ("100:e 200:c", world_edges(w, H(0)));
	HI_ASSERT_STREQ("list", world_type(w, H(0x100)));
	HI_ASSERT_EQ(HI_EVIDENCE_POINTER, world_evidence(w, H(0x100)));
}

/* struct item { long k; node n; void *p; } with k = 1: no `new node[1]` */
HI_TEST(trust, a_key_of_one_is_no_count)
{
	struct world *w = world_create();

	world_struct(w, "node", 24, "0 long : color", "8 node * : l", "16 node * : r",
		     NULL);
	world_block(w, H(0), 40);
	world_block(w, H(0x100), 24);
	world_poke(w, H(0), 1);
	world_poke(w, H(0x20), H(0x100));
	world_var(w, "root", "node *", H(8));
	run(w);
	HI_ASSERT_STREQ("", world_type(w, H(0)));
	HI_ASSERT_STREQ("100:c", world_edges(w, H(0)));
}

/* atomic<unsigned long> { unsigned long word; } and one whose argument is something
 * else */
HI_TEST(trust, an_integer_that_is_a_template_argument_may_be_a_pointer)
{
	for (int is_argument = 0; is_argument < 2; is_argument++) {
		struct world *w = world_create();

		world_struct(w, "atomic<T>", 24, "0 long : word", "8 long [2] : more",
			     NULL);
		world_arg(w, "atomic<T>", is_argument ? "long" : "int", 0);
		world_block(w, H(0), 24);
		world_block(w, H(0x100), 24);
		world_block(w, H(0x200), 24);
		world_poke(w, H(0), H(0x100));
		world_poke(w, H(0x10), H(0x200));
		world_var(w, "head", "atomic<T> *", H(0));
		run(w);
		HI_ASSERT_STREQ(is_argument ? "100:c 200:c" : "", world_edges(w, H(0)));
	}
}

HI_TEST(trust, counted_integers_as_wide_as_pointers_are_words)
{
	struct world *w = world_create();

	world_struct(w, "vec", 16, "0 long * : first", "8 long : n", NULL);
	w->hints = "hints x\nrecord vec { first -> long[n]; }";
	world_block(w, H(0), 24);
	world_block(w, H(0x100), 40);
	world_block(w, H(0x200), 24);
	world_block(w, H(0x300), 24);
	world_poke(w, H(0), H(0x100));
	world_poke(w, H(8), 2);
	world_poke(w, H(0x108), H(0x200));
	world_poke(w, H(0x110), H(0x300)); /* behind the second: dead */
	world_var(w, "v", "vec *", H(0));
	run(w);
	HI_ASSERT_STREQ("200:c", world_edges(w, H(0x100)));
	HI_ASSERT_STREQ("300", world_leaks(w));
}
