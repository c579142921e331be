/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The namespaces and classes that a function of C++ is declared in. Compilers leave out
 * the linkage name of functions that no other file can call, such as those of a template
 * with a type of one file: without its scope, a function of std::vector would be named
 * "push_back". A zero-initialised struct is empty. For decode/ only; the caller holds
 * hi_modules_lock().
 */
#ifndef HI_DECODE_MODULES_CODE_QUALIFIERS_H
#define HI_DECODE_MODULES_CODE_QUALIFIERS_H

#include "base/table.h"
#include "base/vector.h"
#include "decode/modules/code_ranges.h"
#include "decode/modules/dwfl.h"

/* A namespace or class of a unit. */
struct hi_code_qualifier {
	Dwarf_Off die;
	uint32_t parent; /* index + 1; 0: none */
};

struct hi_code_qualifiers {
	struct HI_VECTOR(struct hi_code_qualifier) all; /* of all units */
	/* Maps from offsets of DIEs to indices, for each unit that was looked up. */
	struct HI_VECTOR(struct hi_code_ranges) units;
	struct hi_table by_unit; /* Dwarf_CU -> index in units */
};

/*
 * Writes "ns::Class::" of the function that a DIE is, or is an instance of; "" where it
 * is in none, or is not of C++. Qualifiers that do not fit in size are left out, the
 * outermost first. False: out of memory.
 */
bool hi_code_qualifier_write(struct hi_code_qualifiers *qualifiers, const Dwarf_Die *die,
			     char *out, size_t size);
/* Frees it; it is empty again. */
void hi_code_qualifiers_free(struct hi_code_qualifiers *qualifiers);

#endif
