/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/modules/code_scopes.h"

#include <dwarf.h>

enum {
	RANGES_MAX = 1 << 24, /* of one unit, or of all units of a module */
	UNITS_MAX = 1 << 24,
};

/*
 * Adds the ranges of a DIE. Code that the linker dropped is at address 0. False: out of
 * memory. *budget is how many ranges may still be looked at: many DIEs may have one list.
 */
static bool add_die_ranges(struct hi_code_ranges *ranges, Dwarf_Die *die, uint64_t id,
			   size_t *budget)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while (*budget > 0 && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		--*budget;
		if (start != 0 && !hi_code_ranges_add(ranges, start, end, id))
			return false;
	}
	return true;
}

/* ---- units ---- */

enum hi_status hi_code_units_read(Dwarf *dwarf, struct hi_code_ranges *units,
				  struct hi_error *err)
{
	Dwarf_CU *cu = NULL, *next;
	size_t budget = RANGES_MAX;
	Dwarf_Die die;
	bool ok = true;

	for (unsigned i = 0; ok && i < UNITS_MAX; i++) {
		if (dwarf_get_units(dwarf, cu, &next, NULL, NULL, &die, NULL) != 0)
			break;
		cu = next;
		if (die.addr)
			ok = add_die_ranges(units, &die, dwarf_dieoffset(&die), &budget);
	}
	return ok && hi_code_ranges_seal(units)
		       ? HI_OK
		       : hi_fail_memory(err, "units of a module");
}

uint64_t hi_code_unit_at(Dwarf *dwarf, const struct hi_code_ranges *units, uint64_t addr)
{
	uint64_t unit = hi_code_ranges_find(units, addr);
	Dwarf_Die die;

	/* A unit without ranges of its own may be in .debug_aranges. */
	if (unit == HI_CODE_NOTHING && dwarf_addrdie(dwarf, addr, &die))
		unit = dwarf_dieoffset(&die);
	return unit;
}

bool hi_code_unit_die(Dwarf *dwarf, uint64_t unit, Dwarf_Die *ret)
{
	return dwarf_offdie(dwarf, unit, ret) != NULL;
}

/* ---- scopes of a unit ---- */

/*
 * Is there code below it? Ranges of blocks do not matter: compilers leave some out, and a
 * call that was inlined into a block may have code outside of it. Abstract functions have
 * none of their own, but GNU C puts nested functions there.
 */
static bool may_hold_scopes(Dwarf_Die *die, int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return true;
	case DW_TAG_subprogram:
		return !dwarf_hasattr(die, DW_AT_declaration);
	default:
		return false;
	}
}

/*
 * Adds the scope of a DIE, if it is one that code is in. *owner becomes its number.
 * False: out of memory. Calls that were inlined into a function that has no code itself
 * describe an abstract function.
 */
static bool add_code_scope(struct hi_code_scopes *scopes, size_t *budget, Dwarf_Die *die,
			   int tag, uint32_t *owner)
{
	struct hi_code_scope scope = {.die = dwarf_dieoffset(die)};
	bool has_code =
		dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);

	if (tag == DW_TAG_inlined_subroutine)
		scope.parent = *owner;
	else if (tag == DW_TAG_subprogram)
		*owner = 0;
	else
		return true;
	if (!has_code && !*owner)
		return true;
	if (!hi_vector_push(&scopes->all, scope) ||
	    !add_die_ranges(&scopes->ranges, die, scopes->all.count - 1, budget))
		return false;
	*owner = (uint32_t)scopes->all.count;
	return true;
}

static bool walk_code_scopes(struct hi_code_scopes *scopes)
{
	struct hi_code_walk walk;
	struct hi_code_step step;
	size_t budget = RANGES_MAX;

	hi_code_walk_begin(&walk, &scopes->unit);
	while (hi_code_walk_next(&walk, &step)) {
		int tag = dwarf_tag(&step.die);

		if (!add_code_scope(scopes, &budget, &step.die, tag, &step.owner))
			return false;
		if (may_hold_scopes(&step.die, tag))
			hi_code_walk_enter(&walk, &step);
	}
	return true;
}

enum hi_status hi_code_scopes_read(const Dwarf_Die *unit, struct hi_code_scopes *ret,
				   struct hi_error *err)
{
	*ret = (struct hi_code_scopes){.unit = *unit};
	hi_die_enter_split(&ret->unit);
	if (walk_code_scopes(ret) && hi_code_ranges_seal(&ret->ranges))
		return HI_OK;
	hi_code_scopes_free(ret);
	return hi_fail_memory(err, "functions of a unit");
}

size_t hi_code_scopes_at(const struct hi_code_scopes *scopes, uint64_t addr,
			 Dwarf_Die ret[HI_CODE_DEPTH])
{
	Dwarf *dwarf = dwarf_cu_getdwarf(scopes->unit.cu);
	uint64_t found = hi_code_ranges_find(&scopes->ranges, addr);
	uint32_t scope = found == HI_CODE_NOTHING ? 0 : (uint32_t)found + 1;
	size_t n = 0;

	while (scope != 0 && n < HI_CODE_DEPTH) {
		const struct hi_code_scope *s = &scopes->all.items[scope - 1];

		if (!dwarf_offdie(dwarf, s->die, &ret[n++]))
			return 0;
		scope = s->parent;
	}
	return n;
}

void hi_code_scopes_free(struct hi_code_scopes *scopes)
{
	hi_vector_free(&scopes->all);
	hi_code_ranges_free(&scopes->ranges);
}
