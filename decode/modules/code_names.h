/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of functions, demangled, and lines of code. Names are made once for each function
 * and live until hi_code_names_free(), or until the modules are closed. A
 * zero-initialised struct is empty. For decode/ only; the caller holds hi_modules_lock().
 */
#ifndef HI_DECODE_MODULES_CODE_NAMES_H
#define HI_DECODE_MODULES_CODE_NAMES_H

#include "base/interner.h"
#include "base/table.h"
#include "decode/modules/code_qualifiers.h"

enum { HI_CODE_NAME_MAX = 4096 }; /* bytes; longer names are cut */

struct hi_code_names {
	struct hi_interner all;
	struct hi_table made; /* where a name comes from -> its number */
	struct hi_code_qualifiers qualifiers;
	char *buffer;
};

/* A line of source code. file: "" unknown, else as the compiler had it; hostile. */
struct hi_code_line {
	const char *file;
	uint32_t line; /* 0 unknown */
};

/* All three: "" unknown, NULL: out of memory. */
/* The name of a function, or of the function that an inlined call is of. symbol: the one
 * at the function's entry; NULL: none. */
const char *hi_code_name_of_die(struct hi_code_names *names, Dwarf_Die *die,
				const char *symbol);
/* The name that a symbol stands for. */
const char *hi_code_name_of_symbol(struct hi_code_names *names, const char *symbol);
/* The text itself, or a copy that is cut. */
const char *hi_code_name_cut(struct hi_code_names *names, const char *text);
void hi_code_names_free(struct hi_code_names *names);

/* True: the function has a name that distinguishes it from others of the program. Else
 * its symbol may have one. */
bool hi_code_die_is_linked(Dwarf_Die *die);

/* The row of the unit's line table that has addr (of the DWARF). */
struct hi_code_line hi_code_line_at(Dwarf_Die *unit, uint64_t addr);
/* Returns the line of an inlined call. unit: the one that has its DIE. */
struct hi_code_line hi_code_line_of_call(Dwarf_Die *unit, Dwarf_Die *call);

#endif
