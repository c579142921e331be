/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/browse/browse_columns.h"

#include <inttypes.h>
#include <string.h>

enum {
	GRAPH = 10,	   /* characters of a bar */
	WITH_OBJECTS = 64, /* columns of a screen that shows their number */
	WITH_GRAPH = 50,
	GAP = 2,
	TEXT_LEAST = 16, /* columns of names and of types that others make room for */
	CUT_LEAST = 8,	 /* of both, if it must be */
	DETAILS_MOST = 4,
};

static bool is_on_the_left(const struct hi_browse_list *list, enum hi_browse_column c)
{
	return c == HI_BROWSE_MARK || c == HI_BROWSE_NAME ||
	       (c == HI_BROWSE_WHAT && list->kind != HI_BROWSE_TYPES);
}

static const char *title_of(const struct hi_browse_list *list, enum hi_browse_column c)
{
	static const char *const titles[HI_BROWSE_COLUMNS] = {
		[HI_BROWSE_BYTES] = "bytes",	[HI_BROWSE_SHARE] = "share",
		[HI_BROWSE_BAR] = "",		[HI_BROWSE_BELOW] = "objects",
		[HI_BROWSE_MARK] = "",		[HI_BROWSE_NAME] = "name",
		[HI_BROWSE_COUNT] = "count",	[HI_BROWSE_WHAT] = "type",
		[HI_BROWSE_ADDRESS] = "address"};

	return c == HI_BROWSE_WHAT && list->kind == HI_BROWSE_TYPES ? "retained"
								    : titles[c];
}

/* ---- cells ---- */

static const char *draw_share_bar(uint64_t bytes, uint64_t all, struct hi_arena *arena)
{
	unsigned n = 0;

	if (all && bytes != UINT64_MAX && all != UINT64_MAX)
		n = (unsigned)((double)bytes / (double)all * GRAPH + 0.5);
	if (n > GRAPH)
		n = GRAPH;
	return hi_arena_printf(arena, "[%.*s%*s]", (int)n, "##########", (int)(GRAPH - n),
			       "");
}

static const char *describe_share(const struct hi_browse_list *list, uint64_t bytes,
				  struct hi_arena *arena)
{
	char percent[16];

	return bytes == UINT64_MAX
		       ? ""
		       : hi_arena_printf(arena, "%s",
					 hi_percent(percent, bytes, list->bytes));
}

static const char *describe_address(const struct hi_graph *g,
				    const struct hi_browse_row *row,
				    struct hi_arena *arena)
{
	return row->kind == HI_BROWSE_NODE && row->members <= 1 &&
			       hi_graph_is_object(g, row->node)
		       ? hi_arena_printf(arena, "0x%" PRIx64,
					 hi_graph_address(g, row->node))
		       : "";
}

static const char *raw_cell(struct hi_browse *b, const struct hi_browse_row *row,
			    enum hi_browse_column c, struct hi_arena *arena)
{
	const struct hi_browse_list *list = hi_browse_shown(b)->list;
	char text[32];

	switch (c) {
	case HI_BROWSE_BYTES:
		return hi_arena_printf(arena, "%s", hi_bytes(text, row->bytes));
	case HI_BROWSE_SHARE:
		return describe_share(list, row->bytes, arena);
	case HI_BROWSE_BAR:
		return draw_share_bar(row->bytes, list->bytes, arena);
	case HI_BROWSE_BELOW:
		return hi_arena_printf(arena, "%s", hi_count(text, row->objects));
	case HI_BROWSE_MARK:
		return row->opens ? "+" : "";
	case HI_BROWSE_NAME:
		return row->name;
	case HI_BROWSE_COUNT:
		return row->members > 1 ? hi_arena_printf(arena, "%s",
							  hi_count(text, row->members))
					: "";
	case HI_BROWSE_WHAT:
		return row->what;
	case HI_BROWSE_ADDRESS:
	case HI_BROWSE_COLUMNS:
	default:
		return describe_address(b->heap->graph, row, arena);
	}
}

static const char *cell_of(struct hi_browse *b, const struct hi_text_style *style,
			   const struct hi_browse_row *row, enum hi_browse_column c,
			   struct hi_arena *arena)
{
	const char *text = raw_cell(b, row, c, arena);

