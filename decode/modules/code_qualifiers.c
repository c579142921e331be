/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/modules/code_qualifiers.h"

#include <dwarf.h>
#include <string.h>

#include "decode/modules/code_walk.h"

enum {
	ORIGINS_MAX = 8, /* abstract origins and specifications in a chain */
	SCOPES_MAX = 64, /* around a function */
};

/* ---- the scopes of a unit ---- */

static bool is_qualifier_tag(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static bool walk_qualifiers(struct hi_code_qualifiers *qualifiers, const Dwarf_Die *unit,
			    struct hi_code_ranges *ranges)
{
	struct hi_code_walk walk;
	struct hi_code_step step;

	hi_code_walk_begin(&walk, unit);
	while (hi_code_walk_next(&walk, &step)) {
		struct hi_code_qualifier scope = {.die = dwarf_dieoffset(&step.die),
						  .parent = step.owner};

		if (!is_qualifier_tag(dwarf_tag(&step.die)) ||
		    !dwarf_haschildren(&step.die))
			continue;
		if (qualifiers->all.count == UINT32_MAX ||
		    !hi_vector_push(&qualifiers->all, scope) ||
		    !hi_code_ranges_add(ranges, scope.die + 1, step.end,
					qualifiers->all.count - 1))
			return false;
		step.owner = (uint32_t)qualifiers->all.count;
		hi_code_walk_enter(&walk, &step);
	}
	return hi_code_ranges_seal(ranges);
}

/* The table of the unit that has a DIE; NULL: out of memory. */
static const struct hi_code_ranges *
qualifiers_of_unit(struct hi_code_qualifiers *qualifiers, const Dwarf_Die *die)
{
	uint64_t key = (uintptr_t)die->cu, index = qualifiers->units.count;
	struct hi_code_ranges ranges = {};
	Dwarf_Die unit;

	if (hi_table_get(&qualifiers->by_unit, key, &index))
		return &qualifiers->units.items[index];
	if (!dwarf_cu_die(die->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
		return NULL;
	if (!walk_qualifiers(qualifiers, &unit, &ranges) ||
	    !hi_vector_push(&qualifiers->units, ranges)) {
		hi_code_ranges_free(&ranges);
		return NULL;
	}
	return hi_table_put(&qualifiers->by_unit, key, index)
		       ? &qualifiers->units.items[index]
		       : NULL;
}

/* ---- names ---- */

/* The declaration that a DIE is an instance of, which is in the function's scope. */
static Dwarf_Die declared_function(const Dwarf_Die *die)
{
	Dwarf_Die ret = *die, next;
	Dwarf_Attribute attr;

	for (int i = 0; i < ORIGINS_MAX; i++) {
		if (!dwarf_attr(&ret, DW_AT_specification, &attr) &&
		    !dwarf_attr(&ret, DW_AT_abstract_origin, &attr))
			break;
		if (!dwarf_formref_die(&attr, &next))
			break;
		ret = next;
	}
	return ret;
}

static bool is_cxx_unit(const Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (!dwarf_cu_die(die->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2b: /* C++ 17 and 20, newer than the dwarf.h in use */
	case 0x2c:
	case DW_LANG_ObjC_plus_plus:
		return true;
	default:
		return false;
	}
}

static const char *name_of_qualifier(Dwarf *dwarf, const struct hi_code_qualifier *scope)
{
	const char *name;
	Dwarf_Die die;

	if (!dwarf_offdie(dwarf, scope->die, &die))
		return "";
	name = hi_die_string(&die, DW_AT_name);
	if (name)
		return name;
	return dwarf_tag(&die) == DW_TAG_namespace ? "(anonymous namespace)"
						   : "<unnamed>";
}

/* Puts "name::" before the text that begins at *at. */
static bool prepend_qualifier(char *out, size_t *at, const char *name)
{
	size_t n = strnlen(name, *at);

	if (n + 2 > *at)
		return false;
	*at -= n + 2;
	memcpy(out + *at, name, n);
	memcpy(out + *at + n, "::", 2);
	return true;
}

bool hi_code_qualifier_write(struct hi_code_qualifiers *qualifiers, const Dwarf_Die *die,
			     char *out, size_t size)
{
	Dwarf_Die declared = declared_function(die);
	const struct hi_code_ranges *ranges;
	size_t at = size - 1;
	uint64_t found;

	out[0] = '\0';
	/* Partial units, which dwz makes, have no language. */
	if (!is_cxx_unit(die) && !is_cxx_unit(&declared))
		return true;
	ranges = qualifiers_of_unit(qualifiers, &declared);
	if (!ranges)
		return false;
	found = hi_code_ranges_find(ranges, dwarf_dieoffset(&declared));
	out[at] = '\0';
	for (unsigned i = 0; found < qualifiers->all.count && i < SCOPES_MAX; i++) {
		const struct hi_code_qualifier *scope = &qualifiers->all.items[found];

		if (!prepend_qualifier(
			    out, &at,
			    name_of_qualifier(dwarf_cu_getdwarf(declared.cu), scope)))
			break;
		found = scope->parent - 1ull;
	}
	memmove(out, out + at, size - at);
	return true;
}

void hi_code_qualifiers_free(struct hi_code_qualifiers *qualifiers)
{
	for (size_t i = 0; i < qualifiers->units.count; i++)
		hi_code_ranges_free(&qualifiers->units.items[i]);
	hi_vector_free(&qualifiers->units);
	hi_vector_free(&qualifiers->all);
	hi_table_free(&qualifiers->by_unit);
}
