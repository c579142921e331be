/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `check` for systems that run builds: JUnit XML, GitHub annotations,
 * Markdown. */
#include <string.h>

#include "report/reports/check/check_report.h"

/* ---- JUnit ---- */

/* For attributes and text; XML has no control bytes. What is given is UTF-8. */
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

static void put_xml_line(FILE *out, const char *text)
{
	put_xml_text(out, text);
	fputc('\n', out);
}

static void put_junit_failure(const struct hi_check_report *r,
			      const struct hi_check_row *row, struct hi_page *scratch,
			      FILE *out)
{
	const char *line;

	fputs("      <failure type=\"gate\" message=\"", out);
	put_xml_text(out, hi_check_summary_text(r, row, scratch));
	fputs("\">", out);
	put_xml_line(out, hi_page_safe(scratch, row->gate->text));
	put_xml_line(out, hi_check_summary_text(r, row, scratch));
	for (size_t i = 0; (line = hi_check_detail(r, row, i, scratch)); i++)
		put_xml_line(out, line);
	if (*row->next) {
		fputs("Next: ", out);
		put_xml_line(out, row->next);
	}
	fputs("</failure>\n", out);
}

static void put_junit_case(const struct hi_check_report *r,
			   const struct hi_check_row *row, struct hi_page *scratch,
			   FILE *out)
{
	fputs("    <testcase classname=\"heapinspect\" name=\"", out);
	put_xml_text(out, hi_check_gate_name(row->gate, scratch));
	fputs("\">\n", out);
	if (row->is_skipped)
		fputs("      <skipped/>\n", out);
	if (hi_check_fails(r, row))
		put_junit_failure(r, row, scratch, out);
	fputs("      <system-out>", out);
	put_xml_text(out, hi_check_here_text(row, scratch));
	if (row->unmatched) {
		fputs("; ", out);
		put_xml_text(out, hi_page_safe(scratch, row->unmatched));
	}
	fputs("</system-out>\n    </testcase>\n", out);
}

static size_t count_skipped_gates(const struct hi_check_report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_rows; i++)
		n += r->rows[i].is_skipped;
	return n;
}

void hi_check_junit(const struct hi_check_report *r, struct hi_page *scratch, FILE *out)
{
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites tests=\"%zu\" failures=\"%zu\">\n"
		"  <testsuite name=\"heapinspect check\" tests=\"%zu\" failures=\"%zu\" "
		"errors=\"0\" skipped=\"%zu\">\n",
		r->n_rows, r->n_failed, r->n_rows, r->n_failed, count_skipped_gates(r));
	for (size_t i = 0; i < r->n_rows; i++)
		put_junit_case(r, &r->rows[i], scratch, out);
	fputs("  </testsuite>\n</testsuites>\n", out);
}

/* ---- GitHub ---- */

/* What would end the message, or, in a property, the property. */
static void put_annotation_text(FILE *out, const char *text, const char *reserved)
{
	for (const char *c = text; *c; c++) {
		if (strchr(reserved, *c))
			fprintf(out, "%%%02X", (unsigned)(unsigned char)*c);
		else
			fputc(*c, out);
	}
}

static void put_annotation_head(const struct hi_gate *gate, const char *kind,
				struct hi_page *scratch, FILE *out)
{
	fprintf(out, "::%s ", kind);
	if (gate->file) {
		fputs("file=", out);
		put_annotation_text(out, hi_page_safe(scratch, gate->file), "%\r\n:,");
		fprintf(out, ",line=%u,", gate->line);
	}
	fputs("title=", out);
	put_annotation_text(out,
			    hi_page_printf(scratch, "heapinspect: %s",
					   hi_check_gate_name(gate, scratch)),
			    "%\r\n:,");
	fputs("::", out);
}

static void put_annotation_line(FILE *out, const char *text)
{
	put_annotation_text(out, text, "%\r\n");
}

static void put_gate_error(const struct hi_check_report *r,
			   const struct hi_check_row *row, struct hi_page *scratch,
			   FILE *out)
{
	const char *line;

	put_annotation_head(row->gate, "error", scratch, out);
	put_annotation_line(out, hi_check_summary_text(r, row, scratch));
	for (size_t i = 0; (line = hi_check_detail(r, row, i, scratch)); i++) {
		fputs("%0A", out);
		put_annotation_line(out, line);
	}
	if (*row->next) {
		fputs("%0ANext: ", out);
		put_annotation_line(out, row->next);
	}
	fputc('\n', out);
}

