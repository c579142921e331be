/* SPDX-License-Identifier: BSD-2-Clause */
/* The JSON of deep_report.h. */
#include "report/reports/deep/deep_report.h"

static const char *deep_kind_name(enum hi_column_kind kind)
{
	switch (kind) {
	case HI_COLUMN_BYTES:
	case HI_COLUMN_MINOR_BYTES:
		return "bytes";
	case HI_COLUMN_COUNT:
	case HI_COLUMN_MINOR_COUNT:
		return "count";
	case HI_COLUMN_PERCENT:
		return "percent";
	case HI_COLUMN_FIGURE:
	case HI_COLUMN_MINOR_FIGURE:
		return "ratio";
	default:
		return "text";
	}
}

static void put_deep_ratio(struct hi_json *json, const char *key,
			   const struct hi_deep_cell *cell, bool percent)
{
	if (cell->whole)
		hi_json_real(json, key,
			     (double)cell->number / (double)cell->whole *
				     (percent ? 100 : 1));
	else
		hi_json_null(json, key);
}

static void put_deep_value(struct hi_json *json, const char *key,
			   const struct hi_deep_cell *cell, enum hi_column_kind kind)
{
	switch (cell->kind) {
	case HI_DEEP_CELL_NONE:
		hi_json_null(json, key);
		break;
	case HI_DEEP_CELL_TEXT:
		hi_json_text(json, key, cell->text);
		break;
	case HI_DEEP_CELL_NUMBER:
		hi_json_number(json, key, cell->number);
		break;
	case HI_DEEP_CELL_SIGNED:
		hi_json_signed(json, key, (int64_t)cell->number);
		break;
	case HI_DEEP_CELL_RATIO:
		put_deep_ratio(json, key, cell, kind == HI_COLUMN_PERCENT);
		break;
	}
}

static void put_deep_column(struct hi_json *json, const struct hi_deep_column *column)
{
	hi_json_text(json, "key", column->key);
	hi_json_text(json, "title", column->title);
	hi_json_text(json, "kind", deep_kind_name(column->kind));
}

static void put_deep_facts(struct hi_json *json, const struct hi_deep_report *r)
{
	hi_json_array(json, "facts");
	for (size_t i = 0; i < r->facts.count; i++) {
		const struct hi_deep_fact *fact = &r->facts.items[i];

		hi_json_object(json, NULL);
		put_deep_column(json, &fact->column);
		put_deep_value(json, "value", &fact->cell, fact->column.kind);
		if (fact->cell.link)
			hi_json_text(json, "link", fact->cell.link);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void put_deep_links(struct hi_json *json, const struct hi_deep_table *t,
			   const struct hi_deep_cell *row)
{
	hi_json_object(json, "links");
	for (size_t i = 0; i < t->columns.count; i++)
		if (row[i].link)
			hi_json_text(json, t->columns.items[i].key, row[i].link);
	hi_json_end(json);
}

static void put_deep_table(struct hi_json *json, const struct hi_deep_table *t)
{
	size_t n = t->columns.count;

	hi_json_object(json, NULL);
	hi_json_text(json, "key", t->key);
	hi_json_text(json, "title", t->title);
	hi_json_text(json, "note", t->note);
	hi_json_array(json, "columns");
	for (size_t i = 0; i < n; i++) {
		hi_json_object(json, NULL);
		put_deep_column(json, &t->columns.items[i]);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_array(json, "rows");
	for (size_t at = 0; n && at + n <= t->cells.count; at += n) {
		hi_json_object(json, NULL);
		for (size_t i = 0; i < n; i++)
			put_deep_value(json, t->columns.items[i].key,
				       &t->cells.items[at + i], t->columns.items[i].kind);
		put_deep_links(json, t, &t->cells.items[at]);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_end(json);
}

void hi_deep_json(const struct hi_deep_report *report, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", "heapinspect/deep/v1");
	hi_json_text(json, "query", report->query);
	hi_json_text(json, "title", report->title);
	hi_json_text(json, "aside", report->aside);
	put_deep_facts(json, report);
	hi_json_array(json, "tables");
	for (size_t i = 0; i < report->tables.count; i++)
		put_deep_table(json, report->tables.items[i]);
	hi_json_end(json);
	hi_json_array(json, "notes");
	for (size_t i = 0; i < report->notes.count; i++)
		hi_json_text(json, NULL, report->notes.items[i]);
	hi_json_end(json);
	hi_json_end(json);
}
