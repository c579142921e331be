/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A heap and what must be found in it, as one text:
 *
 *	HI_DRAWN("struct item { long id; item *other; };\n"
 *		 "struct vec { item **d; long n; };\n"
 *		 "record vec { d -> item *[n]; }\n"
 *		 "vec *v = &100\n"
 *		 "100 (24): &200 2         => vec (pointer) -> 200\n"
 *		 "200 (40): &300 &400 &500 => item *[] (container) -> 300 400\n"
 *		 "300 (24): 7 0x700        => item -> nothing\n"
 *		 "400 (24):\n"
 *		 "500 (24):                => untyped, leaked\n");
 *
 * A line is one of these:
 *
 *	struct, union	types in C (world_types), until their end
 *	record, show, context, typedef, const
 *			hints, until the end of their braces; they begin with "hints x",
 *			so the first of these is line 2 of x.hints
 *	TYPE NAME = WORDS
 *			a local variable, which is a root; after "register", in no memory
 *	ADDRESS (BYTES): WORDS
 *			a block and its words; with more after "=>"
 *	ADDRESS..ADDRESS (BYTES): WORDS
 *			blocks 0x100 apart, all alike
 *	ADDRESS: WORDS	words only, or an object that is split off
 *	mapping ADDRESS BYTES
 *			memory that belongs to no allocator
 *	vtable TYPE ADDRESS
 *			the type that a vtable pointer names
 *	warning TEXT	a warning about the hints
 *	knows records, conservative, threads N
 *			how it is run
 *
 * An ADDRESS is hexadecimal, from the heap's start on, or after a letter: F from
 * WORLD_FAR on, M WORLD_MODULE, S WORLD_STACK, where the first variable lies.
 * WORDS: numbers as in C; &ADDRESS and &ADDRESS+1; 'text'; @16: goes on at byte 16.
 *
 * After "=>", each part may be left out, and is not checked then: the type ("untyped":
 * none; 'via node.any, 24 B': this name by a field; "nothing": no object begins here);
 * its evidence in parentheses; "size N"; "-> ADDRESSES" of all edges ("-> nothing"),
 * those that are not exact with their grade as in 300:c.
 *
 * Always checked: only objects whose line ends with "leaked" are; no object begins where
 * there is no line; the warnings; that the graph is valid.
 */
#ifndef HI_TESTS_SUPPORT_RULES_WORLD_H
#define HI_TESTS_SUPPORT_RULES_WORLD_H

#include "support/typing_world.h"

/* The text is a format, as of printf. Returns the world, after the run. */
#define HI_DRAWN(...) rules_world_check(__FILE__, __LINE__, __VA_ARGS__)
struct world *rules_world_check(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
