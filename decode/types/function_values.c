/* SPDX-License-Identifier: BSD-2-Clause */
/* Types of the objects that a function works on, by its debug information. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "decode/modules/functions_internal.h"
#include "decode/types/function_types.h"
#include "decode/types/types_internal.h"

enum { MEMBERS_MAX = 1 << 12, ORIGINS_MAX = 8 };

/* The declaration in its class. */
static void find_declaration(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	for (int i = 0; i < ORIGINS_MAX; i++)
		if ((!dwarf_attr(die, DW_AT_abstract_origin, &attr) &&
		     !dwarf_attr(die, DW_AT_specification, &attr)) ||
		    !dwarf_formref_die(&attr, die))
			return;
}

/* The first child with this tag; name NULL: any. */
static bool find_child(Dwarf_Die *die, int tag, const char *name, Dwarf_Die *ret)
{
	if (dwarf_child(die, ret) != 0)
		return false;
	for (unsigned i = 0; i < MEMBERS_MAX; i++) {
		const char *its = dwarf_diename(ret);

		if (dwarf_tag(ret) == tag && (!name || (its && strcmp(its, name) == 0)))
			return true;
		if (dwarf_siblingof(ret, ret) != 0)
			return false;
	}
	return false;
}

/* bits/std_function.h, _Base_manager: a static constant of the class. */
static bool read_stored_locally(Dwarf_Die *manager, bool *ret)
{
	static const char name[] = "__stored_locally";
	Dwarf_Attribute attr;
	Dwarf_Die member;
	Dwarf_Word value;

	if ((!find_child(manager, DW_TAG_member, name, &member) &&
	     !find_child(manager, DW_TAG_variable, name, &member)) ||
	    !dwarf_attr(&member, DW_AT_const_value, &attr) ||
	    dwarf_formudata(&attr, &value) != 0)
		return false;
	*ret = value != 0;
	return true;
}

static hi_type_id value_of_class(struct hi_types *types, struct hi_module *module,
				 Dwarf_Die *function, bool in_place)
{
	Dwarf_Die *scopes = NULL, base, manager, value;
	Dwarf_Attribute attr;
	hi_type_id type = 0;
	bool is_in_place;

	find_declaration(function);
	/* scopes[0] is the function itself. */
	if (dwarf_getscopes_die(function, &scopes) > 1 &&
	    find_child(&scopes[1], DW_TAG_inheritance, NULL, &base) &&
	    dwarf_attr(&base, DW_AT_type, &attr) && dwarf_formref_die(&attr, &manager) &&
	    read_stored_locally(&manager, &is_in_place) && is_in_place == in_place &&
	    find_child(&manager, DW_TAG_template_type_parameter, NULL, &value))
		type = hi_types_of_die(types, module, &value);
	free(scopes);
	return type;
}

static hi_type_id value_type_of_manager(struct hi_types *types, struct hi_module *module,
					uint64_t entry, bool in_place)
{
	struct hi_modules *modules = hi_module_modules(module);
	hi_type_id type = 0;
	Dwarf_Die function;
	Dwarf_Addr bias;
	Dwarf *dwarf;

	hi_modules_lock(modules);
	dwarf = hi_module_dwarf(module, &bias);
	if (dwarf && hi_function_die(dwarf, entry - bias, &function))
		type = value_of_class(types, module, &function, in_place);
	hi_modules_unlock(modules);
	return type;
}

hi_type_id hi_function_value_in_place(struct hi_types *types, struct hi_module *module,
				      uint64_t entry)
{
	return value_type_of_manager(types, module, entry, true);
}

hi_type_id hi_function_value_elsewhere(struct hi_types *types, struct hi_module *module,
				       uint64_t entry)
{
	return value_type_of_manager(types, module, entry, false);
}

hi_type_id hi_function_subject(struct hi_types *types, struct hi_module *module,
			       uint64_t entry)
{
	struct hi_parameter first = {};
	const struct hi_type *type;
	size_t n = 0;

	if (hi_function_parameters(types, module, entry, &first, 1, &n, NULL) != HI_OK ||
	    n == 0)
		return 0;
	type = hi_type_get(types, first.type);
	return type->kind == HI_KIND_POINTER ? hi_type_get(types, type->target)->id : 0;
}
