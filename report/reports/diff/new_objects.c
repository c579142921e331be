/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/diff/new_objects.h"

#include <inttypes.h>

#include "base/text.h"
#include "report/parts/report_links.h"
#include "report/parts/report_node.h"

bool hi_new_row_is_held(const struct hi_new_row *row)
{
	return row->leaked + row->likely + row->garbage < row->count;
}

/* ---- fields ---- */

static const struct hi_doc_field total_fields[] = {
	{"count", NULL, HI_DOC_COUNT, HI_AT(struct hi_heap_total, count)},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_heap_total, bytes)},
};
const struct hi_doc_fields hi_heap_total_fields = HI_DOC_FIELDS(total_fields);

static const char *way_text(const struct hi_new_row *row, struct hi_page *page)
{
	if (*row->way)
		return hi_page_safe_again(page, row->way);
	if (!hi_new_row_is_held(row))
		return hi_page_printf(page, "%s: 0x%" PRIx64,
				      row->leaked   ? "leaked"
				      : row->likely ? "likely leaked"
						    : "garbage",
				      row->example);
	return hi_page_printf(page, "0x%" PRIx64, row->example);
}

static struct hi_doc_value path_of_new_row(const struct hi_doc_row *row)
{
	const struct hi_new_row *new = row->row;

	return row->page ? hi_doc_shown(way_text(new, row->page)) : hi_doc_text(new->way);
}

static const char *link_to_new_example(const struct hi_doc_row *row)
{
	return hi_address_of_object(row->page,
				    ((const struct hi_new_row *)row->row)->example);
}

static const struct hi_doc_field row_fields[] = {
	{"type", "type", HI_DOC_TYPE, HI_AT(struct hi_new_row, type),
	 .text_link = hi_address_of_any_type},
	{"count", "born", HI_DOC_COUNT, HI_AT(struct hi_new_row, count),
	 .shown_in = HI_NEW_BORN, .least = 1},
	{NULL, "survived", HI_DOC_COUNT, HI_AT(struct hi_new_row, count),
	 .variants = HI_NEW_SURVIVED},
	{"born", "of born", HI_DOC_COUNT, HI_AT(struct hi_new_row, of),
	 .variants = HI_NEW_SURVIVED, .least = 1,
	 .meaning = "of survivors: so many of the type were born"},
	{"bytes", "bytes", HI_DOC_BYTES, HI_AT(struct hi_new_row, bytes)},
	{"leaked", NULL, HI_DOC_COUNT, HI_AT(struct hi_new_row, leaked),
	 .meaning = "of count: certain leaks"},
	{"likely", NULL, HI_DOC_COUNT, HI_AT(struct hi_new_row, likely),
	 .meaning = "of count: likely leaks"},
	{"garbage", NULL, HI_DOC_COUNT, HI_AT(struct hi_new_row, garbage),
	 .meaning = "of count: the next collection takes them"},
	{"retained", "retained", HI_DOC_BYTES, HI_AT(struct hi_new_row, retained),
	 .at_least = true,
	 .meaning = "what would go with them, older objects too: a lower bound"},
	{"example", NULL, HI_DOC_ADDRESS, HI_AT(struct hi_new_row, example),
	 .meaning = "the one that retains most"},
	{"path", "a path to one", HI_DOC_TEXT, .value = path_of_new_row, .nullable = true,
	 .is_escaped = true, .link = link_to_new_example,
	 .meaning = "the way to it from a root; null: leaked, or not looked for"},
};
const struct hi_doc_fields hi_new_row_fields =
	HI_DOC_FIELDS(row_fields, .row_size = sizeof(struct hi_new_row));

static struct hi_doc_value path_of_holder(const struct hi_doc_row *row)
{
	const struct hi_new_holder *h = row->row;

	return row->page ? hi_doc_shown(hi_page_safe_again(row->page, h->name))
			 : hi_doc_text(h->name);
}

