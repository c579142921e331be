/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/render/html_page.h"

#include <inttypes.h>
#include <string.h>

#include "report/render/html_assets.h"
#include "report/render/html_picture.h"
#include "report/svg.h"

/* A name that is longer is cut; the whole one is its title. */
enum { NAME_SHOWN = 240 };
/* From here on a name gets a column that is wide enough to read it. */
enum { LONG_NAME = 20 };

struct html_writer {
	const struct hi_html_links *links; /* or NULL */
	FILE *out;
	const char *name;    /* of the page, above its title; NULL: the title is it */
	const char *subject; /* the last heading: what names a table */
	unsigned n_regions;
};

void hi_html_head(const char *title, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width, "
	      "initial-scale=1\"/>\n"
	      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
	      "<meta name=\"referrer\" content=\"no-referrer\"/>\n"
	      "<title>",
	      out);
	hi_svg_text(out, title, 200);
	fputs("</title>\n", out);
}

void hi_html_begin(const char *title, FILE *out)
{
	hi_html_head(title, out);
	fprintf(out, "<style>%s</style></head><body class=\"plain\"><main>\n",
		hi_html_inline.style);
}

void hi_html_end(FILE *out)
{
	fputs("</main></body></html>\n", out);
}

/* ---- text ---- */

static bool has_other_scripts(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			return true;
	return false;
}

static bool is_cut(const char *text)
{
	size_t characters = 0;

	for (; *text && characters <= NAME_SHOWN; text++)
		characters += ((unsigned char)*text & 0xc0) != 0x80;
	return characters > NAME_SHOWN;
}

/* How many bytes of text are a character that leaves nothing to see; 0: it does not begin
 * with one. */
static size_t blank_length(const char *text)
{
	static const char *const blanks[] = {" ",
					     "\t",
					     "\n",
					     "\xc2\xa0",
					     "\xe1\x9a\x80",
					     "\xe2\x80\xa8",
					     "\xe2\x80\xa9",
					     "\xe2\x80\xaf",
					     "\xe2\x81\x9f",
					     "\xe3\x80\x80",
					     "\xef\xbb\xbf"};

	for (size_t i = 0; i < sizeof(blanks) / sizeof(*blanks); i++)
		if (strncmp(text, blanks[i], strlen(blanks[i])) == 0)
			return strlen(blanks[i]);
	/* U+2000 to U+200F. */
	return strncmp(text, "\xe2\x80", 2) == 0 && (unsigned char)text[2] >= 0x80 &&
			       (unsigned char)text[2] <= 0x8f
		       ? 3
		       : 0;
}

static bool is_blank_name(const char *text)
{
	bool ret = *text != '\0';

	while (*text && ret) {
		size_t n = blank_length(text);

		ret = n > 0;
		text += n;
	}
	return ret;
}

/* Text from right to left does not turn what stands beside it. */
void hi_html_name(const char *text, FILE *out)
{
	bool cut = is_cut(text), isolated = has_other_scripts(text);

	/* A link needs something to see. */
	if (is_blank_name(text)) {
		fputs("&quot;", out);
		hi_svg_text(out, text, NAME_SHOWN);
		fputs("&quot;", out);
		return;
	}
	if (cut) {
		fprintf(out, "<%s title=\"", isolated ? "bdi" : "span");
		hi_svg_text(out, text, 0);
		fputs("\">", out);
	} else if (isolated) {
		fputs("<bdi>", out);
	}
	hi_svg_text(out, text, NAME_SHOWN);
	if (isolated)
		fputs("</bdi>", out);
	else if (cut)
		fputs("</span>", out);
}

static void put_html_text(const char *before, const char *text, const char *after,
			  FILE *out)
{
	fputs(before, out);
	hi_svg_text(out, text ? text : "", 0);
	fputs(after, out);
}

static void put_html_name(const char *before, const char *text, const char *after,
			  FILE *out)
{
	fputs(before, out);
	hi_html_name(text ? text : "", out);
	fputs(after, out);
}

/* Something that may be wider than the window: it scrolls by itself, with keys, too. */
static void begin_html_region(struct html_writer *w, const char *element,
			      const char *class)
{
	fprintf(w->out,
		"<%s class=\"%s\" tabindex=\"0\" role=\"region\" aria-label=\"%s %u",
		element, class, strcmp(element, "pre") == 0 ? "Text" : "Table",
		++w->n_regions);
	if (w->subject && *w->subject) {
		fputs(": ", w->out);
		hi_svg_text(w->out, w->subject, 100);
	}
	fputs("\">", w->out);
}

