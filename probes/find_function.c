/* SPDX-License-Identifier: BSD-2-Clause */
/* --at FUNCTION and MODULE:FUNCTION: by the symbol tables of all modules. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "probes/condition.h"
#include "decode/modules/demangle.h"

enum { PLAIN_NAMES_MAX = 200000 }; /* demangled to find near names */

struct search {
	struct hi_target_code *code;
	const struct hi_safepoint *safepoint;
	struct hi_module *module;
	struct hi_near_names near;
	struct hi_found {
		struct hi_module *module;
		uint64_t addr, size;
		bool is_ifunc, is_clone;
		bool is_exact; /* some symbol there has the very name */
	} found[HI_PROBE_SITES_MAX];
	size_t count;
	size_t demangled;
	bool too_many, module_seen;
	struct hi_condition condition;
};

static void keep_function(struct search *search, const struct hi_function_symbol *symbol)
{
	bool is_exact = strcmp(symbol->name, search->safepoint->name) == 0;
	struct hi_found *found = search->found;

	/* Aliases: a size, and not being an ifunc, are taken from any of them. */
	for (size_t i = 0; i < search->count; i++) {
		if (found[i].addr != symbol->addr)
			continue;
		if (symbol->size > found[i].size)
			found[i].size = symbol->size;
		found[i].is_ifunc &= symbol->is_ifunc;
		found[i].is_exact |= is_exact;
		return;
	}
	if (search->count == HI_PROBE_SITES_MAX) {
		search->too_many = true;
		return;
	}
	found[search->count++] = (struct hi_found){
		.module = search->module,
		.addr = symbol->addr,
		.size = symbol->size,
		.is_ifunc = symbol->is_ifunc,
		.is_clone = hi_name_is_clone(symbol->name),
		.is_exact = is_exact,
	};
}

static bool look_at_symbol(const struct hi_function_symbol *symbol, void *arg)
{
	struct search *search = arg;

	if (symbol->is_code && hi_name_matches(symbol->name, search->safepoint->name))
		keep_function(search, symbol);
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

static enum hi_status add_found(struct search *search, struct hi_probe_site_list *sites,
				struct hi_error *err)
{
	const char *name = search->safepoint->name;
	enum hi_status status = HI_OK;
	size_t before = sites->count;

	for (size_t i = 0; i < search->count && status == HI_OK; i++) {
		const struct hi_found *found = &search->found[i];
		size_t at = sites->count;

		if (found->is_ifunc)
			continue;
		if (found->is_clone && search->safepoint->kept)
			return hi_fail(err, HI_UNSUPPORTED, 0,
				       "the compiler has made a clone of %.80s with "
				       "other arguments, which cannot be read from it",
				       name);
		if (search->safepoint->at_return)
			status = hi_probe_sites_add_returns(
				search->code, sites, found->addr, found->size, err);
		else
			status = hi_probe_sites_add_function(
				search->code, sites, found->addr, found->size,
				search->condition.kept | search->safepoint->kept, err);
		/* Shows the alias that was asked for. */
		if (status == HI_OK && sites->count > at && found->is_exact)
			snprintf(sites->items[at].function,
				 sizeof(sites->items[at].function), "%.159s", name);
	}
	if (status != HI_OK || sites->count > before)
		return status;
	if (search->found[0].is_ifunc)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "%.80s is chosen at load time among several functions "
			       "(an ifunc): name one of those, such as __%.60s_sse2",
			       name, name);
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "%.80s is in no file that can be probed (it is in the vdso, or "
		       "its file was deleted)",
		       name);
}

/* It must mean the same in all of them, since the BPF program has one condition. */
static enum hi_status compile_condition(struct search *search, struct hi_error *err)
{
	const char *text = search->safepoint->condition;
	struct hi_condition other;
	enum hi_status status = HI_OK;

	for (size_t i = 0; text && i < search->count && status == HI_OK; i++) {
		const struct hi_found *found = &search->found[i];

		if (found->is_ifunc)
			continue;
		status = hi_condition_compile(search->code, text, found->addr,
					      i ? &other : &search->condition, err);
		if (status == HI_OK && i &&
		    !hi_conditions_equal(&other, &search->condition))
			return hi_fail(err, HI_UNSUPPORTED, 0,
				       "the condition means different things in the %zu "
				       "functions %.80s: name a module",
				       search->count, search->safepoint->name);
		if (status == HI_OK && search->condition.kept && found->is_clone)
			return hi_fail(err, HI_UNSUPPORTED, 0,
				       "the compiler has made a clone of %.80s with "
				       "other arguments: no condition on them",
				       search->safepoint->name);
	}
	return status;
}

static enum hi_status find_named_function(struct search *search,
					  struct hi_probe_site_list *sites,
					  struct hi_error *err)
{
	enum hi_status status = each_module(search, look_at_symbol, err);

	if (status != HI_OK)
		return status;
	if (search->too_many)
		return hi_fail(err, HI_LIMIT, 0,
			       "more than %d functions are called %.80s: name a module "
			       "(MODULE:FUNCTION)",
			       HI_PROBE_SITES_MAX, search->safepoint->name);
	if (search->count == 0)
		return HI_NOT_FOUND;
	status = compile_condition(search, err);
	return status == HI_OK ? add_found(search, sites, err) : status;
}

enum hi_status hi_find_function_only(struct hi_target_code *code,
				     const struct hi_safepoint *safepoint,
				     struct hi_probe_site_list *sites,
				     struct hi_error *err)
{
	struct search search = {.code = code, .safepoint = safepoint};

	return find_named_function(&search, sites, err);
}

enum hi_status hi_find_function(struct hi_target_code *code,
				const struct hi_safepoint *safepoint,
				struct hi_probe_site_list *sites, struct hi_error *err)
{
	struct search search = {.code = code, .safepoint = safepoint};
	enum hi_status status = find_named_function(&search, sites, err);
	bool inlined = false;

	if (status != HI_NOT_FOUND || search.count > 0)
		return status;
	if (!search.module_seen && safepoint->detail[0])
		return no_module(&search, err);
	status = hi_find_inlined(code, safepoint, &inlined, err);
	return inlined || status != HI_NOT_FOUND ? status : no_function(&search, err);
}
