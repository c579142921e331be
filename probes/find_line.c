/* SPDX-License-Identifier: BSD-2-Clause */
/* --at FILE:LINE: by the line tables of all modules. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "probes/target_code.h"

struct search {
	struct hi_target_code *code;
	const struct hi_safepoint *safepoint;
	bool file_known;
	unsigned best; /* line that was found so far; 0: none */
	struct hi_line_location found[HI_PROBE_SITES_MAX];
	size_t count;
};

/* The nearest line of all modules wins. */
static void keep_nearest_line(struct search *search, const struct hi_line_location *site)
{
	if (search->best && site->line > search->best)
		return;
	if (site->line != search->best)
		search->count = 0;
	search->best = site->line;
	if (search->count < HI_PROBE_SITES_MAX)
		search->found[search->count++] = *site;
}

static enum hi_status look_at_module(struct search *search, struct hi_module *module,
				     struct hi_error *err)
{
	HI_GUARD(free) struct hi_line_location *sites = NULL;
	size_t n = 0;
	enum hi_status status = hi_module_line_locations(
		module, search->safepoint->name, search->safepoint->line,
		HI_PROBE_SITES_MAX, &sites, &n, &search->file_known, err);

	for (size_t i = 0; status == HI_OK && i < n; i++)
		keep_nearest_line(search, &sites[i]);
	return status;
}

static enum hi_status fail_missing_line(const struct search *search, struct hi_error *err)
{
	const char *file = search->safepoint->name;
	char name[120];

	hi_text_escape(name, sizeof(name), file, strlen(file));
	if (search->file_known)
		return hi_fail(err, HI_NOT_FOUND, 0, "%s has no code at or after line %u",
			       name, search->safepoint->line);
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "no debug information mentions a source file %s", name);
}

enum hi_status hi_find_line(struct hi_target_code *code,
			    const struct hi_safepoint *safepoint,
			    struct hi_probe_site_list *sites, struct hi_error *err)
{
	struct search search = {.code = code, .safepoint = safepoint};
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < hi_modules_count(code->modules) && status == HI_OK; i++)
		status = look_at_module(&search, hi_modules_get(code->modules, i), err);
	for (size_t i = 0; i < search.count && status == HI_OK; i++) {
		size_t before = sites->count;

		status = hi_probe_sites_add_exact(code, sites, search.found[i].addr, 0,
						  err);
		if (status == HI_OK && sites->count > before)
			sites->items[before].line = search.found[i].line;
	}
	if (status != HI_OK || sites->count > 0)
		return status;
	return fail_missing_line(&search, err);
}
