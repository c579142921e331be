/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables: widths from the contents. One that is too wide folds titles of numbers, leaves
 * out what can be missed best, and then lets texts go on in lines below. Nothing is cut.
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/render/text_internal.h"

enum {
	INDENT = 2,
	GAP = 2,
	HANG = 2,	 /* of the lines below the first one of a text */
	TEXT_LEAST = 12, /* columns of texts, whatever is left out for that */
	MANY_LEAST = 4,	 /* the same of too many texts */
	TEXT_ROOM = 48,	 /* columns of a text that others are left out for */
	TEXTS_ROOM = 64, /* the same of several texts, together */
	WORD_MOST = 20,	 /* columns of words that are not broken */
	PART_MOST = 24,	 /* columns of parts that other texts make room for */
	COLUMNS_MAX = 64,
};

struct layout {
	unsigned width[COLUMNS_MAX]; /* that it would like, then that it has */
	unsigned part[COLUMNS_MAX];  /* of texts: the widest part that is not broken */
	bool folds[COLUMNS_MAX];     /* its texts go on below */
	bool hidden[COLUMNS_MAX];
	unsigned start[COLUMNS_MAX]; /* columns in front of it */
	unsigned text_room;	     /* columns of a text that others are left out for */
};

static bool is_left(enum hi_column_kind kind)
{
	return kind == HI_COLUMN_TEXT || kind == HI_COLUMN_WORD ||
	       kind == HI_COLUMN_MINOR_WORD || kind == HI_COLUMN_QUERY;
}

static bool is_column_of_words(enum hi_column_kind kind)
{
	return kind == HI_COLUMN_WORD || kind == HI_COLUMN_MINOR_WORD;
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
	case HI_COLUMN_MINOR_WORD:
	case HI_COLUMN_QUERY:
	case HI_COLUMN_FIGURE:
	case HI_COLUMN_MINOR_FIGURE:
	default:
		hi_text_count(text, cell->number);
	}
	snprintf(out, 48, "%s%s", sign, text);
}

/* Names of types that take much of the page go without namespaces in arguments of
 * libraries; the wider the page is, the fewer. */
static const char *shorten_cell_name(const struct hi_text_style *style,
				     struct hi_arena *arena, const char *text)
{
	bool is_short =
		style->full_names || hi_text_columns(style, text) <= style->width * 2 / 5;

	return is_short ? text : hi_text_short_arguments(style, arena, text);
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
	if (is_text_column(kind)) {
		const char *text = hi_text_plain(style, arena, cell->text);

		return text && kind == HI_COLUMN_TEXT
			       ? shorten_cell_name(style, arena, text)
			       : text;
	}
	number_text(style, buf, kind, cell);
	return buf;
}

/* ---- widths ---- */

static unsigned at_most(unsigned n, unsigned most)
{
	return n < most ? n : most;
}

/* No table is ever wider than the page: keeps the loops over columns short. */
static void measure_cell(const struct hi_text_style *style, struct hi_arena *scratch,
			 enum hi_column_kind kind, const struct hi_cell *cell,
			 struct layout *l, size_t c)
{
	char buf[48];
	const char *text = cell_text(style, scratch, kind, cell, buf);
	unsigned width = text ? hi_text_columns(style, text) + cell->indent * 2u : 1;
	unsigned part =
		text && kind == HI_COLUMN_TEXT ? hi_text_widest_part(style, text) : width;

	/* Parts below the first one hang. */
	part = at_most(part + HANG, width);
	if (kind == HI_COLUMN_TEXT)
		part = at_most(part, PART_MOST);
	part = at_most(part, style->width);
	width = at_most(width, style->width);
	if (width > l->width[c])
		l->width[c] = width;
	if (part > l->part[c])
		l->part[c] = part;
}

