/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/unread_memory.h"

#include <stdio.h>

#include "base/text.h"

struct hi_unread hi_unread_of(const struct hi_reach *reach)
{
	return (struct hi_unread){reach->is_doubtful, reach->unread_bytes,
				  reach->apart_bytes};
}

char *hi_unread_doubt_text(const struct hi_unread *u, char out[HI_UNREAD_TEXT])
{
	char bytes[24];

	*out = 0;
	if (u->is_doubtful && u->bytes)
		snprintf(out, HI_UNREAD_TEXT, "%s of live memory could not be read",
			 hi_text_bytes(bytes, u->bytes));
	else if (u->is_doubtful)
		snprintf(out, HI_UNREAD_TEXT, "the heap is damaged");
	return out;
}

char *hi_unread_apart_text(const struct hi_unread *u, char out[HI_UNREAD_TEXT])
{
	char bytes[24];

	*out = 0;
	if (u->apart)
		snprintf(out, HI_UNREAD_TEXT,
			 "%s of shared memory could not be read; no word in the rest of "
			 "it leads to this heap, so it counts as that of other processes",
			 hi_text_bytes(bytes, u->apart));
	return out;
}

void hi_unread_display(const struct hi_unread *u, struct hi_page *page)
{
	char text[HI_UNREAD_TEXT];

	if (u->is_doubtful)
		hi_page_text(page, hi_page_printf(page, "No leak is certain: %s",
						  hi_unread_doubt_text(u, text)));
	if (u->apart)
		hi_page_text(page,
			     hi_page_printf(page, "%s", hi_unread_apart_text(u, text)));
}

void hi_unread_json(const struct hi_unread *u, struct hi_json *json)
{
	hi_json_bool(json, "doubtful", u->is_doubtful);
	hi_json_number(json, "unread_bytes", u->bytes);
	hi_json_number(json, "unread_shared_bytes", u->apart);
}
