/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HI_DECODE_MODULES_FUNCTIONS_INTERNAL_H
#define HI_DECODE_MODULES_FUNCTIONS_INTERNAL_H

#include "decode/modules/dwfl.h"

/* The function of a unit whose code holds addr (an ELF address), or innermost: the
 * innermost inlined call there. Bounded, without recursion. */
bool hi_scope_of_code(Dwarf_Die *unit, Dwarf_Addr addr, bool innermost, Dwarf_Die *ret);
/* The function whose entry (an ELF address) this is. */
bool hi_function_die(Dwarf *dwarf, Dwarf_Addr entry, Dwarf_Die *ret);
/* The unit whose code holds addr. */
bool hi_unit_of_code(Dwarf *dwarf, Dwarf_Addr addr, Dwarf_Die *ret);

#endif