static void measure_columns(const struct hi_text_style *style, struct hi_arena *scratch,
			    const struct hi_report_table *t, struct layout *l)
{
	for (size_t i = 0; i < t->cells.count; i++) {
		size_t c = i % t->n_columns;

		if (c == 0)
			hi_arena_free(scratch);
		measure_cell(style, scratch, t->columns[c].kind, &t->cells.items[i], l,
			     c);
	}
	for (size_t c = 0; c < t->n_columns; c++) {
		unsigned title = hi_text_columns(style, t->columns[c].title);
		unsigned part = hi_text_widest_part(style, t->columns[c].title);

		l->folds[c] = t->columns[c].kind == HI_COLUMN_TEXT ||
			      (is_column_of_words(t->columns[c].kind) &&
			       l->width[c] > WORD_MOST);
		/* The least that it has room for: of numbers, all of them. */
		if (part > l->part[c])
			l->part[c] = part;
		if (title > l->width[c])
			l->width[c] = title;
	}
}

static void choose_text_room(const struct hi_report_table *t, struct layout *l)
{
	unsigned texts = 0;

	for (size_t c = 0; c < t->n_columns; c++)
		texts += l->folds[c];
	l->text_room = at_most(TEXTS_ROOM / (texts ? texts : 1), TEXT_ROOM);
	if (l->text_room < TEXT_LEAST)
		l->text_room = TEXT_LEAST;
}

static unsigned liked_width(const struct layout *l, size_t c)
{
	return l->folds[c] ? at_most(l->width[c], l->text_room) : l->width[c];
}

/* Of all columns that are shown; texts with the room that others are left out for, or
 * with their least one. */
static unsigned sum_widths(const struct hi_report_table *t, const struct layout *l,
			   bool least)
{
	unsigned total = INDENT;

	for (size_t c = 0; c < t->n_columns; c++) {
		unsigned width = liked_width(l, c);

		if (least && l->folds[c])
			width = at_most(width, TEXT_LEAST);
		if (!l->hidden[c])
			total += width + (c ? GAP : 0);
	}
	return total;
}

/* Titles that are wider than the numbers below them go on in a second line. */
static void fold_titles(const struct hi_text_style *style,
			const struct hi_report_table *t, struct layout *l)
{
	for (size_t c = t->n_columns; c-- > 0;)
		if (sum_widths(t, l, false) > style->width && !l->folds[c] &&
		    !is_column_of_words(t->columns[c].kind))
			l->width[c] = l->part[c];
}

/* Leaves out columns of a kind, those to the right first, while the table is too wide.
 * The first one says what its row is of. */
static void hide_columns(const struct hi_text_style *style,
			 const struct hi_report_table *t, struct layout *l,
			 enum hi_column_kind kind, bool least)
{
	for (size_t c = t->n_columns; c-- > 1 && sum_widths(t, l, least) > style->width;)
		if (t->columns[c].kind == kind && !(least && l->folds[c]))
			l->hidden[c] = true;
}

static void hide_kinds(const struct hi_text_style *style, const struct hi_report_table *t,
		       struct layout *l, const enum hi_column_kind kinds[3], bool least)
{
	for (size_t i = 0; i < 3; i++)
		hide_columns(style, t, l, kinds[i], least);
}

/* Minor numbers, evidence, shares and addresses make room for texts; others only where
 * the table could not fit at all. */
static void leave_out_columns(const struct hi_text_style *style,
			      const struct hi_report_table *t, struct layout *l)
{
	static const enum hi_column_kind minor[] = {
		HI_COLUMN_MINOR_BYTES, HI_COLUMN_MINOR_COUNT, HI_COLUMN_MINOR_FIGURE};
	static const enum hi_column_kind missed[] = {
		HI_COLUMN_MINOR_WORD, HI_COLUMN_PERCENT, HI_COLUMN_ADDRESS};
	static const enum hi_column_kind last[] = {HI_COLUMN_WORD, HI_COLUMN_FIGURE,
						   HI_COLUMN_COUNT};

	hide_kinds(style, t, l, minor, false);
	fold_titles(style, t, l);
	hide_kinds(style, t, l, missed, false);
	hide_kinds(style, t, l, last, true);
	hide_columns(style, t, l, HI_COLUMN_BYTES, true);
}

