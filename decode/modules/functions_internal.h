/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HI_DECODE_MODULES_FUNCTIONS_INTERNAL_H
#define HI_DECODE_MODULES_FUNCTIONS_INTERNAL_H

#include "decode/modules/dwfl.h"
#include "decode/modules/functions.h"

/* The function of a unit whose code holds addr (an ELF address), or innermost: the
 * innermost inlined call there. Bounded, without recursion. */
bool hi_scope_of_code(Dwarf_Die *unit, Dwarf_Addr addr, bool innermost, Dwarf_Die *ret);
/* The function whose entry (an ELF address) this is. */
bool hi_function_die(Dwarf *dwarf, Dwarf_Addr entry, Dwarf_Die *ret);
/* Finds where a function begins (an ELF address): one in several pieces (its seldom used
 * code is elsewhere) where the first one does (DWARF 5, 2.18). */
bool hi_die_entry(Dwarf_Die *function, Dwarf_Addr *ret);
/* The unit whose code holds addr. */
bool hi_unit_of_code(Dwarf *dwarf, Dwarf_Addr addr, Dwarf_Die *ret);

#endif
