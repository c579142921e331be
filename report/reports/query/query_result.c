/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/query/query_result.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/parts/report_links.h"

enum { TEXT_MAX = 64 << 10 };

/* ---- CSV ---- */

/* Quoted where it must be; "" is an empty string, nothing is NULL. */
static bool put_result_csv_text(FILE *out, const char *text, size_t length)
{
	size_t n = length < TEXT_MAX ? length : TEXT_MAX;
	HI_GUARD(free) char *safe = hi_alloc(n * 4 + 8);

	if (!safe)
		return false;
	hi_text_escape(safe, n * 4 + 8, text, n);
	if (*safe && !strpbrk(safe, ",\"")) {
		fputs(safe, out);
		return true;
	}
	putc('"', out);
	for (const char *c = safe; *c; c++) {
		if (*c == '"')
			putc('"', out);
		putc(*c, out);
	}
	putc('"', out);
	return true;
}

static enum hi_status csv_names(const struct hi_result *r, struct hi_error *err)
{
	for (size_t i = 0; i < r->n_columns; i++) {
		const char *name = r->columns[i].name;

		if (i)
			putc(',', r->to.csv);
		if (!put_result_csv_text(r->to.csv, name, strlen(name)))
			return hi_fail_memory(err, "CSV");
	}
	putc('\n', r->to.csv);
	return HI_OK;
}

static bool csv_cell(FILE *out, enum hi_result_unit unit,
		     const struct hi_result_cell *cell)
{
	switch (cell->kind) {
	case HI_RESULT_INTEGER:
		fprintf(out, unit == HI_UNIT_ADDRESS ? "0x%" PRIx64 : "%" PRId64,
			cell->integer);
		return true;
	case HI_RESULT_REAL:
		fprintf(out, "%.15g", cell->real);
		return true;
	case HI_RESULT_TEXT:
		return put_result_csv_text(out, cell->text, cell->length);
	case HI_RESULT_NULL:
	default:
		return true;
	}
}

static enum hi_status put_result_csv_row(const struct hi_result *r,
					 const struct hi_result_cell *cells,
					 struct hi_error *err)
{
	for (size_t i = 0; i < r->n_columns; i++) {
		if (i)
			putc(',', r->to.csv);
		if (!csv_cell(r->to.csv, r->columns[i].unit, &cells[i]))
			return hi_fail_memory(err, "CSV");
	}
	putc('\n', r->to.csv);
	return HI_OK;
}

/* ---- JSON ---- */

static bool has_name(const struct hi_result *r, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(r->names[i], name) == 0)
			return true;
	return false;
}

/* The second "id" is "id:2". */
static enum hi_status make_names(struct hi_result *r, struct hi_error *err)
{
	r->names = hi_arena_alloc(&r->arena, r->n_columns * sizeof(*r->names));
	for (size_t i = 0; r->names && i < r->n_columns; i++) {
		char safe[1024];

		hi_text_escape(safe, sizeof(safe), r->columns[i].name,
			       strlen(r->columns[i].name));
		r->names[i] = hi_arena_strdup(&r->arena, safe);
		for (size_t k = 2; r->names[i] && has_name(r, i, r->names[i]); k++)
			r->names[i] = hi_arena_printf(&r->arena, "%s:%zu", safe, k);
		if (!r->names[i])
			return hi_fail_memory(err, "JSON");
	}
	return r->names ? HI_OK : hi_fail_memory(err, "JSON");
}

static void json_columns(const struct hi_result *r)
{
	static const char *const units[] = {[HI_UNIT_NUMBER] = "number",
					    [HI_UNIT_ID] = "id",
					    [HI_UNIT_BYTES] = "bytes",
					    [HI_UNIT_ADDRESS] = "address",
					    [HI_UNIT_TEXT] = "text"};

	hi_json_array(r->to.json, "columns");
	for (size_t i = 0; i < r->n_columns; i++) {
		hi_json_object(r->to.json, NULL);
		hi_json_text(r->to.json, "name", r->names[i]);
		hi_json_text(r->to.json, "unit", units[r->columns[i].unit]);
		hi_json_end(r->to.json);
	}
	hi_json_end(r->to.json);
	hi_json_array(r->to.json, "rows");
}

