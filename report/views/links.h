/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the names and figures of reports lead: addresses (address.h) for hi_cell_link()
 * and hi_page_link(). Each is "" where there is no page, and lives as long as the page.
 * Names are raw and may be hostile.
 */
#ifndef HI_REPORT_VIEWS_LINKS_H
#define HI_REPORT_VIEWS_LINKS_H

#include "report/views/address.h"
#include "report/views/node.h"

/* explain/0x… of an object, or of a variable that is in memory. */
const char *hi_address_of_node(struct hi_page *page, const struct hi_node_info *info);
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

#endif
