/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a pc to its function and to the variables that are live there: the unit
 * by .debug_aranges (else by the units' own ranges), the function by a table a
 * unit, then down the blocks and inlined calls that contain the pc.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/modules/demangle.h"
#include "decode/frames/frames_internal.h"

enum {
	DEPTH_MAX = 64,		     /* nesting of scopes */
	DIES_MAX = 1 << 20,	     /* looked at for one pc, or in one unit */
	RANGES_MAX = 1 << 20,	     /* of one unit, or of all units of a module */
	VARIABLES_MAX = 1 << 16,     /* at one pc */
	FUNCTION_NAME_MAX = 1 << 16, /* bytes; longer ones keep their short name */
};

/* Code [start, end) in ELF addresses belongs to the DIE at this offset. */
struct range {
	uint64_t start, end;
	Dwarf_Off die;
};

struct ranges {
	struct HI_VECTOR(struct range) all; /* sorted by start */
	bool deep; /* functions nested in functions are among them */
};

/* Per module: where its units' code is, if .debug_aranges is missing. */
struct hi_scope_module {
	bool tried;
	struct ranges units;
};

/* ---- tables of ranges ---- */

static int compare_function_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->die < y->die ? -1 : x->die > y->die;
}

static void sort_ranges(struct ranges *ranges)
{
	if (ranges->all.count)
		qsort(ranges->all.items, ranges->all.count, sizeof(*ranges->all.items),
		      compare_function_ranges);
}

/* The DIE whose range begins last at or before addr, if it covers it. */
static bool find_function_range(const struct ranges *ranges, uint64_t addr,
				Dwarf_Off *ret)
{
	const struct range *items = ranges->all.items;
	size_t low = hi_search(i, ranges->all.count, items[i].start <= addr);

	if (low == 0 || addr >= items[low - 1].end)
		return false;
	*ret = items[low - 1].die;
	return true;
}

/* False when out of memory. Code that the linker dropped has address 0. */
static bool add_ranges(struct ranges *ranges, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;

	while (ranges->all.count < RANGES_MAX &&
	       (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0)
		if (start != 0 && start < end &&
		    !hi_vector_push(&ranges->all,
				    ((struct range){start, end, dwarf_dieoffset(die)})))
			return false;
	return true;
}

/* ---- units ---- */

static enum hi_status read_units(struct ranges *units, Dwarf *dwarf, struct hi_error *err)
{
	Dwarf_CU *cu = NULL, *next;
	Dwarf_Die die;

	/* 0: one more unit, 1: no more, -1: broken. */
	while (dwarf_get_units(dwarf, cu, &next, NULL, NULL, &die, NULL) == 0) {
		cu = next;
		if (die.addr && !add_ranges(units, &die))
			return hi_fail_memory(err, "units of a module");
	}
	sort_ranges(units);
	return HI_OK;
}

/* The unit whose code covers addr (an ELF address). */
static enum hi_status find_unit(struct hi_frame_cache *cache, struct hi_module *module,
				Dwarf *dwarf, uint64_t addr, Dwarf_Die *ret,
				struct hi_error *err)
{
	struct hi_scope_module *scope = &cache->scopes[hi_module_index(module)];
	enum hi_status status;
	Dwarf_Off offset;

	if (dwarf_addrdie(dwarf, addr, ret))
		return HI_OK;
	if (!scope->tried) {
		scope->tried = true;
		status = read_units(&scope->units, dwarf, err);
		if (status != HI_OK)
			return status;
	}
	if (find_function_range(&scope->units, addr, &offset) &&
	    dwarf_offdie(dwarf, offset, ret))
		return HI_OK;
	return HI_NOT_FOUND;
}

/* ---- functions of a unit ---- */

/* A walk over DIEs with an explicit stack, bounded in depth and number. */
struct die_walk {
	Dwarf_Die path[DEPTH_MAX]; /* the DIE that comes next on each level */
	size_t depth;
	size_t visited;
};

static void walk_begin(struct die_walk *walk, Dwarf_Die *parent)
{
	walk->visited = 0;
	walk->depth = dwarf_child(parent, &walk->path[0]) == 0;
}

/* The next DIE in order and its level; the caller may then walk_into() it. */
static bool walk_next(struct die_walk *walk, Dwarf_Die *ret, size_t *level_ret)
{
	if (walk->depth == 0 || ++walk->visited > DIES_MAX)
		return false;
	*ret = walk->path[walk->depth - 1];
	*level_ret = walk->depth - 1;
	/* The levels below already hold what comes after their scope. */
	if (dwarf_siblingof(ret, &walk->path[walk->depth - 1]) != 0)
		walk->depth--;
	return true;
}

/* Its children come next, on level walk->depth - 1. */
static bool walk_into(struct die_walk *walk, Dwarf_Die *die)
{
	if (walk->depth == DEPTH_MAX || dwarf_child(die, &walk->path[walk->depth]) != 0)
		return false;
	walk->depth++;
	return true;
}

static bool may_hold_functions(int tag, bool deep)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return true;
	case DW_TAG_subprogram: /* nested functions of GNU C, Ada, Pascal */
	case DW_TAG_lexical_block:
		return deep;
	default:
		return false;
	}
}

