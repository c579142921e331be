/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/render/text.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/render/text_internal.h"

enum { INDENT = 2 };

/* A number stays with its unit: "10.7 MiB", "5.0 %". */
static bool may_break(const char *text, size_t i)
{
	return text[i] == ' ' &&
	       !(i > 0 && isdigit((unsigned char)text[i - 1]) &&
		 (isupper((unsigned char)text[i + 1]) || text[i + 1] == '%'));
}

/* Where the next line of text ends: at a blank, else at the last column. */
static size_t end_of_wrapped_line(const struct hi_text_style *style, const char *text,
				  unsigned room)
{
	size_t n = hi_text_prefix(style, text, room, NULL), blank;

	if (!text[n] || may_break(text, n))
		return n;
	blank = n;
	while (blank > 0 && !may_break(text, blank - 1))
		blank--;
	/* A word longer than half a line is cut rather than moved. */
	return blank > n / 2 ? blank : n ? n : 1;
}

/* text from column `column`, continued below with `indent` columns in front. */
static void put_wrapped(const struct hi_text_style *style, const char *text,
			unsigned column, unsigned indent)
{
	while (*text) {
		unsigned room = style->width > column + 8 ? style->width - column : 8;
		size_t n = end_of_wrapped_line(style, text, room);
		size_t shown = n;

		while (shown > 0 && text[shown - 1] == ' ')
			shown--;
		fwrite(text, 1, shown, style->out);
		text += n;
		while (*text == ' ')
			text++;
		if (*text) {
			fprintf(style->out, "\n%*s", (int)indent, "");
			column = indent;
		}
	}
	putc('\n', style->out);
}

/* The widest key or command of the run of items like the one at `from`. */
static unsigned run_columns(const struct hi_text_style *style, const struct hi_page *page,
			    size_t from)
{
	enum hi_item_kind kind = page->items.items[from].kind;
	unsigned widest = 0;

	for (size_t i = from; i > 0 && page->items.items[i - 1].kind == kind; i--)
		from = i - 1;
	for (size_t i = from; i < page->items.count && page->items.items[i].kind == kind;
	     i++) {
		const struct hi_item *item = &page->items.items[i];
		unsigned w = hi_text_columns(style, kind == HI_ITEM_FACT ? item->aside
									 : item->text);

		if (w > widest)
			widest = w;
	}
	return widest;
}

/* Returns whether a note fits beside the text in its column; else it gets a line of
 * its own. */
static bool begins_beside(const struct hi_text_style *style, const char *aside,
			  unsigned column)
{
	unsigned room = style->width > column ? style->width - column : 0;
	size_t first = strcspn(aside, " ");

	return hi_text_columns(style, aside) <= room ||
	       (room >= style->width / 3 && room >= first);
}

static void put_title(const struct hi_text_style *style, const char *text,
		      const char *aside, char color)
{
	unsigned column = hi_text_columns(style, text);
	bool fits = column <= style->width;
	bool beside = fits && aside && *aside && begins_beside(style, aside, column + 2);

	hi_text_color(style, color);
	if (fits)
		fputs(text, style->out);
	else
		put_wrapped(style, text, 0, INDENT);
	hi_text_color(style, 0);
	if (fits && !beside)
		putc('\n', style->out);
	if (!aside || !*aside)
		return;
	fprintf(style->out, "%*s", INDENT, "");
	put_wrapped(style, aside, beside ? column + 2 : INDENT, INDENT);
}

/* Cut at its end: how a command line goes on says less than how it begins. */
static void put_start_of(const struct hi_text_style *style, const char *text,
			 unsigned columns)
{
	const char *dots = style->utf8 ? "…" : "...";
	unsigned dots_columns = style->utf8 ? 1 : 3;
	bool fits = hi_text_columns(style, text) <= columns;
	size_t n = fits ? strlen(text)
			: hi_text_prefix(style, text, columns - dots_columns, NULL);

	fwrite(text, 1, n, style->out);
	fputs(fits ? "" : dots, style->out);
	putc('\n', style->out);
}

/* What is run stands beside it where that leaves room to recognise it. */
static void put_page_title(const struct hi_text_style *style, const char *text,
			   const char *aside)
{
	enum { RECOGNISED = 30 };
	unsigned column = hi_text_columns(style, text) + INDENT, all;

	if (!*aside) {
		put_title(style, text, aside, 'b');
		return;
	}
	all = column + hi_text_columns(style, aside);
	if (all > style->width && column + RECOGNISED > style->width) {
		put_title(style, text, NULL, 'b');
		column = INDENT;
	} else {
		hi_text_color(style, 'b');
		fputs(text, style->out);
		hi_text_color(style, 0);
	}
	fprintf(style->out, "%*s", INDENT, "");
	put_start_of(style, aside, style->width - column);
}

static void put_fact(const struct hi_text_style *style, const char *key, const char *text,
		     unsigned widest)
{
	unsigned pad = widest - hi_text_columns(style, key), column = INDENT + widest + 2;

	fprintf(style->out, "%*s", INDENT, "");
	hi_text_color(style, 'd');
	fputs(key, style->out);
	hi_text_color(style, 0);
	fprintf(style->out, "%*s", (int)pad + 2, "");
	put_wrapped(style, text, column, column);
}

