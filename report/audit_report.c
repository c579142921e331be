/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/audit_report.h"

#include <inttypes.h>

#include "base/text.h"

static size_t shown(const struct hi_audit_report *r, size_t n)
{
	return n < r->top ? n : r->top;
}

static const char *type_name(const struct hi_audit_report *r, uint32_t type)
{
	return r->graph->types[type].name;
}

static void note_more(const struct hi_audit_report *r, size_t n, struct hi_page *page)
{
	if (n > shown(r, n))
		hi_page_note(page, hi_page_printf(page, "%zu more types (--all)",
						  n - shown(r, n)));
}

static void show_rows(const struct hi_audit_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"type", HI_COLUMN_TEXT},	{"objects", HI_COLUMN_COUNT},
		{"excess", HI_COLUMN_COUNT},	{"bytes", HI_COLUMN_BYTES},
		{"example", HI_COLUMN_ADDRESS}, {"counts", HI_COLUMN_COUNT},
		{"found", HI_COLUMN_COUNT}};
	struct hi_table *table;

	if (!r->audit->n_rows)
		return;
	hi_page_heading(page, "Excess by type",
			"references that are counted and that nobody has: lost by C "
			"code, or kept where no word was found");
	table = hi_page_table(page, columns, 7);
	for (size_t i = 0; i < shown(r, r->audit->n_rows); i++) {
		const struct hi_audit_row *row = &r->audit->rows[i];

		hi_cell_text(table, hi_page_safe(page, type_name(r, row->type)), 0);
		hi_cell_number(table, row->objects);
		hi_cell_number(table, row->excess);
		hi_cell_number(table, row->bytes);
		hi_cell_address(table,
				hi_objects_address(r->graph->objects, row->example));
		hi_cell_number(table, row->example_counted);
		hi_cell_number(table, row->example_found);
	}
	note_more(r, r->audit->n_rows, page);
}

/* ---- garbage ---- */

static const char *state_of(const struct hi_garbage_row *row)
{
	static const char *const states[HI_FATES] = {
		[HI_FATE_NONE] = "leaked",
		[HI_FATE_GARBAGE] = "not collected yet",
		[HI_FATE_UNCOLLECTABLE] = "uncollectable, not met yet",
		[HI_FATE_LOST_REFERENCE] = "held by a lost reference"};

	return row->put_aside ? "uncollectable, put aside" : states[row->fate];
}

static void show_garbage(const struct hi_audit_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"type", HI_COLUMN_TEXT},
						   {"state", HI_COLUMN_WORD},
						   {"objects", HI_COLUMN_COUNT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"example", HI_COLUMN_ADDRESS}};
	struct hi_table *table;

	if (!r->garbage->n_rows)
		return;
	hi_page_heading(page, "Garbage by type",
			"no root leads there, or only the collector's own list of what "
			"it cannot take (gc.garbage)");
	table = hi_page_table(page, columns, 5);
	for (size_t i = 0; i < shown(r, r->garbage->n_rows); i++) {
		const struct hi_garbage_row *row = &r->garbage->rows[i];

		hi_cell_text(table, hi_page_safe(page, type_name(r, row->type)), 0);
		hi_cell_text(table, state_of(row), 0);
		hi_cell_number(table, row->objects);
		hi_cell_number(table, row->bytes);
		hi_cell_address(table,
				hi_objects_address(r->graph->objects, row->example));
	}
	note_more(r, r->garbage->n_rows, page);
}

/* ---- the page ---- */

static const char *excess_text(const struct hi_audit_report *r, struct hi_page *page)
{
	const struct hi_audit *a = r->audit;
	char objects[32], excess[32], refs[32];

	if (!a->excess)
		return hi_page_printf(page,
				      "No reference is lost: all that %s objects count "
				      "were found",
				      hi_text_count(objects, a->objects));
	return hi_page_printf(page,
			      "%s reference%s lost: %s of %s objects count%s more "
			      "than lead to %s",
			      hi_text_count(refs, a->excess), a->excess == 1 ? "" : "s",
			      hi_text_count(excess, a->excess_objects),
			      hi_text_count(objects, a->objects),
			      a->excess_objects == 1 ? "s" : "",
			      a->excess_objects == 1 ? "it" : "them");
}