/* ---- tables ---- */

static bool is_figure(enum hi_column_kind kind)
{
	return kind != HI_COLUMN_TEXT && kind != HI_COLUMN_WORD &&
	       kind != HI_COLUMN_MINOR_WORD && kind != HI_COLUMN_QUERY;
}

static bool is_shown(const struct hi_html_links *links, enum hi_column_kind kind)
{
	return !links || kind != HI_COLUMN_QUERY;
}

static bool is_worded_column(enum hi_column_kind kind)
{
	return !is_figure(kind) || kind == HI_COLUMN_FIGURE ||
	       kind == HI_COLUMN_MINOR_FIGURE;
}

static bool is_bytes_column(enum hi_column_kind kind)
{
	return kind == HI_COLUMN_BYTES || kind == HI_COLUMN_MINOR_BYTES;
}

static const char *class_of_column(enum hi_column_kind kind)
{
	switch (kind) {
	case HI_COLUMN_TEXT:
		return "";
	case HI_COLUMN_WORD:
	case HI_COLUMN_MINOR_WORD:
	case HI_COLUMN_QUERY:
		return " class=\"w\"";
	case HI_COLUMN_PERCENT:
		return " class=\"n p\"";
	case HI_COLUMN_ADDRESS:
		return " class=\"n a\"";
	default:
		return " class=\"n\"";
	}
}

static double percent_of_cell(const struct hi_cell *cell)
{
	return cell->whole ? 100.0 * (double)cell->number / (double)cell->whole : 0;
}

/* What a script sorts by where the text has lost it: "12.0 MiB", "<0.1 %". */
static void put_sort_value(const struct hi_cell *cell, enum hi_column_kind kind,
			   FILE *out)
{
	const char *sign = cell->negative ? "-" : "";

	if (cell->state != HI_CELL_VALUE || cell->number == UINT64_MAX)
		return;
	if (is_bytes_column(kind) && cell->number >= 1024)
		fprintf(out, " data-v=\"%s%" PRIu64 "\"", sign, cell->number);
	else if (kind == HI_COLUMN_PERCENT && cell->number && cell->number < cell->whole)
		fprintf(out, " data-v=\"%s%" PRIu64 "\"", sign,
			(uint64_t)(percent_of_cell(cell) * 1e6));
}

static void put_percent_bar(const struct hi_cell *cell, FILE *out)
{
	double percent = percent_of_cell(cell);

	if (cell->number == UINT64_MAX || !cell->whole)
		return;
	fputs("<svg class=\"share\" aria-hidden=\"true\"><rect height=\"100%\" width=\"",
	      out);
	hi_svg_number(out, percent > 100 ? 100 : percent);
	fputs("%\"/></svg>", out);
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
		put_html_text("", hi_percent(text, cell->number, cell->whole), "", out);
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
	/* A level of the dominator tree may be opened where it stands (tree.js). */
	fputs(strncmp(address, "tree/", 5) == 0 ? "<a class=\"level\" href=\""
						: "<a href=\"",
	      out);
	hi_svg_text(out, href, 0);
	fputs("\">", out);
	return true;
}

static void put_html_cell_value(const struct hi_cell *cell, enum hi_column_kind kind,
				FILE *out)
{
	if (cell->state == HI_CELL_UNKNOWN)
		putc('?', out);
	else if (cell->state == HI_CELL_VALUE && is_worded_column(kind))
		hi_html_name(cell->text ? cell->text : "", out);
	else if (cell->state == HI_CELL_VALUE)
		put_html_number(cell, kind, out);
}

static void put_html_cell(struct html_writer *w, const struct hi_cell *cell,
			  enum hi_column_kind kind)
{
	bool is_link, is_indented = !is_figure(kind) && cell->indent;
	bool is_long = kind == HI_COLUMN_TEXT && cell->state == HI_CELL_VALUE &&
		       cell->text && strlen(cell->text) > LONG_NAME;