/* Where a line of a command may end: in front of a blank between words. A shell takes a
 * backslash at the end of a line as if the line went on. */
static size_t end_of_command_line(const struct hi_text_style *style, const char *text,
				  unsigned room)
{
	char quote = 0;
	size_t end = 0;

	if (hi_text_columns(style, text) <= room)
		return strlen(text);
	for (size_t i = 0; text[i]; i++) {
		if (quote ? text[i] == quote : text[i] == '\'' || text[i] == '"')
			quote = quote ? 0 : text[i];
		if (quote || text[i] != ' ')
			continue;
		if (end &&
		    hi_text_columns(style, text) - hi_text_columns(style, text + i) >
			    room - 2)
			break;
		end = i;
	}
	return end ? end : strlen(text);
}

/* Can be pasted as it is: its purpose is a comment of the shell. */
static void put_command_line(const struct hi_text_style *style, const char *text,
			     const char *aside, unsigned widest)
{
	unsigned columns = hi_text_columns(style, text), indent = INDENT;

	while (*text) {
		size_t n = end_of_command_line(style, text, style->width - indent);

		fprintf(style->out, "%*s", (int)indent, "");
		hi_text_color(style, 'c');
		fwrite(text, 1, n, style->out);
		fputs(text[n] ? " \\" : "", style->out);
		hi_text_color(style, 0);
		text += n + strspn(text + n, " ");
		if (*text)
			putc('\n', style->out);
		indent = 2 * INDENT;
	}
	if (aside && *aside &&
	    INDENT + widest + 4 + hi_text_columns(style, aside) <= style->width)
		fprintf(style->out, "%*s# %s", (int)(widest - columns + 2), "", aside);
	putc('\n', style->out);
}

static bool begins_run(const struct hi_page *page, size_t i)
{
	return i == 0 || page->items.items[i - 1].kind != page->items.items[i].kind;
}

static enum hi_status put_item(const struct hi_text_style *style,
			       const struct hi_page *page, size_t i,
			       struct hi_arena *arena, struct hi_error *err)
{
	const struct hi_item *item = &page->items.items[i];
	const char *text = item->text ? hi_text_plain(style, arena, item->text) : "";
	const char *aside = item->aside ? hi_text_plain(style, arena, item->aside) : "";

	if (!text || !aside)
		return hi_fail_memory(err, "page");
	if (item->needs_links)
		return HI_OK;
	switch (item->kind) {
	case HI_ITEM_TITLE:
		put_page_title(style, text, aside);
		break;
	case HI_ITEM_HEADING:
		putc('\n', style->out);
		put_title(style, text, aside, 'b');
		break;
	case HI_ITEM_BLANK:
		putc('\n', style->out);
		break;
	case HI_ITEM_FACT:
		put_fact(style, aside, text, run_columns(style, page, i));
		break;
	case HI_ITEM_NOTE:
		hi_text_color(style, 'd');
		/* fall through */
	case HI_ITEM_TEXT:
		fprintf(style->out, "%*s", INDENT, "");
		put_wrapped(style, text, INDENT, INDENT);
		if (item->kind == HI_ITEM_NOTE)
			hi_text_color(style, 0);
		break;
	case HI_ITEM_WARNING:
		hi_text_color(style, 'y');
		fprintf(style->out, "%*s! ", INDENT, "");
		put_wrapped(style, text, INDENT + 2, INDENT + 2);
		hi_text_color(style, 0);
		break;
	case HI_ITEM_CODE:
		fprintf(style->out, "%*s%s\n", INDENT, "", text);
		break;
	case HI_ITEM_COMMAND:
		if (begins_run(page, i)) {
			if (i > 0 && page->items.items[i - 1].kind != HI_ITEM_BLANK)
				putc('\n', style->out);
			put_title(style, "Next:", NULL, 'b');
		}
		put_command_line(style, text, aside, run_columns(style, page, i));
		break;
	case HI_ITEM_PICTURE:
	case HI_ITEM_FORM:
		break;
	case HI_ITEM_TABLE:
	default:
		return hi_text_table(style, item->table, err);
	}
	return HI_OK;
}

enum hi_status hi_text_render(const struct hi_page *page,
			      const struct hi_text_options *options, FILE *out,
			      struct hi_error *err)
{
	struct hi_text_style style = {
		.out = out,
		.width = options->width ? options->width : 80,
		.color = options->color,
		.utf8 = options->utf8,
	};
	enum hi_status status = HI_OK;
	struct hi_arena arena = {};

	if (page->failed)
		return hi_fail_memory(err, "page");
	if (style.width < 40)
		style.width = 40;
	if (style.width > 1000)
		style.width = 1000;
	for (size_t i = 0; i < page->items.count && status == HI_OK; i++) {
		status = put_item(&style, page, i, &arena, err);
		hi_arena_free(&arena);
	}
	return status;
}
