/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/sites/alloc_sites_find.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decode/modules/code_names.h"
#include "decode/modules/code_scopes.h"
#include "decode/modules/code_symbols.h"
#include "decode/sites/site_finder.h"
#include "decode/sites/site_functions.h"
#include "decode/sites/site_variables.h"
#include "decode/sites/site_wrappers.h"

enum {
	TYPE_SIZE = 2048,
	AFTER = 192, /* bytes after a call in which its object is constructed */
	AFTER_STEP = 4,
};

struct placed_site {
	const struct hi_found_site *found;
	uint64_t addr; /* of the call, in the DWARF where there is one */
	uint64_t unit;
	uint32_t module;
};

struct site_naming {
	struct hi_modules *modules;
	struct hi_types *types; /* NULL: none */
	struct hi_code_names names;
	struct HI_VECTOR(struct placed_site) placed; /* by module, then unit */
	struct HI_VECTOR(struct hi_alloc_site) sites;
	struct hi_alloc_sites *ret;
	struct hi_error *err;
	/* The module that is looked at: */
	struct hi_module *module;
	Dwarf *dwarf; /* NULL: none */
	Dwarf_Addr bias;
	struct hi_code_ranges units, sections;
	/* Its unit: */
	bool has_unit;
	Dwarf_Die unit;
	struct hi_code_scopes scopes;
	char type[TYPE_SIZE];
};

static enum hi_status fail_site_naming(struct site_naming *n)
{
	return hi_fail_memory(n->err, "names of sites");
}

/* ---- the order in which they are looked up ---- */

