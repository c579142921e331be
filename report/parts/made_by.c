/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/made_by.h"

#include <string.h>

#include "base/text.h"

bool hi_made_by_is_named(const struct hi_alloc_fits *fits)
{
	return fits->count > 0 && fits->count <= HI_ALLOC_NAMED;
}

const char *hi_made_by_function(const struct hi_alloc_site *site, struct hi_page *page)
{
	static const char unnamed[] = "(anonymous namespace)::";
	const char *from = site->function;
	char name[256];
	size_t n = 0;
	unsigned depth = 0;

	while (*from && n + 1 < sizeof(name)) {
		if (strncmp(from, unnamed, sizeof(unnamed) - 1) == 0) {
			from += sizeof(unnamed) - 1;
			continue;
		}
		depth += *from == '<';
		depth -= *from == '>' && depth;
		if (*from == '(' && !depth && n)
			break;
		name[n++] = *from++;
	}
	name[n] = 0;
	return n ? hi_page_safe(page, name) : "(no symbol)";
}

const char *hi_made_by_line(const struct hi_alloc_site *site, struct hi_page *page)
{
	if (*site->file && site->line)
		return hi_page_printf(page, "%s:%u",
				      hi_page_safe(page, hi_base_name(site->file)),
				      site->line);
	return hi_page_safe(page, site->module);
}

const char *hi_made_by_place(const struct hi_alloc_site *site, bool has_type,
			     struct hi_page *page)
{
	const char *line = hi_made_by_line(site, page);

	return has_type || !*site->type ? line
					: hi_page_printf(page, "%s, %s", line,
							 hi_page_type(page, site->type));
}

const char *hi_made_by_count(const struct hi_alloc_fits *fits, struct hi_page *page)
{
	char count[32];

	return hi_page_printf(page, "%s site%s", hi_count(count, fits->count),
			      fits->count == 1 ? " fits" : "s fit");
}

const char *hi_made_by_text(const struct hi_alloc_fits *fits, bool has_type,
			    struct hi_page *page)
{
	const char *text = "can be made by";

	for (uint32_t i = 0; i < fits->count && i < HI_ALLOC_NAMED; i++)
		text = hi_page_printf(page, "%s%s %s (%s)", text, i ? " or" : "",
				      hi_made_by_function(fits->named[i], page),
				      hi_made_by_place(fits->named[i], has_type, page));
	return text;
}

static void put_made_by_site(const struct hi_alloc_site *site, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "function", site->function);
	hi_json_text(json, "file", site->file);
	hi_json_number(json, "line", site->line);
	hi_json_text(json, "module", site->module);
	if (*site->type)
		hi_json_text(json, "type", site->type);
	hi_json_end(json);
}

void hi_made_by_json(const char *key, const struct hi_alloc_fits *fits,
		     struct hi_json *json)
{
	if (!fits->count)
		return;
	hi_json_object(json, key);
	hi_json_number(json, "fit", fits->count);
	hi_json_array(json, "sites");
	for (uint32_t i = 0; hi_made_by_is_named(fits) && i < fits->count; i++)
		put_made_by_site(fits->named[i], json);
	hi_json_end(json);
	hi_json_end(json);
}
