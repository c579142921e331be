/* SPDX-License-Identifier: BSD-2-Clause */
/* Variables with static storage: by address, by name, thread-local ones. */
#include "decode/modules/module.h"
#include "decode/types/types_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "decode/modules/demangle.h"

enum {
	OVERLAPS_MAX = 8, /* variables before an address that may reach over it */
	ORIGIN_STEPS = 8,
};

/* The type: of the DIE itself, or of the one that it completes. */
static struct hi_dw_ref variable_type(struct hi_dw_die die)
{
	for (unsigned i = 0; i < ORIGIN_STEPS && !die.type.file; i++) {
		struct hi_dw_ref next =
			die.specification.file ? die.specification : die.origin;

		if (!next.file || !hi_dw_die_read(next, &die))
			break;
	}
	return die.type;
}

static void variable_name(const struct hi_dw_die *named, char *out, size_t out_size)
{
	/* Scopes of C are functions only: "function()::name". */
	size_t n = hi_dw_scope_name(named->unit, named->offset, true, out, out_size);

	if (n < out_size)
		snprintf(out + n, out_size - n, "%s%s", n ? "::" : "",
			 named->name ? named->name : "?");
}

static const char *variable_file(struct hi_types *types, const struct hi_dw_die *die)
{
	const char *file = hi_dw_file_name(die->unit, die->decl_file), *text;

	if (file[0] == '\0')
		return die->unit->name ? die->unit->name : "";
	text = die->decl_line ? hi_arena_printf(&types->arena, "%.2000s:%u", file,
						die->decl_line)
			      : file;
	return text ? text : "";
}

/* Reads the variable's DIE; false: it cannot be understood. Under the lock. */
static bool read_variable(struct hi_types *types, struct hi_type_module *module,
			  hi_die_ref ref, struct hi_variable *ret)
{
	char name[HI_DW_NAME_MAX];
	struct hi_dw_die die, named;
	struct hi_dw_ref type;

	if (!hi_dw_die_read(hi_types_ref(module, ref), &die))
		return false;
	named = die;
	if (!hi_dw_die_origin(&named))
		return false;
	variable_name(&named, name, sizeof(name));
	type = variable_type(die);
	*ret = (struct hi_variable){.module = module->module};
	ret->name = hi_arena_strdup(&types->arena, name);
	ret->file = variable_file(types, die.decl_file ? &die : &named);
	if (type.file)
		ret->type = hi_slot_of_die(
			types, (uint32_t)hi_module_index(module->module), type);
	if (ret->type) {
		ret->type = hi_type_get(types, ret->type)->id;
		ret->size = hi_type_get(types, ret->type)->size;
	}
	return ret->name != NULL;
}

/* Variable number i of the index, read once. NULL: broken. */
static const struct hi_variable *shown_variable(struct hi_types *types,
						struct hi_type_module *module, size_t i)
{
	struct hi_variable *variable;

	if (!module->shown)
		module->shown =
			hi_calloc(module->index.n_variables + 1, sizeof(*module->shown));
	if (!module->shown)
		return NULL;
	if (!module->shown[i]) {
		variable = hi_arena_alloc(&types->arena, sizeof(*variable));
		if (!variable)
			return NULL;
		module->shown[i] = variable;
		if (read_variable(types, module, module->index.variables[i].die,
				  variable))
			variable->address =
				module->index.variables[i].address + module->bias;
		else
			atomic_fetch_add(&types->broken, 1);
	}
	return module->shown[i]->name ? module->shown[i] : NULL;
}

/* The symbol with this name at this address, for sizes that are not known by type. */
static uint64_t symbol_size(struct hi_module *module, uint64_t addr)
{
	const struct hi_symbol *symbol = hi_module_symbol_at(module, addr);

	return symbol && symbol->addr == addr ? symbol->size : 0;
}

