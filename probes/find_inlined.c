/* SPDX-License-Identifier: BSD-2-Clause */
/* A function that has no body of its own: where its calls were inlined. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "probes/target_code.h"

enum { SHOWN = 5 };

struct inlined {
	const char *wanted;
	size_t calls;
	char sites[SHOWN][48]; /* "file.c:12" */
	size_t n_sites;
};

static bool is_wanted_inlined(void *arg, const char *name, const char *linkage)
{
	const struct inlined *inlined = arg;

	return strcmp(name, inlined->wanted) == 0 ||
	       (linkage && hi_name_matches(linkage, inlined->wanted));
}

static bool on_call(void *arg, const struct hi_inlined_call *call)
{
	struct inlined *inlined = arg;
	char file[32], site[48];

	inlined->calls++;
	hi_text_escape(file, sizeof(file), hi_base_name(call->file),
		       strlen(hi_base_name(call->file)));
	snprintf(site, sizeof(site), "%s:%u", file, call->line);
	for (size_t i = 0; i < inlined->n_sites; i++)
		if (strcmp(inlined->sites[i], site) == 0)
			return true;
	if (inlined->n_sites < SHOWN)
		strcpy(inlined->sites[inlined->n_sites++], site);
	return true;
}

enum hi_status hi_find_inlined(struct hi_target_code *code,
			       const struct hi_safepoint *safepoint, bool *found_ret,
			       struct hi_error *err)
{
	struct inlined inlined = {.wanted = safepoint->name};
	struct hi_inlined_search search = {is_wanted_inlined, on_call, &inlined};
	char sites[200] = "";
	size_t used = 0;

	for (size_t i = 0; i < hi_modules_count(code->modules); i++) {
		struct hi_module *module = hi_modules_get(code->modules, i);
		enum hi_status status;

		if (safepoint->detail[0] &&
		    !hi_module_is_named(module, safepoint->detail))
			continue;
		status = hi_module_inlined_calls(module, &search, err);
		if (status != HI_OK)
			return status;
	}
	*found_ret = inlined.calls > 0;
	if (inlined.calls == 0)
		return HI_NOT_FOUND;
	for (size_t i = 0; i < inlined.n_sites && used < sizeof(sites); i++)
		used += (size_t)snprintf(sites + used, sizeof(sites) - used, "%s%.40s",
					 i ? ", " : "", inlined.sites[i]);
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "%.60s is inlined everywhere (%zu calls): use FILE:LINE, as %s",
		       safepoint->name, inlined.calls, sites);
}
