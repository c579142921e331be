/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/use_functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "decode/modules/demangle.h"
#include "probes/prologue.h"
#include "probes/target_code.h"

enum { CODE_MAX = 4096 }; /* of a function, to find the place for a probe */

struct finding {
	struct hi_target_code *code;
	struct hi_module *module;
	struct hi_use_functions *found;
	struct hi_table types; /* from ids to numbers of names + 1; 0: of no use */
	struct hi_error *err;
	enum hi_status status;
};

/* ---- types ---- */

static uint64_t add_type_name(struct hi_use_functions *found, const struct hi_type *type)
{
	size_t length = strlen(type->name);

	if (length == 0 || length >= HI_USE_TYPE_NAME || found->n_types == HI_USE_TYPES)
		return 0;
	memcpy(found->type_names[found->n_types], type->name, length + 1);
	return ++found->n_types;
}

/* The number + 1 of the name of what the pointer leads to; 0: it is no record. */
static uint64_t number_pointee(struct finding *f, hi_type_id pointer)
{
	const struct hi_type *type = hi_type_get(f->code->types, pointer);
	uint64_t number;

	if (type->kind != HI_KIND_POINTER)
		return 0;
	type = hi_type_get(f->code->types, type->target);
	if (type->kind != HI_KIND_STRUCT && type->kind != HI_KIND_UNION)
		return 0;
	if (hi_table_get(&f->types, type->id, &number))
		return number;
	number = add_type_name(f->found, type);
	if (!hi_table_put(&f->types, type->id, number))
		f->status = hi_fail_memory(f->err, "functions");
	return number;
}

static void take_arguments(struct finding *f, const struct hi_record_function *function,
			   struct hi_use_function *ret)
{
	for (size_t i = 0; i < function->n_parameters; i++) {
		const struct hi_parameter *p = &function->parameters[i];
		uint64_t number;

		if (!p->is_located || p->argument < 0 ||
		    p->argument >= HI_BPF_USE_REGISTERS)
			continue;
		number = number_pointee(f, p->type);
		if (!number)
			continue;
		ret->registers |= (uint8_t)(1u << p->argument);
		ret->types[p->argument] = (uint16_t)(number - 1);
	}
}

/* ---- places ---- */

static bool find_code_mapping(const struct hi_target *target, struct hi_use_function *f)
{
	for (size_t i = 0; i < target->n_mappings; i++) {
		const struct hi_mapping *m = &target->mappings[i];

		if (f->address < m->start || f->address >= m->end)
			continue;
		f->mapping = (uint32_t)i;
		f->file_offset = f->address - m->start + m->file_offset;
		return m->kind == HI_MAPPING_FILE && (m->prot & HI_PROT_EXEC);
	}
	return false;
}

/* Chooses a place at which the registers still have the arguments. */
static void choose_place(const struct finding *f,
			 const struct hi_record_function *function,
			 struct hi_use_function *ret)
{
	size_t size = function->size < CODE_MAX ? (size_t)function->size : CODE_MAX;
	struct hi_prologue_site at = {.single_stepped = true};
	uint8_t bytes[CODE_MAX];

	if (size &&
	    hi_module_read_file(f->module, function->entry, bytes, size, NULL) == HI_OK) {
		hi_prologue_choose(bytes, size, function->entry, ret->registers, &at);
		/* Another symbol in between is another entry. */
		if (hi_module_next_symbol(f->module, function->entry) <=
		    function->entry + at.offset)
			hi_prologue_look(bytes, size, function->entry, &at);
	}
	ret->address = function->entry + at.offset;
	ret->single_stepped = at.single_stepped;
}

static void name_use_function(const struct finding *f, uint64_t entry,
			      struct hi_use_function *ret)
{
	uint64_t offset;
	const char *symbol = hi_modules_symbol_at(f->code->modules, entry, &offset);
	char plain[512];

	if (symbol)
		snprintf(ret->name, sizeof(ret->name), "%.63s",
			 hi_demangle(symbol, plain, sizeof(plain)) ? plain : symbol);
}

static bool take_function(void *arg, const struct hi_record_function *function)
{
	struct finding *f = arg;
	struct hi_use_function made = {};

	take_arguments(f, function, &made);
	if (!made.registers || f->status != HI_OK)
		return f->status == HI_OK;
	if (f->found->count == HI_USE_FUNCTIONS) {
		f->found->is_full = true;
		return false;
	}
	choose_place(f, function, &made);
	name_use_function(f, function->entry, &made);
	if (find_code_mapping(f->code->target, &made))
		f->found->items[f->found->count++] = made;
	return true;
}

/* ---- all of them ---- */

static int compare_by_address(const void *a, const void *b)
{
	const struct hi_use_function *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void drop_without_registers(struct hi_use_functions *found)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < found->count; i++)
		if (found->items[i].registers)
			found->items[n++] = found->items[i];
	found->count = n;
}

/* Functions with the same code may be folded into one, and take different types: what
 * all of them take is certain. */
static void merge_same_places(struct hi_use_functions *found)
{
	if (found->count)
		qsort(found->items, found->count, sizeof(*found->items),
		      compare_by_address);
	for (uint32_t i = 1; i < found->count; i++) {
		struct hi_use_function *f = &found->items[i];

		if (f->address != f[-1].address)
			continue;
		f->registers &= f[-1].registers;
		f[-1].registers = 0;
	}
	drop_without_registers(found);
}

static void find_in_modules(struct finding *f)
{
	const struct hi_record_functions search = {take_function, f};
	size_t n = hi_modules_count(f->code->modules);

	for (size_t i = 0; i < n && f->status == HI_OK && !f->found->is_full; i++) {
		bool has_dwarf = false;

		f->module = hi_modules_get(f->code->modules, i);
		hi_module_record_functions(f->code->types, f->module, &search,
					   &has_dwarf);
		f->found->n_modules++;
		f->found->n_with_dwarf += has_dwarf;
	}
	merge_same_places(f->found);
}

enum hi_status hi_use_functions_find_in(const struct hi_target *target,
					struct hi_image *image,
					struct hi_use_functions *ret,
					struct hi_error *err)
{
	HI_GUARD(hi_target_code_close) struct hi_target_code *code = NULL;
	struct finding f = {.found = ret, .err = err, .status = HI_OK};
	enum hi_status status = hi_target_code_open(target, image, &code, err);

	if (status == HI_OK)
		status = hi_target_code_types(code, err);
	if (status != HI_OK)
		return status;
	f.code = code;
	find_in_modules(&f);
	hi_table_free(&f.types);
	return f.status;
}