/* Takes from the widest text that has more than so many columns; parts: and more than
 * its widest part. false: none has. */
static bool narrow_widest(const struct hi_report_table *t, struct layout *l,
			  unsigned least, bool parts)
{
	size_t widest = SIZE_MAX;

	for (size_t c = 0; c < t->n_columns; c++)
		if (l->folds[c] && !l->hidden[c] && l->width[c] > least &&
		    (!parts || l->width[c] > l->part[c]) &&
		    (widest == SIZE_MAX || l->width[c] > l->width[widest]))
			widest = c;
	if (widest == SIZE_MAX)
		return false;
	l->width[widest]--;
	return true;
}

static unsigned place_columns(const struct hi_report_table *t, struct layout *l)
{
	unsigned at = INDENT;

	for (size_t c = 0; c < t->n_columns; c++) {
		if (l->hidden[c])
			continue;
		l->start[c] = at;
		at += l->width[c] + GAP;
	}
	return at - GAP;
}

/* Texts are broken between their parts where that is enough. */
static void lay_out_table(const struct hi_text_style *style, struct hi_arena *scratch,
			  const struct hi_report_table *t, struct layout *l,
			  unsigned *liked)
{
	measure_columns(style, scratch, t, l);
	choose_text_room(t, l);
	*liked = sum_widths(t, l, false);
	leave_out_columns(style, t, l);
	while (place_columns(t, l) > style->width &&
	       (narrow_widest(t, l, TEXT_LEAST, true) ||
		narrow_widest(t, l, TEXT_LEAST, false) ||
		narrow_widest(t, l, MANY_LEAST, false)))
		;
}

/* ---- what was left out ---- */

static bool has_title(const struct hi_text_left_out *left_out, const char *title)
{
	for (size_t i = 0; i < left_out->n; i++)
		if (strcmp(left_out->titles[i], title) == 0)
			return true;
	return false;
}

static bool has_values(const struct hi_report_table *t, size_t column)
{
	for (size_t i = column; i < t->cells.count; i += t->n_columns)
		if (t->cells.items[i].state != HI_CELL_EMPTY)
			return true;
	return false;
}

static void note_hidden_columns(const struct hi_report_table *t, const struct layout *l,
				unsigned liked, struct hi_text_left_out *left_out)
{
	for (size_t c = 0; c < t->n_columns; c++) {
		const char *title = t->columns[c].title;

		if (!l->hidden[c] || !has_values(t, c))
			continue;
		if (liked > left_out->width)
			left_out->width = liked;
		if (!*title || has_title(left_out, title))
			continue;
		if (left_out->n < HI_TEXT_LEFT_OUT)
			left_out->titles[left_out->n++] = title;
		else
			left_out->more++;
	}
}

/* ---- lines ---- */

/* What is left to show of the row's cells. */
struct row_text {
	const char *rest[COLUMNS_MAX];
	unsigned indent[COLUMNS_MAX], hang[COLUMNS_MAX];
	unsigned wait[COLUMNS_MAX]; /* lines above the first one */
	char numbers[COLUMNS_MAX][48];
};

/* The next line of one cell, behind `at` columns of the line. Returns these then; blanks
 * are written only in front of something. */
static unsigned put_cell_line(const struct hi_text_style *style, const struct layout *l,
			      struct row_text *row, size_t c, bool left, bool folds,
			      unsigned at)
{
	unsigned start = l->start[c], room = l->width[c] - row->indent[c];
	struct hi_text_line line =
		hi_text_next_line(style, row->rest[c], folds ? room : UINT32_MAX - 4);

	if (left)
		start += row->indent[c];
	else if (line.columns < l->width[c])
		start += l->width[c] - line.columns;
	if (line.bytes)
		fprintf(style->out, "%*s%.*s", start > at ? (int)(start - at) : 0, "",
			(int)line.bytes, row->rest[c]);
	row->rest[c] += line.next;
	row->indent[c] += row->hang[c];
	row->hang[c] = 0;
	return line.bytes ? (start > at ? start : at) + line.columns : at;
}