/* As long as the text has no NUL in it, which JSON's writer would stop at. */
static enum hi_status json_text(struct hi_json *json, const char *key,
				const struct hi_result_cell *cell, struct hi_error *err)
{
	HI_GUARD(free) char *text = hi_strndup(cell->text, cell->length);

	if (!text)
		return hi_fail_memory(err, "JSON");
	hi_json_text(json, key, text);
	return HI_OK;
}

static enum hi_status json_cell(struct hi_json *json, const char *key,
				enum hi_result_unit unit,
				const struct hi_result_cell *cell, struct hi_error *err)
{
	switch (cell->kind) {
	case HI_RESULT_INTEGER:
		if (unit == HI_UNIT_ADDRESS)
			hi_json_address(json, key, (uint64_t)cell->integer);
		else
			hi_json_signed(json, key, cell->integer);
		return HI_OK;
	case HI_RESULT_REAL:
		hi_json_real(json, key, cell->real);
		return HI_OK;
	case HI_RESULT_TEXT:
		return json_text(json, key, cell, err);
	case HI_RESULT_NULL:
	default:
		hi_json_null(json, key);
		return HI_OK;
	}
}

static enum hi_status put_result_json_row(const struct hi_result *r,
					  const struct hi_result_cell *cells,
					  struct hi_error *err)
{
	enum hi_status status = HI_OK;

	hi_json_object(r->to.json, NULL);
	for (size_t i = 0; i < r->n_columns && status == HI_OK; i++)
		status = json_cell(r->to.json, r->names[i], r->columns[i].unit, &cells[i],
				   err);
	hi_json_end(r->to.json);
	return status;
}

/* ---- a page ---- */

static enum hi_status keep_result_row(struct hi_result *r,
				      const struct hi_result_cell *cells,
				      struct hi_error *err)
{
	for (size_t i = 0; i < r->n_columns; i++) {
		struct hi_result_cell cell = cells[i];

		if (cell.kind == HI_RESULT_TEXT) {
			char *copy = hi_arena_alloc(&r->arena, cell.length + 1);

			if (!copy)
				return hi_fail_memory(err, "rows");
			memcpy(copy, cell.text, cell.length);
			copy[cell.length] = '\0';
			cell.text = copy;
		}
		if (!hi_vector_push(&r->kept, cell))
			return hi_fail_memory(err, "rows");
	}
	return HI_OK;
}

/* Numbers to the right, where nothing else is in the column. */
static enum hi_column_kind column_kind(const struct hi_result *r, size_t column)
{
	static const enum hi_column_kind kinds[] = {[HI_UNIT_NUMBER] = HI_COLUMN_COUNT,
						    [HI_UNIT_ID] = HI_COLUMN_FIGURE,
						    [HI_UNIT_BYTES] = HI_COLUMN_BYTES,
						    [HI_UNIT_ADDRESS] = HI_COLUMN_ADDRESS,
						    [HI_UNIT_TEXT] = HI_COLUMN_COUNT};
	bool has_real = false;

	for (size_t i = column; i < r->kept.count; i += r->n_columns) {
		if (r->kept.items[i].kind == HI_RESULT_TEXT)
			return HI_COLUMN_TEXT;
		has_real |= r->kept.items[i].kind == HI_RESULT_REAL;
	}
	return has_real ? HI_COLUMN_FIGURE : kinds[r->columns[column].unit];
}