static const char *garbage_text(const struct hi_audit_report *r, struct hi_page *page)
{
	const struct hi_garbage *g = r->garbage;
	uint64_t bad = g->bytes[HI_FATE_UNCOLLECTABLE] + g->aside_bytes;
	char waits[24], never[24], objects[32];
	const char *text;

	if (!g->n_rows)
		return "no garbage";
	text = hi_page_printf(
		page, "garbage: %s in %s objects that the collector has not taken yet",
		hi_text_bytes(waits, g->bytes[HI_FATE_GARBAGE]),
		hi_text_count(objects, g->objects[HI_FATE_GARBAGE]));
	return bad ? hi_page_printf(page, "%s, %s that it cannot take", text,
				    hi_text_bytes(never, bad))
		   : text;
}

static void suggest(const struct hi_audit_report *r, struct hi_page *page)
{
	if (!r->audit->n_rows)
		return;
	hi_page_blank(page);
	hi_page_command(page,
			hi_page_printf(page, "heapinspect explain 0x%" PRIx64 " %s",
				       hi_objects_address(r->graph->objects,
							  r->audit->rows[0].example),
				       hi_head_target(r->head, page)),
			"who has the references that were found");
}

void hi_audit_display(const struct hi_audit_report *r, struct hi_page *page)
{
	hi_head_title(r->head, page);
	hi_page_text(page, hi_page_printf(page, "%s; %s", excess_text(r, page),
					  garbage_text(r, page)));
	hi_head_facts(r->head, page, false);
	show_rows(r, page);
	show_garbage(r, page);
	suggest(r, page);
}

/* ---- JSON ---- */

static void row_json(const struct hi_audit_report *r, const struct hi_audit_row *row,
		     struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "type", type_name(r, row->type));
	hi_json_number(json, "objects", row->objects);
	hi_json_number(json, "excess", row->excess);
	hi_json_number(json, "bytes", row->bytes);
	hi_json_address(json, "example",
			hi_objects_address(r->graph->objects, row->example));
	hi_json_number(json, "counted", row->example_counted);
	hi_json_number(json, "found", row->example_found);
	hi_json_end(json);
}

static void garbage_json(const struct hi_audit_report *r,
			 const struct hi_garbage_row *row, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "type", type_name(r, row->type));
	hi_json_text(json, "fate", hi_fate_key(row->fate));
	hi_json_bool(json, "put_aside", row->put_aside);
	hi_json_number(json, "objects", row->objects);
	hi_json_number(json, "bytes", row->bytes);
	hi_json_address(json, "example",
			hi_objects_address(r->graph->objects, row->example));
	hi_json_end(json);
}

void hi_audit_json(const struct hi_audit_report *r, struct hi_json *json)
{
	const struct hi_garbage *g = r->garbage;

	hi_head_json(r->head, "heapinspect/audit/v1", json);
	hi_json_number(json, "objects", r->audit->objects);
	hi_json_number(json, "excess_objects", r->audit->excess_objects);
	hi_json_number(json, "excess", r->audit->excess);
	hi_json_number(json, "garbage_objects", g->objects[HI_FATE_GARBAGE]);
	hi_json_number(json, "garbage", g->bytes[HI_FATE_GARBAGE]);
	hi_json_number(json, "uncollectable", g->bytes[HI_FATE_UNCOLLECTABLE]);
	hi_json_number(json, "put_aside_objects", g->aside_objects);
	hi_json_number(json, "put_aside", g->aside_bytes);
	hi_json_number(json, "lost", g->bytes[HI_FATE_LOST_REFERENCE]);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < shown(r, r->audit->n_rows); i++)
		row_json(r, &r->audit->rows[i], json);
	hi_json_end(json);
	hi_json_array(json, "garbage_rows");
	for (size_t i = 0; i < shown(r, g->n_rows); i++)
		garbage_json(r, &g->rows[i], json);
	hi_json_end(json);
	hi_json_end(json);
}
