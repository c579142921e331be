/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Functions that allocate for others]
 *
 * At first only functions of known names allocate. The functions that call one are read:
 * a call whose size is a constant, or is not known, is a site. One that is given a
 * parameter of its function, where the function returns what it gets, makes the function
 * one that allocates, too; so does any call in a function of a language's library, which
 * allocates for the code that uses it. In the next round the callers of those are read.
 * A function stays what it was found to be first, so that each call counts once.
 */
#include "decode/sites/site_finder.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/table.h"
#include "decode/modules/demangle.h"
#include "decode/modules/dwfl.h"
#include "decode/sites/module_calls.h"
#include "decode/sites/site_functions.h"

enum {
	ROUNDS = 12,
	SITES_MAX = 1 << 17,
	FUNCTIONS_MAX = 1 << 16, /* that allocate */
	MODULES_MAX = 256,
	STEPS_MAX = 100000, /* instructions of a function */
	NAME_SIZE = 2048,
};

/* A function that allocates, and the module that calls it so. */
struct allocating {
	uint64_t target;
	uint32_t module;
	uint32_t round; /* in which it was found */
	struct hi_site_function does;
};

struct site_finder {
	struct hi_found_sites *found;
	struct hi_module_calls *modules;
	uint32_t n_modules;
	struct HI_VECTOR(struct allocating) allocating;
	struct hi_table by_target; /* index + 1 in allocating */
	struct hi_code_decoder *decoder;
	struct hi_code_steps steps;
	struct hi_code_calls calls;
	uint32_t round;
	char name[NAME_SIZE], type[NAME_SIZE];
	struct hi_error *err;
};

static enum hi_status fail_finder(struct site_finder *f)
{
	return hi_fail_memory(f->err, "sites of allocations");
}

/* ---- functions that allocate ---- */

static const struct allocating *find_allocating(const struct site_finder *f,
						uint64_t target)
{
	uint64_t index;

	return hi_table_get(&f->by_target, target, &index)
		       ? &f->allocating.items[index - 1]
		       : NULL;
}

static bool add_allocating(struct site_finder *f, uint32_t module, uint64_t target,
			   const struct hi_site_function *does)
{
	struct allocating a = {target, module, f->round, *does};

	if (find_allocating(f, target) || f->allocating.count >= FUNCTIONS_MAX)
		return true;
	return hi_vector_push(&f->allocating, a) &&
	       hi_table_put(&f->by_target, target, f->allocating.count);
}

/* Other modules call it through memory that has its address. */
static bool add_for_importers(struct site_finder *f, const char *symbol,
			      const struct hi_site_function *does)
{
	bool ok = true;

	for (uint32_t m = 0; m < f->n_modules; m++)
		for (size_t i = 0; ok && i < f->modules[m].imports.count; i++) {
			const struct hi_import *import = &f->modules[m].imports.items[i];

			if (strcmp(import->symbol, symbol) == 0)
				ok = add_allocating(f, m, import->slot, does);
		}
	return ok;
}

static bool add_allocating_function(struct site_finder *f, uint32_t module,
				    const struct hi_called_function *function,
				    const struct hi_site_function *does)
{
	return add_allocating(f, module, function->start, does) &&
	       add_for_importers(f, function->symbol, does);
}

static bool add_named_functions(struct site_finder *f, uint32_t module)
{
	const struct hi_module_calls *m = &f->modules[module];
	struct hi_site_function does;
	bool ok = true;

	for (size_t i = 0; ok && i < m->imports.count; i++)
		if (hi_site_function_named(m->imports.items[i].symbol, &does))
			ok = add_allocating(f, module, m->imports.items[i].slot, &does);
	for (size_t i = 0; ok && i < m->functions.count; i++)
		if (hi_site_function_named(m->functions.items[i].symbol, &does))
			ok = add_allocating(f, module, m->functions.items[i].start,
					    &does);
	return ok;
}

/* ---- types ---- */

static const char *keep_type(struct site_finder *f)
{
	const char *copy = hi_arena_strdup(&f->found->arena, f->type);

	return copy ? copy : "";
}

/* Takes the type of the function that is called with the result: a constructor. */
static const char *type_by_constructor(struct site_finder *f, uint32_t module,
				       uint32_t call)
{
	for (size_t i = call + 1u; i < f->calls.count; i++) {
		const struct hi_code_call *c = &f->calls.items[i];
		const char *symbol;

		if (c->arguments[0].kind != HI_VALUE_RESULT ||
		    c->arguments[0].index != call || c->arguments[0].add != 0 ||
		    !c->target)
			continue;
		symbol = hi_module_calls_symbol(
			&f->modules[module],
			hi_module_calls_target(&f->modules[module], c->target));
		if (symbol && hi_demangle_name(symbol, f->name, sizeof(f->name)) &&
		    hi_site_type_constructed(f->name, f->type, sizeof(f->type)))
			return keep_type(f);
	}
	return "";
}

