/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/call_sites.h"

#include <stdio.h>
#include <string.h>

#include "decode/modules/demangle.h"
#include "probes/target_code.h"

enum { NAMES_OFFERED_MAX = 200000 };

struct call_search {
	struct hi_target_code *code;
	const struct hi_call_patterns *patterns;
	const char *pattern;
	struct hi_near_names near;
	size_t offered;
	struct {
		uint64_t entry, size;
		char name[sizeof(((struct hi_probe_site *)NULL)->function)];
	} found[HI_CALL_SITES];
	size_t count;
	bool has_match, is_full;
};

/* Parts of functions are no functions. */
static bool is_part_symbol(const char *symbol)
{
	return strstr(symbol, ".cold") || strstr(symbol, ".part.");
}

static void keep_call(struct call_search *s, const struct hi_function_symbol *symbol,
		      const char *name)
{
	s->has_match = true;
	for (size_t i = 0; i < s->count; i++) {
		if (s->found[i].entry != symbol->addr)
			continue;
		if (symbol->size > s->found[i].size)
			s->found[i].size = symbol->size;
		return;
	}
	if (s->count == HI_CALL_SITES) {
		s->is_full = true;
		return;
	}
	s->found[s->count].entry = symbol->addr;
	s->found[s->count].size = symbol->size;
	snprintf(s->found[s->count].name, sizeof(s->found[0].name), "%.159s", name);
	s->count++;
}

static bool look_at_call_symbol(const struct hi_function_symbol *symbol, void *arg)
{
	struct call_search *s = arg;
	char plain[512];
	const char *name =
		hi_demangle(symbol->name, plain, sizeof(plain)) ? plain : symbol->name;

	if (!symbol->is_code || symbol->is_ifunc || is_part_symbol(symbol->name))
		return true;
	if (s->patterns->matches(name, s->pattern))
		keep_call(s, symbol, name);
	else if (!s->has_match && s->offered++ < NAMES_OFFERED_MAX)
		hi_near_names_offer(&s->near, name);
	return !s->is_full;
}

static enum hi_status search_modules(struct call_search *s, struct hi_error *err)
{
	size_t n = hi_modules_count(s->code->modules);
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < n && status == HI_OK && !s->is_full; i++)
		status = hi_module_each_symbol(hi_modules_get(s->code->modules, i),
					       look_at_call_symbol, s, err);
	return status;
}

static enum hi_status search_calls(struct call_search *s, const char *pattern,
				   struct hi_error *err)
{
	enum hi_status status;
	char near[220];

	s->pattern = pattern;
	s->near = (struct hi_near_names){.wanted = pattern};
	s->has_match = false;
	status = search_modules(s, err);
	if (status != HI_OK)
		return status;
	if (s->is_full)
		return hi_fail(err, HI_LIMIT, 0,
			       "--manner %.60s=calls: more than %d functions match; the "
			       "calls of %d can be counted",
			       pattern, HI_CALL_SITES, HI_CALL_SITES);
	if (s->has_match)
		return HI_OK;
	hi_near_names_text(&s->near, near, sizeof(near));
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "--manner %.60s=calls: the target has no such function%s", pattern,
		       near);
}

/* One that is in no file of the target has none. */
static enum hi_status add_call_sites(struct call_search *s,
				     struct hi_probe_site_list *sites,
				     struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < s->count; i++) {
		size_t before = sites->count;

		status = hi_probe_sites_add_function(s->code, sites, s->found[i].entry,
						     s->found[i].size, 0, err);
		if (status == HI_OK && sites->count > before)
			memcpy(sites->items[before].function, s->found[i].name,
			       sizeof(s->found[i].name));
	}
	return status;
}

enum hi_status hi_call_sites_find_in(const struct hi_target *target,
				     struct hi_image *image,
				     const struct hi_call_patterns *patterns,
				     struct hi_probe_sites *ret, struct hi_error *err)
{
	HI_GUARD(hi_target_code_close) struct hi_target_code *code = NULL;
	struct hi_probe_site_list sites = {};
	struct call_search search = {};
	enum hi_status status = hi_target_code_open(target, image, &code, err);

	search.code = code;
	search.patterns = patterns;
	for (size_t i = 0; status == HI_OK && i < patterns->n; i++)
		status = search_calls(&search, patterns->items[i], err);
	if (status == HI_OK)
		status = add_call_sites(&search, &sites, err);
	if (status == HI_OK)
		*ret = (struct hi_probe_sites){.items = sites.items,
					       .count = sites.count};
	else
		hi_vector_free(&sites);
	return status;
}