static int compare_placed_sites(const void *a, const void *b)
{
	const struct placed_site *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void sort_placed_sites(struct placed_site *placed, size_t n)
{
	if (n > 1)
		qsort(placed, n, sizeof(*placed), compare_placed_sites);
}

static bool place_sites(struct site_naming *n, const struct hi_found_sites *found)
{
	for (size_t i = 0; i < found->all.count; i++) {
		const struct hi_found_site *site = &found->all.items[i];
		struct hi_module *module = hi_modules_at(n->modules, site->end - 1);

		if (module &&
		    !hi_vector_push(&n->placed,
				    ((struct placed_site){
					    .found = site,
					    .addr = site->end - 1,
					    .unit = HI_CODE_NOTHING,
					    .module = (uint32_t)hi_module_index(module),
				    })))
			return false;
	}
	sort_placed_sites(n->placed.items, n->placed.count);
	return true;
}

/* ---- types ---- */

/* Is it one of the scopes? */
static bool has_scope(const Dwarf_Die *scopes, size_t n, const Dwarf_Die *die)
{
	for (size_t i = 0; i < n; i++)
		if (scopes[i].addr == die->addr)
			return true;
	return false;
}

/* By the inlined call of an allocator of the type, of those inside `own`. */
static bool find_allocated_type(struct site_naming *n, Dwarf_Die *scopes, size_t own)
{
	for (size_t i = 0; i < own; i++) {
		const char *name = hi_code_name_of_die(&n->names, &scopes[i], NULL);

		if (name && hi_site_type_allocated(name, n->type, sizeof(n->type)))
			return true;
	}
	return false;
}

/* By the outermost inlined call of a constructor inside `own` that the call of the
 * allocator is not in. */
static bool find_constructor_at(struct site_naming *n, uint64_t addr,
				const Dwarf_Die *scopes, size_t n_scopes, size_t own)
{
	Dwarf_Die here[HI_CODE_DEPTH];
	size_t count = hi_code_scopes_at(&n->scopes, addr, here), i = count;

	while (i > 0 && here[i - 1].addr != scopes[own].addr)
		i--;
	for (; i > 1; i--) {
		const char *name;

		if (has_scope(scopes, n_scopes, &here[i - 2]))
			continue;
		name = hi_code_name_of_die(&n->names, &here[i - 2], NULL);
		if (name && hi_site_type_constructed(name, n->type, sizeof(n->type)))
			return true;
	}
	return false;
}

/* Is the object constructed by inlined code after the call? */
static bool find_constructed_type(struct site_naming *n, uint64_t addr,
				  const Dwarf_Die *scopes, size_t n_scopes, size_t own)
{
	for (unsigned i = 1; i < AFTER; i += AFTER_STEP)
		if (find_constructor_at(n, addr + i, scopes, n_scopes, own))
			return true;
	return false;
}

/* NULL: it is not known. */
static const struct hi_type *known_type(struct site_naming *n, const char *type)
{
	struct hi_error quiet;
	hi_type_id id;

	if (!n->types || hi_types_find(n->types, type, &id, &quiet) != HI_OK)
		return NULL;
	return hi_type_get(n->types, id);
}

/* A constructor that gets the object may be that of its first member, which often is a
 * type of the library. */
static void keep_certain_type(struct site_naming *n, struct hi_alloc_site *site,
			      const char *type, bool is_virtual)
{
	const struct hi_type *known = known_type(n, type);
	uint64_t size = known && site->kind == HI_ALLOC_OF_SIZE ? known->size : 0;

	if (size && site->size % size != 0)
		return;
	site->type = hi_arena_strdup(&n->ret->arena, type);
	site->type_grade = size || !hi_site_is_library(type) ? HI_ALLOC_CERTAIN_TYPE
							     : HI_ALLOC_LIKELY_TYPE;
	if (is_virtual || (size && known->has_vtable))
		site->type_grade = HI_ALLOC_VIRTUAL_TYPE;
}

static void find_type_by_dwarf(struct site_naming *n, const struct placed_site *placed,
			       Dwarf_Die *scopes, size_t n_scopes, size_t own,
			       struct hi_alloc_site *site)
{
	const struct hi_type *likely;

	if (!*site->type &&
	    (find_allocated_type(n, scopes, own) ||
	     find_constructed_type(n, placed->addr, scopes, n_scopes, own)))
		keep_certain_type(n, site, n->type, false);
	if (!site->type || site->type_grade != HI_ALLOC_NO_TYPE || !n->types ||
	    site->text == HI_ALLOC_TEXT)
		return;
	likely = hi_site_variable_type(n->types, n->module, &scopes[own], site);
	if (!likely)
		return;
	if (!hi_site_type_may_be_text(n->types, likely))
		site->text = HI_ALLOC_NO_TEXT;
	site->type = hi_arena_strdup(&n->ret->arena, likely->name);
	site->type_grade = HI_ALLOC_LIKELY_TYPE;
}

/* ---- sites ---- */

static struct hi_alloc_site size_of_site(const struct hi_found_site *found)
{
	struct hi_alloc_site site = {
		.function = "",
		.file = "",
		.module = "",
		.kind = HI_ALLOC_OF_SIZE,
		.size = (uint64_t)found->size.add,
		.type = "",
		.text = found->gives_text ? HI_ALLOC_TEXT : HI_ALLOC_MAYBE_TEXT,
	};

	if (found->size.kind == HI_VALUE_CONSTANT)
		return site;
	site.kind = HI_ALLOC_ANY_SIZE;
	site.size = found->size.mul;
	site.extra = found->size.add > 0 ? (uint64_t)found->size.add : 0;
	return site;
}

static const char *symbol_of_site(struct site_naming *n, const struct placed_site *placed)
{
	uint64_t start;
	const char *symbol = hi_code_symbol_at(n->module, &n->sections,
					       placed->found->end - 1, &start);

	return symbol ? hi_code_name_of_symbol(&n->names, symbol) : "";
}

/* Names have one copy in the arena for each site: they live as long as the sites. */
static enum hi_status keep_site(struct site_naming *n, struct hi_alloc_site *site,
				const char *function, struct hi_code_line line)
{
	struct hi_arena *arena = &n->ret->arena;

	if (!function)
		return fail_site_naming(n);
	site->function = hi_arena_strdup(arena, function);
	site->file = hi_arena_strdup(arena, line.file);
	site->module = hi_arena_strdup(arena, n->module->name);
	site->line = line.line;
	if (!site->function || !site->file || !site->module || !site->type ||
	    !hi_vector_push(&n->sites, *site))
		return fail_site_naming(n);
	return HI_OK;
}

/* Sites of a library's functions alone are none: their callers are. */
static enum hi_status name_site_by_symbol(struct site_naming *n,
					  const struct placed_site *placed,
					  struct hi_code_line line)
{
	struct hi_alloc_site site = size_of_site(placed->found);

	const char *symbol = symbol_of_site(n, placed);

	if (placed->found->is_in_library || (symbol && hi_site_comes_with_rust(symbol)))
		return HI_OK;
	if (*placed->found->type)
		keep_certain_type(n, &site, placed->found->type,
				  placed->found->is_virtual);
	return keep_site(n, &site, symbol, line);
}

/* Code that the compiler has moved has no line: the function has. */
static bool is_library_scope(const char *name, struct hi_code_line line, Dwarf_Die *scope)
{
	const char *file = *line.file ? line.file : dwarf_decl_file(scope);

	return hi_site_is_library(name) || (file && hi_site_is_library_file(file));
}

static enum hi_status name_placed_site(struct site_naming *n,
				       const struct placed_site *placed)
{
	struct hi_alloc_site site = size_of_site(placed->found);
	Dwarf_Die scopes[HI_CODE_DEPTH];
	struct hi_code_line line = {.file = ""};
	size_t count = 0;

	if (n->has_unit) {
		line = hi_code_line_at(&n->unit, placed->addr);
		count = hi_code_scopes_at(&n->scopes, placed->addr, scopes);
	}
	if (*placed->found->type)
		keep_certain_type(n, &site, placed->found->type,
				  placed->found->is_virtual);
	for (size_t i = 0; i < count; i++) {
		const char *name = hi_code_name_of_die(&n->names, &scopes[i], NULL);

		if (name && !*name && i + 1 == count)
			break;
		if (name && !is_library_scope(name, line, &scopes[i]) &&
		    !(i + 1 < count && hi_site_gives_what_is_asked(&scopes[i]))) {
			site.line = line.line;
			find_type_by_dwarf(n, placed, scopes, count, i, &site);
			return keep_site(n, &site, name, line);
		}
		line = hi_code_line_of_call(&n->scopes.unit, &scopes[i]);
	}
	return count ? HI_OK : name_site_by_symbol(n, placed, line);
}

/* ---- modules and their units ---- */

static enum hi_status name_unit_sites(struct site_naming *n,
				      const struct placed_site *placed, size_t count)
{
	enum hi_status status = HI_OK;

	n->has_unit = placed->unit != HI_CODE_NOTHING &&
		      hi_code_unit_die(n->dwarf, placed->unit, &n->unit);
	if (n->has_unit)
		status = hi_code_scopes_read(&n->unit, &n->scopes, n->err);
	for (size_t i = 0; status == HI_OK && i < count; i++)
		status = name_placed_site(n, &placed[i]);
	hi_code_scopes_free(&n->scopes);
	return status;
}

static void place_in_units(struct site_naming *n, struct placed_site *placed,
			   size_t count)
{
	for (size_t i = 0; n->dwarf && i < count; i++) {
		placed[i].addr -= n->bias;
		placed[i].unit = hi_code_unit_at(n->dwarf, &n->units, placed[i].addr);
	}
	sort_placed_sites(placed, count);
}

static enum hi_status name_module_sites(struct site_naming *n, struct placed_site *placed,
					size_t count)
{
	enum hi_status status;

	n->module = hi_modules_get(n->modules, placed->module);
	n->dwarf = hi_module_dwarf(n->module, &n->bias);
	status = hi_code_symbols_read(n->module, &n->sections, n->err);
	if (status == HI_OK && n->dwarf)
		status = hi_code_units_read(n->dwarf, &n->units, n->err);
	place_in_units(n, placed, count);
	for (size_t i = 0, to; status == HI_OK && i < count; i = to) {
		for (to = i + 1; to < count && placed[to].unit == placed[i].unit; to++)
			;
		status = name_unit_sites(n, &placed[i], to - i);
	}
	hi_code_ranges_free(&n->units);
	hi_code_ranges_free(&n->sections);
	return status;
}

static enum hi_status name_all_sites(struct site_naming *n)
{
	struct placed_site *placed = n->placed.items;
	enum hi_status status = HI_OK;

	for (size_t i = 0, to; status == HI_OK && i < n->placed.count; i = to) {
		for (to = i + 1;
		     to < n->placed.count && placed[to].module == placed[i].module; to++)
			;
		status = name_module_sites(n, &placed[i], to - i);
	}
	return status;
}

/* ---- all ---- */

static int compare_site_texts(const char *a, const char *b, int before)
{
	return before ? before : strcmp(a, b);
}

static int compare_site_numbers(uint64_t a, uint64_t b, int before)
{
	return before ? before : a < b ? -1 : a > b;
}

static int compare_alloc_sites(const void *a, const void *b)
{
	const struct hi_alloc_site *x = a, *y = b;
	int ret = compare_site_texts(x->function, y->function, 0);

	ret = compare_site_texts(x->file, y->file, ret);
	ret = compare_site_numbers(x->line, y->line, ret);
	ret = compare_site_numbers(x->size, y->size, ret);
	ret = compare_site_numbers(x->kind, y->kind, ret);
	ret = compare_site_numbers(x->extra, y->extra, ret);
	ret = compare_site_texts(x->module, y->module, ret);
	return compare_site_texts(x->type, y->type, ret);
}

/* A call that the compiler has copied is one site. */
static void take_sorted_sites(struct site_naming *n)
{
	struct hi_alloc_site *sites = n->sites.items;
	size_t kept = 0;

	if (n->sites.count)
		qsort(sites, n->sites.count, sizeof(*sites), compare_alloc_sites);
	for (size_t i = 0; i < n->sites.count; i++)
		if (i == 0 || compare_alloc_sites(&sites[i], &sites[kept - 1]) != 0)
			sites[kept++] = sites[i];
	n->ret->items = sites;
	n->ret->count = kept;
	n->sites.items = NULL;
}

static void free_site_naming(struct site_naming *n)
{
	hi_vector_free(&n->placed);
	hi_vector_free(&n->sites);
	hi_code_names_free(&n->names);
}

enum hi_status hi_alloc_sites_find(struct hi_modules *modules, struct hi_types *types,
				   struct hi_alloc_sites **ret, struct hi_error *err)
{
	HI_GUARD(hi_alloc_sites_destroy)
	struct hi_alloc_sites *sites = hi_calloc(1, sizeof(*sites));
	struct site_naming n = {
		.modules = modules, .types = types, .ret = sites, .err = err};
	struct hi_found_sites found = {};
	enum hi_status status;

	if (!sites)
		return hi_fail_memory(err, "sites of allocations");
	status = hi_found_sites_read(modules, &found, err);
	hi_modules_lock(modules);
	if (status == HI_OK)
		status = place_sites(&n, &found) ? name_all_sites(&n)
						 : fail_site_naming(&n);
	hi_modules_unlock(modules);
	if (status == HI_OK) {
		take_sorted_sites(&n);
		*ret = hi_take(sites);
	}
	free_site_naming(&n);
	hi_found_sites_free(&found);
	return status;
}
