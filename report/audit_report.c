/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/audit_report.h"

#include "base/text.h"

static size_t shown(const struct hi_audit_report *r)
{
	return r->audit->n_rows < r->top ? r->audit->n_rows : r->top;
}

static const char *type_name(const struct hi_audit_report *r,
			     const struct hi_audit_row *row)
{
	return r->graph->types[row->type].name;
}

static void show_rows(const struct hi_audit_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"type", HI_COLUMN_TEXT},	{"objects", HI_COLUMN_COUNT},
		{"excess", HI_COLUMN_COUNT},	{"bytes", HI_COLUMN_BYTES},
		{"example", HI_COLUMN_ADDRESS}, {"counts", HI_COLUMN_COUNT},
		{"found", HI_COLUMN_COUNT}};
	struct hi_table *table = hi_page_table(page, columns, 7);

	for (size_t i = 0; i < shown(r); i++) {
		const struct hi_audit_row *row = &r->audit->rows[i];

		hi_cell_text(table, hi_page_safe(page, type_name(r, row)), 0);
		hi_cell_number(table, row->objects);
		hi_cell_number(table, row->excess);
		hi_cell_number(table, row->bytes);
		hi_cell_address(table,
				hi_objects_address(r->graph->objects, row->example));
		hi_cell_number(table, row->example_counted);
		hi_cell_number(table, row->example_found);
	}
	if (r->audit->n_rows > shown(r))
		hi_page_note(page, hi_page_printf(page, "%zu more types (--all)",
						  r->audit->n_rows - shown(r)));
}

void hi_audit_display(const struct hi_audit_report *r, struct hi_page *page)
{
	char objects[32], excess[32], refs[32], garbage[32], bytes[24];

	hi_head_title(r->head, page);
	hi_page_text(
		page,
		hi_page_printf(page,
			       "%s of %s objects count %s references more than lead to "
			       "them; nothing leads to %s objects (%s)",
			       hi_text_count(excess, r->audit->excess_objects),
			       hi_text_count(objects, r->audit->objects),
			       hi_text_count(refs, r->audit->excess),
			       hi_text_count(garbage, r->garbage_objects),
			       hi_text_bytes(bytes, r->garbage_bytes)));
	hi_head_facts(r->head, page, false);
	hi_page_heading(page, "Excess by type",
			"held by C code that leaks them, or that keeps them where no "
			"word was found");
	show_rows(r, page);
}

static void row_json(const struct hi_audit_report *r, const struct hi_audit_row *row,
		     struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "type", type_name(r, row));
	hi_json_number(json, "objects", row->objects);
	hi_json_number(json, "excess", row->excess);
	hi_json_number(json, "bytes", row->bytes);
	hi_json_address(json, "example",
			hi_objects_address(r->graph->objects, row->example));
	hi_json_number(json, "counted", row->example_counted);
	hi_json_number(json, "found", row->example_found);
	hi_json_end(json);
}

void hi_audit_json(const struct hi_audit_report *r, struct hi_json *json)
{
	hi_head_json(r->head, "heapinspect/audit/v1", json);
	hi_json_number(json, "objects", r->audit->objects);
	hi_json_number(json, "excess_objects", r->audit->excess_objects);
	hi_json_number(json, "excess", r->audit->excess);
	hi_json_number(json, "garbage_objects", r->garbage_objects);
	hi_json_number(json, "garbage", r->garbage_bytes);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < shown(r); i++)
		row_json(r, &r->audit->rows[i], json);
	hi_json_end(json);
	hi_json_end(json);
}