/* One past the last variable that begins at or before the address. */
static size_t variables_up_to(const struct hi_type_module *item, uint64_t addr)
{
	const struct hi_index_variable *variables = item->index.variables;
	return hi_search(i, item->index.n_variables,
			 variables[i].address + item->bias <= addr);
}

static const struct hi_variable *
variable_by_dwarf(struct hi_types *types, struct hi_module *module, uint64_t addr)
{
	struct hi_type_module *item = hi_types_indexed(types, module);
	size_t low;

	if (!item)
		return NULL;
	low = variables_up_to(item, addr);
	for (unsigned i = 0; i < OVERLAPS_MAX && low > 0; i++, low--) {
		const struct hi_variable *variable = shown_variable(types, item, low - 1);
		uint64_t size;

		if (!variable)
			continue;
		size = variable->size ? variable->size
				      : symbol_size(module, variable->address);
		if (addr - variable->address < size ||
		    (size == 0 && addr == variable->address))
			return variable;
	}
	return NULL;
}

size_t hi_types_names_at(struct hi_types *types, uint64_t addr, const char **ret,
			 size_t max)
{
	struct hi_module *module = hi_modules_at(types->modules, addr);
	struct hi_type_module *item;
	size_t n = 0;

	if (!module)
		return 0;
	hi_types_lock(types);
	item = hi_types_indexed(types, module);
	for (size_t i = item ? variables_up_to(item, addr) : 0; i-- > 0 && n < max;) {
		const struct hi_variable *variable = shown_variable(types, item, i);

		if (item->index.variables[i].address + item->bias != addr)
			break;
		if (variable)
			ret[n++] = variable->name;
	}
	hi_types_unlock(types);
	return n;
}

/* As in the source if it is a C++ or Rust name; kept until the types close. */
static const char *readable_symbol(struct hi_types *types, const char *symbol)
{
	char plain[512];
	const char *kept;

	if ((strncmp(symbol, "_Z", 2) != 0 && strncmp(symbol, "_R", 2) != 0) ||
	    !hi_demangle(symbol, plain, sizeof(plain)))
		return symbol;
	hi_types_lock(types);
	kept = hi_arena_strdup(&types->arena, plain);
	hi_types_unlock(types);
	return kept ? kept : symbol;
}

/* Without DWARF only the ELF symbol is known. */
static bool variable_by_symbol(struct hi_types *types, struct hi_module *module,
			       const struct hi_symbol *symbol, struct hi_variable *ret)
{
	if (!symbol || (symbol->type != STT_OBJECT && symbol->type != STT_COMMON))
		return false;
	*ret = (struct hi_variable){
		.name = readable_symbol(types, symbol->name),
		.file = "",
		.address = symbol->addr,
		.size = symbol->size,
		.module = module,
	};
	return true;
}

enum hi_status hi_types_variable_at(struct hi_types *types, uint64_t addr,
				    struct hi_variable *ret, struct hi_error *err)
{
	struct hi_module *module = hi_modules_at(types->modules, addr);
	const struct hi_variable *variable;

	if (!module)
		return hi_fail(err, HI_NOT_FOUND, addr, "in no module");
	hi_types_lock(types);
	variable = variable_by_dwarf(types, module, addr);
	hi_types_unlock(types);
	if (variable) {
		*ret = *variable;
		return HI_OK;
	}
	if (variable_by_symbol(types, module, hi_module_symbol_at(module, addr), ret))
		return HI_OK;
	return hi_fail(err, HI_NOT_FOUND, addr, "no variable there");
}

/* ---- by name ---- */

/* "f()::x" is hashed as an x inside some function; the whole name decides. */
static uint64_t hash_variable(const char *name)
{
	const char *last = NULL;

	for (const char *p = name; (p = strstr(p, ")::")) != NULL; p += 3)
		last = p + 3;
	if (last && !strchr(last, ':'))
		return hi_type_hash_part(HI_SCOPE_FUNCTION, last, strlen(last));
	return hi_type_hash_qualified(name);
}