/* Takes the type of the table that the first word of the object is set to. */
static const char *type_by_vtable(struct site_finder *f, uint32_t module, uint64_t word)
{
	static const char of_vtable[] = "vtable for ";
	struct hi_module *m = f->modules[module].module;
	uint64_t offset;
	const char *symbol =
		word >= m->start && word < m->end
			? hi_modules_symbol_at(hi_module_modules(m), word, &offset)
			: NULL;

	if (!symbol || strncmp(symbol, "_ZTV", 4) != 0 ||
	    !hi_demangle(symbol, f->name, sizeof(f->name)) ||
	    strncmp(f->name, of_vtable, sizeof(of_vtable) - 1) != 0)
		return "";
	memmove(f->type, f->name + sizeof(of_vtable) - 1,
		strlen(f->name + sizeof(of_vtable) - 1) + 1);
	return keep_type(f);
}

/* Takes the type of the function itself: "std::allocator<T>::allocate". */
static const char *type_by_allocator(struct site_finder *f, const char *symbol)
{
	return hi_demangle_name(symbol, f->name, sizeof(f->name)) &&
			       hi_site_type_allocated(f->name, f->type, sizeof(f->type))
		       ? keep_type(f)
		       : "";
}

/* *is_virtual_ret: objects of the type have a table of virtual functions. */
static const char *find_site_type(struct site_finder *f, uint32_t module, uint32_t call,
				  const char *symbol, const struct hi_site_function *does,
				  bool *is_virtual_ret)
{
	const char *type = type_by_vtable(f, module, f->calls.items[call].first_word);

	*is_virtual_ret = *type || (does->is_virtual && *does->type);
	if (!*type)
		type = does->is_virtual ? does->type
					: type_by_constructor(f, module, call);
	if (!*type)
		type = does->type;
	return *type ? type : type_by_allocator(f, symbol);
}

/* ---- calls ---- */

static bool is_library_symbol(struct site_finder *f, const char *symbol)
{
	return hi_site_is_library(
		hi_demangle_name(symbol, f->name, sizeof(f->name)) ? f->name : symbol);
}

/* The function that allocates so much for its callers. */
static struct hi_site_function function_of_size(struct hi_code_value size,
						const struct hi_site_function *does,
						const char *type)
{
	struct hi_site_function ret = {
		.size = HI_SITE_NO_ARGUMENT,
		.count = HI_SITE_NO_ARGUMENT,
		.gives_text = does->gives_text,
		.mul = size.mul,
		.add = size.add,
		.type = type,
	};

	if (size.kind == HI_VALUE_PARAMETER && size.index < HI_CODE_ARGUMENTS)
		ret.size = (uint8_t)size.index;
	else
		ret.is_any = size.kind != HI_VALUE_CONSTANT;
	return ret;
}

static bool take_site(struct site_finder *f, uint64_t end, struct hi_code_value size,
		      const struct hi_site_function *does, bool is_library)
{
	if (f->found->all.count >= SITES_MAX)
		return true;
	return hi_vector_push(&f->found->all, ((struct hi_found_site){
						      .end = end,
						      .size = size,
						      .type = does->type,
						      .is_virtual = does->is_virtual,
						      .gives_text = does->gives_text,
						      .is_in_library = is_library,
					      }));
}

/* A copy of a function for callers that give it the same constant. */
static bool is_clone(const char *symbol)
{
	return strstr(symbol, ".constprop.") != NULL;
}

/*
 * One call of a function that allocates. A function that is given a number of elements is
 * the site, with the sizes that its callers have. One that adds something to the size may
 * put a header before what it gives, or be the only one that makes such objects: both it
 * and its callers are sites. The same holds for clones, whose parameter is gone.
 */
static bool take_allocating_call(struct site_finder *f, uint32_t module,
				 const struct hi_called_function *function, uint32_t call,
				 const struct hi_site_function *does)
{
	const struct hi_code_call *c = &f->calls.items[call];
	struct hi_code_value size = hi_site_function_size(does, c);
	bool is_library = is_library_symbol(f, function->symbol);
	bool gives = c->is_returned || c->is_jump;
	bool passes_on = size.kind == HI_VALUE_PARAMETER && gives;
	bool is_virtual;
	const char *type =
		find_site_type(f, module, call, function->symbol, does, &is_virtual);
	struct hi_site_function made;

	if (passes_on || is_library || (gives && is_clone(function->symbol))) {
		made = function_of_size(size, does, type);
		made.is_virtual = is_virtual;
		made.place = does->place;
		if (!is_library && passes_on && size.mul > 1 && !made.place)
			made.place = c->end;
		if (!add_allocating_function(f, module, function, &made))
			return false;
		if (passes_on && (is_library || (size.mul == 1 && size.add == 0)))
			return true;
	}
	made = *does;
	made.type = type;
	made.is_virtual = is_virtual;
	return take_site(f, does->place ? does->place : c->end, size, &made,
			 is_library && !does->place);
}

