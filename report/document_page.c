/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of pages from described fields (document.h). */
#include "base/text.h"
#include "report/address.h"
#include "report/document.h"
#include "report/type_name.h"

enum hi_column_kind hi_doc_column(const struct hi_doc_field *field)
{
	switch (field->unit) {
	case HI_DOC_BYTES:
		return field->minor ? HI_COLUMN_MINOR_BYTES : HI_COLUMN_BYTES;
	case HI_DOC_COUNT:
		return field->minor ? HI_COLUMN_MINOR_COUNT : HI_COLUMN_COUNT;
	case HI_DOC_FIGURE:
	case HI_DOC_REAL:
		return field->minor ? HI_COLUMN_MINOR_FIGURE : HI_COLUMN_FIGURE;
	case HI_DOC_SHARE:
		return HI_COLUMN_PERCENT;
	case HI_DOC_ADDRESS:
		return HI_COLUMN_ADDRESS;
	case HI_DOC_QUERY:
		return HI_COLUMN_QUERY;
	case HI_DOC_WORD:
		return field->minor ? HI_COLUMN_MINOR_WORD : HI_COLUMN_WORD;
	case HI_DOC_TIME:
	case HI_DOC_FLAG:
		return HI_COLUMN_WORD;
	default:
		return HI_COLUMN_TEXT;
	}
}

static void show_number(struct hi_report_table *table, const struct hi_doc_field *field,
			const struct hi_doc_value *value)
{
	char time[24];

	if (field->word)
		hi_cell_text(table, field->word((unsigned)value->number), 0);
	else if (field->unit == HI_DOC_TIME)
		hi_cell_text(table,
			     value->number == UINT64_MAX
				     ? "?"
				     : hi_text_duration(time, value->number),
			     0);
	else if (field->unit == HI_DOC_ADDRESS)
		hi_cell_address(table, value->number);
	else if (field->unit == HI_DOC_FLAG)
		hi_cell_text(table, value->number ? "yes" : "", 0);
	else if (value->at_least || field->at_least)
		hi_cell_at_least(table, value->number);
	else
		hi_cell_number(table, value->number);
}

void hi_doc_show_value(struct hi_report_table *table, const struct hi_doc_field *field,
		       const struct hi_doc_value *value)
{
	struct hi_page *page = table->page;

	if (value->shown) {
		hi_cell_text(table, value->shown, value->indent);
		return;
	}
	switch (value->kind) {
	case HI_DOC_NUMBER:
		show_number(table, field, value);
		break;
	case HI_DOC_SIGNED:
		hi_cell_signed(table, value->sum);
		break;
	case HI_DOC_FRACTION:
		hi_cell_text(table, hi_page_printf(page, "%.2f", value->fraction), 0);
		break;
	case HI_DOC_PART:
		hi_cell_percent(table, value->number, value->whole);
		break;
	case HI_DOC_STRING:
		hi_cell_text(table,
			     field->unit == HI_DOC_TYPE
				     ? hi_page_type(page, hi_type_key(value->text))
			     : field->is_escaped ? hi_page_safe_again(page, value->text)
						 : hi_page_safe(page, value->text),
			     value->indent);
		break;
	case HI_DOC_NONE:
	case HI_DOC_NESTED:
		hi_cell_empty(table);
		break;
	}
}

/* Returns the field of the next column after `last` (NULL: the first one), NULL after the
 * last one: by place, then in the order of the table. */
static const struct hi_doc_field *next_column(const struct hi_doc_fields *fields,
					      unsigned variant,
					      const struct hi_doc_field *last)
{
	const struct hi_doc_field *best = NULL;

	for (size_t i = 0; i < fields->count; i++) {
		const struct hi_doc_field *f = &fields->items[i];

		if (!f->title || (f->variants && !(f->variants & variant)) ||
		    (f->shown_in && !(f->shown_in & variant)) ||
		    (last &&
		     (f->place < last->place || (f->place == last->place && f <= last))))
			continue;
		if (!best || f->place < best->place)
			best = f;
	}
	return best;
}

struct hi_report_table *hi_doc_show_table(struct hi_page *page,
					  const struct hi_doc_fields *fields,
					  unsigned variant)
{
	static const struct hi_column none = {"", HI_COLUMN_TEXT};
	struct hi_column *columns =
		hi_arena_alloc(&page->arena, fields->count * sizeof(*columns));
	const struct hi_doc_field *f = NULL;
	size_t n = 0;

	if (!columns) {
		page->failed = true;
		return hi_page_table(page, &none, 1);
	}
	while ((f = next_column(fields, variant, f)))
		columns[n++] = (struct hi_column){f->title, hi_doc_column(f)};
	return hi_page_table(page, columns, n);
}

void hi_doc_show_row(struct hi_report_table *table, const struct hi_doc_fields *fields,
		     const struct hi_doc_row *row)
{
	const struct hi_doc_field *f = NULL;

	while ((f = next_column(fields, row->variant, f))) {
		struct hi_doc_value value = hi_doc_read(f, row);

		hi_doc_show_value(table, f, &value);
		if (f->link)
			hi_cell_link(table, f->link(row));
		else if (f->text_link)
			hi_cell_link(table, f->text_link(table->page, value.text));
		else if (f->address_link)
			hi_cell_link(table, f->address_link(table->page, value.number));
	}
	if (fields->is_strong && fields->is_strong(row))
		hi_report_table_stress(table);
}

struct hi_report_table *hi_doc_show_rows(struct hi_page *page,
					 const struct hi_doc_fields *fields,
					 const void *report, unsigned variant,
					 const void *rows, size_t n_rows)
{
	struct hi_report_table *table =
		hi_doc_show_table(page, fields, variant | fields->form);
	struct hi_doc_row row = {
		.report = report, .variant = variant | fields->form, .page = page};

	for (size_t i = 0; i < n_rows; i++) {
		row.row = (const char *)rows + i * fields->row_size;
		row.index = i;
		if (!fields->is_left_out || !fields->is_left_out(&row))
			hi_doc_show_row(table, fields, &row);
	}
	return table;
}