static bool named_in(struct hi_types *types, struct hi_module *module, const char *name,
		     struct hi_variable *ret)
{
	struct hi_type_module *item = hi_types_indexed(types, module);
	uint64_t hash = hash_variable(name);
	const struct hi_type_index *index;
	size_t low = 0, high;

	if (!item || !item->index.by_name)
		return false;
	index = &item->index;
	high = index->n_variables;
	low = hi_search_from(i, low, high,
			     index->variables[index->by_name[i]].hash < hash);
	for (; low < index->n_variables &&
	       index->variables[index->by_name[low]].hash == hash;
	     low++) {
		const struct hi_variable *variable =
			shown_variable(types, item, index->by_name[low]);

		if (variable && strcmp(variable->name, name) == 0) {
			*ret = *variable;
			return true;
		}
	}
	return false;
}

static bool named_anywhere(struct hi_types *types, const char *name,
			   struct hi_variable *ret)
{
	struct hi_module *exe = hi_modules_executable(types->modules);

	if (exe && named_in(types, exe, name, ret))
		return true;
	for (size_t i = 0; i < types->n_items; i++)
		if (types->items[i].module != exe &&
		    named_in(types, types->items[i].module, name, ret))
			return true;
	return false;
}

enum hi_status hi_types_variable_named(struct hi_types *types, const char *name,
				       struct hi_variable *ret, struct hi_error *err)
{
	uint64_t addr;
	bool found;

	hi_types_lock(types);
	found = named_anywhere(types, name, ret);
	hi_types_unlock(types);
	if (found)
		return HI_OK;
	if (hi_modules_symbol(types->modules, NULL, name, &addr, NULL, NULL) == HI_OK) {
		struct hi_module *module = hi_modules_at(types->modules, addr);

		if (module &&
		    variable_by_symbol(types, module, hi_module_symbol_at(module, addr),
				       ret)) {
			ret->name = hi_arena_strdup(&types->arena, name);
			return ret->name ? HI_OK : hi_fail_memory(err, "name");
		}
	}
	return hi_fail(err, HI_NOT_FOUND, 0, "no variable %s", name);
}

/* ---- all names ---- */

enum { NAMES_LISTED = 100000 };

/* False: fn has stopped, or they are enough. */
static bool list_names_in(struct hi_types *types, struct hi_module *module, size_t *left,
			  bool (*fn)(void *arg, const char *name), void *arg)
{
	struct hi_type_module *item = hi_types_indexed(types, module);
	char name[HI_DW_NAME_MAX];
	struct hi_dw_die die;

	for (size_t i = 0; item && i < item->index.n_variables; i++) {
		if ((*left)-- == 0)
			return false;
		if (!hi_dw_die_read(hi_types_ref(item, item->index.variables[i].die),
				    &die) ||
		    !hi_dw_die_origin(&die))
			continue;
		variable_name(&die, name, sizeof(name));
		if (!fn(arg, name))
			return false;
	}
	return true;
}

void hi_types_each_variable_name(struct hi_types *types,
				 bool (*fn)(void *arg, const char *name), void *arg)
{
	struct hi_module *exe = hi_modules_executable(types->modules);
	size_t left = NAMES_LISTED;
	bool go_on;

	hi_types_lock(types);
	go_on = !exe || list_names_in(types, exe, &left, fn, arg);
	for (size_t i = 0; go_on && i < types->n_items; i++)
		if (types->items[i].module != exe)
			go_on = list_names_in(types, types->items[i].module, &left, fn,
					      arg);
	hi_types_unlock(types);
}

/* ---- thread-local ---- */

struct tls_walk {
	struct hi_types *types;
	struct hi_module *module;
	struct hi_type_module *item; /* NULL: no DWARF */
	hi_tls_variable_fn *fn;
	void *arg;
};

static bool has_tls_at(const struct tls_walk *walk, uint64_t offset)
{
	for (size_t i = 0; walk->item && i < walk->item->index.n_tls; i++)
		if (walk->item->index.tls[i].address == offset)
			return true;
	return false;
}

