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

static const struct hi_doc_field hidden_count_fields[] = {
	{"rows", NULL, HI_DOC_COUNT, HI_AT(struct hi_hidden, rows)},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_hidden, bytes)},
};
static const struct hi_doc_fields hidden_counts = HI_DOC_FIELDS(hidden_count_fields);

static const struct hi_doc_field hidden_fields[] = {
	{"by_top", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_hidden_rows, by_top),
	 .nested = &hidden_counts},
	{"by_min_size", NULL, HI_DOC_OBJECT,
	 HI_AT_PART(struct hi_hidden_rows, by_min_size), .nested = &hidden_counts},
	{"by_type", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_hidden_rows, by_type),
	 .nested = &hidden_counts},
};
const struct hi_doc_fields hi_hidden_fields = HI_DOC_FIELDS(hidden_fields);

void hi_hidden_json(struct hi_json *json, const struct hi_hidden *beyond,
		    const struct hi_hidden *below, const struct hi_hidden *other)
{
	struct hi_hidden_rows rows = {*beyond, *below, *other};

	hi_json_object(json, "hidden");
	hi_doc_put_report(&hi_hidden_fields, &rows, 0, json);
	hi_json_end(json);
}
