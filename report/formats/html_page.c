/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/formats/html_page.h"

#include <inttypes.h>
#include <string.h>

#include "report/formats/html_picture.h"
#include "report/views/svg.h"

static const char html_style[] =
	"<style>\n"
	"body{font:14px system-ui,'DejaVu Sans',Helvetica,Arial,sans-serif;color:#222;"
	"background:#fff;margin:24px;max-width:1240px}\n"
	"svg{max-width:100%;height:auto}\n"
	"h1{font-size:20px}h2{font-size:16px;margin-top:28px}\n"
	".aside,.note{color:#666;font-weight:normal}.warning{color:#a33}\n"
	"table{border-collapse:collapse}\n"
	"th{text-align:left;color:#666;font-weight:normal;font-size:12px}\n"
	"th,td{padding:2px 14px 2px 0;vertical-align:top}\n"
	".figure{text-align:right;white-space:nowrap}.strong{font-weight:600}\n"
	"section:target h2{background:#ffef9e}\n"
	"</style>\n";

void hi_html_begin(const char *title, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
	      "<title>",
	      out);
	hi_svg_text(out, title, 200);
	fprintf(out, "</title>\n%s</head><body>\n", html_style);
}

void hi_html_end(FILE *out)
{
	fputs("</body></html>\n", out);
}

/* ---- tables ---- */

static bool is_figure(enum hi_column_kind kind)
{
	return kind != HI_COLUMN_TEXT && kind != HI_COLUMN_WORD &&
	       kind != HI_COLUMN_QUERY;
}

static bool is_shown(const struct hi_html_links *links, enum hi_column_kind kind)
{
	return !links || kind != HI_COLUMN_QUERY;
}

static void put_html_cell_text(const struct hi_cell *cell, FILE *out)
{
	if (cell->indent)
		fprintf(out, "<span style=\"padding-left:%uem\">", cell->indent);
	hi_svg_text(out, cell->text ? cell->text : "", 0);
	if (cell->indent)
		fputs("</span>", out);
}

static void put_html_number(const struct hi_cell *cell, enum hi_column_kind kind,
			    FILE *out)
{
	char text[40];

	if (cell->at_least)
		fputs("\xe2\x89\xa5 ", out);
	if (cell->negative)
		putc('-', out);
	switch (kind) {
	case HI_COLUMN_BYTES:
	case HI_COLUMN_MINOR_BYTES:
		fputs(hi_bytes(text, cell->number), out);
		break;
	case HI_COLUMN_PERCENT:
		hi_svg_text(out, hi_percent(text, cell->number, cell->whole), 0);
		break;
	case HI_COLUMN_ADDRESS:
		fprintf(out, "0x%" PRIx64, cell->number);
		break;
	default:
		fputs(hi_count(text, cell->number), out);
	}
}

/* Was a link begun? */
static bool begin_html_link(const struct hi_html_links *links, const char *address,
			    FILE *out)
{
	const char *href = links && address ? links->href(links->arg, address) : NULL;

	if (!href)
		return false;
	fputs("<a href=\"", out);
	hi_svg_text(out, href, 0);
	fputs("\">", out);
	return true;
}

static void put_html_cell(const struct hi_html_links *links, const struct hi_cell *cell,
			  enum hi_column_kind kind, FILE *out)
{
	bool is_link;

	fputs(is_figure(kind) ? "<td class=\"figure\">" : "<td>", out);
	is_link = begin_html_link(links, cell->link, out);
	if (cell->state == HI_CELL_UNKNOWN)
		putc('?', out);
	else if (cell->state == HI_CELL_VALUE &&
		 (!is_figure(kind) || kind == HI_COLUMN_FIGURE ||
		  kind == HI_COLUMN_MINOR_FIGURE))
		put_html_cell_text(cell, out);
	else if (cell->state == HI_CELL_VALUE)
		put_html_number(cell, kind, out);
	fputs(is_link ? "</a></td>" : "</td>", out);
}

