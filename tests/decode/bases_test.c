/* SPDX-License-Identifier: BSD-2-Clause */
/* Note [Bases]: blocks of which a pointer's type may be only the beginning. */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/rules_world.h"

#define FIRST_MEMBERS                                                                    \
	"struct node { long kind; node *next; };\n"                                      \
	"struct pay { long d[4]; };\n"                                                   \
	"struct d1 { node n; pay *p; };\n"                                               \
	"struct d2 { node n; char name[40]; };\n"                                        \
	"node *head = &100\n"

/* The list of a base: d1 has the size of a base's block, and pointers of its own. */
HI_TEST(bases, records_that_begin_with_the_type_are_told_apart_by_a_tag)
{
	HI_DRAWN(FIRST_MEMBERS "knows records\n"
			       "100 (24): 1 &200 &900 => d1 (shape) -> 200 900\n"
			       "200 (56): 2 &300      => d2 (shape) -> 300\n"
			       "300 (24): 1 &400 &a00 => d1 (shape) -> 400 a00\n"
			       "400 (56): 2 &500      => d2 (shape) -> 500\n"
			       "500 (24): 1 0 0       => d1 (shape)\n"
			       "900 (40):             => pay (shape)\n"
			       "a00 (40):             => pay (shape)\n");
}

/* Nothing speaks for either: the pointer's type, but not exactly. */
HI_TEST(bases, a_type_that_may_be_the_beginning_of_another_is_no_exact_one)
{
	HI_DRAWN(FIRST_MEMBERS "knows records\n"
			       "100 (24): 1 &200 => node (base) -> 200\n"
			       "200 (24): 1 0    => node (base)\n");
	HI_DRAWN(FIRST_MEMBERS "100 (24): 1 &200 => node (pointer) -> 200\n"
			       "200 (24): 1 0    => node (pointer)\n");
}

/* A number where each larger record has a pointer. */
HI_TEST(bases, a_type_is_exact_where_words_contradict_all_larger_ones)
{
	HI_DRAWN(FIRST_MEMBERS "knows records\n"
			       "100 (24): 1 &200 7 => node (pointer) -> 200\n"
			       "200 (24): 1 0 9    => node (pointer)\n");
}

#define HEADERS                                                                          \
	"struct hdr { hdr *next; int tag; };\n"                                          \
	"struct str { hdr *next; int tag; long len; char s[24]; };\n"                    \
	"struct tab { hdr *next; int tag; hdr **arr; long d[5]; };\n"                    \
	"struct clo { hdr *next; int tag; code *f; hdr *up; long z; };\n"                \
	"hdr *all = &100\n"

/* As where a macro begins several records, and no record has the others as members. */
HI_TEST(bases, records_with_a_common_header_are_told_apart_by_their_sizes)
{
	HI_DRAWN(HEADERS "knows records\n"
			 "100 (56): &200 1 3 'abc'       => str (shape) -> 200\n"
			 "200 (72): &300 2 @16 &400 4    => tab (shape) -> 300 400\n"
			 "300 (40): 0 3 @24 &100         => clo (shape) -> 100\n"
			 "400 (24): &100                 => hdr *[]\n");
}

/* The header is no array because its size divides that of the block. */
HI_TEST(bases, words_after_a_header_of_unknown_records_lead_somewhere)
{
	HI_DRAWN("struct hdr { hdr *next; int tag; };\n"
		 "hdr *all = &100\n"
		 "100 (56): 0 1 @24 &200 => hdr[] (shape) -> 200:c\n"
		 "200 (24):              => untyped\n");
}

/* Two records of one size: the numbers of one are no likely ones of the other. */
HI_TEST(bases, pointers_to_a_whole_record_speak_for_blocks_of_the_same_tag)
{
	HI_DRAWN("struct expr { int kind; expr *next; };\n"
		 "struct num { expr e; long v[3]; };\n"
		 "struct big { expr e; long w[3]; };\n"
		 "struct leaf { expr e; expr *x[8]; };\n"
		 "expr *all = &100\n"
		 "num *one = &300\n"
		 "knows records\n"
		 "100 (40): 1 &200 => num (shape) -> 200\n"
		 "200 (88): 2 &300 => leaf (shape) -> 300\n"
		 "300 (40): 1 &400 => num (pointer) -> 400\n"
		 "400 (88): 2 &500 => leaf (shape) -> 500\n"
		 "500 (40): 1 0    => num (shape)\n");
}

/* Each record leads to the next through a member that only the whole record has. */
HI_TEST(bases, chains_through_members_of_larger_records_are_followed_to_their_end)
{
	char text[8192];
	size_t n = 0;

	n += (size_t)snprintf(text + n, sizeof(text) - n,
			      "struct expr { long kind; };\n"
			      "struct un { expr e; long v[6]; expr *sub; };\n"
			      "expr *all = &100\n"
			      "knows records\n");
	for (unsigned i = 1; i <= 100; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "%x (72): 1 @56 &%x => un (shape) -> %x\n",
				      i * 0x100, (i + 1) * 0x100, (i + 1) * 0x100);
	n += (size_t)snprintf(text + n, sizeof(text) - n, "%x (72): => un (shape)\n",
			      101 * 0x100);
	HI_DRAWN("%s", text);
}