	fprintf(w->out, "<td%s", is_long ? " class=\"l\"" : class_of_column(kind));
	put_sort_value(cell, kind, w->out);
	putc('>', w->out);
	if (is_indented)
		fprintf(w->out, "<span class=\"i%u\">", cell->indent);
	if (kind == HI_COLUMN_PERCENT && cell->state == HI_CELL_VALUE)
		put_percent_bar(cell, w->out);
	is_link = begin_html_link(w->links, cell->link, w->out);
	put_html_cell_value(cell, kind, w->out);
	fprintf(w->out, "%s%s</td>", is_link ? "</a>" : "", is_indented ? "</span>" : "");
}

static void put_html_columns(struct html_writer *w, const struct hi_report_table *t)
{
	FILE *out = w->out;

	fputs("<thead><tr>", out);
	for (size_t k = 0; k < t->n_columns; k++) {
		const char *title = t->columns[k].title;
		const char *class = class_of_column(t->columns[k].kind);

		if (!is_shown(w->links, t->columns[k].kind))
			continue;
		if (!title || !*title) {
			fputs("<td></td>", out);
			continue;
		}
		fprintf(out, "<th scope=\"col\"%s>", class);
		put_html_text("", title, "</th>", out);
	}
	fputs("</tr></thead>", out);
}

static void put_html_row(struct html_writer *w, const struct hi_report_table *t, size_t i,
			 bool is_strong)
{
	fputs(is_strong ? "<tr class=\"strong\">" : "<tr>", w->out);
	for (size_t k = 0; k < t->n_columns; k++)
		if (is_shown(w->links, t->columns[k].kind))
			put_html_cell(w, &t->cells.items[i * t->n_columns + k],
				      t->columns[k].kind);
	fputs("</tr>\n", w->out);
}

static void put_html_table(struct html_writer *w, const struct hi_report_table *t)
{
	size_t n_rows = hi_report_table_rows(t), strong = 0;

	begin_html_region(w, "div", "scroll");
	fputs("<table aria-label=\"", w->out);
	hi_svg_text(w->out, w->subject && *w->subject ? w->subject : "Table", 100);
	fputs("\">", w->out);
	put_html_columns(w, t);
	fputs("<tbody>\n", w->out);
	for (size_t i = 0; i < n_rows; i++) {
		bool is_strong = strong < t->strong.count && t->strong.items[strong] == i;

		strong += is_strong;
		put_html_row(w, t, i, is_strong);
	}
	fputs("</tbody></table></div>\n", w->out);
}

/* ---- items ---- */

static void put_html_item_text(struct html_writer *w, const char *before,
			       const struct hi_item *item, const char *after)
{
	bool is_link;

	fputs(before, w->out);
	is_link = begin_html_link(w->links, item->link, w->out);
	put_html_text("", item->text, is_link ? "</a>" : "", w->out);
	fputs(after, w->out);
}

static void put_html_heading(struct html_writer *w, const char *element,
			     const struct hi_item *item)
{
	bool has_aside = item->aside && *item->aside, is_link;

	w->subject = item->text ? item->text : "";
	fprintf(w->out, "%s<%s>", has_aside ? "<hgroup>" : "", element);
	is_link = begin_html_link(w->links, item->link, w->out);
	hi_html_name(w->subject, w->out);
	fprintf(w->out, "%s</%s>", is_link ? "</a>" : "", element);
	if (has_aside)
		put_html_name("<p class=\"aside\">", item->aside, "</p></hgroup>",
			      w->out);
	putc('\n', w->out);
}

/* A title that all pages of a heap have stands beside the name of this one. */
static void put_html_title(struct html_writer *w, const struct hi_item *item)
{
	bool has_aside = item->aside && *item->aside;

	if (!w->name) {
		put_html_heading(w, "h1", item);
		return;
	}
	put_html_name("<hgroup><h1>", w->name, "</h1><p class=\"aside\">", w->out);
	put_html_name("", item->text, has_aside ? " \xc2\xb7 " : "", w->out);
	put_html_name("", item->aside, "</p></hgroup>\n", w->out);
	w->subject = w->name;
}

