/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/display.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "report/escape.h"
#include "report/function_name.h"

enum { SAFE_MAX = 4000 };

struct hi_page *hi_page_create(void)
{
	return hi_calloc(1, sizeof(struct hi_page));
}

void hi_page_destroy(struct hi_page *page)
{
	if (!page)
		return;
	for (size_t i = 0; i < page->tables.count; i++) {
		hi_vector_free(&page->tables.items[i]->cells);
		hi_vector_free(&page->tables.items[i]->strong);
	}
	hi_vector_free(&page->tables);
	hi_vector_free(&page->items);
	hi_type_names_free(&page->type_names);
	hi_arena_free(&page->arena);
	free(page);
}

struct hi_page *hi_page_move(struct hi_page *page)
{
	struct hi_page *to = hi_page_create();

	if (!to)
		return NULL;
	*to = *page;
	*page = (struct hi_page){};
	for (size_t i = 0; i < to->tables.count; i++)
		to->tables.items[i]->page = to;
	return to;
}

static const char *keep_page_text(struct hi_page *page, const char *text)
{
	char *copy = hi_arena_strdup(&page->arena, text);

	if (!copy)
		page->failed = true;
	return copy ? copy : "";
}

const char *hi_page_safe(struct hi_page *page, const char *hostile)
{
	char out[SAFE_MAX + 8];

	if (!hostile || !*hostile)
		return "";
	/* Blanks alone are not seen, and no name for a link. */
	if (!hostile[strspn(hostile, " ")])
		return "\\x20";
	hi_text_escape(out, sizeof(out), hostile, strnlen(hostile, SAFE_MAX * 2));
	return keep_page_text(page, out);
}

const char *hi_page_type(struct hi_page *page, const char *hostile)
{
	char out[HI_TYPE_SHORT_SIZE];

	return hi_page_safe(page, hi_type_names_shown(&page->type_names, hostile, out));
}

const char *hi_page_function(struct hi_page *page, const char *hostile)
{
	char out[HI_FUNCTION_SHORT_SIZE];

	return hi_page_safe(page, page->type_names.keep_full
					  ? hostile
					  : hi_function_short(hostile, out, sizeof(out)));
}

const char *hi_page_safe_again(struct hi_page *page, const char *escaped)
{
	char out[SAFE_MAX + 8];

	if (!escaped || !*escaped)
		return "";
	hi_escape_again(out, sizeof(out), escaped, strnlen(escaped, SAFE_MAX * 2));
	return keep_page_text(page, out);
}