static bool take_function_calls(struct site_finder *f, uint32_t module,
				const struct hi_called_function *function)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < f->calls.count; i++) {
		const struct hi_code_call *c = &f->calls.items[i];
		uint64_t target =
			c->target ? hi_module_calls_target(&f->modules[module], c->target)
				  : 0;
		const struct allocating *a = target ? find_allocating(f, target) : NULL;
		struct hi_site_function does;

		if (!a || a->round != f->round - 1)
			continue;
		does = a->does; /* what is added moves it */
		ok = take_allocating_call(f, module, function, i, &does);
	}
	return ok;
}

static enum hi_status read_caller(struct site_finder *f, uint32_t module, uint32_t index)
{
	const struct hi_module_calls *m = &f->modules[module];
	struct hi_called_function function = m->functions.items[index];
	enum hi_status status;

	f->steps.count = 0;
	if (!hi_code_steps_read(f->decoder, m->code + (function.start - m->code_start),
				function.end - function.start, function.start, STEPS_MAX,
				&f->steps))
		return fail_finder(f);
	status = hi_code_calls_find(&f->steps, &f->calls, f->err);
	if (status == HI_OK && !take_function_calls(f, module, &function))
		return fail_finder(f);
	return status;
}

/* ---- rounds ---- */

struct caller {
	uint32_t module, function;
};

static int compare_reading_order(const void *a, const void *b)
{
	const struct caller *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

struct caller_list HI_VECTOR(struct caller);

/* All callers of what the last round found, each once. */
static bool list_callers_to_read(struct site_finder *f, struct caller_list *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->allocating.count; i++) {
		const struct allocating *a = &f->allocating.items[i];
		const struct hi_direct_call *calls;
		size_t n = 0;

		if (a->round != f->round - 1)
			continue;
		calls = hi_module_calls_of(&f->modules[a->module], a->target, &n);
		for (size_t k = 0; k < n; k++)
			if (!hi_vector_push(
				    ret, ((struct caller){a->module, calls[k].caller})))
				return false;
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_reading_order);
	for (size_t i = 0; i < ret->count; i++)
		if (i == 0 ||
		    compare_reading_order(&ret->items[i], &ret->items[kept - 1]) != 0)
			ret->items[kept++] = ret->items[i];
	ret->count = kept;
	return true;
}

static enum hi_status run_finding_round(struct site_finder *f, size_t *n_ret)
{
	struct caller_list callers = {};
	enum hi_status status = HI_OK;

	if (!list_callers_to_read(f, &callers))
		status = fail_finder(f);
	for (size_t i = 0; status == HI_OK && i < callers.count; i++)
		status = read_caller(f, callers.items[i].module,
				     callers.items[i].function);
	*n_ret = callers.count;
	hi_vector_free(&callers);
	return status;
}

/* ---- all ---- */

static bool is_looked_through(const struct hi_module *module)
{
	return !hi_module_is_system(module) && !module->from_memory &&
	       strncmp(module->name, "libstdc++.", 10) != 0 &&
	       strncmp(module->name, "libgcc_s.", 9) != 0;
}

static enum hi_status read_all_calls(struct site_finder *f, struct hi_modules *modules)
{
	size_t n = hi_modules_count(modules);
	enum hi_status status = HI_OK;

	f->modules = hi_calloc(n + 1, sizeof(*f->modules));
	if (!f->modules)
		return fail_finder(f);
	for (size_t i = 0; status == HI_OK && i < n && f->n_modules < MODULES_MAX; i++) {
		struct hi_module *module = hi_modules_get(modules, i);

		if (!is_looked_through(module))
			continue;
		status = hi_module_calls_read(module, &f->modules[f->n_modules], f->err);
		f->n_modules += status == HI_OK;
	}
	return status;
}

static enum hi_status find_all_sites(struct site_finder *f, struct hi_modules *modules)
{
	enum hi_status status = read_all_calls(f, modules);
	size_t n = 1;

	for (uint32_t m = 0; status == HI_OK && m < f->n_modules; m++)
		if (!add_named_functions(f, m))
			status = fail_finder(f);
	if (status == HI_OK)
		status = hi_code_decoder_open(&f->decoder, f->err);
	for (f->round = 1; status == HI_OK && n && f->round <= ROUNDS; f->round++)
		status = run_finding_round(f, &n);
	return status;
}

static void free_site_finder(struct site_finder *f)
{
	for (uint32_t m = 0; m < f->n_modules; m++)
		hi_module_calls_free(&f->modules[m]);
	free(f->modules);
	hi_vector_free(&f->allocating);
	hi_table_free(&f->by_target);
	hi_code_decoder_close(f->decoder);
	hi_vector_free(&f->steps);
	hi_vector_free(&f->calls);
	free(f);
}

enum hi_status hi_found_sites_read(struct hi_modules *modules, struct hi_found_sites *ret,
				   struct hi_error *err)
{
	struct site_finder *made = hi_calloc(1, sizeof(*made));
	enum hi_status status;

	if (!made)
		return hi_fail_memory(err, "sites of allocations");
	made->found = ret;
	made->err = err;
	status = find_all_sites(made, modules);
	free_site_finder(made);
	return status;
}

void hi_found_sites_free(struct hi_found_sites *sites)
{
	hi_vector_free(&sites->all);
	hi_arena_free(&sites->arena);
}