void hi_check_github(const struct hi_check_report *r, struct hi_page *scratch, FILE *out)
{
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hi_check_row *row = &r->rows[i];

		if (hi_check_fails(r, row)) {
			put_gate_error(r, row, scratch, out);
		} else if (row->unmatched) {
			put_annotation_head(row->gate, "warning", scratch, out);
			put_annotation_line(out, hi_page_safe(scratch, row->unmatched));
			fputc('\n', out);
		}
	}
}

/* ---- Markdown ---- */

static size_t longest_run(const char *text, char c)
{
	size_t most = 0, n = 0;

	for (; *text; text++) {
		n = *text == c ? n + 1 : 0;
		most = n > most ? n : most;
	}
	return most;
}

/* As code, where nothing else has a meaning; in a table a bar has. */
static void put_markdown_code(FILE *out, const char *text, bool in_table)
{
	size_t ticks = longest_run(text, '`') + 1;
	const char *blank = ticks > 1 ? " " : "";

	for (size_t i = 0; i < ticks; i++)
		fputc('`', out);
	fputs(blank, out);
	for (const char *c = text; *c; c++) {
		if (*c == '|' && in_table)
			fputc('\\', out);
		fputc(*c, out);
	}
	fputs(blank, out);
	for (size_t i = 0; i < ticks; i++)
		fputc('`', out);
}

static void put_markdown_row(const struct hi_check_report *r,
			     const struct hi_check_row *row, struct hi_page *scratch,
			     FILE *out)
{
	bool fails = hi_check_fails(r, row);
	const char *limit = hi_check_limit_text(row, scratch);

	fputs(fails		? "| **failed** | "
	      : row->is_skipped ? "| skipped | "
	      : row->is_small	? "| small | "
				: "| ok | ",
	      out);
	if (*row->gate->name) {
		put_markdown_code(out, hi_check_gate_name(row->gate, scratch), true);
		fputs(": ", out);
	}
	put_markdown_code(out, hi_page_safe(scratch, row->gate->text), true);
	fprintf(out, " | %s | %s%s%s |\n", hi_check_here_text(row, scratch),
		*limit ? hi_gate_order_text(row->gate->order) : "", *limit ? " " : "",
		limit);
}

static void put_markdown_item(FILE *out, const char *before, const char *text)
{
	fputs(before, out);
	put_markdown_code(out, text, false);
	fputc('\n', out);
}

static void put_markdown_failure(const struct hi_check_report *r,
				 const struct hi_check_row *row, struct hi_page *scratch,
				 FILE *out)
{
	const char *line;

	put_markdown_item(out, "\n#### ", hi_check_gate_name(row->gate, scratch));
	fputc('\n', out);
	put_markdown_item(out, "- ", hi_check_summary_text(r, row, scratch));
	for (size_t i = 0; (line = hi_check_detail(r, row, i, scratch)); i++)
		put_markdown_item(out, "- ", line);
	if (*row->next)
		put_markdown_item(out, "- Next: ", row->next);
}

void hi_check_markdown(const struct hi_check_report *r, struct hi_page *scratch,
		       FILE *out)
{
	fprintf(out, "### heapinspect: %s\n\n", hi_check_headline(r, scratch));
	put_markdown_item(out, "Target: ", hi_report_header_target(r->header, scratch));
	if (r->baseline)
		put_markdown_item(out, "\nBaseline: ",
				  hi_report_header_target(r->baseline, scratch));
	for (size_t i = 0; i < r->header->n_warnings; i++)
		put_markdown_item(out, "\nWarning: ",
				  hi_page_safe(scratch, r->header->warnings[i]));
	fputs("\n| | fails when | here | limit |\n|---|---|---|---|\n", out);
	for (size_t i = 0; i < r->n_rows; i++)
		put_markdown_row(r, &r->rows[i], scratch, out);
	for (size_t i = 0; i < r->n_rows; i++)
		if (hi_check_fails(r, &r->rows[i]))
			put_markdown_failure(r, &r->rows[i], scratch, out);
}
