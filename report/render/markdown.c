/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/render/markdown.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

/* ---- text ---- */

/* An underscore inside a word has no meaning: most names can be read as they are. */
static bool is_underscore_of_word(const char *text, size_t i)
{
	return i > 0 && isalnum((unsigned char)text[i - 1]) &&
	       isalnum((unsigned char)text[i + 1]);
}

/* Entities are for what a backslash does not protect on the sites that have tickets:
 * "@name" and "#7" become links to a user and an issue, "$x$" a formula. */
static void put_escaped_byte(const char *text, size_t i, FILE *out)
{
	switch (text[i]) {
	case '@':
		fputs("&#64;", out);
		break;
	case '#':
		fputs("&#35;", out);
		break;
	case '$':
		fputs("&#36;", out);
		break;
	case '\\':
	case '`':
	case '*':
	case '[':
	case '<':
	case '&':
	case '|':
	case '~':
		fprintf(out, "\\%c", text[i]);
		break;
	case '_':
		fputs(is_underscore_of_word(text, i) ? "_" : "\\_", out);
		break;
	case '\n':
	case '\r':
		putc(' ', out);
		break;
	default:
		putc(text[i], out);
	}
}

/* At the begin of a line "> ", "- ", "+ ", "1. " and "===" have a meaning. */
static void put_markdown_text(const char *text, bool begins_line, FILE *out)
{
	size_t digits = strspn(text, "0123456789");

	if (begins_line && digits && (text[digits] == '.' || text[digits] == ')') &&
	    (text[digits + 1] == ' ' || !text[digits + 1])) {
		fwrite(text, 1, digits, out);
		putc('\\', out);
		text += digits;
	} else if (begins_line && *text && strchr(">-+=", *text)) {
		putc('\\', out);
	}
	for (size_t i = 0; text[i]; i++) {
		/* "https://" and "www.": links without any marks. */
		if (text[i] == ':' && text[i + 1] == '/')
			fputs("&#58;", out);
		else if (text[i] == '.' && i >= 3 &&
			 strncasecmp(text + i - 3, "www", 3) == 0)
			fputs("&#46;", out);
		else
			put_escaped_byte(text, i, out);
	}
}

static size_t longest_run_of_ticks(const char *text)
{
	size_t most = 0, n = 0;

	for (; *text; text++) {
		n = *text == '`' ? n + 1 : 0;
		most = n > most ? n : most;
	}
	return most;
}

void hi_markdown_code(FILE *out, const char *text, bool in_table)
{
	size_t ticks = longest_run_of_ticks(text) + 1;
	const char *blank = ticks > 1 ? " " : "";

	for (size_t i = 0; i < ticks; i++)
		putc('`', out);
	fputs(blank, out);
	for (const char *c = text; *c; c++) {
		if (*c == '|' && in_table)
			putc('\\', out);
		putc(*c == '\n' || *c == '\r' ? ' ' : *c, out);
	}
	fputs(blank, out);
	for (size_t i = 0; i < ticks; i++)
		putc('`', out);
}

/* ---- tables ---- */

static bool is_left_column(enum hi_column_kind kind)
{
	return kind == HI_COLUMN_TEXT || kind == HI_COLUMN_WORD ||
	       kind == HI_COLUMN_QUERY;
}

static void put_number_cell(enum hi_column_kind kind, const struct hi_cell *cell,
			    FILE *out)
{
	char text[32];

	if (kind == HI_COLUMN_BYTES || kind == HI_COLUMN_MINOR_BYTES)
		hi_text_bytes(text, cell->number);
	else if (kind == HI_COLUMN_PERCENT)
		hi_percent(text, cell->number, cell->whole);
	else if (kind == HI_COLUMN_ADDRESS)
		snprintf(text, sizeof(text), "0x%" PRIx64, cell->number);
	else
		hi_text_count(text, cell->number);
	fprintf(out, "%s%s",
		cell->negative	 ? "-"
		: cell->at_least ? "\xe2\x89\xa5 "
				 : "",
		text);
}

/* Text of columns of names is code, unless it is a remark: "(untyped)". */
static void put_markdown_cell(enum hi_column_kind kind, const struct hi_cell *cell,
			      FILE *out)
{
	bool is_text = is_left_column(kind) || kind == HI_COLUMN_FIGURE ||
		       kind == HI_COLUMN_MINOR_FIGURE;

	fputs(" ", out);
	if (cell->state == HI_CELL_UNKNOWN)
		putc('?', out);
	else if (cell->state == HI_CELL_VALUE && !is_text)
		put_number_cell(kind, cell, out);
	else if (cell->state == HI_CELL_VALUE && kind == HI_COLUMN_TEXT &&
		 *cell->text != '(' && *cell->text)
		hi_markdown_code(out, cell->text, true);
	else if (cell->state == HI_CELL_VALUE)
		put_markdown_text(cell->text, false, out);
	fputs(" |", out);
}