#define UNION                                                                            \
	"struct vint { int tag; long v; };\n"                                            \
	"struct vstr { int tag; char *s; long n; long hash; };\n"                        \
	"struct vbig { int tag; value *kids[12]; };\n"                                   \
	"union value { vint i; vstr s; vbig b; };\n"

/* The program takes the memory of one record of the union. */
HI_TEST(bases, blocks_that_are_smaller_than_their_union_are_records_of_it)
{
	HI_DRAWN(UNION "value *v[3] = &100 &200 &300\n"
		       "knows records\n"
		       "100 (24): 1 77              => vint (shape)\n"
		       "200 (40): 2 &400 12         => vstr (shape) -> 400\n"
		       "300 (104): 3 &100 &200      => value (base)\n"
		       "400 (24): 'some text'       => char [][] (shape)\n");
}

/* All of them have the size of the union: its type stays, and what the record that is in
 * it leads to has a type. */
HI_TEST(bases, pointers_of_the_record_in_a_union_lead_on)
{
	HI_DRAWN("struct pay { long d[6]; };\n"
		 "struct vint { int tag; long v; };\n"
		 "struct vpay { int tag; pay *p; };\n"
		 "struct vstr { int tag; char *s; };\n"
		 "union value { vint i; vpay p; vstr s; };\n"
		 "value *v[3] = &100 &200 &300\n"
		 "knows records\n"
		 "100 (24): 1 77        => value (base)\n"
		 "200 (24): 2 &400      => value (base) -> 400\n"
		 "300 (24): 3 &500      => value (base) -> 500\n"
		 "400 (56):             => pay (shape)\n"
		 "500 (24): 'some text' => char [][] (shape)\n");
}

#define ELEMENTS                                                                         \
	"struct item { long n; item *next; long m; };\n"                                 \
	"item *last = &230\n"

/* The last of three elements; nothing leads to the start. */
HI_TEST(bases, pointers_to_elements_alone_make_their_block_an_array)
{
	HI_DRAWN(ELEMENTS "200 (72): 1 &300 @24 2 &400 => item[] (shape) -> 300 400\n"
			  "300 (24):                   => item (shape)\n"
			  "400 (24):                   => item (shape)\n");
}

/* Pointers into the middle of an element, and words that are no pointers. */
HI_TEST(bases, other_pointers_into_the_block_make_it_no_array)
{
	HI_DRAWN(ELEMENTS "item *odd = &220\n"
			  "200 (72): 1 &300 @24 2 => untyped\n"
			  "300 (24):              => untyped\n");
	HI_DRAWN(ELEMENTS "200 (72): 1 7 &300     => untyped\n"
			  "300 (24):              => untyped\n");
}

/* In a pool, as far as the next piece. */
HI_TEST(bases, a_piece_with_room_for_a_larger_record_has_no_exact_type)
{
	HI_DRAWN("struct node { long kind; node *next; };\n"
		 "struct deriv { node n; long v[4]; };\n"
		 "node *head = &1010\n"
		 "knows records\n"
		 "1000 (520): 1              => size 16\n"
		 "1010: 1 &1020              => node (pointer) size 16\n"
		 "1020: 2 &1100              => node (base)\n"
		 "1030:                      => untyped\n"
		 "1100: 1 0                  => node (base)\n"
		 "1110:                      => untyped\n");
}

/* A union whose record goes on to the end of its block. */
HI_TEST(bases, a_union_of_which_one_record_has_no_end_has_no_exact_type)
{
	HI_DRAWN("struct vint { int tag; long v[2]; };\n"
		 "struct vflex { int tag; long n; long x[]; };\n"
		 "union value { vint i; vflex f; };\n"
		 "value *v = &100\n"
		 "knows records\n"
		 "100 (88): 2 4 1 2 3 4 => value (base)\n");
}

/* As elements of one list. */
HI_TEST(bases, records_with_the_same_members_are_alike_where_these_lead_to_each_other)
{
	HI_DRAWN("struct one { long id; char pad[40]; };\n"
		 "struct two { long id; char pad[40]; };\n"
		 "one *head = &100\n"
		 "knows records\n"
		 "100 (56): 1 => one (pointer)\n");
	HI_DRAWN("struct one { one *next; long id; };\n"
		 "struct two { one *next; long id; };\n"
		 "one *head = &100\n"
		 "knows records\n"
		 "100 (24): 0 1 => one (base)\n");
}

static const char *explanation(struct world *w, uint64_t addr)
{
	static char text[2][400];
	static unsigned turn;
	char *out = text[turn++ % 2];

	hi_typing_explain_type(w->typing, w->graph, world_node(w, addr), out,
			       sizeof(text[0]));
	return out;
}

HI_TEST(bases, an_explanation_says_what_is_known_of_the_beginning)
{
	struct world *w = HI_DRAWN(FIRST_MEMBERS "knows records\n"
						 "100 (24): 1 &200 &900 => d1 (shape)\n"
						 "200 (24): 2 0         => node (base)\n"
						 "900 (40):\n");

	HI_ASSERT_STREQ(
		"it begins with what is pointed to by thread 7 draw(): head (node *); "
		"inferred by the size of the block and its words",
		explanation(w, WORLD_HEAP + 0x100));
	HI_ASSERT(strstr(explanation(w, WORLD_HEAP + 0x200),
			 "; it may be only the beginning of a larger record"));
}
