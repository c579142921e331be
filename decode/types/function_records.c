/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that take pointers to records, of a whole module.
 *
 * Note [Functions with another signature]
 *
 * What a register has at the entry is known where the debug information says it of the
 * entry, or where the function is called as its source says. Compilers also make
 * functions that are not: gcc makes clones, whose symbols have a suffix (.isra,
 * .constprop, .part); clang marks them by DW_CC_nocall. Other languages than C and C++
 * may have calling conventions of their own. All of these are left out.
 */
#include <dwarf.h>
#include <string.h>

#include "decode/modules/code_walk.h"
#include "decode/modules/functions_internal.h"
#include "decode/types/function_types.h"
#include "decode/types/types_internal.h"

/* DW_LANG_ of DWARF 6, which compilers write already. */
enum { CPP17 = 0x2a, CPP20 = 0x2b, C17 = 0x2c, CPP23 = 0x3a, C23 = 0x3e };
enum { PARAMETERS_MAX = 32, CHILDREN_MAX = 1 << 12, STEPS_MAX = 8 };

struct record_walk {
	struct hi_types *types;
	struct hi_module *module;
	const struct hi_record_functions *search;
	Dwarf_Addr bias;
	bool is_over;
};

static bool is_wrapper_tag(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type ||
	       tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type;
}

static bool is_pointer_tag(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

static bool is_tag_of_record(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type;
}

/* The type of a DIE without typedefs and qualifiers. False: none, or broken. */
static bool find_plain_type(const Dwarf_Die *of, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Die typed;

	if (!hi_die_find_typed(of, &typed))
		return false;
	for (int i = 0; i < STEPS_MAX; i++) {
		if (!dwarf_attr(&typed, DW_AT_type, &attr) ||
		    !dwarf_formref_die(&attr, ret))
			return false;
		if (!is_wrapper_tag(dwarf_tag(ret)))
			return true;
		typed = *ret;
	}
	return false;
}

static bool leads_to_record(const Dwarf_Die *parameter)
{
	Dwarf_Die pointer, record;

	return find_plain_type(parameter, &pointer) &&
	       is_pointer_tag(dwarf_tag(&pointer)) &&
	       find_plain_type(&pointer, &record) && is_tag_of_record(dwarf_tag(&record));
}

/* Cheap, as it is asked of every function; no type is read for it. */
static bool takes_records(Dwarf_Die *function)
{
	Dwarf_Die child;

	if (dwarf_child(function, &child) != 0)
		return false;
	for (unsigned i = 0; i < CHILDREN_MAX; i++) {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter &&
		    leads_to_record(&child))
			return true;
		if (dwarf_siblingof(&child, &child) != 0)
			return false;
	}
	return false;
}

static bool is_called_otherwise(Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	Dwarf_Word convention;

	return dwarf_attr_integrate(function, DW_AT_calling_convention, &attr) &&
	       dwarf_formudata(&attr, &convention) == 0 && convention != DW_CC_normal;
}

static bool is_clone_at(const struct record_walk *walk, uint64_t entry)
{
	uint64_t offset = 0;
	const char *symbol =
		hi_modules_symbol_at(hi_module_modules(walk->module), entry, &offset);

	return !symbol || offset != 0 || strstr(symbol, ".isra") ||
	       strstr(symbol, ".constprop") || strstr(symbol, ".part");
}

static uint64_t size_of_function(Dwarf_Die *function, Dwarf_Addr entry)
{
	Dwarf_Addr low, high;

	if (dwarf_lowpc(function, &low) != 0 || dwarf_highpc(function, &high) != 0 ||
	    low != entry || high <= low)
		return 0;
	return high - low;
}

static void look_at_function(struct record_walk *walk, Dwarf_Die *function)
{
	struct hi_parameter parameters[PARAMETERS_MAX];
	struct hi_record_function found = {.parameters = parameters};
	Dwarf_Addr entry;

	if (!hi_die_entry(function, &entry) || entry == 0 || !takes_records(function) ||
	    is_called_otherwise(function) || is_clone_at(walk, entry + walk->bias))
		return;
	found.entry = entry + walk->bias;
	found.size = size_of_function(function, entry);
	found.n_parameters = hi_die_parameters(walk->types, walk->module, function, entry,
					       parameters, PARAMETERS_MAX);
	walk->is_over = !walk->search->on_function(walk->search->arg, &found);
}

static bool may_have_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || is_tag_of_record(tag);
}

static bool is_c_language(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case CPP17:
	case CPP20:
	case CPP23:
	case C17:
	case C23:
		return true;
	default:
		return false;
	}
}

static void walk_functions_of_unit(struct record_walk *walk, const Dwarf_Die *unit)
{
	struct hi_code_walk *code = &(struct hi_code_walk){};
	struct hi_code_step step;

	hi_code_walk_begin(code, unit);
	while (!walk->is_over && hi_code_walk_next(code, &step)) {
		int tag = dwarf_tag(&step.die);

		if (tag == DW_TAG_subprogram)
			look_at_function(walk, &step.die);
		else if (may_have_functions(tag))
			hi_code_walk_enter(code, &step);
	}
}

static void walk_units_of_dwarf(struct record_walk *walk, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL, *next;
	Dwarf_Die unit, split;
	uint8_t type;

	while (!walk->is_over &&
	       dwarf_get_units(dwarf, cu, &next, NULL, &type, &unit, &split) == 0) {
		cu = next;
		if (type == DW_UT_skeleton && split.addr)
			unit = split;
		if (unit.addr && is_c_language(&unit))
			walk_functions_of_unit(walk, &unit);
	}
}

void hi_module_record_functions(struct hi_types *types, struct hi_module *module,
				const struct hi_record_functions *search,
				bool *has_dwarf_ret)
{
	struct hi_modules *modules = hi_module_modules(module);
	struct record_walk walk = {.types = types, .module = module, .search = search};
	Dwarf *dwarf;

	hi_modules_lock(modules);
	dwarf = hi_module_dwarf(module, &walk.bias);
	*has_dwarf_ret = dwarf != NULL;
	if (dwarf)
		walk_units_of_dwarf(&walk, dwarf);
	hi_modules_unlock(modules);
}