const char *hi_page_printf(struct hi_page *page, const char *fmt, ...)
{
	char text[2 * SAFE_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return keep_page_text(page, text);
}

const char *hi_page_sentence(struct hi_page *page, const char *text, bool escaped)
{
	char out[HI_TYPE_SHORT_SIZE];

	if (!page->type_names.keep_full)
		text = hi_type_short(text, out, sizeof(out));
	return escaped ? hi_page_safe_again(page, text) : hi_page_safe(page, text);
}

static void add_item(struct hi_page *page, struct hi_item item)
{
	if (!hi_vector_push(&page->items, item))
		page->failed = true;
}

static void add_text(struct hi_page *page, enum hi_item_kind kind, const char *text,
		     const char *aside)
{
	add_item(page,
		 (struct hi_item){.kind = kind,
				  .text = keep_page_text(page, text),
				  .aside = aside ? keep_page_text(page, aside) : NULL});
}

const char *hi_page_shell_word(struct hi_page *page, const char *text)
{
	if (strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789_./+-:@%,=") == strlen(text))
		return text;
	return hi_page_printf(page, "'%s'", hi_page_safe(page, text));
}

void hi_page_title(struct hi_page *page, const char *text, const char *aside)
{
	add_text(page, HI_ITEM_TITLE, text, aside);
}

void hi_page_heading(struct hi_page *page, const char *text, const char *aside)
{
	add_text(page, HI_ITEM_HEADING, text, aside);
}

void hi_page_blank(struct hi_page *page)
{
	add_item(page, (struct hi_item){.kind = HI_ITEM_BLANK});
}

void hi_page_fact(struct hi_page *page, const char *key, const char *text)
{
	add_text(page, HI_ITEM_FACT, text, key);
}

void hi_page_text(struct hi_page *page, const char *text)
{
	add_text(page, HI_ITEM_TEXT, text, NULL);
}

void hi_page_note(struct hi_page *page, const char *text)
{
	add_text(page, HI_ITEM_NOTE, text, NULL);
}

void hi_page_note_above_commands(struct hi_page *page, const char *text)
{
	size_t n = page->items.count, at = n;
	struct hi_item note;

	while (at > 0 && (page->items.items[at - 1].kind == HI_ITEM_COMMAND ||
			  page->items.items[at - 1].kind == HI_ITEM_BLANK))
		at--;
	hi_page_note(page, text);
	if (page->items.count == n)
		return;
	note = page->items.items[n];
	memmove(&page->items.items[at + 1], &page->items.items[at],
		(n - at) * sizeof(note));
	page->items.items[at] = note;
}

void hi_page_warning(struct hi_page *page, const char *text)
{
	add_text(page, HI_ITEM_WARNING, text, NULL);
}

void hi_page_code(struct hi_page *page, const char *text)
{
	add_text(page, HI_ITEM_CODE, text, NULL);
}

void hi_page_only_text(struct hi_page *page, size_t from)
{
	for (size_t i = from; i < page->items.count; i++)
		page->items.items[i].only_text = true;
}

void hi_page_add_picture(struct hi_page *page, struct hi_page_picture *picture)
{
	add_item(page, (struct hi_item){.kind = HI_ITEM_PICTURE, .picture = picture});
}

void hi_page_form(struct hi_page *page, const struct hi_form *form, const char *button)
{
	struct hi_form *copy = hi_arena_alloc(&page->arena, sizeof(*copy));

	if (!copy) {
		page->failed = true;
		return;
	}
	*copy = *form;
	copy->address = keep_page_text(page, form->address);
	for (size_t i = 0; i < copy->n_fields; i++)
		copy->fields[i].value = keep_page_text(
			page, form->fields[i].value ? form->fields[i].value : "");
	add_item(page, (struct hi_item){.kind = HI_ITEM_FORM,
					.text = keep_page_text(page, button),
					.form = copy});
}

void hi_page_only_with_links(struct hi_page *page)
{
	if (!page->failed && page->items.count)
		page->items.items[page->items.count - 1].needs_links = true;
}

void hi_page_replace_commands(struct hi_page *page, const char *command,
			      const char *purpose)
{
	page->only_command = command;
	page->only_purpose = purpose;
}

void hi_page_command(struct hi_page *page, const char *command, const char *purpose)
{
	if (page->only_command) {
		command = page->only_command;
		purpose = page->only_purpose;
		page->only_command = page->only_purpose = "";
	}
	if (!*command)
		return;
	add_text(page, HI_ITEM_COMMAND, command, purpose);
}

struct hi_report_table *hi_page_table(struct hi_page *page,
				      const struct hi_column *columns, size_t n_columns)
{
	/* What cannot be kept is filled in vain; the page has failed anyway. */
	static struct hi_page nowhere = {.failed = true};
	static struct hi_report_table sink;
	struct hi_report_table *table = hi_arena_alloc(&page->arena, sizeof(*table));

	if (!table || !hi_vector_push(&page->tables, table)) {
		page->failed = true;
		sink = (struct hi_report_table){
			.columns = columns, .n_columns = n_columns, .page = &nowhere};
		return &sink;
	}
	*table = (struct hi_report_table){
		.columns = columns, .n_columns = n_columns, .page = page};
	add_item(page, (struct hi_item){.kind = HI_ITEM_TABLE, .table = table});
	return table;
}

size_t hi_report_table_rows(const struct hi_report_table *table)
{
	return table->cells.count / table->n_columns;
}

static void add_cell(struct hi_report_table *table, struct hi_cell cell)
{
	if (table->page->failed)
		return;
	if (!hi_vector_push(&table->cells, cell))
		table->page->failed = true;
}

void hi_cell_text(struct hi_report_table *table, const char *safe, unsigned indent)
{
	if (table->page->failed)
		return;
	/* An empty cell at the end of a row leaves no blanks there. */
	if (!*safe) {
		hi_cell_empty(table);
		return;
	}
	add_cell(table, (struct hi_cell){.state = HI_CELL_VALUE,
					 .text = keep_page_text(table->page, safe),
					 .indent = (uint8_t)(indent > 20 ? 20 : indent)});
}

void hi_cell_number(struct hi_report_table *table, uint64_t number)
{
	add_cell(table, (struct hi_cell){.state = number == UINT64_MAX ? HI_CELL_UNKNOWN
								       : HI_CELL_VALUE,
					 .number = number});
}

void hi_cell_address(struct hi_report_table *table, uint64_t address)
{
	if (address)
		hi_cell_number(table, address);
	else
		hi_cell_empty(table);
}

void hi_cell_at_least(struct hi_report_table *table, uint64_t number)
{
	add_cell(table, (struct hi_cell){.state = number == UINT64_MAX ? HI_CELL_UNKNOWN
								       : HI_CELL_VALUE,
					 .at_least = true,
					 .number = number});
}

void hi_cell_signed(struct hi_report_table *table, int64_t number)
{
	uint64_t magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

	add_cell(table, (struct hi_cell){.state = HI_CELL_VALUE,
					 .negative = number < 0,
					 .number = magnitude});
}

void hi_cell_percent(struct hi_report_table *table, uint64_t part, uint64_t whole)
{
	bool known = part != UINT64_MAX && whole != UINT64_MAX && whole != 0;

	add_cell(table, (struct hi_cell){.state = known ? HI_CELL_VALUE : HI_CELL_UNKNOWN,
					 .number = part,
					 .whole = whole});
}

void hi_cell_empty(struct hi_report_table *table)
{
	add_cell(table, (struct hi_cell){.state = HI_CELL_EMPTY});
}

void hi_report_table_stress(struct hi_report_table *table)
{
	size_t rows = hi_report_table_rows(table);

	if (rows && !hi_vector_push(&table->strong, rows - 1))
		table->page->failed = true;
}

char *hi_percent(char out[16], uint64_t part, uint64_t whole)
{
	unsigned __int128 scaled = (unsigned __int128)part * 1000;
	uint64_t tenths;

	if (part == UINT64_MAX || whole == UINT64_MAX || whole == 0) {
		snprintf(out, 16, "?");
		return out;
	}
	scaled = (scaled + whole / 2) / whole;
	tenths = scaled > 99999999 ? 99999999 : (uint64_t)scaled;
	if (part == 0 || part == whole)
		snprintf(out, 16, part ? "100 %%" : "0 %%");
	else if (tenths == 0)
		snprintf(out, 16, "<0.1 %%");
	else if (tenths == 1000 && part < whole)
		snprintf(out, 16, ">99.9 %%");
	else
		snprintf(out, 16, "%" PRIu64 ".%u %%", tenths / 10,
			 (unsigned)(tenths % 10));
	return out;
}

char *hi_bytes(char out[24], uint64_t bytes)
{
	if (bytes != UINT64_MAX)
		return hi_text_bytes(out, bytes);
	out[0] = '?';
	out[1] = 0;
	return out;
}

char *hi_count(char out[32], uint64_t count)
{
	if (count != UINT64_MAX)
		return hi_text_count(out, count);
	out[0] = '?';
	out[1] = 0;
	return out;
}
