/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/modules/functions_internal.h"

#include <dwarf.h>

enum {
	DEPTH_MAX = 64,
	DIES_MAX = 1 << 20, /* looked at for one address */
	UNITS_MAX = 1 << 20,
	ORIGINS_MAX = 8, /* abstract origins and specifications in a chain */
};

/* True: the code at addr may belong to a child of this DIE. */
static bool may_enclose_address(Dwarf_Die *die, int tag, Dwarf_Addr addr)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return true;
	case DW_TAG_lexical_block:
		if (!dwarf_hasattr(die, DW_AT_low_pc) &&
		    !dwarf_hasattr(die, DW_AT_ranges))
			return true;
		[[fallthrough]];
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return dwarf_haspc(die, addr) > 0;
	default:
		return false;
	}
}

bool hi_scope_of_code(Dwarf_Die *unit, Dwarf_Addr addr, bool innermost, Dwarf_Die *ret)
{
	Dwarf_Die path[DEPTH_MAX], die;
	size_t depth = dwarf_child(unit, &path[0]) == 0;
	bool found = false;

	for (unsigned i = 0; depth > 0 && i < DIES_MAX; i++) {
		int tag;

		die = path[depth - 1];
		tag = dwarf_tag(&die);
		if (dwarf_siblingof(&die, &path[depth - 1]) != 0)
			depth--;
		if (!may_enclose_address(&die, tag, addr))
			continue;
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
			*ret = die;
			found = true;
			depth = 0; /* nothing beside it has this code */
			if (!innermost)
				break;
		}
		if (depth < DEPTH_MAX && dwarf_child(&die, &path[depth]) == 0)
			depth++;
	}
	return found;
}

bool hi_die_entry(Dwarf_Die *function, Dwarf_Addr *ret)
{
	Dwarf_Addr base, end;

	return dwarf_entrypc(function, ret) == 0 ||
	       dwarf_ranges(function, 0, &base, ret, &end) > 0;
}

bool hi_unit_of_code(Dwarf *dwarf, Dwarf_Addr addr, Dwarf_Die *ret)
{
	Dwarf_CU *cu = NULL, *next;
	Dwarf_Die unit, split;
	uint8_t type;

	for (unsigned i = 0; i < UNITS_MAX; i++) {
		if (dwarf_get_units(dwarf, cu, &next, NULL, &type, &unit, &split) != 0)
			return false;
		cu = next;
		if (!unit.addr || dwarf_haspc(&unit, addr) <= 0)
			continue;
		*ret = type == DW_UT_skeleton && split.addr ? split : unit;
		return true;
	}
	return false;
}

void hi_die_enter_split(Dwarf_Die *unit)
{
	Dwarf_Die split;
	uint8_t type;

	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
	    type == DW_UT_skeleton && split.addr)
		*unit = split;
}

bool hi_die_find_typed(const Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	*ret = *die;
	for (int i = 0; i < ORIGINS_MAX; i++) {
		if (dwarf_hasattr(ret, DW_AT_type))
			return true;
		if (!dwarf_attr(ret, DW_AT_abstract_origin, &attr) &&
		    !dwarf_attr(ret, DW_AT_specification, &attr))
			return false;
		if (!dwarf_formref_die(&attr, ret))
			return false;
	}
	return false;
}

const char *hi_die_string(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attr));
}
