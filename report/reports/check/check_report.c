/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `check` as a page and as a JSON document. */
#include "report/reports/check/check_report.h"

#include <string.h>

#include "report/parts/report_node.h"

static void show_check_head(const struct hi_check_report *r, struct hi_page *page)
{
	hi_report_header_title(r->header, page);
	hi_page_text(page, hi_check_headline(r, page));
	if (r->baseline)
		hi_page_fact(page, "baseline",
			     hi_report_header_target(r->baseline, page));
	if (r->load)
		hi_page_fact(page, "under load", hi_report_header_target(r->load, page));
	if (r->updated)
		hi_page_fact(page, "new baseline", hi_page_safe(page, r->updated));
	for (size_t i = 0; i < r->header->n_warnings; i++)
		hi_page_warning(page, hi_page_safe(page, r->header->warnings[i]));
}

/* "> 64.0 KiB" */
static const char *limit_cell(const struct hi_check_row *row, struct hi_page *page)
{
	const char *limit = hi_check_limit_text(row, page);

	return *limit ? hi_page_printf(page, "%s %s",
				       hi_gate_order_text(row->gate->order), limit)
		      : "";
}

static const char *verdict_of_check_row(const struct hi_check_report *r,
					const struct hi_check_row *row)
{
	return hi_check_fails(r, row) ? "FAILED"
	       : row->is_skipped      ? "skipped"
	       : row->is_small	      ? "small"
				      : "ok";
}

static void show_check_table(const struct hi_check_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"", HI_COLUMN_WORD},
						   {"fails when", HI_COLUMN_TEXT},
						   {"here", HI_COLUMN_TEXT},
						   {"limit", HI_COLUMN_TEXT}};
	struct hi_report_table *t = hi_page_table(page, columns, 4);

	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hi_check_row *row = &r->rows[i];

		hi_cell_text(t, verdict_of_check_row(r, row), 0);
		hi_cell_text(t,
			     *row->gate->name
				     ? hi_page_printf(page, "%s: %s",
						      hi_check_gate_name(row->gate, page),
						      hi_page_safe(page, row->gate->text))
				     : hi_page_safe(page, row->gate->text),
			     0);
		hi_cell_text(t, hi_check_here_text(row, page), 0);
		hi_cell_text(t, limit_cell(row, page), 0);
		if (hi_check_fails(r, row))
			hi_report_table_stress(t);
	}
}

static void show_failed_gate(const struct hi_check_report *r,
			     const struct hi_check_row *row, struct hi_page *page)
{
	const char *line;

	hi_page_heading(page, hi_check_gate_name(row->gate, page), NULL);
	hi_page_text(page, hi_check_summary_text(r, row, page));
	for (size_t i = 0; (line = hi_check_detail(r, row, i, page)); i++)
		hi_page_text(page, line);
	if (*row->next)
		hi_page_command(page, row->next, NULL);
}

void hi_check_display(const struct hi_check_report *r, struct hi_page *page)
{
	show_check_head(r, page);
	hi_page_blank(page);
	show_check_table(r, page);
	for (size_t i = 0; i < r->n_rows; i++)
		if (hi_check_fails(r, &r->rows[i]))
			show_failed_gate(r, &r->rows[i], page);
}

/* ---- JSON ---- */

static void json_value(struct hi_json *json, const char *key, bool is_known, double value)
{
	if (!is_known)
		hi_json_null(json, key);
	else if (value >= 0 && value < 1e15 && value <= (double)(uint64_t)value)
		hi_json_number(json, key, (uint64_t)value);
	else
		hi_json_real(json, key, value);
}

static void json_culprit(const struct hi_check_culprit *c, struct hi_json *json)
{
	static const char *const kinds[] = {"type", "holder", "leak"};

	hi_json_object(json, NULL);
	hi_json_text(json, "kind", kinds[c->kind]);
	hi_json_bool(json, "new", c->is_new);
	if (c->kind == HI_CULPRIT_LEAK)
		hi_leak_name_json(&c->name, json);
	else
		hi_json_text(json, "type", c->type ? hi_type_key(c->type) : NULL);
	hi_json_number(json, "count", c->count);
	hi_json_number(json, "bytes", c->bytes);
	if (c->kind == HI_CULPRIT_HOLDER)
		hi_json_number(json, "of", c->of);
	if (c->kind == HI_CULPRIT_LEAK) {
		hi_json_number(json, "objects", c->objects);
		hi_json_text(json, "shape", hi_leak_shape_key(c->shape));
		hi_json_text(json, "verdict", hi_leak_verdict_key(c->is_likely));
	}
	hi_json_escaped(json, "path", *c->path ? c->path : NULL);
	hi_json_address(json, "example", c->example);
	hi_json_end(json);
}

static void json_values(const struct hi_check_row *row, struct hi_json *json)
{
	hi_json_array(json, "values");
	for (size_t i = 0; i < row->result.n_values; i++) {
		const struct hi_gate_metric *m = row->result.values[i].metric;

		hi_json_object(json, NULL);
		hi_json_text(json, "metric", m->text);
		json_value(json, "value", true, row->result.values[i].value);
		hi_json_text(json, "unit", hi_gate_unit_key(hi_gate_unit_of_metric(m)));
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void json_slopes(const struct hi_check_row *row, struct hi_json *json)
{
	hi_json_array(json, "slopes");
	for (size_t i = 0; i < row->n_slopes; i++) {
		const struct hi_check_slope *s = &row->slopes[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "metric", s->metric->text);
		json_value(json, "slope", true, s->slope);
		json_value(json, "margin", true, s->margin);
		json_value(json, "first", true, s->first);
		json_value(json, "last", true, s->last);
		hi_json_number(json, "censuses", s->n);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void json_check_row(const struct hi_check_report *r,
			   const struct hi_check_row *row, struct hi_json *json)
{
	const struct hi_gate *gate = row->gate;
	bool known = row->result.is_known && !row->is_skipped;

	hi_json_object(json, NULL);
	hi_json_text(json, "name", *gate->name ? gate->name : NULL);
	hi_json_text(json, "fail_on", gate->text);
	hi_json_text(json, "file", gate->file);
	hi_json_number(json, "line", gate->line ? gate->line : UINT64_MAX);
	hi_json_bool(json, "failed", hi_check_fails(r, row));
	hi_json_bool(json, "skipped", row->is_skipped);
	hi_json_bool(json, "below_min_size", row->is_small);
	hi_json_bool(json, "known", row->result.is_known);
	json_value(json, "left", known, row->result.left);
	hi_json_text(json, "order", hi_gate_order_text(gate->order));
	json_value(json, "right", known, row->result.right);
	hi_json_text(json, "unit", hi_gate_unit_key(gate->unit));
	hi_json_bool(json, "per_census", gate->per_census);
	hi_json_text(json, "unmatched", row->unmatched);
	json_values(row, json);
	json_slopes(row, json);
	hi_json_array(json, "culprits");
	for (size_t i = 0; i < row->n_culprits; i++)
		json_culprit(&row->culprits[i], json);
	hi_json_end(json);
	hi_json_escaped(json, "next", *row->next ? row->next : NULL);
	hi_json_end(json);
}

void hi_check_json(const struct hi_check_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/check/v1", json);
	hi_json_number(json, "failed", r->n_failed);
	hi_json_bool(json, "strict", r->is_strict);
	hi_json_text(json, "new_baseline", r->updated);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_rows; i++)
		json_check_row(r, &r->rows[i], json);
	hi_json_end(json);
	hi_json_end(json);
}
