/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/hidden_rows.h"

static void note_hidden_rows(struct hi_page *page, const struct hi_hidden *hidden,
			     const char *what, const char *why)
{
	char n[32], bytes[24];

	if (hidden->rows)
		hi_page_note(page, hi_page_printf(page, "%s %s%s with %s %s",
						  hi_count(n, hidden->rows), what,
						  hidden->rows == 1 ? "" : "s",
						  hi_bytes(bytes, hidden->bytes), why));
}

void hi_hidden_note(struct hi_page *page, const struct hi_hidden *beyond,
		    const struct hi_hidden *below, const struct hi_hidden *other)
{
	note_hidden_rows(page, beyond, "row", "more (--all)");
	note_hidden_rows(page, below, "row", "hidden by --min-size");
	note_hidden_rows(page, other, "row", "hidden by --type");
}

void hi_hidden_types_note(struct hi_page *page, const struct hi_hidden *beyond,
			  const struct hi_hidden *below, const struct hi_hidden *other)
{
	note_hidden_rows(page, beyond, "row", "more (--all)");
	note_hidden_rows(page, below, "row", "hidden by --min-size");
	note_hidden_rows(page, other, "type", "hidden by --type");
}

static void put_hidden_json(struct hi_json *json, const char *key,
			    const struct hi_hidden *hidden)
{
	hi_json_object(json, key);
	hi_json_number(json, "rows", hidden->rows);
	hi_json_number(json, "bytes", hidden->bytes);
	hi_json_end(json);
}

void hi_hidden_json(struct hi_json *json, const struct hi_hidden *beyond,
		    const struct hi_hidden *below, const struct hi_hidden *other)
{
	hi_json_object(json, "hidden");
	put_hidden_json(json, "by_top", beyond);
	put_hidden_json(json, "by_min_size", below);
	put_hidden_json(json, "by_type", other);
	hi_json_end(json);
}
