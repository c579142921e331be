/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/page_widths.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "report/render/text_internal.h"
#include "tests/harness.h"

enum { CELLS_MOST = 4000 };

struct drawn {
	char *text;
	struct hi_text_left_out left_out;
};

static struct drawn draw_table(const struct hi_report_table *t, unsigned width,
			       bool shortens)
{
	struct drawn d = {};
	size_t size;
	FILE *out = open_memstream(&d.text, &size);
	struct hi_text_style style = {.out = out,
				      .width = width,
				      .utf8 = true,
				      .full_names = !shortens,
				      .left_out = &d.left_out};
	struct hi_error err;

	HI_ASSERT(out != NULL);
	HI_ASSERT_OK(hi_text_table(&style, t, &err), &err);
	fclose(out);
	return d;
}

static int columns_of_line(const char *line, size_t n)
{
	static wchar_t wide[8192];
	static char copy[8192];

	HI_ASSERT(n < sizeof(copy));
	memcpy(copy, line, n);
	copy[n] = 0;
	HI_ASSERT(mbstowcs(wide, copy, 8192) != (size_t)-1);
	return wcswidth(wide, 8192);
}

static void check_lines_fit(const char *text, unsigned width)
{
	for (const char *end; *text; text = end + 1) {
		end = strchr(text, '\n');
		HI_ASSERT(end != NULL);
		HI_ASSERT_MSG(columns_of_line(text, (size_t)(end - text)) <= (int)width,
			      "longer than %u: %.*s", width, (int)(end - text), text);
	}
}

static size_t count_characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text != ' ' && *text != '\n';
	return n;
}

static bool is_number(enum hi_column_kind kind)
{
	return kind == HI_COLUMN_BYTES || kind == HI_COLUMN_MINOR_BYTES ||
	       kind == HI_COLUMN_COUNT || kind == HI_COLUMN_MINOR_COUNT ||
	       kind == HI_COLUMN_PERCENT || kind == HI_COLUMN_ADDRESS;
}

static const char *text_of_number(enum hi_column_kind kind, const struct hi_cell *cell,
				  char out[64])
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
	snprintf(out, 64, "%s%s",
		 cell->negative	  ? "-"
		 : cell->at_least ? "≥ "
				  : "",
		 text);
	return out;
}

static const char *text_of_cell(enum hi_column_kind kind, const struct hi_cell *cell,
				char out[64])
{
	if (cell->state == HI_CELL_EMPTY)
		return "";
	if (cell->state == HI_CELL_UNKNOWN)
		return "?";
	return is_number(kind) ? text_of_number(kind, cell, out) : cell->text;
}

static bool is_left_out(const struct drawn *d, const char *title)
{
	for (size_t i = 0; i < d->left_out.n; i++)
		if (strcmp(d->left_out.titles[i], title) == 0)
			return true;
	return false;
}

/* A column of these cannot be told from another one by its title. */
static bool has_distinct_titles(const struct hi_report_table *t)
{
	for (size_t i = 0; i < t->n_columns; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(t->columns[i].title, t->columns[k].title) == 0)
				return false;
	return true;
}

/* Characters of texts, of all else that is shown, and of titles above nothing. */
struct characters {
	size_t texts, others, idle;
};

static void add_column(const struct drawn *d, const struct hi_report_table *t, size_t c,
		       struct characters *sum)
{
	enum hi_column_kind kind = t->columns[c].kind;
	size_t n = 0;
	char out[64];

	for (size_t i = c; i < t->cells.count; i += t->n_columns) {
		const char *text = text_of_cell(kind, &t->cells.items[i], out);

		n += count_characters(text);
		HI_ASSERT_MSG(!is_number(kind) || strstr(d->text, text), "no %s in: %s",
			      text, d->text);
	}
	if (kind == HI_COLUMN_TEXT)
		sum->texts += n;
	else
		sum->others += n;
	if (n)
		sum->others += count_characters(t->columns[c].title);
	else
		sum->idle += count_characters(t->columns[c].title);
}

static size_t check_drawn(const struct drawn *d, const struct hi_report_table *t,
			  bool shortens)
{
	struct characters sum = {};
	size_t all = count_characters(d->text);

	if (d->left_out.more || !has_distinct_titles(t))
		return SIZE_MAX;
	for (size_t c = 0; c < t->n_columns; c++)
		if (!is_left_out(d, t->columns[c].title))
			add_column(d, t, c, &sum);
	HI_ASSERT_MSG(all <= sum.texts + sum.others + sum.idle, "more than there is: %s",
		      d->text);
	HI_ASSERT_MSG(shortens || all >= sum.texts + sum.others, "less than there is: %s",
		      d->text);
	return sum.idle ? SIZE_MAX : all - sum.others;
}

size_t page_widths_check_table(const struct hi_report_table *table, unsigned width,
			       bool shortens)
{
	struct drawn d = draw_table(table, width, shortens);
	size_t texts = check_drawn(&d, table, shortens);

	check_lines_fit(d.text, width);
	free(d.text);
	return texts;
}

/* No text is shorter than on a narrower page. */
static void check_widths_of_table(const struct hi_report_table *t)
{
	static const unsigned widths[] = {60, 80, 100, 120};
	size_t narrower = 0;

	if (hi_report_table_rows(t) == 0 || t->cells.count > CELLS_MOST)
		return;
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		size_t texts = page_widths_check_table(t, widths[i], true);

		(void)page_widths_check_table(t, widths[i], false);
		HI_ASSERT_MSG(texts >= narrower, "shorter at %u columns", widths[i]);
		narrower = texts == SIZE_MAX ? narrower : texts;
	}
}

void page_widths_check(const struct hi_page *page)
{
	if (page->failed)
		return;
	for (size_t i = 0; i < page->items.count; i++)
		if (page->items.items[i].kind == HI_ITEM_TABLE)
			check_widths_of_table(page->items.items[i].table);
}
