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

/* ---- as tables ---- */

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

static void show_new_object_row(const struct hi_new_row *row, bool survivors,
				struct hi_report_table *t, struct hi_page *page)
{
	hi_cell_text(t, hi_type_label(row->type, page), 0);
	hi_cell_link(t, hi_address_of_any_type(page, row->type));
	hi_cell_number(t, row->count);
	if (survivors)
		hi_cell_number(t, row->of);
	hi_cell_number(t, row->bytes);
	hi_cell_at_least(t, row->retained);
	hi_cell_text(t, way_text(row, page), 0);
	hi_cell_link(t, hi_address_of_object(page, row->example));
}

static void show_new_object_rows(const struct hi_new_objects *n, bool survivors,
				 struct hi_page *page)
{
	static const struct hi_column born[] = {{"type", HI_COLUMN_TEXT},
						{"born", HI_COLUMN_COUNT},
						{"bytes", HI_COLUMN_BYTES},
						{"retained", HI_COLUMN_BYTES},
						{"a path to one", HI_COLUMN_TEXT}};
	static const struct hi_column survived[] = {
		{"type", HI_COLUMN_TEXT},      {"survived", HI_COLUMN_COUNT},
		{"of born", HI_COLUMN_COUNT},  {"bytes", HI_COLUMN_BYTES},
		{"retained", HI_COLUMN_BYTES}, {"a path to one", HI_COLUMN_TEXT}};
	static const struct hi_hidden none;
	struct hi_report_table *t;

	hi_page_heading(
		page, survivors ? "Survivors" : "New objects",
		"retained: bytes that would be freed with them, older objects too");
	t = survivors ? hi_page_table(page, survived, 6) : hi_page_table(page, born, 5);
	for (size_t i = 0; i < n->n_rows; i++)
		show_new_object_row(&n->rows[i], survivors, t, page);
	hi_hidden_note(page, &n->beyond, &n->below, &none);
}

static void show_holders(const struct hi_new_objects *n, bool survivors,
			 struct hi_page *page)
{
	static const struct hi_column columns[] = {{"held by", HI_COLUMN_TEXT},
						   {"type", HI_COLUMN_TEXT},
						   {"new objects", HI_COLUMN_COUNT},
						   {"new bytes", HI_COLUMN_BYTES}};
	static const char *const unheld[HI_LEAK_KINDS] = {
		[HI_LEAK_CERTAIN] = "nothing: leaked",
		[HI_LEAK_LIKELY] = "nothing: probably leaked",
		[HI_LEAK_GARBAGE] = "nothing: garbage"};
	struct hi_report_table *t;

	hi_page_heading(page, survivors ? "What holds them" : "What holds the growth",
			survivors ? "survivors only" : "born objects only");
	t = hi_page_table(page, columns, 4);
	for (size_t i = 0; i < n->n_holders; i++) {
		const struct hi_new_holder *h = &n->holders[i];

		hi_cell_text(t, hi_page_safe_again(page, h->name), 0);
		hi_cell_link(t, hi_address_of_object(page, h->address));
		hi_cell_text(t, hi_type_label(h->type, page), 0);
		hi_cell_number(t, h->objects);
		hi_cell_number(t, h->bytes);
	}
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

/* ---- as JSON ---- */

void hi_heap_total_json(struct hi_json *json, const char *key, struct hi_heap_total sum)
{
	hi_json_object(json, key);
	hi_json_number(json, "count", sum.count);
	hi_json_number(json, "bytes", sum.bytes);
	hi_json_end(json);
}

static void json_rows(const struct hi_new_objects *n, bool survivors,
		      struct hi_json *json)
{
	hi_json_array(json, survivors ? "rows" : "new");
	for (size_t i = 0; i < n->n_rows; i++) {
		const struct hi_new_row *row = &n->rows[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "type", hi_type_key(row->type));
		hi_json_number(json, "count", row->count);
		if (survivors)
			hi_json_number(json, "born", row->of);
		hi_json_number(json, "bytes", row->bytes);
		hi_json_number(json, "leaked", row->leaked);
		hi_json_number(json, "likely", row->likely);
		hi_json_number(json, "garbage", row->garbage);
		hi_json_number(json, "retained", row->retained);
		hi_json_address(json, "example", row->example);
		hi_json_escaped(json, "path", *row->way ? row->way : NULL);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void json_holders(const struct hi_new_objects *n, struct hi_json *json)
{
	hi_json_array(json, "growth");
	for (size_t i = 0; i < n->n_holders; i++) {
		const struct hi_new_holder *h = &n->holders[i];

		hi_json_object(json, NULL);
		hi_json_escaped(json, "path", h->name);
		hi_json_text(json, "type", hi_known(h->type));
		hi_json_address(json, "address", h->address);
		hi_json_number(json, "objects", h->objects);
		hi_json_number(json, "bytes", h->bytes);
		hi_json_end(json);
	}
	hi_json_end(json);
}

void hi_new_objects_json(const struct hi_new_objects *n, bool survivors,
			 struct hi_json *json)
{
	json_rows(n, survivors, json);
	json_holders(n, json);
	hi_heap_total_json(json, "leaked", n->unheld[HI_LEAK_CERTAIN]);
	hi_heap_total_json(json, "likely", n->unheld[HI_LEAK_LIKELY]);
	hi_heap_total_json(json, "garbage", n->unheld[HI_LEAK_GARBAGE]);
}