static void put_html_command(struct html_writer *w, const struct hi_item *item)
{
	const struct hi_html_links *links = w->links;
	const char *text = item->text ? item->text : "";
	const char *purpose = item->aside ? item->aside : "";
	const char *address = links && links->address_of_command
				      ? links->address_of_command(links->arg, text)
				      : NULL;
	bool is_link;

	fputs("<li>", w->out);
	is_link = begin_html_link(links, address, w->out);
	if (*purpose) {
		if (!is_link)
			fputs("<span>", w->out);
		put_html_name("", purpose, is_link ? "</a>" : "</span>", w->out);
		is_link = false;
	}
	put_html_text(*purpose ? " <code>" : "<code>", text, "</code>", w->out);
	fputs(is_link ? "</a></li>\n" : "</li>\n", w->out);
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

/* ---- pages ---- */

/* Items of one kind behind each other are one element. */
static void begin_html_run(struct html_writer *w, enum hi_item_kind kind)
{
	if (kind == HI_ITEM_FACT)
		fputs("<dl>\n", w->out);
	else if (kind == HI_ITEM_CODE)
		begin_html_region(w, "pre", "scroll");
	else if (kind == HI_ITEM_COMMAND)
		fputs("<h2>Next</h2>\n<ul class=\"commands\">\n", w->out);
}

static void end_html_run(struct html_writer *w, enum hi_item_kind kind)
{
	if (kind == HI_ITEM_FACT)
		fputs("</dl>\n", w->out);
	else if (kind == HI_ITEM_CODE)
		fputs("</pre>\n", w->out);
	else if (kind == HI_ITEM_COMMAND)
		fputs("</ul>\n", w->out);
}

static enum hi_status put_html_item(struct html_writer *w, const struct hi_item *item,
				    bool is_first_title, struct hi_error *err)
{
	switch (item->kind) {
	case HI_ITEM_TITLE:
		if (is_first_title)
			put_html_title(w, item);
		else
			put_html_heading(w, "h2", item);
		break;
	case HI_ITEM_HEADING:
		put_html_heading(w, "h2", item);
		break;
	case HI_ITEM_FACT:
		put_html_name("<dt>", item->aside, "</dt>", w->out);
		put_html_item_text(w, "<dd>", item, "</dd>\n");
		break;
	case HI_ITEM_TEXT:
		put_html_item_text(w, "<p>", item, "</p>\n");
		break;
	case HI_ITEM_NOTE:
		put_html_item_text(w, "<p class=\"note\">", item, "</p>\n");
		break;
	case HI_ITEM_WARNING:
		put_html_item_text(w, "<p class=\"warning\">", item, "</p>\n");
		break;
	case HI_ITEM_CODE:
		put_html_item_text(w, "", item, "\n");
		break;
	case HI_ITEM_COMMAND:
		put_html_command(w, item);
		break;
	case HI_ITEM_TABLE:
		put_html_table(w, item->table);
		break;
	case HI_ITEM_PICTURE:
		return hi_html_picture(item->picture, w->links ? w->links->href : NULL,
				       w->links ? w->links->arg : NULL, w->out, err);
	case HI_ITEM_FORM:
		put_html_form(w->links, item, w->out);
		break;
	case HI_ITEM_BLANK:
	default:
		break;
	}
	return HI_OK;
}

/* The element of the item that was written before ends where another kind follows. */
static void change_html_run(struct html_writer *w, const struct hi_item *before,
			    const struct hi_item *next)
{
	if (before && next && before->kind == next->kind)
		return;
	if (before)
		end_html_run(w, before->kind);
	if (next)
		begin_html_run(w, next->kind);
}

enum hi_status hi_html_named_page(const struct hi_page *page, const char *name,
				  const struct hi_html_links *links, FILE *out,
				  struct hi_error *err)
{
	struct html_writer w = {.links = links, .out = out, .name = name};
	const struct hi_item *before = NULL;
	enum hi_status status = HI_OK;
	bool has_title = false;

	if (page->failed)
		return hi_fail_memory(err, "page");
	for (size_t i = 0; i < page->items.count && status == HI_OK; i++) {
		const struct hi_item *item = &page->items.items[i];

		if (item->only_text || (item->needs_links && !links))
			continue;
		change_html_run(&w, before, item);
		status = put_html_item(&w, item, !has_title, err);
		has_title |= item->kind == HI_ITEM_TITLE;
		before = item;
	}
	change_html_run(&w, before, NULL);
	return status;
}

enum hi_status hi_html_linked_page(const struct hi_page *page,
				   const struct hi_html_links *links, FILE *out,
				   struct hi_error *err)
{
	return hi_html_named_page(page, NULL, links, out, err);
}

enum hi_status hi_html_page(const struct hi_page *page, FILE *out, struct hi_error *err)
{
	return hi_html_linked_page(page, NULL, out, err);
}
