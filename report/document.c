/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/document.h"

#include <string.h>

#include "report/type_name.h"

static const struct hi_doc_field text_fields[] = {
	{.unit = HI_DOC_TEXT, .at = {.stored = HI_STORED_STRING}}};
const struct hi_doc_fields hi_doc_texts =
	HI_DOC_FIELDS(text_fields, .row_size = sizeof(const char *));

static struct hi_doc_value read_doc_member(const struct hi_doc_member *m, const char *row)
{
	const void *at = row + m->offset;

	switch (m->stored) {
	case HI_STORED_PART:
		return hi_doc_nested(at, 1);
	case HI_STORED_POINTER:
		return hi_doc_nested(*(const void *const *)at, 1);
	case HI_STORED_ROWS:
		return hi_doc_nested(*(const void *const *)at,
				     *(const size_t *)(const void *)(row + m->n_offset));
	case HI_STORED_ARRAY:
		return hi_doc_nested(at, m->n_offset);
	case HI_STORED_U64:
		return hi_doc_number(*(const uint64_t *)at);
	case HI_STORED_U32:
		return hi_doc_number(*(const uint32_t *)at);
	case HI_STORED_U16:
		return hi_doc_number(*(const uint16_t *)at);
	case HI_STORED_U8:
		return hi_doc_number(*(const uint8_t *)at);
	case HI_STORED_I64:
		return hi_doc_signed(*(const int64_t *)at);
	case HI_STORED_I32:
		return hi_doc_signed(*(const int *)at);
	case HI_STORED_DOUBLE:
		return hi_doc_real(*(const double *)at);
	case HI_STORED_BOOL:
		return hi_doc_number(*(const bool *)at);
	case HI_STORED_STRING:
		return hi_doc_text(*(const char *const *)at);
	case HI_STORED_CHARS:
		return hi_doc_text(at);
	}
	return hi_doc_none();
}

struct hi_doc_value hi_doc_read(const struct hi_doc_field *field,
				const struct hi_doc_row *row)
{
	struct hi_doc_value value =
		field->value ? field->value(row) : read_doc_member(&field->at, row->row);

	if (field->whole.stored)
		value = hi_doc_part(value.number,
				    read_doc_member(&field->whole, row->report).number);
	return value;
}

struct hi_doc_row hi_doc_nested_row(const struct hi_doc_fields *fields,
				    const struct hi_doc_value *value, size_t i,
				    const struct hi_doc_row *parent)
{
	struct hi_doc_row row = *parent;

	row.parent = parent->row;
	row.variant |= fields->form;
	row.row = (const char *)value->rows + i * fields->row_size;
	row.index = i;
	return row;
}

/* ---- JSON ---- */

/* Optional members are left out where this holds. */
static bool has_no_value(const struct hi_doc_field *field,
			 const struct hi_doc_value *value)
{
	return value->kind == HI_DOC_NONE ||
	       (value->kind == HI_DOC_NUMBER && value->number == UINT64_MAX) ||
	       (value->kind == HI_DOC_STRING && !*value->text) ||
	       (value->kind == HI_DOC_NESTED &&
		(field->unit == HI_DOC_OBJECT ? !value->rows : !value->n_rows));
}

static void put_doc_number(const struct hi_doc_field *field, uint64_t number,
			   struct hi_json *json)
{
	if (field->word)
		hi_json_text(json, field->key,
			     number == UINT64_MAX ? NULL : field->word((unsigned)number));
	else if (field->unit == HI_DOC_ADDRESS)
		hi_json_address(json, field->key, number);
	else if (field->unit == HI_DOC_FLAG)
		hi_json_bool(json, field->key, number != 0);
	else
		hi_json_number(json, field->key, number);
}

static void put_doc_string(const struct hi_doc_field *field, const char *text,
			   struct hi_json *json)
{
	if (field->nullable)
		text = hi_known(text);
	else if (field->unit == HI_DOC_TYPE)
		text = hi_type_key(text);
	(field->is_escaped ? hi_json_escaped : hi_json_text)(json, field->key, text);
}

/* Depth: of the tables of fields, which are constants.
 * NOLINTBEGIN(misc-no-recursion) */
static void put_nested(const struct hi_doc_field *field, const struct hi_doc_value *value,
		       const struct hi_doc_row *row, struct hi_json *json)
{
	const struct hi_doc_fields *fields = field->nested;

	if (field->unit == HI_DOC_OBJECT) {
		struct hi_doc_row only = hi_doc_nested_row(fields, value, 0, row);

		hi_json_object(json, field->key);
		hi_doc_put(fields, &only, json);
		hi_json_end(json);
		return;
	}
	hi_json_array(json, field->key);
	for (size_t i = 0; i < value->n_rows; i++) {
		struct hi_doc_row one = hi_doc_nested_row(fields, value, i, row);

		if (fields->is_left_out && fields->is_left_out(&one))
			continue;
		if (field->unit == HI_DOC_ROWS)
			hi_json_object(json, NULL);
		hi_doc_put(fields, &one, json);
		if (field->unit == HI_DOC_ROWS)
			hi_json_end(json);
	}
	hi_json_end(json);
}

void hi_doc_put_value(const struct hi_doc_field *field, const struct hi_doc_value *value,
		      const struct hi_doc_row *row, struct hi_json *json)
{
	switch (value->kind) {
	case HI_DOC_NONE:
		hi_json_null(json, field->key);
		break;
	case HI_DOC_NUMBER:
		put_doc_number(field, value->number, json);
		break;
	case HI_DOC_SIGNED:
		hi_json_signed(json, field->key, value->sum);
		break;
	case HI_DOC_FRACTION:
		hi_json_real(json, field->key, value->fraction);
		break;
	case HI_DOC_PART:
		if (value->whole && value->number != UINT64_MAX)
			hi_json_real(json, field->key,
				     (double)value->number / (double)value->whole);
		else
			hi_json_null(json, field->key);
		break;
	case HI_DOC_STRING:
		put_doc_string(field, value->text, json);
		break;
	case HI_DOC_NESTED:
		if (value->rows || field->unit != HI_DOC_OBJECT)
			put_nested(field, value, row, json);
		else
			hi_json_null(json, field->key);
		break;
	}
}

void hi_doc_put(const struct hi_doc_fields *fields, const struct hi_doc_row *row,
		struct hi_json *json)
{
	for (size_t i = 0; i < fields->count; i++) {
		const struct hi_doc_field *field = &fields->items[i];
		struct hi_doc_value value;

		if ((field->variants && !(field->variants & row->variant)) ||
		    (!field->key && field->title))
			continue;
		if (field->put) {
			field->put(row, field, json);
			continue;
		}
		value = hi_doc_read(field, row);
		if (field->optional && has_no_value(field, &value))
			continue;
		if (field->unit == HI_DOC_MEMBERS) {
			struct hi_doc_row part =
				hi_doc_nested_row(field->nested, &value, 0, row);

			hi_doc_put(field->nested, &part, json);
		} else {
			hi_doc_put_value(field, &value, row, json);
		}
	}
}
/* NOLINTEND(misc-no-recursion) */

void hi_doc_put_report(const struct hi_doc_fields *fields, const void *report,
		       unsigned variant, struct hi_json *json)
{
	struct hi_doc_row row = {.report = report, .row = report, .variant = variant};

	hi_doc_put(fields, &row, json);
}
