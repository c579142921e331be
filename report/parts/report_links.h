/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the names and figures of reports lead: addresses (address.h) for hi_cell_link()
 * and hi_page_link(). Each is "" where there is no page, and lives as long as the page.
 * Names are raw and may be hostile.
 */
#ifndef HI_REPORT_PARTS_REPORT_LINKS_H
#define HI_REPORT_PARTS_REPORT_LINKS_H

#include "report/address.h"
#include "report/parts/report_node.h"

/* explain/0x… of an object, or of a variable that is in memory. */
const char *hi_address_of_node(struct hi_page *page, const struct hi_node_info *info);
/* tree/0x…: what it keeps alive, one level of the dominator tree; "" where that is
 * nothing or not known. */
const char *hi_address_of_level(struct hi_page *page, const struct hi_node_info *info);
/* COMMAND?OPTION=VALUE; "" for a value that is NULL or "". */
const char *hi_address_where(struct hi_page *page, const char *command,
			     const char *option, const char *value);
/* COMMAND?type=TYPE, of objects without a type, too ("" and NULL). */
const char *hi_address_where_type(struct hi_page *page, const char *command,
				  const char *type);
/* retained?type=TYPE: the objects of a type, by what they retain. */
const char *hi_address_of_objects(struct hi_page *page, const char *type);
/* What keeps the objects of a type; of those without a type, their sizes. */
const char *hi_address_of_any_type(struct hi_page *page, const char *type);

/* COMMAND?site=FUNCTION: of what a function allocated. site: its name, and behind a blank
 * its place ("cache_fill cache.c:120", "cache_fill (cache.c:120)"). */
const char *hi_address_of_site(struct hi_page *page, const char *command,
			       const char *site);
/* alloc?select=FUNCTION */
const char *hi_address_of_function(struct hi_page *page, const char *function);
/* COMMAND?census=N */
const char *hi_address_in_census(struct hi_page *page, const char *command,
				 uint64_t census);

/* Options of the command that made a report, without which its parts are not the same. */
struct hi_link_options {
	const struct hi_address_option *items; /* raw */
	size_t count;
};
/* query/STATEMENT with these options; "" if they are too many. */
const char *hi_address_of_query(struct hi_page *page, const char *statement,
				const struct hi_link_options *options);
/* The same with NAME=VALUE in an address of any command. */
const char *hi_address_with_options(struct hi_page *page, const char *address,
				    const struct hi_link_options *options);

#endif
