/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/report_links.h"

#include <inttypes.h>
#include <string.h>

const char *hi_address_of_node(struct hi_page *page, const struct hi_node_info *info)
{
	bool is_somewhere = info->sort == HI_NODE_OBJECT || info->sort == HI_NODE_ROOT;

	return is_somewhere ? hi_address_of_object(page, info->address) : "";
}

const char *hi_address_of_level(struct hi_page *page, const struct hi_node_info *info)
{
	bool is_somewhere = info->sort == HI_NODE_OBJECT || info->sort == HI_NODE_ROOT;

	if (!is_somewhere || !info->address || !info->retained ||
	    info->retained == UINT64_MAX)
		return "";
	return hi_address(page, "tree",
			  hi_page_printf(page, "0x%" PRIx64, info->address));
}

const char *hi_address_where(struct hi_page *page, const char *command,
			     const char *option, const char *value)
{
	return value && *value ? hi_address_with(page, hi_address(page, command, NULL),
						 option, value)
			       : "";
}

const char *hi_address_where_type(struct hi_page *page, const char *command,
				  const char *type)
{
	return hi_address_where(page, command, "type", hi_type_key(type));
}

const char *hi_address_of_objects(struct hi_page *page, const char *type)
{
	return hi_address_where_type(page, "retained", type);
}

const char *hi_address_of_any_type(struct hi_page *page, const char *type)
{
	return type && *type ? hi_address_of_type(page, type)
			     : hi_address_where(page, "census", "by", "size");
}

/* Does a name end here, as the place follows: "file.c:12", "(lib.so+0x12)"? */
static bool is_place(const char *text)
{
	const char *colon = strrchr(text, ':');
	size_t n = strlen(text);

	if (*text == '(')
		return text[n - 1] == ')';
	return colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

/* "" where it is none: "(no stack)", or a module, where no function is known. */
static const char *function_of_site(struct hi_page *page, const char *site)
{
	const char *blank = strrchr(site, ' ');
	size_t n = blank && is_place(blank + 1) ? (size_t)(blank - site) : strlen(site);

	if (*site == '(' || *site == '/')
		return "";
	return hi_page_printf(page, "%.*s", (int)n, site);
}

const char *hi_address_of_site(struct hi_page *page, const char *command,
			       const char *site)
{
	return hi_address_where(page, command, "site", function_of_site(page, site));
}

const char *hi_address_of_function(struct hi_page *page, const char *function)
{
	return hi_address_where(page, "alloc", "select", function);
}

const char *hi_address_in_census(struct hi_page *page, const char *command,
				 uint64_t census)
{
	return hi_address_where(page, command, "census",
				hi_page_printf(page, "%" PRIu64, census));
}

const char *hi_address_with_options(struct hi_page *page, const char *address,
				    const struct hi_link_options *options)
{
	/* Two are left for the page's own. */
	if (options->count + 2 > HI_ADDRESS_OPTIONS)
		return "";
	for (size_t i = 0; i < options->count; i++)
		address = hi_address_with(page, address, options->items[i].name,
					  options->items[i].value);
	return address;
}

const char *hi_address_of_query(struct hi_page *page, const char *statement,
				const struct hi_link_options *options)
{
	return hi_address_with_options(page, hi_address(page, "query", statement),
				       options);
}