/* False when out of memory. */
static bool read_functions(struct ranges *functions, Dwarf_Die *unit, bool deep)
{
	struct die_walk walk;
	Dwarf_Die die;
	size_t level;

	functions->all.count = 0;
	functions->deep = deep;
	walk_begin(&walk, unit);
	while (walk_next(&walk, &die, &level)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram && !add_ranges(functions, &die))
			return false;
		if (may_hold_functions(tag, deep))
			walk_into(&walk, &die);
	}
	sort_ranges(functions);
	return true;
}

static void ranges_destroy(struct ranges *ranges)
{
	hi_vector_free(&ranges->all);
	free(ranges);
}
HI_DEFINE_GUARD(struct ranges *, ranges_destroy)

static enum hi_status unit_functions(struct hi_frame_cache *cache, Dwarf_Die *unit,
				     struct ranges **ret, struct hi_error *err)
{
	HI_GUARD(ranges_destroy) struct ranges *made = NULL;
	uint64_t key = (uintptr_t)unit->cu, found;

	if (hi_table_get(&cache->units, key, &found)) {
		*ret = (struct ranges *)(uintptr_t)found;
		return HI_OK;
	}
	made = hi_calloc(1, sizeof(*made));
	if (!made || !read_functions(made, unit, false) ||
	    !hi_table_put(&cache->units, key, (uintptr_t)made))
		return hi_fail_memory(err, "functions of a unit");
	*ret = hi_take(made);
	return HI_OK;
}

static enum hi_status find_function(struct hi_frame_cache *cache, Dwarf_Die *unit,
				    uint64_t addr, Dwarf_Die *ret, struct hi_error *err)
{
	struct ranges *functions = NULL;
	enum hi_status status = unit_functions(cache, unit, &functions, err);
	Dwarf_Off offset;

	if (status != HI_OK)
		return status;
	if (!find_function_range(functions, addr, &offset)) {
		if (functions->deep)
			return HI_NOT_FOUND;
		if (!read_functions(functions, unit, true))
			return hi_fail_memory(err, "functions of a unit");
		if (!find_function_range(functions, addr, &offset))
			return HI_NOT_FOUND;
	}
	return dwarf_offdie(dwarf_cu_getdwarf(unit->cu), offset, ret) ? HI_OK
								      : HI_NOT_FOUND;
}

/* ---- names ---- */

/* "ns::Class::method" out of a mangled C++ or Rust name; NULL if it is none. */
static const char *demangle_function(struct hi_frame_cache *cache, const char *mangled)
{
	HI_GUARD(free) char *plain = mangled ? hi_alloc(FUNCTION_NAME_MAX) : NULL;

	return plain && hi_demangle_name(mangled, plain, FUNCTION_NAME_MAX)
		       ? hi_arena_strdup(&cache->arena, plain)
		       : NULL;
}

