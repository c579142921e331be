/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables: widths from the contents, text columns give way when it is too wide. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/render/text_internal.h"

enum { INDENT = 2, GAP = 2, TEXT_LEAST = 10, COLUMNS_MAX = 64 };

struct layout {
	unsigned width[COLUMNS_MAX];
	bool hidden[COLUMNS_MAX];
};

static bool is_left(enum hi_column_kind kind)
{
	return kind == HI_COLUMN_TEXT || kind == HI_COLUMN_WORD ||
	       kind == HI_COLUMN_QUERY;
}

static bool is_text_column(enum hi_column_kind kind)
{
	return is_left(kind) || kind == HI_COLUMN_FIGURE ||
	       kind == HI_COLUMN_MINOR_FIGURE;
}

/* A number as text, ASCII but for ≥. */
static void number_text(const struct hi_text_style *style, char out[48],
			enum hi_column_kind kind, const struct hi_cell *cell)
{
	char text[32];
	const char *sign = cell->negative   ? "-"
			   : cell->at_least ? (style->utf8 ? "≥ " : ">= ")
					    : "";

	switch (kind) {
	case HI_COLUMN_BYTES:
	case HI_COLUMN_MINOR_BYTES:
		hi_text_bytes(text, cell->number);
		break;
	case HI_COLUMN_PERCENT:
		hi_percent(text, cell->number, cell->whole);
		break;
	case HI_COLUMN_ADDRESS:
		snprintf(text, sizeof(text), "0x%" PRIx64, cell->number);
		break;
	case HI_COLUMN_COUNT:
	case HI_COLUMN_MINOR_COUNT:
	case HI_COLUMN_TEXT:
	case HI_COLUMN_WORD:
	case HI_COLUMN_QUERY:
	case HI_COLUMN_FIGURE:
	case HI_COLUMN_MINOR_FIGURE:
	default:
		hi_text_count(text, cell->number);
	}
	snprintf(out, 48, "%s%s", sign, text);
}

/* The cell as it would be with room enough; "" and "?" for those without. buf
 * is scratch for numbers. NULL: out of memory. */
static const char *cell_text(const struct hi_text_style *style, struct hi_arena *arena,
			     enum hi_column_kind kind, const struct hi_cell *cell,
			     char buf[48])
{
	if (cell->state == HI_CELL_EMPTY)
		return "";
	if (cell->state == HI_CELL_UNKNOWN)
		return "?";
	if (is_text_column(kind))
		return hi_text_plain(style, arena, cell->text);
	number_text(style, buf, kind, cell);
	return buf;
}

static unsigned cell_columns(const struct hi_text_style *style, struct hi_arena *scratch,
			     enum hi_column_kind kind, const struct hi_cell *cell)
{
	char buf[48];
	const char *text = cell_text(style, scratch, kind, cell, buf);

	return (text ? hi_text_columns(style, text) : 1) + cell->indent * 2u;
}

/* Leaves out columns of a kind, those to the right first, until the table would fit with
 * text cut to its least. Returns the width of the table. */
static unsigned hide_columns(const struct hi_text_style *style,
			     const struct hi_report_table *t, struct layout *l,
			     enum hi_column_kind kind, unsigned total, unsigned spare)
{
	for (size_t c = t->n_columns; c > 1 && total > style->width + spare; c--) {
		if (t->columns[c - 1].kind != kind || l->hidden[c - 1])
			continue;
		l->hidden[c - 1] = true;
		total -= l->width[c - 1] + GAP;
	}
	return total;
}

/* What text columns can give way. */
static unsigned count_spare(const struct hi_report_table *t, const struct layout *l)
{
	unsigned spare = 0;

	for (size_t c = 0; c < t->n_columns; c++)
		if (t->columns[c].kind == HI_COLUMN_TEXT && !l->hidden[c] &&
		    l->width[c] > TEXT_LEAST)
			spare += l->width[c] - TEXT_LEAST;
	return spare;
}

/* Leaves minor columns out, then those that can be missed best where the table could not
 * fit with them; then takes from the widest text column, until it fits. */
static void shrink_columns(const struct hi_text_style *style,
			   const struct hi_report_table *t, struct layout *l)
{
	static const enum hi_column_kind missed[] = {HI_COLUMN_PERCENT, HI_COLUMN_WORD,
						     HI_COLUMN_FIGURE,	HI_COLUMN_COUNT,
						     HI_COLUMN_ADDRESS, HI_COLUMN_BYTES};
	unsigned total = INDENT;

	for (size_t c = 0; c < t->n_columns; c++)
		total += l->width[c] + (c ? GAP : 0);
	total = hide_columns(style, t, l, HI_COLUMN_MINOR_BYTES, total, 0);
	total = hide_columns(style, t, l, HI_COLUMN_MINOR_COUNT, total, 0);
	total = hide_columns(style, t, l, HI_COLUMN_MINOR_FIGURE, total, 0);
	for (size_t i = 0; i < sizeof(missed) / sizeof(*missed); i++)
		total = hide_columns(style, t, l, missed[i], total, count_spare(t, l));
	while (total > style->width) {
		size_t widest = SIZE_MAX;

		for (size_t c = 0; c < t->n_columns; c++)
			if (t->columns[c].kind == HI_COLUMN_TEXT && !l->hidden[c] &&
			    l->width[c] > TEXT_LEAST &&
			    (widest == SIZE_MAX || l->width[c] > l->width[widest]))
				widest = c;
		if (widest == SIZE_MAX)
			return;
		l->width[widest]--;
		total--;
	}
}

