/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/census_report.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "report/hidden.h"
#include "report/rank.h"

HI_DEFINE_GUARD(struct hi_census_report *, hi_census_report_destroy)

static const char *type_name(const struct hi_graph *g, uint32_t type)
{
	return type < g->n_types && g->types[type].name ? g->types[type].name : "";
}

static void hide(struct hi_hidden *hidden, const struct hi_census_row *row)
{
	hidden->rows++;
	hidden->bytes += row->shallow;
}

static void take_row(struct hi_census_report *r, const struct hi_graph *g,
		     const struct hi_census_row *row, const struct hi_restrict *only)
{
	if (!hi_type_set_has(only->types, row->type)) {
		hide(&r->other, row);
		return;
	}
	if (row->shallow < only->min_size) {
		hide(&r->below, row);
		return;
	}
	if (r->n_rows >= only->top) {
		hide(&r->beyond, row);
		return;
	}
	r->rows[r->n_rows++] = (struct hi_census_line){
		.type = type_name(g, row->type),
		.count = row->count,
		.shallow = row->shallow,
		.retained = row->retained,
		.largest = row->largest,
		.by_evidence = row->by_evidence,
		.evidence = hi_main_evidence(row),
	};
}

enum hi_status
hi_census_report_create(const struct hi_head *head, const struct hi_graph *graph,
			const struct hi_census *census, const struct hi_restrict *only,
			struct hi_census_report **ret, struct hi_error *err)
{
	HI_GUARD(hi_census_report_destroy)
	struct hi_census_report *r = hi_calloc(1, sizeof(*r));

	if (r)
		r->rows = hi_calloc(census->n_rows + 1, sizeof(*r->rows));
	if (!r || !r->rows)
		return hi_fail_memory(err, "census report");
	r->head = head;
	r->objects = census->objects;
	r->bytes = census->bytes;
	for (size_t i = 0; i < census->n_rows; i++)
		take_row(r, graph, &census->rows[i], only);
	*ret = hi_take(r);
	return HI_OK;
}

void hi_census_report_destroy(struct hi_census_report *report)
{
	if (!report)
		return;
	free(report->rows);
	free(report);
}

static void show_totals(const struct hi_census_report *r, struct hi_page *page)
{
	char bytes[24], n[32];

	hi_page_text(page,
		     hi_page_printf(page, "%s live in %s objects",
				    hi_bytes(bytes, r->bytes), hi_count(n, r->objects)));
}

void hi_census_display(const struct hi_census_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"type", HI_COLUMN_TEXT},      {"count", HI_COLUMN_COUNT},
		{"shallow", HI_COLUMN_BYTES},  {"of live", HI_COLUMN_PERCENT},
		{"retained", HI_COLUMN_BYTES}, {"largest", HI_COLUMN_BYTES},
		{"evidence", HI_COLUMN_WORD}};
	struct hi_table *t;

	hi_head_title(r->head, page);
	show_totals(r, page);
	hi_head_facts(r->head, page, false);
	hi_page_heading(page, "Live bytes by type", NULL);
	t = hi_page_table(page, columns, 7);
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hi_census_line *row = &r->rows[i];

		hi_cell_text(t, hi_type_label(row->type, page), 0);
		hi_cell_number(t, row->count);
		hi_cell_number(t, row->shallow);
		hi_cell_percent(t, row->shallow, r->bytes);
		hi_cell_at_least(t, row->retained);
		hi_cell_number(t, row->largest);
		hi_cell_text(t, row->evidence ? hi_evidence_key(row->evidence) : "", 0);
	}
	hi_hidden_note(page, &r->beyond, &r->below, &r->other);
}

static void row_json(const struct hi_census_line *row, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "type", hi_type_key(row->type));
	hi_json_number(json, "count", row->count);
	hi_json_number(json, "shallow", row->shallow);
	hi_json_number(json, "retained", row->retained);
	hi_json_number(json, "largest", row->largest);
	hi_json_text(json, "evidence", hi_evidence_key(row->evidence));
	hi_json_object(json, "by_evidence");
	for (unsigned e = 0; e <= HI_EVIDENCE_RUNTIME; e++)
		if (row->by_evidence[e])
			hi_json_number(json, hi_evidence_key((enum hi_evidence)e),
				       row->by_evidence[e]);
	hi_json_end(json);
	hi_json_end(json);
}

void hi_census_json(const struct hi_census_report *r, struct hi_json *json)
{
	hi_head_json(r->head, "heapinspect/census/v1", json);
	hi_json_text(json, "by", "type");
	hi_json_object(json, "live");
	hi_json_number(json, "objects", r->objects);
	hi_json_number(json, "bytes", r->bytes);
	hi_json_end(json);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_rows; i++)
		row_json(&r->rows[i], json);
	hi_json_end(json);
	hi_hidden_json(json, &r->beyond, &r->below, &r->other);
	hi_json_end(json);
}