static const char *name_of_function_die(struct hi_frame_cache *cache, Dwarf_Die *die)
{
	const char *mangled = hi_die_string(die, DW_AT_linkage_name), *plain;

	if (!mangled)
		mangled = hi_die_string(die, DW_AT_MIPS_linkage_name);
	plain = demangle_function(cache, mangled);
	return plain ? plain : hi_die_string(die, DW_AT_name);
}

static const char *symbol_name(struct hi_frame_cache *cache, uint64_t pc)
{
	uint64_t offset;
	const char *symbol = hi_modules_symbol_at(cache->modules, pc, &offset), *plain;

	plain = demangle_function(cache, symbol);
	return plain ? plain : symbol;
}

/* Functions without external linkage have no DW_AT_linkage_name, but if they are C++
 * their symbol knows the namespace. */
static const char *whole_function_name(struct hi_frame_cache *cache, Dwarf_Die *die,
				       uint64_t pc)
{
	const char *name = name_of_function_die(cache, die), *symbol;

	if (name && strchr(name, ':'))
		return name;
	symbol = symbol_name(cache, pc);
	if (!name || (symbol && strstr(symbol, "::")))
		return symbol;
	return name;
}

/* ---- variables at a pc ---- */

struct hi_pc_variables HI_VECTOR(struct hi_pc_variable);

struct scope_walk {
	struct hi_frame_cache *cache;
	struct hi_pc *pc;
	uint64_t addr; /* of the pc in the ELF file */
	const char *functions[DEPTH_MAX];
	struct hi_pc_variables found;
};

/* Variables with static storage are found by their address, not by a frame. */
static bool is_static_storage(const Dwarf_Op *ops, size_t n_ops)
{
	if (n_ops == 0 || ops[n_ops - 1].atom == DW_OP_stack_value)
		return false;
	for (size_t i = 0; i < n_ops; i++)
		if (ops[i].atom == DW_OP_form_tls_address ||
		    ops[i].atom == DW_OP_GNU_push_tls_address)
			return true;
	return ops[0].atom == DW_OP_addr || ops[0].atom == DW_OP_addrx ||
	       ops[0].atom == DW_OP_GNU_addr_index;
}

/* Its location at the pc, or its constant value; false: it is not there. */
static bool find_location(const struct scope_walk *walk, Dwarf_Die *die,
			  struct hi_pc_variable *var)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;

	if (dwarf_attr(die, DW_AT_location, &var->attr)) {
		if (dwarf_getlocation_addr(&var->attr, walk->addr, &ops, &var->n_ops,
					   1) != 1 ||
		    var->n_ops == 0 || is_static_storage(ops, var->n_ops))
			return false;
		var->ops = ops;
		return true;
	}
	if (!dwarf_attr_integrate(die, DW_AT_const_value, &attr))
		return false;
	var->has_constant = dwarf_formsdata(&attr, (Dwarf_Sword *)&var->constant) == 0;
	return var->has_constant;
}

static enum hi_status add_scope_variable(struct scope_walk *walk, Dwarf_Die *die,
					 const char *function, struct hi_error *err)
{
	struct hi_pc_variable var = {.function = function};
	struct hi_types *types = walk->cache->types;
	Dwarf_Die typed;

	if (walk->found.count == VARIABLES_MAX || !find_location(walk, die, &var))
		return HI_OK;
	var.name = hi_die_string(die, DW_AT_name);
	if (!var.name)
		var.name = "";
	var.is_parameter = dwarf_tag(die) == DW_TAG_formal_parameter;
	if (hi_die_find_typed(die, &typed))
		var.type = hi_types_of_die(types, walk->pc->module, &typed);
	var.size = hi_type_get(types, var.type)->size;
	return hi_vector_push(&walk->found, var) ? HI_OK
						 : hi_fail_memory(err, "variables");
}

