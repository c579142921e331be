/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/render/text.h"

#include <string.h>

#include "base/cleanup.h"
#include "report/render/text_internal.h"

enum { INDENT = 2 };

/* The next line of text: up to a blank; a word longer than half a line is broken rather
 * than moved. */
static struct hi_text_line next_wrapped_line(const struct hi_text_style *style,
					     const char *text, unsigned room)
{
	size_t n = hi_text_prefix(style, text, room, NULL), blank = n;
	struct hi_text_line line = hi_text_next_line(style, text, room);

	if (!text[n])
		return line;
	while (blank > 0 && !hi_text_may_end_at_blank(text, blank))
		blank--;
	if (blank > n / 2) {
		line.bytes = line.next = blank;
		while (line.bytes > 0 && text[line.bytes - 1] == ' ')
			line.bytes--;
		line.next += strspn(text + line.next, " ");
	}
	return line;
}

/* text from column `column`, continued below with `indent` columns in front. */
static void put_wrapped(const struct hi_text_style *style, const char *text,
			unsigned column, unsigned indent)
{
	while (*text) {
		unsigned room = style->width > column + 8 ? style->width - column : 8;
		struct hi_text_line line = next_wrapped_line(style, text, room);

		fwrite(text, 1, line.bytes, style->out);
		text += line.next;
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

/* A line with its indentation, and further in what it has no room for. */
static void put_code(const struct hi_text_style *style, const char *text)
{
	unsigned blanks = (unsigned)strspn(text, " ");
	unsigned below = INDENT + (blanks < style->width / 3 ? blanks + 4 : 4);

	if (INDENT + hi_text_columns(style, text) <= style->width) {
		fprintf(style->out, "%*s%s\n", INDENT, "", text);
		return;
	}
	fprintf(style->out, "%*s", (int)(below - 4), "");
	put_wrapped(style, text + blanks, below - 4, below);
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
		put_code(style, text);
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

/* Items before the blanks and commands that end the page. */
static size_t count_items_above_commands(const struct hi_page *page)
{
	size_t n = page->items.count;

	while (n > 0 && (page->items.items[n - 1].kind == HI_ITEM_COMMAND ||
			 page->items.items[n - 1].kind == HI_ITEM_BLANK))
		n--;
	return n;
}

/* "left out at 80 columns: evidence, share; --width 97 shows them" */
static void put_left_out(const struct hi_text_style *style, bool below_note)
{
	const struct hi_text_left_out *left_out = style->left_out;
	char text[512];
	size_t n;

	if (!left_out->n)
		return;
	n = (size_t)snprintf(text, sizeof(text),
			     "left out at %u columns: ", style->width);
	for (size_t i = 0; i < left_out->n && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? ", " : "",
				      left_out->titles[i]);
	if (left_out->more && n < sizeof(text))
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", %zu more",
				      left_out->more);
	if (n < sizeof(text))
		snprintf(text + n, sizeof(text) - n, "; --width %u shows %s",
			 left_out->width,
			 left_out->n + left_out->more > 1 ? "them" : "it");
	fprintf(style->out, "%s%*s", below_note ? "" : "\n", INDENT, "");
	hi_text_color(style, 'd');
	put_wrapped(style, text, INDENT, INDENT);
	hi_text_color(style, 0);
}

enum hi_status hi_text_render(const struct hi_page *page,
			      const struct hi_text_options *options, FILE *out,
			      struct hi_error *err)
{
	struct hi_text_left_out left_out = {};
	struct hi_text_style style = {
		.out = out,
		.width = options->width ? options->width : 80,
		.color = options->color,
		.utf8 = options->utf8,
		.full_names = options->full_names,
		.left_out = &left_out,
	};
	enum hi_status status = HI_OK;
	struct hi_arena arena = {};
	size_t n = count_items_above_commands(page);

	if (page->failed)
		return hi_fail_memory(err, "page");
	if (style.width < 40)
		style.width = 40;
	if (style.width > 1000)
		style.width = 1000;
	for (size_t i = 0; i < page->items.count && status == HI_OK; i++) {
		status = put_item(&style, page, i, &arena, err);
		hi_arena_free(&arena);
		if (i + 1 == n)
			put_left_out(&style, page->items.items[i].kind == HI_ITEM_NOTE);
	}
	return status;
}