/* One line of the row; returns whether there are more. */
static bool put_row_line(const struct hi_text_style *style,
			 const struct hi_report_table *t, const struct layout *l,
			 struct row_text *row, bool titles)
{
	unsigned at = 0;
	bool more = false;

	for (size_t c = 0; c < t->n_columns; c++) {
		if (l->hidden[c])
			continue;
		if (row->wait[c])
			row->wait[c]--;
		else if (*row->rest[c])
			at = put_cell_line(style, l, row, c, is_left(t->columns[c].kind),
					   titles || l->folds[c], at);
		more |= *row->rest[c] != 0;
	}
	return more;
}

static void put_row(const struct hi_text_style *style, const struct hi_report_table *t,
		    const struct layout *l, struct row_text *row, bool titles)
{
	while (put_row_line(style, t, l, row, titles))
		putc('\n', style->out);
}

/* Deep rows of a narrow column give up indentation. */
static void indent_cell(const struct hi_text_style *style, const struct layout *l,
			unsigned levels, size_t c, struct row_text *row)
{
	unsigned indent = levels * 2u, width = l->width[c];

	if (indent > width / 2 && indent + hi_text_columns(style, row->rest[c]) > width)
		indent = width / 2;
	row->indent[c] = indent;
	row->hang[c] = l->folds[c] && width > indent + TEXT_LEAST ? HANG : 0;
}

static enum hi_status put_table_row(const struct hi_text_style *style,
				    struct hi_arena *scratch,
				    const struct hi_report_table *t,
				    const struct layout *l, size_t i,
				    struct hi_error *err)
{
	struct row_text row = {};

	for (size_t c = 0; c < t->n_columns; c++) {
		const struct hi_cell *cell = &t->cells.items[i * t->n_columns + c];

		row.rest[c] = cell_text(style, scratch, t->columns[c].kind, cell,
					row.numbers[c]);
		if (!row.rest[c])
			return hi_fail_memory(err, "table");
		indent_cell(style, l, cell->indent, c, &row);
	}
	put_row(style, t, l, &row, false);
	return HI_OK;
}

static unsigned count_title_lines(const struct hi_text_style *style, const char *text,
				  unsigned columns)
{
	unsigned n = 0;

	for (; *text; text += hi_text_next_line(style, text, columns).next)
		n++;
	return n;
}

/* The last lines of titles stand side by side. */
static void put_titles(const struct hi_text_style *style, const struct hi_report_table *t,
		       const struct layout *l)
{
	struct row_text row = {};
	unsigned most = 0;

	for (size_t c = 0; c < t->n_columns; c++) {
		row.rest[c] = t->columns[c].title;
		row.wait[c] = count_title_lines(style, row.rest[c], l->width[c]);
		if (!l->hidden[c] && row.wait[c] > most)
			most = row.wait[c];
	}
	if (most == 0)
		return;
	for (size_t c = 0; c < t->n_columns; c++)
		row.wait[c] = most - at_most(row.wait[c], most);
	hi_text_color(style, 'd');
	put_row(style, t, l, &row, true);
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
	unsigned liked;

	if (t->n_columns == 0 || t->n_columns > COLUMNS_MAX || n == 0)
		return HI_OK;
	lay_out_table(style, &scratch, t, &l, &liked);
	if (style->left_out)
		note_hidden_columns(t, &l, liked, style->left_out);
	put_titles(style, t, &l);
	for (size_t row = 0; row < n && status == HI_OK; row++) {
		bool stress = strong < t->strong.count && t->strong.items[strong] == row;

		if (stress) {
			strong++;
			hi_text_color(style, 'b');
		}
		status = put_table_row(style, &scratch, t, &l, row, err);
		if (stress)
			hi_text_color(style, 0);
		putc('\n', style->out);
		hi_arena_free(&scratch);
	}
	hi_arena_free(&scratch);
	return status;
}
