/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parameters and the registers that they come in: by the debug information where it is
 * about the entry; else (code that is not optimised: it is about the time after the
 * prologue) by the System V ABI, psABI x86-64 3.2.3, as far as that is certain.
 */
#include <dwarf.h>
#include <string.h>

#include "decode/modules/functions_internal.h"
#include "decode/types/function_types.h"
#include "decode/types/types_internal.h"

enum { CHILDREN_MAX = 1 << 16, REGISTERS = 6 };

/* DWARF numbers of rdi, rsi, rdx, rcx, r8, r9: psABI figure 3.36. */
static const uint8_t register_numbers[REGISTERS] = {5, 4, 1, 2, 8, 9};

static int argument_of_register(uint64_t number)
{
	for (int i = 0; i < REGISTERS; i++)
		if (register_numbers[i] == number)
			return i;
	return -1;
}

enum where { UNKNOWN, IN_SLOT, SOMEWHERE_ELSE, IN_REGISTER };

static enum where find_location_at_entry(Dwarf_Die *die, Dwarf_Addr entry,
					 int *argument_ret)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr(die, DW_AT_location, &attr) ||
	    dwarf_getlocation_addr(&attr, entry, &ops, &n, 1) != 1 || n == 0)
		return UNKNOWN;
	if (ops[0].atom == DW_OP_fbreg || ops[0].atom == DW_OP_call_frame_cfa)
		return IN_SLOT; /* which the prologue fills */
	if (n != 1 || ops[0].atom < DW_OP_reg0 || ops[0].atom > DW_OP_reg31)
		return SOMEWHERE_ELSE;
	*argument_ret = argument_of_register(ops[0].atom - DW_OP_reg0);
	return *argument_ret < 0 ? SOMEWHERE_ELSE : IN_REGISTER;
}

/* How many integer registers a value of this type takes; -1: not known. */
static int registers_for(const struct hi_type *type)
{
	switch (type->kind) {
	case HI_KIND_INTEGER:
	case HI_KIND_CHAR:
	case HI_KIND_ADDRESS:
	case HI_KIND_POINTER:
		return type->size <= 8 ? 1 : -1;
	case HI_KIND_FLOAT:
		return type->size <= 8 ? 0 : -1;
	default:
		return -1;
	}
}

/* Registers in use before the first parameter: a large result's address. */
static int registers_for_result(struct hi_types *types, struct hi_module *module,
				Dwarf_Die *function)
{
	const struct hi_type *type;
	Dwarf_Die typed;

	if (!hi_die_find_typed(function, &typed))
		return 0;
	type = hi_type_get(types, hi_types_of_die(types, module, &typed));
	if (type->kind != HI_KIND_STRUCT && type->kind != HI_KIND_UNION)
		return type->kind == HI_KIND_UNKNOWN ? -1 : 0;
	return type->size > 16 ? 1 : -1;
}

static void take_parameter(struct hi_types *types, struct hi_module *module,
			   Dwarf_Die *die, Dwarf_Addr entry, int *next,
			   struct hi_parameter *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Die typed;
	int argument = -1, need;
	enum where where = find_location_at_entry(die, entry, &argument);

	ret->name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attr));
	if (!ret->name)
		ret->name = "";
	if (hi_die_find_typed(die, &typed))
		ret->type = hi_types_of_die(types, module, &typed);
	need = registers_for(hi_type_get(types, ret->type));
	if (where < SOMEWHERE_ELSE && need == 1 && *next >= 0 && *next < REGISTERS)
		argument = *next;
	ret->argument = (int8_t)argument;
	ret->is_located = where == IN_REGISTER || where == IN_SLOT;
	*next = *next < 0 || need < 0 ? -1 : *next + need;
}

size_t hi_die_parameters(struct hi_types *types, struct hi_module *module,
			 Dwarf_Die *function, Dwarf_Addr entry, struct hi_parameter *ret,
			 size_t max)
{
	int next = registers_for_result(types, module, function);
	Dwarf_Die child;
	size_t n = 0;

	if (dwarf_child(function, &child) != 0)
		return 0;
	for (unsigned i = 0; i < CHILDREN_MAX && n < max; i++) {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter) {
			ret[n] = (struct hi_parameter){};
			take_parameter(types, module, &child, entry, &next, &ret[n++]);
		}
		if (dwarf_siblingof(&child, &child) != 0)
			break;
	}
	return n;
}

bool hi_function_die(Dwarf *dwarf, Dwarf_Addr entry, Dwarf_Die *ret)
{
	Dwarf_Addr low;
	Dwarf_Die unit;

	return hi_unit_of_code(dwarf, entry, &unit) &&
	       hi_scope_of_code(&unit, entry, false, ret) && hi_die_entry(ret, &low) &&
	       low == entry;
}

enum hi_status hi_function_parameters(struct hi_types *types, struct hi_module *module,
				      uint64_t entry, struct hi_parameter *ret,
				      size_t max, size_t *n_ret, struct hi_error *err)
{
	struct hi_modules *modules = hi_module_modules(module);
	Dwarf_Addr bias;
	Dwarf_Die function;
	bool found = false;
	Dwarf *dwarf;

	hi_modules_lock(modules);
	dwarf = hi_module_dwarf(module, &bias);
	if (dwarf && hi_function_die(dwarf, entry - bias, &function)) {
		found = true;
		*n_ret = hi_die_parameters(types, module, &function, entry - bias, ret,
					   max);
	}
	hi_modules_unlock(modules);
	return found ? HI_OK
		     : hi_fail(err, HI_NOT_FOUND, 0,
			       "no debug information of this function");
}

static size_t take_locals(struct hi_types *types, struct hi_module *module,
			  Dwarf_Die *function, struct hi_parameter *ret, size_t max)
{
	Dwarf_Die child, typed;
	Dwarf_Attribute attr;
	size_t n = 0;

	if (dwarf_child(function, &child) != 0)
		return 0;
	for (unsigned i = 0; i < CHILDREN_MAX && n < max; i++) {
		if (dwarf_tag(&child) == DW_TAG_variable &&
		    hi_die_find_typed(&child, &typed)) {
			const char *name = dwarf_formstring(
				dwarf_attr_integrate(&child, DW_AT_name, &attr));

			ret[n++] = (struct hi_parameter){
				.name = name ? name : "",
				.type = hi_types_of_die(types, module, &typed),
				.argument = -1};
		}
		if (dwarf_siblingof(&child, &child) != 0)
			break;
	}
	return n;
}

enum hi_status hi_function_locals(struct hi_types *types, struct hi_module *module,
				  uint64_t entry, struct hi_parameter *ret, size_t max,
				  size_t *n_ret, struct hi_error *err)
{
	struct hi_modules *modules = hi_module_modules(module);
	Dwarf_Addr bias;
	Dwarf_Die function;
	bool found = false;
	Dwarf *dwarf;

	hi_modules_lock(modules);
	dwarf = hi_module_dwarf(module, &bias);
	if (dwarf && hi_function_die(dwarf, entry - bias, &function)) {
		found = true;
		*n_ret = take_locals(types, module, &function, ret, max);
	}
	hi_modules_unlock(modules);
	return found ? HI_OK
		     : hi_fail(err, HI_NOT_FOUND, 0,
			       "no debug information of this function");
}