static bool walk_tls_dwarf(const struct tls_walk *walk)
{
	for (size_t i = 0; walk->item && i < walk->item->index.n_tls; i++) {
		const struct hi_index_variable *entry = &walk->item->index.tls[i];
		struct hi_variable variable;

		/* One variable may have several DIEs: an extern and its definition. */
		if (i > 0 && entry->address == entry[-1].address)
			continue;
		if (!read_variable(walk->types, walk->item, entry->die, &variable))
			continue;
		variable.is_tls = true;
		if (!walk->fn(&variable, entry->address, walk->arg))
			return false;
	}
	return true;
}

static void walk_tls_symbols(const struct tls_walk *walk)
{
	const struct hi_symbols *symbols = hi_module_symbols(walk->module);

	for (size_t i = 0; symbols && i < symbols->tls.count; i++) {
		const struct hi_symbol *symbol = &symbols->tls.items[i];
		struct hi_variable variable = {.name = symbol->name,
					       .file = "",
					       .size = symbol->size,
					       .is_tls = true,
					       .module = walk->module};

		if (has_tls_at(walk, symbol->addr))
			continue;
		if (i > 0 && symbol[-1].addr == symbol->addr)
			continue;
		if (!walk->fn(&variable, symbol->addr, walk->arg))
			return;
	}
}

enum hi_status hi_types_tls_variables(struct hi_types *types, struct hi_module *module,
				      hi_tls_variable_fn *fn, void *arg,
				      struct hi_error *err)
{
	struct tls_walk walk = {types, module, NULL, fn, arg};
	size_t n_phdrs;
	const GElf_Phdr *phdrs = hi_module_phdrs(module, &n_phdrs);
	bool has_tls = false;

	(void)err;
	/* Without a TLS segment there is nothing to read the DWARF for. */
	for (size_t i = 0; i < n_phdrs; i++)
		has_tls |= phdrs[i].p_type == PT_TLS && phdrs[i].p_memsz > 0;
	if (!has_tls)
		return HI_OK;
	hi_types_lock(types);
	walk.item = hi_types_indexed(types, module);
	if (walk_tls_dwarf(&walk))
		walk_tls_symbols(&walk);
	hi_types_unlock(types);
	return HI_OK;
}

/* ---- for decode/frames ---- */

/* Which of our files the libdw handle of this DIE is. */
static struct hi_dw_file *file_of_die(struct hi_type_module *item, Dwarf_Die *die)
{
	Dwarf_Addr bias;
	Dwarf *main = hi_module_dwarf(item->module, &bias);
	Dwarf *own = dwarf_cu_getdwarf(die->cu);
	uint64_t id = 0;

	if (own == main)
		return item->files[0];
	if (item->files[0]->alt && main && own == dwarf_getalt(main))
		return item->files[0]->alt;
	if (dwarf_cu_info(die->cu, NULL, NULL, NULL, NULL, &id, NULL, NULL) != 0)
		return NULL;
	for (size_t i = 0; i < item->n_files; i++)
		if (item->files[i]->skeleton && item->files[i]->skeleton->signature == id)
			return item->files[i];
	return NULL;
}

hi_type_id hi_types_of_die(struct hi_types *types, struct hi_module *module, void *die)
{
	struct hi_type_module *item;
	hi_type_id id = HI_TYPE_UNKNOWN;
	struct hi_dw_ref ref = {};
	struct hi_dw_die read;

	hi_types_lock(types);
	item = hi_types_module(types, module);
	if (item)
		ref.file = file_of_die(item, die);
	ref.offset = dwarf_dieoffset(die);
	if (ref.file && hi_dw_die_read(ref, &read)) {
		ref = variable_type(read);
		if (ref.file)
			id = hi_slot_of_die(types, (uint32_t)hi_module_index(module),
					    ref);
	}
	id = hi_type_get(types, id)->id;
	hi_types_unlock(types);
	return id;
}
