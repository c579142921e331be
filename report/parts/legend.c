/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts/legend.h"

#include <string.h>

static bool has_lower_bound(const struct hi_report_table *t)
{
	for (size_t i = 0; i < t->cells.count; i++)
		if (t->cells.items[i].at_least &&
		    t->cells.items[i].state == HI_CELL_VALUE)
			return true;
	return false;
}

static bool has_column(const struct hi_report_table *t, const char *word)
{
	for (size_t i = 0; i < t->n_columns; i++)
		if (strcmp(t->columns[i].title, word) == 0)
			return hi_report_table_rows(t) > 0;
	return false;
}

/* Of tables that text shows. */
static bool is_in_tables(const struct hi_page *page, const char *word)
{
	for (size_t i = 0; i < page->items.count; i++) {
		const struct hi_item *item = &page->items.items[i];

		if (item->kind == HI_ITEM_TABLE && !item->needs_links &&
		    (word ? has_column(item->table, word) : has_lower_bound(item->table)))
			return true;
	}
	return false;
}

static bool is_part(const char *text, const char *word)
{
	return text && strstr(text, word);
}

/* In a line of text, but not in a suggested command or the target's name. */
static bool is_in_text(const struct hi_page *page, const char *word)
{
	for (size_t i = 0; i < page->items.count; i++) {
		const struct hi_item *item = &page->items.items[i];

		if (item->kind == HI_ITEM_COMMAND || item->kind == HI_ITEM_TITLE)
			continue;
		if (is_part(item->text, word) || is_part(item->aside, word))
			return true;
	}
	return false;
}

static bool is_in_titles(const struct hi_page *page, const char *word)
{
	for (size_t i = 0; i < page->tables.count; i++)
		for (size_t c = 0; c < page->tables.items[i]->n_columns; c++)
			if (is_part(page->tables.items[i]->columns[c].title, word))
				return true;
	return false;
}

/* Where the commands at the end begin, with the empty line above them. */
static size_t end_of_report(const struct hi_page *page)
{
	size_t end = page->items.count;

	while (end && page->items.items[end - 1].kind == HI_ITEM_COMMAND)
		end--;
	if (end && end < page->items.count &&
	    page->items.items[end - 1].kind == HI_ITEM_BLANK)
		end--;
	return end;
}

/* Turns the last item into the one at `at`. */
static void move_last_to(struct hi_page *page, size_t at)
{
	struct hi_item *items = page->items.items, last;

	if (page->failed || at + 1 >= page->items.count)
		return;
	last = items[page->items.count - 1];
	memmove(items + at + 1, items + at,
		(page->items.count - 1 - at) * sizeof(*items));
	items[at] = last;
}

void hi_legend_add(struct hi_page *page)
{
	static const struct {
		const char *word, *means;
		bool in_text; /* as well as the title of a column */
	} words[] = {
		{"shallow", HI_MEANING_SHALLOW, false},
		{"retained", HI_MEANING_RETAINED, false},
		{"leak root", "leaked, and only leaks of its own cycle refer to it",
		 true},
		{"conservative", "by words that may be no pointers", true},
	};
	const char *text = is_in_tables(page, NULL) ? "≥: at least" : "";
	size_t at = end_of_report(page);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const char *word = words[i].word;

		if ((is_in_tables(page, word) ||
		     (words[i].in_text &&
		      (is_in_text(page, word) || is_in_titles(page, word)))) &&
		    !is_in_text(page, hi_page_printf(page, "%s:", word)))
			text = hi_page_printf(page, "%s%s%s: %s", text,
					      *text ? " · " : "", word, words[i].means);
	}
	if (!*text)
		return;
	hi_page_blank(page);
	move_last_to(page, at);
	hi_page_note(page, text);
	move_last_to(page, at + 1);
}
