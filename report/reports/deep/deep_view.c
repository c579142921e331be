/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of deep_report.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/address.h"
#include "report/reports/deep/deep_flame.h"
#include "report/reports/deep/deep_report.h"

static const char *safe_or_null(struct hi_page *page, const char *text)
{
	return text ? hi_page_safe(page, text) : NULL;
}

/* Without preferences, which are the same in all links of a page. */
static const char *short_link(struct hi_page *page, const char *link)
{
	return hi_page_printf(page, "%.*s", (int)strcspn(link, "&"), link);
}

static const char *fact_number_text(struct hi_page *page, const struct hi_deep_fact *fact)
{
	char bytes[24], count[32];

	if (fact->column.kind == HI_COLUMN_BYTES)
		return hi_page_printf(page, "%s", hi_bytes(bytes, fact->cell.number));
	return hi_page_printf(page, "%s", hi_count(count, fact->cell.number));
}

static void show_deep_fact(struct hi_page *page, const struct hi_deep_fact *fact)
{
	const char *text = fact->cell.kind == HI_DEEP_CELL_TEXT
				   ? hi_page_safe(page, fact->cell.text)
				   : fact_number_text(page, fact);

	if (fact->cell.link)
		text = hi_page_printf(page, "%s (%s)", text,
				      short_link(page, fact->cell.link));
	hi_page_fact(page, hi_page_safe(page, fact->column.title), text);
	if (fact->cell.link)
		hi_page_link(page, hi_address(page, "deep", fact->cell.link));
}

/* ---- tables ---- */

static const char *row_link(const struct hi_deep_table *t, size_t at)
{
	for (size_t i = 0; i < t->columns.count; i++)
		if (t->cells.items[at + i].link)
			return t->cells.items[at + i].link;
	return NULL;
}

static bool has_links(const struct hi_deep_table *t)
{
	for (size_t i = 0; i < t->cells.count; i++)
		if (t->cells.items[i].link)
			return true;
	return false;
}

/* Their titles live as long as the page. NULL: out of memory. */
static struct hi_column *page_columns(struct hi_page *page, const struct hi_deep_table *t,
				      bool links)
{
	size_t n = t->columns.count;
	struct hi_column *columns =
		hi_arena_alloc(&page->arena, (n + 1) * sizeof(*columns));

	if (!columns)
		return NULL;
	for (size_t i = 0; i < n; i++)
		columns[i] =
			(struct hi_column){hi_page_safe(page, t->columns.items[i].title),
					   t->columns.items[i].kind};
	if (links)
		columns[n] = (struct hi_column){"query", HI_COLUMN_QUERY};
	return columns;
}

static void show_ratio(struct hi_page *page, struct hi_report_table *table,
		       const struct hi_deep_cell *cell, enum hi_column_kind kind)
{
	if (kind == HI_COLUMN_PERCENT)
		hi_cell_percent(table, cell->number, cell->whole);
	else if (!cell->whole)
		hi_cell_empty(table);
	else
		hi_cell_text(table,
			     hi_page_printf(page, "%.2f",
					    (double)cell->number / (double)cell->whole),
			     0);
}

static const char *shown_cell_text(const struct hi_deep_cell *cell,
				   const struct hi_page *page)
{
	return cell->shown && !page->type_names.keep_full ? cell->shown : cell->text;
}

static void show_deep_cell(struct hi_page *page, struct hi_report_table *table,
			   const struct hi_deep_cell *cell, enum hi_column_kind kind)
{
	switch (cell->kind) {
	case HI_DEEP_CELL_NONE:
		hi_cell_empty(table);
		break;
	case HI_DEEP_CELL_TEXT:
		hi_cell_text(table, hi_page_safe(page, shown_cell_text(cell, page)),
			     cell->indent);
		break;
	case HI_DEEP_CELL_NUMBER:
		hi_cell_number(table, cell->number);
		break;
	case HI_DEEP_CELL_SIGNED:
		hi_cell_signed(table, (int64_t)cell->number);
		break;
	case HI_DEEP_CELL_RATIO:
		show_ratio(page, table, cell, kind);
		break;
	}
}

static void show_deep_table(struct hi_page *page, const struct hi_deep_table *t)
{
	bool links = has_links(t);
	struct hi_column *columns = page_columns(page, t, links);
	size_t n = t->columns.count;
	struct hi_report_table *table;

	hi_page_heading(page, hi_page_safe(page, t->title), safe_or_null(page, t->aside));
	if (!columns) {
		page->failed = true;
		return;
	}
	if (!t->cells.count)
		hi_page_note(page, "none");
	table = hi_page_table(page, columns, n + links);
	for (size_t at = 0; n && at + n <= t->cells.count; at += n) {
		const char *link = row_link(t, at);

		for (size_t i = 0; i < n; i++) {
			const struct hi_deep_cell *cell = &t->cells.items[at + i];

			show_deep_cell(page, table, cell, t->columns.items[i].kind);
			if (cell->link)
				hi_cell_link(table, hi_address(page, "deep", cell->link));
		}
		if (links)
			hi_cell_text(table, link ? short_link(page, link) : "", 0);
	}
	if (t->note)
		hi_page_note(page, hi_page_safe(page, t->note));
}

void hi_deep_display(const struct hi_deep_report *report, struct hi_page *page)
{
	hi_page_title(page, hi_page_safe(page, report->title),
		      safe_or_null(page, report->aside));
	for (size_t i = 0; i < report->facts.count; i++)
		show_deep_fact(page, &report->facts.items[i]);
	hi_deep_flame_display(report, page);
	for (size_t i = 0; i < report->tables.count; i++)
		show_deep_table(page, report->tables.items[i]);
	for (size_t i = 0; i < report->notes.count; i++)
		hi_page_note(page, hi_page_safe(page, report->notes.items[i]));
}
