/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that were inlined: abstract instances first, then what refers to them. */
#include <dwarf.h>
#include <string.h>

#include "decode/modules/dwfl.h"
#include "decode/modules/functions.h"

enum {
	DEPTH_MAX = 64,
	DIES_MAX = 1 << 28, /* of one module */
	ABSTRACT_MAX = 64,
};

struct walk {
	const struct hi_inlined_search *search;
	Dwarf_Addr bias;
	Dwarf_Off abstract[ABSTRACT_MAX];
	size_t n_abstract, visited;
	bool over;
};

static void look_at_subprogram(struct walk *walk, Dwarf_Die *die)
{
	const char *name, *linkage;

	if (!dwarf_hasattr(die, DW_AT_inline) || walk->n_abstract == ABSTRACT_MAX)
		return;
	name = hi_die_string(die, DW_AT_name);
	linkage = hi_die_string(die, DW_AT_linkage_name);
	if (name && walk->search->is_wanted(walk->search->arg, name, linkage))
		walk->abstract[walk->n_abstract++] = dwarf_dieoffset(die);
}

static unsigned number_of_attribute(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word word;

	if (dwarf_formudata(dwarf_attr(die, name, &attr), &word) != 0 ||
	    word > UINT32_MAX)
		return 0;
	return (unsigned)word;
}

static const char *file_of_call(Dwarf_Die *unit, unsigned number)
{
	Dwarf_Files *files;
	const char *name;
	size_t n;

	if (dwarf_getsrcfiles(unit, &files, &n) != 0 || number >= n)
		return "";
	name = dwarf_filesrc(files, number, NULL, NULL);
	return name ? name : "";
}

static void look_at_call(struct walk *walk, Dwarf_Die *unit, Dwarf_Die *die)
{
	struct hi_inlined_call call = {};
	Dwarf_Attribute attr;
	Dwarf_Die origin;
	Dwarf_Addr entry;

	if (!dwarf_attr(die, DW_AT_abstract_origin, &attr) ||
	    !dwarf_formref_die(&attr, &origin))
		return;
	for (size_t i = 0; i < walk->n_abstract; i++) {
		if (walk->abstract[i] != dwarf_dieoffset(&origin))
			continue;
		call.file = file_of_call(unit, number_of_attribute(die, DW_AT_call_file));
		call.line = number_of_attribute(die, DW_AT_call_line);
		if (dwarf_entrypc(die, &entry) == 0)
			call.addr = entry + walk->bias;
		walk->over = !walk->search->on_call(walk->search->arg, &call);
		return;
	}
}

/* True: functions, or (deep) calls, may be below it. */
static bool is_worth_entering(int tag, bool deep)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return true;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return deep;
	default:
		return false;
	}
}

static void walk_inlined_calls(struct walk *walk, Dwarf_Die *unit, bool deep)
{
	Dwarf_Die path[DEPTH_MAX], die;
	size_t depth = dwarf_child(unit, &path[0]) == 0;

	while (depth > 0 && !walk->over && ++walk->visited < DIES_MAX) {
		int tag;

		die = path[depth - 1];
		tag = dwarf_tag(&die);
		if (dwarf_siblingof(&die, &path[depth - 1]) != 0)
			depth--;
		if (!deep && tag == DW_TAG_subprogram)
			look_at_subprogram(walk, &die);
		if (deep && tag == DW_TAG_inlined_subroutine)
			look_at_call(walk, unit, &die);
		if (is_worth_entering(tag, deep) && depth < DEPTH_MAX &&
		    dwarf_child(&die, &path[depth]) == 0)
			depth++;
	}
}

static void walk_units(struct walk *walk, Dwarf *dwarf, bool deep)
{
	Dwarf_CU *cu = NULL, *next;
	Dwarf_Die unit, split;
	uint8_t type;

	while (!walk->over &&
	       dwarf_get_units(dwarf, cu, &next, NULL, &type, &unit, &split) == 0) {
		cu = next;
		if (type == DW_UT_skeleton && split.addr)
			unit = split;
		if (unit.addr)
			walk_inlined_calls(walk, &unit, deep);
	}
}

enum hi_status hi_module_inlined_calls(struct hi_module *module,
				       const struct hi_inlined_search *search,
				       struct hi_error *err)
{
	struct hi_modules *modules = hi_module_modules(module);
	struct walk walk = {.search = search};
	Dwarf *dwarf;

	(void)err;
	hi_modules_lock(modules);
	dwarf = hi_module_dwarf(module, &walk.bias);
	if (dwarf)
		walk_units(&walk, dwarf, false);
	if (walk.n_abstract > 0)
		walk_units(&walk, dwarf, true);
	hi_modules_unlock(modules);
	return HI_OK;
}