static void number_cell(struct hi_page *page, struct hi_report_table *table,
			enum hi_column_kind kind, int64_t number)
{
	if (kind == HI_COLUMN_ADDRESS)
		hi_cell_address(table, (uint64_t)number);
	else if (kind == HI_COLUMN_TEXT || kind == HI_COLUMN_FIGURE)
		hi_cell_text(table, hi_page_printf(page, "%" PRId64, number), 0);
	else
		hi_cell_signed(table, number);
}

static void page_cell(struct hi_page *page, struct hi_report_table *table,
		      enum hi_column_kind kind, const struct hi_result_cell *cell)
{
	switch (cell->kind) {
	case HI_RESULT_INTEGER:
		number_cell(page, table, kind, cell->integer);
		break;
	case HI_RESULT_REAL:
		hi_cell_text(table, hi_page_printf(page, "%.6g", cell->real), 0);
		break;
	case HI_RESULT_TEXT:
		hi_cell_text(table, hi_page_safe(page, cell->text), 0);
		break;
	case HI_RESULT_NULL:
	default:
		hi_cell_number(table, UINT64_MAX);
	}
}

/* Addresses lead to objects, names of types to what keeps them. */
static void link_cell(struct hi_report_table *table,
		      const struct hi_result_column *column, enum hi_column_kind kind,
		      const struct hi_result_cell *cell)
{
	if (cell->kind == HI_RESULT_INTEGER && kind == HI_COLUMN_ADDRESS)
		hi_cell_link(table,
			     hi_address_of_object(table->page, (uint64_t)cell->integer));
	else if (cell->kind == HI_RESULT_TEXT && strcmp(column->name, "type") == 0)
		hi_cell_link(table, hi_address_of_type(table->page, cell->text));
}

static enum hi_status make_result_table(struct hi_result *r, struct hi_error *err)
{
	struct hi_page *page = r->to.page;
	struct hi_column *columns =
		hi_arena_alloc(&page->arena, r->n_columns * sizeof(*columns));
	struct hi_report_table *table;

	if (!columns)
		return hi_fail_memory(err, "table");
	for (size_t i = 0; i < r->n_columns; i++)
		columns[i] = (struct hi_column){
			.title = hi_page_safe(page, r->columns[i].name),
			.kind = column_kind(r, i)};
	table = hi_page_table(page, columns, r->n_columns);
	for (size_t i = 0; i < r->kept.count; i++) {
		size_t k = i % r->n_columns;

		page_cell(page, table, columns[k].kind, &r->kept.items[i]);
		link_cell(table, &r->columns[k], columns[k].kind, &r->kept.items[i]);
	}
	return HI_OK;
}

/* ---- all of them ---- */

enum hi_status hi_result_begin(struct hi_result *r, struct hi_result_target to,
			       const struct hi_result_column *columns, size_t n_columns,
			       size_t most, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	*r = (struct hi_result){
		.to = to, .columns = columns, .n_columns = n_columns, .most = most};
	if (n_columns == 0 || n_columns > HI_RESULT_COLUMNS)
		return hi_fail(err, HI_LIMIT, 0,
			       "result: %zu columns; 1 to %d are supported", n_columns,
			       HI_RESULT_COLUMNS);
	if (to.csv)
		return csv_names(r, err);
	if (to.json)
		status = make_names(r, err);
	if (to.json && status == HI_OK)
		json_columns(r);
	return status;
}

enum hi_status hi_result_row(struct hi_result *r, const struct hi_result_cell *cells,
			     struct hi_error *err)
{
	r->n_rows++;
	if (r->to.csv)
		return put_result_csv_row(r, cells, err);
	if (r->to.json)
		return put_result_json_row(r, cells, err);
	return r->n_rows > r->most ? HI_OK : keep_result_row(r, cells, err);
}

enum hi_status hi_result_end(struct hi_result *r, struct hi_error *err)
{
	if (r->to.json)
		hi_json_end(r->to.json);
	return r->to.page ? make_result_table(r, err) : HI_OK;
}

void hi_result_free(struct hi_result *r)
{
	hi_vector_free(&r->kept);
	hi_arena_free(&r->arena);
}