static void put_markdown_table(const struct hi_report_table *t, FILE *out)
{
	size_t n = t->n_columns;

	if (hi_report_table_rows(t) == 0)
		return;
	putc('|', out);
	for (size_t i = 0; i < n; i++) {
		putc(' ', out);
		put_markdown_text(t->columns[i].title, false, out);
		fputs(" |", out);
	}
	fputs("\n|", out);
	for (size_t i = 0; i < n; i++)
		fputs(is_left_column(t->columns[i].kind) ? "---|" : "---:|", out);
	for (size_t i = 0; i < hi_report_table_rows(t) * n; i++) {
		if (i % n == 0)
			fputs("\n|", out);
		put_markdown_cell(t->columns[i % n].kind, &t->cells.items[i], out);
	}
	putc('\n', out);
}

/* ---- items ---- */

static bool is_code_item(enum hi_item_kind kind)
{
	return kind == HI_ITEM_CODE || kind == HI_ITEM_COMMAND;
}

/* A fence that the text cannot end: nothing that is escaped has a line of its own. */
static void put_code_line(const struct hi_item *item, FILE *out)
{
	fputs(item->text, out);
	if (item->kind == HI_ITEM_COMMAND && item->aside && *item->aside)
		fprintf(out, "  # %s", item->aside);
	putc('\n', out);
}

static void put_marked(const char *mark, const char *text, FILE *out)
{
	fputs(mark, out);
	put_markdown_text(text, !*mark, out);
	putc('\n', out);
}

/* What stands behind a heading is a paragraph of its own. */
static void put_markdown_heading(const char *mark, const struct hi_item *item, FILE *out)
{
	put_marked(mark, item->text, out);
	if (!item->aside || !*item->aside)
		return;
	putc('\n', out);
	put_marked("", item->aside, out);
}

static void put_fact_item(const struct hi_item *item, FILE *out)
{
	fputs("- ", out);
	if (item->aside && *item->aside) {
		put_markdown_text(item->aside, true, out);
		fputs(": ", out);
	}
	put_markdown_text(item->text, !item->aside || !*item->aside, out);
	putc('\n', out);
}

static void put_markdown_item_of_page(const struct hi_item *item, FILE *out)
{
	switch (item->kind) {
	case HI_ITEM_TITLE:
		put_markdown_heading("# ", item, out);
		break;
	case HI_ITEM_HEADING:
		put_markdown_heading("## ", item, out);
		break;
	case HI_ITEM_FACT:
		put_fact_item(item, out);
		break;
	case HI_ITEM_TEXT:
	case HI_ITEM_NOTE:
		put_marked("", item->text, out);
		break;
	case HI_ITEM_WARNING:
		put_marked("> **Warning:** ", item->text, out);
		break;
	case HI_ITEM_CODE:
	case HI_ITEM_COMMAND:
		put_code_line(item, out);
		break;
	case HI_ITEM_TABLE:
		put_markdown_table(item->table, out);
		break;
	case HI_ITEM_BLANK:
	case HI_ITEM_PICTURE:
	case HI_ITEM_FORM:
	default:
		break;
	}
}

static bool is_shown_item(const struct hi_item *item)
{
	return !item->needs_links && item->kind != HI_ITEM_BLANK &&
	       item->kind != HI_ITEM_PICTURE && item->kind != HI_ITEM_FORM &&
	       (item->kind != HI_ITEM_TABLE || hi_report_table_rows(item->table));
}

/* Items of one list, and lines of one block of code, stand together. */
static bool stands_with(const struct hi_item *before, const struct hi_item *item)
{
	return (before->kind == HI_ITEM_FACT && item->kind == HI_ITEM_FACT) ||
	       (is_code_item(before->kind) && is_code_item(item->kind));
}

enum hi_status hi_markdown_render(const struct hi_page *page, FILE *out,
				  struct hi_error *err)
{
	const struct hi_item *before = NULL;

	if (page->failed)
		return hi_fail_memory(err, "page");
	for (size_t i = 0; i < page->items.count; i++) {
		const struct hi_item *item = &page->items.items[i];

		if (!is_shown_item(item))
			continue;
		if (before && !stands_with(before, item))
			fputs(is_code_item(before->kind) ? "```\n\n" : "\n", out);
		if (is_code_item(item->kind) && (!before || !stands_with(before, item)))
			fputs("```sh\n", out);
		put_markdown_item_of_page(item, out);
		before = item;
	}
	if (before && is_code_item(before->kind))
		fputs("```\n", out);
	return HI_OK;
}