static bool is_scope_at(Dwarf_Die *die, int tag, uint64_t addr)
{
	switch (tag) {
	case DW_TAG_lexical_block:
		/* A block without ranges is as wide as its parent. */
		if (!dwarf_hasattr(die, DW_AT_low_pc) &&
		    !dwarf_hasattr(die, DW_AT_ranges))
			return true;
		[[fallthrough]];
	case DW_TAG_inlined_subroutine:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return dwarf_haspc(die, addr) > 0;
	default:
		return false;
	}
}

static enum hi_status walk_scopes(struct scope_walk *scope, Dwarf_Die *function,
				  struct hi_error *err)
{
	struct die_walk walk;
	enum hi_status status = HI_OK;
	Dwarf_Die die;
	size_t level;

	scope->functions[0] = scope->pc->function;
	walk_begin(&walk, function);
	while (status == HI_OK && walk_next(&walk, &die, &level)) {
		int tag = dwarf_tag(&die);
		const char *name = scope->functions[level];

		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			status = add_scope_variable(scope, &die, name, err);
		else if (is_scope_at(&die, tag, scope->addr) && walk_into(&walk, &die))
			scope->functions[walk.depth - 1] =
				tag == DW_TAG_inlined_subroutine
					? name_of_function_die(scope->cache, &die)
					: name;
	}
	return status;
}

static void find_frame_base(struct hi_pc *pc, Dwarf_Die *function, uint64_t addr)
{
	Dwarf_Op *ops;

	if (dwarf_attr_integrate(function, DW_AT_frame_base, &pc->frame_base_attr) &&
	    dwarf_getlocation_addr(&pc->frame_base_attr, addr, &ops, &pc->n_frame_base,
				   1) == 1)
		pc->frame_base = ops;
}

static enum hi_status read_function_scopes(struct hi_frame_cache *cache, struct hi_pc *pc,
					   Dwarf_Die *function, uint64_t addr,
					   struct hi_error *err)
{
	struct scope_walk walk = {.cache = cache, .pc = pc, .addr = addr};
	enum hi_status status;

	pc->function = whole_function_name(cache, function, pc->pc);
	find_frame_base(pc, function, addr);
	status = walk_scopes(&walk, function, err);
	if (status != HI_OK) {
		hi_vector_free(&walk.found);
		return status;
	}
	pc->variables = walk.found.items;
	pc->n_variables = walk.found.count;
	return HI_OK;
}

enum hi_status hi_scopes_read(struct hi_frame_cache *cache, struct hi_pc *pc,
			      struct hi_error *err)
{
	Dwarf_Addr bias = 0;
	Dwarf_Die die;
	Dwarf *dwarf;
	enum hi_status status = HI_NOT_FOUND;

	if (pc->scopes_read)
		return HI_OK;
	dwarf = pc->module ? hi_module_dwarf(pc->module, &bias) : NULL;
	if (dwarf)
		status = find_unit(cache, pc->module, dwarf, pc->pc - bias, &die, err);
	if (status == HI_OK) {
		hi_die_enter_split(&die);
		status = find_function(cache, &die, pc->pc - bias, &die, err);
	}
	if (status == HI_OK)
		status = read_function_scopes(cache, pc, &die, pc->pc - bias, err);
	if (status != HI_OK && status != HI_NOT_FOUND)
		return status;
	if (!pc->function)
		pc->function = symbol_name(cache, pc->pc);
	pc->scopes_read = true;
	return HI_OK;
}

enum hi_status hi_scopes_init(struct hi_frame_cache *cache, struct hi_error *err)
{
	cache->scopes = hi_calloc(cache->n_modules + 1, sizeof(*cache->scopes));
	return cache->scopes ? HI_OK : hi_fail_memory(err, "scopes");
}

void hi_scopes_free(struct hi_frame_cache *cache)
{
	for (size_t i = 0; cache->scopes && i < cache->n_modules; i++)
		hi_vector_free(&cache->scopes[i].units.all);
	for (size_t i = 0; i < cache->units.capacity; i++)
		if (cache->units.slots[i].key != UINT64_MAX)
			ranges_destroy(
				(struct ranges *)(uintptr_t)cache->units.slots[i].value);
	hi_table_free(&cache->units);
	free(cache->scopes);
}