static void measure_columns(const struct hi_text_style *style, struct hi_arena *scratch,
			    const struct hi_report_table *t, struct layout *l)
{
	for (size_t c = 0; c < t->n_columns; c++)
		l->width[c] = hi_text_columns(style, t->columns[c].title);
	for (size_t i = 0; i < t->cells.count; i++) {
		size_t c = i % t->n_columns;
		unsigned w = cell_columns(style, scratch, t->columns[c].kind,
					  &t->cells.items[i]);

		/* No table is ever wider than this: keep the shrinking loop short. */
		if (w > style->width)
			w = style->width;
		if (w > l->width[c])
			l->width[c] = w;
	}
	shrink_columns(style, t, l);
}

/* One cell, padded; the last column, if left-aligned, has no padding behind. */
static void put_cell(const struct hi_text_style *style, const char *text, unsigned indent,
		     unsigned width, bool left, bool last)
{
	unsigned columns = hi_text_columns(style, text) + indent;
	unsigned pad = columns < width ? width - columns : 0;

	if (left)
		fprintf(style->out, "%*s%s%*s", (int)indent, "", text,
			last ? 0 : (int)pad, "");
	else
		fprintf(style->out, "%*s%s", (int)pad, "", text);
}

/* Columns up to the last that is shown. */
static size_t count_shown(const struct hi_report_table *t, const struct layout *l)
{
	size_t n = t->n_columns;

	while (n > 1 && l->hidden[n - 1])
		n--;
	return n;
}

static enum hi_status put_text_table_row(const struct hi_text_style *style,
					 struct hi_arena *scratch,
					 const struct hi_report_table *t,
					 const struct layout *l, size_t row,
					 struct hi_error *err)
{
	/* Empty cells at the end of a row leave no blanks behind. */
	size_t used = t->n_columns;

	while (used > 1 &&
	       (l->hidden[used - 1] ||
		t->cells.items[row * t->n_columns + used - 1].state == HI_CELL_EMPTY))
		used--;
	fprintf(style->out, "%*s", INDENT, "");
	for (size_t c = 0; c < used; c++) {
		const struct hi_cell *cell = &t->cells.items[row * t->n_columns + c];
		enum hi_column_kind kind = t->columns[c].kind;
		unsigned indent = cell->indent * 2u;
		char buf[48];
		const char *text;

		if (l->hidden[c])
			continue;
		text = cell_text(style, scratch, kind, cell, buf);
		/* Deep rows of a narrow column give up indentation, not their text. */
		if (indent > l->width[c] / 2 && text &&
		    indent + hi_text_columns(style, text) > l->width[c])
			indent = l->width[c] / 2;
		if (text && kind == HI_COLUMN_TEXT)
			text = hi_text_fit(style, scratch, text, l->width[c] - indent);
		if (!text)
			return hi_fail_memory(err, "table");
		if (c)
			fprintf(style->out, "%*s", GAP, "");
		put_cell(style, text, indent, l->width[c], is_left(kind), c + 1 == used);
	}
	return HI_OK;
}

/* A title gives way with its column; out of memory it stays away. */
static const char *fit_title(const struct hi_text_style *style, struct hi_arena *scratch,
			     const struct hi_column *column, unsigned width)
{
	const char *title = column->kind == HI_COLUMN_TEXT
				    ? hi_text_fit(style, scratch, column->title, width)
				    : column->title;

	return title ? title : "";
}

static void put_titles(const struct hi_text_style *style, struct hi_arena *scratch,
		       const struct hi_report_table *t, const struct layout *l)
{
	size_t shown = count_shown(t, l);
	bool any = false;

	for (size_t c = 0; c < t->n_columns; c++)
		any |= t->columns[c].title[0] != 0;
	if (!any)
		return;
	fprintf(style->out, "%*s", INDENT, "");
	hi_text_color(style, 'd');
	for (size_t c = 0; c < t->n_columns; c++) {
		if (l->hidden[c])
			continue;
		if (c)
			fprintf(style->out, "%*s", GAP, "");
		put_cell(style, fit_title(style, scratch, &t->columns[c], l->width[c]), 0,
			 l->width[c], is_left(t->columns[c].kind), c + 1 == shown);
	}
	hi_text_color(style, 0);
	putc('\n', style->out);
}

enum hi_status hi_text_table(const struct hi_text_style *style,
			     const struct hi_report_table *t, struct hi_error *err)
{
	struct hi_arena scratch = {};
	struct layout l = {};
	size_t strong = 0, n = hi_report_table_rows(t);
	enum hi_status status = HI_OK;

	if (t->n_columns == 0 || t->n_columns > COLUMNS_MAX || n == 0)
		return HI_OK;
	measure_columns(style, &scratch, t, &l);
	put_titles(style, &scratch, t, &l);
	for (size_t row = 0; row < n && status == HI_OK; row++) {
		bool stress = strong < t->strong.count && t->strong.items[strong] == row;

		if (stress) {
			strong++;
			hi_text_color(style, 'b');
		}
		status = put_text_table_row(style, &scratch, t, &l, row, err);
		if (stress)
			hi_text_color(style, 0);
		putc('\n', style->out);
		hi_arena_free(&scratch);
	}
	hi_arena_free(&scratch);
	return status;
}