static const char *link_to_holder(const struct hi_doc_row *row)
{
	return hi_address_of_object(row->page,
				    ((const struct hi_new_holder *)row->row)->address);
}

static const struct hi_doc_field holder_fields[] = {
	{"path", "held by", HI_DOC_TEXT, .value = path_of_holder, .is_escaped = true,
	 .link = link_to_holder},
	{"type", "type", HI_DOC_TYPE, HI_AT(struct hi_new_holder, type),
	 .nullable = true},
	{"address", NULL, HI_DOC_ADDRESS, HI_AT(struct hi_new_holder, address),
	 .nullable = true},
	{"objects", "new objects", HI_DOC_COUNT, HI_AT(struct hi_new_holder, objects),
	 .least = 1},
	{"bytes", "new bytes", HI_DOC_BYTES, HI_AT(struct hi_new_holder, bytes),
	 .least = 1},
};
static const struct hi_doc_fields holders =
	HI_DOC_FIELDS(holder_fields, .row_size = sizeof(struct hi_new_holder));

static const struct hi_doc_field new_fields[] = {
	{"growth", NULL, HI_DOC_ROWS,
	 HI_AT_ROWS(struct hi_new_objects, holders, n_holders), .nested = &holders,
	 .meaning = "what holds the new ones, most bytes first"},
	{"leaked", NULL, HI_DOC_OBJECT,
	 HI_AT_PART(struct hi_new_objects, unheld[HI_LEAK_CERTAIN]),
	 .nested = &hi_heap_total_fields, .meaning = "new, and certain leaks"},
	{"likely", NULL, HI_DOC_OBJECT,
	 HI_AT_PART(struct hi_new_objects, unheld[HI_LEAK_LIKELY]),
	 .nested = &hi_heap_total_fields, .meaning = "new, and likely leaks"},
	{"garbage", NULL, HI_DOC_OBJECT,
	 HI_AT_PART(struct hi_new_objects, unheld[HI_LEAK_GARBAGE]),
	 .nested = &hi_heap_total_fields,
	 .meaning = "new, and the next collection takes them"},
};
const struct hi_doc_fields hi_new_objects_fields = HI_DOC_FIELDS(new_fields);

/* ---- as tables ---- */

static void show_new_object_rows(const struct hi_new_objects *n, bool survivors,
				 struct hi_page *page)
{
	hi_page_heading(
		page, survivors ? "Survivors" : "New objects",
		"retained: bytes that would be freed with them, older objects too");
	hi_doc_show_rows(page, &hi_new_row_fields, n,
			 survivors ? HI_NEW_SURVIVED : HI_NEW_BORN, n->rows, n->n_rows);
	hi_hidden_note(page, &n->hidden.by_top, &n->hidden.by_min_size,
		       &n->hidden.by_type);
}

static void show_holders(const struct hi_new_objects *n, bool survivors,
			 struct hi_page *page)
{
	static const char *const unheld[HI_LEAK_KINDS] = {
		[HI_LEAK_CERTAIN] = "nothing: leaked",
		[HI_LEAK_LIKELY] = "nothing: probably leaked",
		[HI_LEAK_GARBAGE] = "nothing: garbage"};
	struct hi_report_table *t;

	hi_page_heading(page, survivors ? "What holds them" : "What holds the growth",
			survivors ? "survivors only" : "born objects only");
	t = hi_doc_show_rows(page, &holders, n, 0, n->holders, n->n_holders);
	for (unsigned i = 0; i < HI_LEAK_KINDS; i++) {
		if (!n->unheld[i].count)
			continue;
		hi_cell_text(t, unheld[i], 0);
		hi_cell_text(t, "", 0);
		hi_cell_number(t, n->unheld[i].count);
		hi_cell_number(t, n->unheld[i].bytes);
	}
}

void hi_new_objects_show(const struct hi_new_objects *n, bool survivors,
			 struct hi_page *page)
{
	if (!n->all.count)
		return;
	show_holders(n, survivors, page);
	show_new_object_rows(n, survivors, page);
}
