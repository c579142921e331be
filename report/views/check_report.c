/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/views/check_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

bool hi_check_fails(const struct hi_check_row *row)
{
	return !row->result.is_known || row->result.is_true;
}

/* "81264 > 0" */
static char *text_of_check_values(char out[64], const struct hi_check_row *row)
{
	if (!row->result.is_known) {
		snprintf(out, 64, "unknown: some heap is not decoded%s",
			 row->result.unknown->baseline ? " (baseline)" : "");
		return out;
	}
	snprintf(out, 64, "%.15g %s %.15g", row->result.left,
		 hi_gate_order_text(row->gate->order), row->result.right);
	return out;
}

void hi_check_display(const struct hi_check_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"", HI_COLUMN_WORD},
						   {"fails when", HI_COLUMN_TEXT},
						   {"here", HI_COLUMN_TEXT}};
	struct hi_report_table *t;
	char text[64];

	hi_report_header_title(r->header, page);
	hi_page_text(page, r->n_failed ? hi_page_printf(page, "%zu of %zu gates failed",
							r->n_failed, r->n_rows)
				       : hi_page_printf(page, "all %zu gates passed",
							r->n_rows));
	if (r->baseline)
		hi_page_fact(page, "baseline",
			     hi_report_header_target(r->baseline, page));
	for (size_t i = 0; i < r->header->n_warnings; i++)
		hi_page_warning(page, hi_page_safe(page, r->header->warnings[i]));
	hi_page_blank(page);
	t = hi_page_table(page, columns, 3);
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hi_check_row *row = &r->rows[i];

		hi_cell_text(t, hi_check_fails(row) ? "FAILED" : "ok", 0);
		hi_cell_text(t, hi_page_safe(page, row->gate->text), 0);
		hi_cell_text(t,
			     hi_page_printf(page, "%s", text_of_check_values(text, row)),
			     0);
		if (hi_check_fails(row))
			hi_report_table_stress(t);
	}
}

static void json_value(struct hi_json *json, const char *key, bool is_known, double value)
{
	char text[40];

	if (!is_known) {
		hi_json_null(json, key);
		return;
	}

	/* JSON numbers of this program are whole: a fraction is written as text. */
	if (value >= 0 && value < 1e15 && value <= (double)(uint64_t)value) {
		hi_json_number(json, key, (uint64_t)value);
		return;
	}
	snprintf(text, sizeof(text), "%.15g", value);
	hi_json_text(json, key, text);
}

void hi_check_json(const struct hi_check_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/check/v1", json);
	hi_json_number(json, "failed", r->n_failed);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hi_check_row *row = &r->rows[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "fail_on", row->gate->text);
		hi_json_bool(json, "failed", hi_check_fails(row));
		hi_json_bool(json, "known", row->result.is_known);
		json_value(json, "left", row->result.is_known, row->result.left);
		hi_json_text(json, "order", hi_gate_order_text(row->gate->order));
		json_value(json, "right", row->result.is_known, row->result.right);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_end(json);
}

/* ---- JUnit ---- */

/* For attributes and text; XML has no control bytes. */
static void put_xml_text(FILE *out, const char *text)
{
	for (const char *c = text; *c; c++) {
		switch (*c) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc((unsigned char)*c < ' ' ? ' ' : *c, out);
		}
	}
}

/* What is no UTF-8 becomes \xNN first. */
static void xml_safe(FILE *out, const char *text)
{
	char safe[4096];

	hi_text_escape(safe, sizeof(safe), text, strlen(text));
	put_xml_text(out, safe);
}

void hi_check_junit(const struct hi_check_report *r, FILE *out)
{
	char text[64];

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites tests=\"%zu\" failures=\"%zu\">\n"
		"  <testsuite name=\"heapinspect check\" tests=\"%zu\" failures=\"%zu\" "
		"errors=\"0\" skipped=\"0\">\n",
		r->n_rows, r->n_failed, r->n_rows, r->n_failed);
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hi_check_row *row = &r->rows[i];

		fputs("    <testcase classname=\"heapinspect\" name=\"", out);
		xml_safe(out, row->gate->text);
		if (!hi_check_fails(row)) {
			fputs("\"/>\n", out);
			continue;
		}
		fputs("\">\n      <failure message=\"", out);
		put_xml_text(out, text_of_check_values(text, row));
		fputs("\">", out);
		xml_safe(out, row->gate->text);
		fputs("</failure>\n    </testcase>\n", out);
	}
	fputs("  </testsuite>\n</testsuites>\n", out);
}

/* ---- GitHub ---- */

/* %, CR and LF would end the message. */
static void put_annotation_text(FILE *out, const char *text)
{
	for (const char *c = text; *c; c++) {
		if (*c == '%' || *c == '\r' || *c == '\n')
			fprintf(out, "%%%02X", (unsigned)(unsigned char)*c);
		else
			fputc(*c, out);
	}
}

void hi_check_github(const struct hi_check_report *r, FILE *out)
{
	char text[64], safe[4096];

	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hi_check_row *row = &r->rows[i];

		if (!hi_check_fails(row))
			continue;
		hi_text_escape(safe, sizeof(safe), row->gate->text,
			       strlen(row->gate->text));
		fputs("::error title=heapinspect check::", out);
		put_annotation_text(out, safe);
		fprintf(out, " (%s)\n", text_of_check_values(text, row));
	}
}
