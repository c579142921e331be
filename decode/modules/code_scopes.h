/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which function and which inlined calls an address of code is in, by DWARF: the unit,
 * then a table of the unit's scopes that is read once for all addresses in it. For
 * decode/ only; the caller holds hi_modules_lock(). Addresses are those of the DWARF
 * (without hi_module_dwarf's bias).
 */
#ifndef HI_DECODE_MODULES_CODE_SCOPES_H
#define HI_DECODE_MODULES_CODE_SCOPES_H

#include "base/error.h"
#include "decode/modules/code_ranges.h"
#include "decode/modules/code_walk.h"

/* ---- units ---- */

/* Reads where the code of all units is; ids are for hi_code_unit_find(). HI_NO_MEMORY. */
enum hi_status hi_code_units_read(Dwarf *dwarf, struct hi_code_ranges *units,
				  struct hi_error *err);
/* The number of the unit that has this code, or HI_CODE_NOTHING. */
uint64_t hi_code_unit_at(Dwarf *dwarf, const struct hi_code_ranges *units, uint64_t addr);
/* The DIE of a unit by its number. False: it is broken. */
bool hi_code_unit_die(Dwarf *dwarf, uint64_t unit, Dwarf_Die *ret);

/* ---- scopes of a unit ---- */

struct hi_code_scope {
	Dwarf_Off die;
	uint32_t parent; /* index + 1 of the scope that it was inlined into; 0: none */
};

struct hi_code_scopes {
	Dwarf_Die unit; /* of the split file, where there is one */
	struct HI_VECTOR(struct hi_code_scope) all; /* parents before their children */
	struct hi_code_ranges ranges;
};

/* Reads the functions and inlined calls of the unit with this DIE. HI_NO_MEMORY. */
enum hi_status hi_code_scopes_read(const Dwarf_Die *unit, struct hi_code_scopes *ret,
				   struct hi_error *err);
/*
 * The scopes at addr: inlined calls, the innermost first, then the function that they are
 * in. Returns how many, 0 where there is no function.
 */
size_t hi_code_scopes_at(const struct hi_code_scopes *scopes, uint64_t addr,
			 Dwarf_Die ret[HI_CODE_DEPTH]);
/* Frees it; it is empty again. */
void hi_code_scopes_free(struct hi_code_scopes *scopes);

#endif
