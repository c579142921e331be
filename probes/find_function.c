/* SPDX-License-Identifier: BSD-2-Clause */
/* --at FUNCTION and MODULE:FUNCTION: by the symbol tables of all modules. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "probes/code.h"

enum { PLAIN_NAMES_MAX = 200000 }; /* demangled to find near names */

struct search {
	struct hi_target_code *code;
	const struct hi_safepoint *safepoint;
	struct hi_module *module;
	struct hi_near_names near;
	struct hi_found {
		struct hi_module *module;
		uint64_t addr, size;
		bool is_ifunc;
	} found[HI_PLACES_MAX];
	size_t count;
	size_t demangled;
	bool too_many, module_seen;
};

static void keep(struct search *search, const struct hi_function_symbol *symbol)
{
	struct hi_found *found = search->found;

	/* Aliases: the one that has a size, and is no ifunc, says more. */
	for (size_t i = 0; i < search->count; i++) {
		if (found[i].addr != symbol->addr)
			continue;
		if (symbol->size > found[i].size)
			found[i].size = symbol->size;
		found[i].is_ifunc &= symbol->is_ifunc;
		return;
	}
	if (search->count == HI_PLACES_MAX) {
		search->too_many = true;
		return;
	}
	found[search->count++] = (struct hi_found){search->module, symbol->addr,
						   symbol->size, symbol->is_ifunc};
}

static bool look_at_symbol(const struct hi_function_symbol *symbol, void *arg)
{
	struct search *search = arg;

	if (symbol->is_code && hi_name_matches(symbol->name, search->safepoint->name))
		keep(search, symbol);
	return true;
}

static bool offer_symbol(const struct hi_function_symbol *symbol, void *arg)
{
	struct search *search = arg;
	char plain[512];

	if (!symbol->is_code)
		return true;
	if (symbol->name[0] == '_' && symbol->name[1] == 'Z') {
		if (search->demangled++ > PLAIN_NAMES_MAX ||
		    !hi_demangle(symbol->name, plain, sizeof(plain)))
			return true;
		plain[strcspn(plain, "(")] = '\0';
		hi_near_names_offer(&search->near, plain);
	} else {
		hi_near_names_offer(&search->near, symbol->name);
	}
	return true;
}

static enum hi_status each_module(struct search *search, hi_function_symbol_fn *fn,
				  struct hi_error *err)
{
	const char *wanted = search->safepoint->detail;
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < hi_modules_count(search->code->modules) && status == HI_OK;
	     i++) {
		search->module = hi_modules_get(search->code->modules, i);
		if (*wanted && !hi_module_is_named(search->module, wanted))
			continue;
		search->module_seen = true;
		status = hi_module_each_symbol(search->module, fn, search, err);
	}
	return status;
}

static enum hi_status no_module(const struct search *search, struct hi_error *err)
{
	struct hi_near_names near = {.wanted = search->safepoint->detail};
	char name[100], near_text[220];

	for (size_t i = 0; i < hi_modules_count(search->code->modules); i++)
		hi_near_names_offer(&near,
				    hi_modules_get(search->code->modules, i)->name);
	hi_near_names_text(&near, near_text, sizeof(near_text));
	hi_text_escape(name, sizeof(name), search->safepoint->detail,
		       strlen(search->safepoint->detail));
	return hi_fail(err, HI_NOT_FOUND, 0, "the target maps no module %s%s", name,
		       near_text);
}

static enum hi_status no_function(struct search *search, struct hi_error *err)
{
	const char *wanted = search->safepoint->name;
	enum hi_status status;
	char near_text[220], name[100];

	search->near.wanted = wanted;
	status = each_module(search, offer_symbol, err);
	if (status != HI_OK)
		return status;
	hi_near_names_text(&search->near, near_text, sizeof(near_text));
	hi_text_escape(name, sizeof(name), wanted, strlen(wanted));
	return hi_fail(err, HI_NOT_FOUND, 0, "no function %s%s", name, near_text);
}

static enum hi_status add_found(struct search *search, unsigned kept,
				struct hi_place_list *places, struct hi_error *err)
{
	const char *name = search->safepoint->name;
	enum hi_status status = HI_OK;
	size_t before = places->count;

	for (size_t i = 0; i < search->count && status == HI_OK; i++)
		if (!search->found[i].is_ifunc)
			status = hi_places_add_function(search->code, places,
							search->found[i].addr,
							search->found[i].size, kept, err);
	if (status != HI_OK || places->count > before)
		return status;
	if (search->found[0].is_ifunc)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "%.80s is chosen at load time among several functions "
			       "(an ifunc): name one of those, such as __%.60s_…",
			       name, name);
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "%.80s is in no file that can be probed (the vdso, or a file "
		       "that is gone)",
		       name);
}

enum hi_status hi_find_function(struct hi_target_code *code,
				const struct hi_safepoint *safepoint, unsigned kept,
				struct hi_place_list *places, struct hi_error *err)
{
	struct search search = {.code = code, .safepoint = safepoint};
	enum hi_status status = each_module(&search, look_at_symbol, err);

	if (status != HI_OK)
		return status;
	if (!search.module_seen && safepoint->detail[0])
		return no_module(&search, err);
	if (search.too_many)
		return hi_fail(err, HI_LIMIT, 0,
			       "more than %d functions are called %.80s: name a module "
			       "(MODULE:FUNCTION)",
			       HI_PLACES_MAX, safepoint->name);
	if (search.count == 0)
		return no_function(&search, err);
	return add_found(&search, kept, places, err);
}
