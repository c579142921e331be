/* SPDX-License-Identifier: BSD-2-Clause */
/* Note [Certain records]: what a word must have against it to be no pointer. */
#include "tests/harness.h"
#include "tests/support/rules_world.h"

/* A vtable in the first member names the block only if it is all that is known. */
HI_TEST(trust, the_vtable_of_a_first_member_does_not_name_the_block)
{
	static const char *const cases[][2] = {
		{"void *", "Object (shape) -> 100:c"},
		{"holder *", "holder (pointer) -> 100"},
		{"knows records\nvoid *", "holder (shape)"},
	};

	for (int i = 0; i < 3; i++)
		HI_DRAWN("struct Object 24 { @8 long fd[2]; };\n"
			 "struct holder { Object o; @32 holder *next; };\n"
			 "vtable Object M100\n"
			 "%sp = &0\n"
			 "0 (40): &M100 @32 &100 => %s\n"
			 "100 (40):\n",
			 cases[i][0], cases[i][1]);
}

HI_TEST(trust, a_pointer_to_a_number_describes_nothing_behind_it)
{
	static const char *const types[] = {"long", "int", "char"};

	for (int i = 0; i < 3; i++)
		HI_DRAWN("%s *count = &0\n"
			 "0 (40): 'cba' @24 &100 => (shape) -> 100:c\n"
			 "100 (40):\n",
			 types[i]);
}

HI_TEST(trust, a_text_that_fills_its_block_holds_no_pointers)
{
	HI_DRAWN("char *text = &0\n"
		 "0 (24): 'aaaaaaaaaa' @16 &100 => (pointer) -> nothing\n"
		 "100 (40): => leaked\n");
}

#define LIST "struct list { list *next; long n[2]; };\nlist *head = &0\n"

/* In a block of its own size n is a number, else it may be anything. */
HI_TEST(trust, a_record_that_does_not_fill_its_block_is_inferred)
{
	HI_DRAWN(LIST "0 (40): 0 &100 => list (base) -> 100:c\n"
		      "100 (24):\n");
	HI_DRAWN(LIST "0 (24): 0 &100 => list (pointer) -> nothing\n"
		      "100 (24): => leaked\n");
}

/* Words that are pointers are no less so in it, and lead there once. */
HI_TEST(trust, pointers_of_an_inferred_record_are_typed_and_found_once)
{
	HI_DRAWN(LIST "0 (40): &100 @32 &200 => -> 100 200:c\n"
		      "100 (24): => list (pointer)\n"
		      "200 (24):\n");
}

/* struct item { long k; node n; void *p; } with k = 1: no `new node[1]` */
HI_TEST(trust, a_key_of_one_is_no_count)
{
	HI_DRAWN("struct node { long color; node *l; node *r; };\n"
		 "node *root = &8\n"
		 "0 (40): 1 @32 &100 => untyped -> 100:c\n"
		 "100 (24):\n");
}

HI_TEST(trust, an_integer_that_is_a_template_argument_may_be_a_pointer)
{
	static const char *const cases[][3] = {{"long", "100:c 200:c", ""},
					       {"int", "nothing", "leaked"}};

	for (int i = 0; i < 2; i++)
		HI_DRAWN("struct atomic<%s> { long word; long more[2]; };\n"
			 "atomic<%s> *head = &0\n"
			 "0 (24): &100 0 &200 => -> %s\n"
			 "100..200 (24): => %s\n",
			 cases[i][0], cases[i][0], cases[i][1], cases[i][2]);
}

HI_TEST(trust, counted_integers_as_wide_as_pointers_are_words)
{
	HI_DRAWN("struct vec { long *first; long n; };\n"
		 "record vec { first -> long[n]; }\n"
		 "vec *v = &0\n"
		 "0 (24): &100 2\n"
		 "100 (40): 0 &200 &300 => -> 200:c\n"
		 "200 (24):\n"
		 "300 (24): => leaked\n");
}