static void put_html_table(const struct hi_html_links *links,
			   const struct hi_report_table *t, FILE *out)
{
	size_t n_rows = hi_report_table_rows(t), strong = 0;

	fputs("<table><thead><tr>", out);
	for (size_t k = 0; k < t->n_columns; k++) {
		if (!is_shown(links, t->columns[k].kind))
			continue;
		fputs(is_figure(t->columns[k].kind) ? "<th class=\"figure\">" : "<th>",
		      out);
		hi_svg_text(out, t->columns[k].title, 0);
		fputs("</th>", out);
	}
	fputs("</tr></thead><tbody>\n", out);
	for (size_t i = 0; i < n_rows; i++) {
		bool is_strong = strong < t->strong.count && t->strong.items[strong] == i;

		strong += is_strong;
		fputs(is_strong ? "<tr class=\"strong\">" : "<tr>", out);
		for (size_t k = 0; k < t->n_columns; k++)
			if (is_shown(links, t->columns[k].kind))
				put_html_cell(links,
					      &t->cells.items[i * t->n_columns + k],
					      t->columns[k].kind, out);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table>\n", out);
}

/* ---- items ---- */

static void put_html_text(const char *before, const char *text, const char *after,
			  FILE *out)
{
	fputs(before, out);
	hi_svg_text(out, text ? text : "", 0);
	fputs(after, out);
}

static void put_html_item_text(const struct hi_html_links *links, const char *before,
			       const struct hi_item *item, const char *after, FILE *out)
{
	bool is_link;

	fputs(before, out);
	is_link = begin_html_link(links, item->link, out);
	put_html_text("", item->text, is_link ? "</a>" : "", out);
	fputs(after, out);
}

static void put_html_heading(const struct hi_html_links *links, const char *element,
			     const struct hi_item *item, FILE *out)
{
	fprintf(out, "<%s>", element);
	put_html_item_text(links, "", item, "", out);
	if (item->aside && *item->aside)
		put_html_text(" <span class=\"aside\">", item->aside, "</span>", out);
	fprintf(out, "</%s>\n", element);
}

static void put_html_command(const struct hi_html_links *links,
			     const struct hi_item *item, FILE *out)
{
	const char *address = links && links->address_of_command
				      ? links->address_of_command(links->arg, item->text)
				      : NULL;
	bool is_link;

	fputs("<pre>", out);
	is_link = begin_html_link(links, address, out);
	hi_svg_text(out, item->text ? item->text : "", 0);
	fputs(is_link ? "</a></pre>\n" : "</pre>\n", out);
}

/* ---- forms ---- */

/* Lines of any length, as they are. */
static void put_html_value(const char *value, FILE *out)
{
	enum { PIECE = 2000 };

	while (*value) {
		char piece[PIECE + 1];
		size_t n = strcspn(value, "\r\n");

		if (n > PIECE)
			for (n = PIECE; n > PIECE - 4 && (value[n] & 0xc0) == 0x80;)
				n--;
		memcpy(piece, value, n);
		piece[n] = '\0';
		hi_svg_text(out, piece, 0);
		value += n;
		if (*value == '\n')
			putc('\n', out);
		value += *value == '\n' || *value == '\r';
	}
}

static void put_html_field(const struct hi_form_field *f, FILE *out)
{
	if (f->input == HI_FORM_HIDDEN) {
		fprintf(out, "<input type=\"hidden\" name=\"%s\" value=\"", f->name);
		put_html_value(f->value, out);
		fputs("\"/>", out);
		return;
	}
	fputs("<label>", out);
	hi_svg_text(out, f->label, 0);
	if (f->input == HI_FORM_TEXT) {
		fprintf(out,
			"<br/><textarea name=\"%s\" rows=\"6\" cols=\"80\" "
			"spellcheck=\"false\">\n",
			f->name);
		put_html_value(f->value, out);
		fputs("</textarea></label><br/>", out);
		return;
	}
	fprintf(out, " <input type=\"text\" name=\"%s\" size=\"40\" value=\"", f->name);
	put_html_value(f->value, out);
	fputs("\"/></label> ", out);
}

static void put_html_form(const struct hi_html_links *links, const struct hi_item *item,
			  FILE *out)
{
	const char *href = links ? links->href(links->arg, item->form->address) : NULL;

	if (!href)
		return;
	fputs("<form method=\"get\" action=\"", out);
	hi_svg_text(out, href, 0);
	fputs("\"><p>", out);
	for (size_t i = 0; i < item->form->n_fields; i++)
		put_html_field(&item->form->fields[i], out);
	put_html_text("<button type=\"submit\">", item->text, "</button></p></form>\n",
		      out);
}

static enum hi_status put_html_item(const struct hi_html_links *links,
				    const struct hi_item *item, FILE *out,
				    struct hi_error *err)
{
	switch (item->kind) {
	case HI_ITEM_TITLE:
		put_html_heading(links, "h1", item, out);
		break;
	case HI_ITEM_HEADING:
		put_html_heading(links, "h2", item, out);
		break;
	case HI_ITEM_FACT:
		put_html_text("<p><b>", item->aside, "</b> ", out);
		put_html_item_text(links, "", item, "</p>\n", out);
		break;
	case HI_ITEM_TEXT:
		put_html_item_text(links, "<p>", item, "</p>\n", out);
		break;
	case HI_ITEM_NOTE:
		put_html_item_text(links, "<p class=\"note\">", item, "</p>\n", out);
		break;
	case HI_ITEM_WARNING:
		put_html_item_text(links, "<p class=\"warning\">", item, "</p>\n", out);
		break;
	case HI_ITEM_CODE:
		put_html_item_text(links, "<pre>", item, "</pre>\n", out);
		break;
	case HI_ITEM_COMMAND:
		put_html_command(links, item, out);
		break;
	case HI_ITEM_TABLE:
		put_html_table(links, item->table, out);
		break;
	case HI_ITEM_PICTURE:
		return hi_html_picture(item->picture, links ? links->href : NULL,
				       links ? links->arg : NULL, out, err);
	case HI_ITEM_FORM:
		put_html_form(links, item, out);
		break;
	case HI_ITEM_BLANK:
	default:
		break;
	}
	return HI_OK;
}

enum hi_status hi_html_linked_page(const struct hi_page *page,
				   const struct hi_html_links *links, FILE *out,
				   struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (page->failed)
		return hi_fail_memory(err, "page");
	for (size_t i = 0; i < page->items.count && status == HI_OK; i++)
		if (!page->items.items[i].only_text)
			status = put_html_item(links, &page->items.items[i], out, err);
	return status;
}

enum hi_status hi_html_page(const struct hi_page *page, FILE *out, struct hi_error *err)
{
	return hi_html_linked_page(page, NULL, out, err);
}