	return text ? hi_text_plain(style, arena, text) : NULL;
}

const char *hi_browse_detail(struct hi_browse *browse, const struct hi_text_style *style,
			     const struct hi_browse_row *row, struct hi_arena *arena)
{
	static const enum hi_browse_column parts[] = {HI_BROWSE_NAME, HI_BROWSE_WHAT,
						      HI_BROWSE_ADDRESS};
	const char *text = "";

	for (size_t i = 0; text && i < sizeof(parts) / sizeof(*parts); i++) {
		const char *part = cell_of(browse, style, row, parts[i], arena);

		if (!part || *part)
			text = part ? hi_arena_printf(arena, "%s%s%s", text,
						      *text ? "  " : "", part)
				    : NULL;
	}
	return text;
}

/* ---- widths ---- */

static void measure_list(struct hi_browse *b, const struct hi_text_style *style,
			 struct hi_browse_columns *columns)
{
	const struct hi_browse_list *list = hi_browse_shown(b)->list;
	struct hi_arena arena = {};

	for (size_t i = 0; i < list->rows.count; i++) {
		for (unsigned c = 0; c < HI_BROWSE_COLUMNS; c++) {
			const char *text =
				cell_of(b, style, &list->rows.items[i], c, &arena);
			unsigned width = text ? hi_text_columns(style, text) : 0;

			columns->failed |= !text;
			if (width > columns->width[c])
				columns->width[c] = width;
		}
		hi_arena_free(&arena);
	}
	for (unsigned c = 0; c < HI_BROWSE_COLUMNS; c++) {
		unsigned title = hi_text_columns(style, title_of(list, c));

		if (columns->width[c] && columns->width[c] < title)
			columns->width[c] = title;
	}
}

static unsigned sum_of_columns(const struct hi_browse_columns *columns)
{
	unsigned sum = 1;

	for (unsigned c = 0; c < HI_BROWSE_COLUMNS; c++)
		if (columns->width[c])
			sum += columns->width[c] + (sum > 1 ? GAP : 0);
	return sum;
}

static void hide_unless(struct hi_browse_columns *columns, enum hi_browse_column c,
			bool shown)
{
	if (!shown)
		columns->width[c] = 0;
}

/* Takes columns away until the row fits; leaves at least so many. */
static void narrow_column(const struct hi_text_style *style,
			  struct hi_browse_columns *columns, enum hi_browse_column c,
			  unsigned least)
{
	unsigned sum = sum_of_columns(columns), width = columns->width[c], over;

	if (sum <= style->width || width <= least)
		return;
	over = sum - style->width;
	columns->width[c] = width - least > over ? width - over : least;
}

static void narrow_list(const struct hi_text_style *style,
			const struct hi_browse_list *list,
			struct hi_browse_columns *columns)
{
	static const enum hi_browse_column missed[] = {HI_BROWSE_BAR, HI_BROWSE_SHARE,
						       HI_BROWSE_ADDRESS};
	bool cuts_what = list->kind != HI_BROWSE_TYPES;

	for (size_t i = 0; i < sizeof(missed) / sizeof(*missed); i++)
		if (sum_of_columns(columns) > style->width)
			columns->width[missed[i]] = 0;
	if (cuts_what)
		narrow_column(style, columns, HI_BROWSE_WHAT, TEXT_LEAST);
	narrow_column(style, columns, HI_BROWSE_NAME, TEXT_LEAST);
	/* Figures are whole or not there. */
	if (sum_of_columns(columns) > style->width && !cuts_what)
		columns->width[HI_BROWSE_WHAT] = 0;
	if (sum_of_columns(columns) > style->width)
		columns->width[HI_BROWSE_BELOW] = 0;
	if (cuts_what)
		narrow_column(style, columns, HI_BROWSE_WHAT, CUT_LEAST);
	narrow_column(style, columns, HI_BROWSE_NAME, CUT_LEAST);
}

/* ---- below the list ---- */

static unsigned count_detail_lines(struct hi_browse *b, const struct hi_text_style *style,
				   const struct hi_browse_row *row,
				   struct hi_arena *arena)
{
	const char *text = hi_browse_detail(b, style, row, arena);
	unsigned n = 0;

