/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/views/links.h"

const char *hi_address_of_node(struct hi_page *page, const struct hi_node_info *info)
{
	bool is_somewhere = info->sort == HI_NODE_OBJECT || info->sort == HI_NODE_ROOT;

	return is_somewhere ? hi_address_of_object(page, info->address) : "";
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