	while (text && *text && n < DETAILS_MOST) {
		text += hi_text_next_line(style, text, style->width - 1).next;
		n++;
	}
	return n;
}

/* Lines for the longest texts of the list, so that rows stay where they are; none if
 * columns show all of them. */
static unsigned count_details(struct hi_browse *b, const struct hi_text_style *style,
			      const struct hi_browse_columns *whole,
			      const struct hi_browse_columns *columns)
{
	const struct hi_browse_list *list = hi_browse_shown(b)->list;
	struct hi_arena arena = {};
	unsigned most = 0;

	if (whole->width[HI_BROWSE_NAME] == columns->width[HI_BROWSE_NAME] &&
	    whole->width[HI_BROWSE_WHAT] == columns->width[HI_BROWSE_WHAT] &&
	    whole->width[HI_BROWSE_ADDRESS] == columns->width[HI_BROWSE_ADDRESS])
		return 0;
	for (size_t i = 0; i < list->rows.count && most < DETAILS_MOST; i++) {
		unsigned n = count_detail_lines(b, style, &list->rows.items[i], &arena);

		if (n > most)
			most = n;
		hi_arena_free(&arena);
	}
	return most;
}

struct hi_browse_columns hi_browse_columns_of(struct hi_browse *browse,
					      const struct hi_text_style *style)
{
	struct hi_browse_columns whole = {}, columns;
	enum hi_browse_share share = browse->share;

	measure_list(browse, style, &whole);
	columns = whole;
	if (columns.width[HI_BROWSE_MARK] == 0)
		columns.width[HI_BROWSE_MARK] = 1;
	hide_unless(&columns, HI_BROWSE_SHARE,
		    share == HI_BROWSE_BOTH || share == HI_BROWSE_PERCENT);
	hide_unless(&columns, HI_BROWSE_BAR,
		    share == HI_BROWSE_GRAPH ||
			    (share == HI_BROWSE_BOTH && style->width >= WITH_GRAPH));
	hide_unless(&columns, HI_BROWSE_BELOW, style->width >= WITH_OBJECTS);
	narrow_list(style, hi_browse_shown(browse)->list, &columns);
	columns.details = count_details(browse, style, &whole, &columns);
	return columns;
}

/* ---- lines ---- */

/* The line with one more cell, "  " before it. */
static const char *add_browse_cell(const struct hi_text_style *style, const char *line,
				   const char *text, unsigned width, bool left,
				   struct hi_arena *arena)
{
	const char *fit;
	unsigned taken;

	if (!line || !text)
		return NULL;
	fit = hi_text_fit(style, arena, text, width);
	if (!fit)
		return NULL;
	taken = hi_text_columns(style, fit);
	return hi_arena_printf(arena, "%s%*s%*s%s%*s", line, *line ? GAP : 1, "",
			       left ? 0 : (int)(width - taken), "", fit,
			       left ? (int)(width - taken) : 0, "");
}

const char *hi_browse_titles(struct hi_browse *browse, const struct hi_text_style *style,
			     const struct hi_browse_columns *columns,
			     struct hi_arena *arena)
{
	const struct hi_browse_list *list = hi_browse_shown(browse)->list;
	const char *line = "";

	for (unsigned c = 0; c < HI_BROWSE_COLUMNS; c++)
		if (columns->width[c])
			line = add_browse_cell(style, line, title_of(list, c),
					       columns->width[c], is_on_the_left(list, c),
					       arena);
	return line;
}

const char *hi_browse_cells(struct hi_browse *browse, const struct hi_text_style *style,
			    const struct hi_browse_columns *columns,
			    const struct hi_browse_row *row, struct hi_arena *arena)
{
	const struct hi_browse_list *list = hi_browse_shown(browse)->list;
	const char *line = "";

	for (unsigned c = 0; c < HI_BROWSE_COLUMNS; c++)
		if (columns->width[c])
			line = add_browse_cell(
				style, line, cell_of(browse, style, row, c, arena),
				columns->width[c], is_on_the_left(list, c), arena);
	return line;
}
