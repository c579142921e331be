/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/exports/export_table.h"

#include <inttypes.h>
#include <string.h>

#include "report/exports/export.h"
#include "report/parts/report_node.h"

/* ---- CSV ---- */

static void begin_csv_row(struct hi_export_table *t)
{
	t->has_cells = false;
}

static void csv_row_end(struct hi_export_table *t)
{
	fputc('\n', t->out);
}

/* Quoted where it must be. */
static void put_csv_text(struct hi_export_table *t, const char *name, const char *value)
{
	char safe[HI_EXPORT_TEXT];

	if (t->has_cells)
		fputc(',', t->out);
	t->has_cells = true;
	hi_export_safe(safe, t->is_heading ? name : value ? value : "");
	if (!strpbrk(safe, ",\"\r\n")) {
		fputs(safe, t->out);
		return;
	}
	fputc('"', t->out);
	for (const char *c = safe; *c; c++) {
		if (*c == '"')
			fputc('"', t->out);
		fputc(*c, t->out);
	}
	fputc('"', t->out);
}

static void csv_number(struct hi_export_table *t, const char *name, uint64_t value)
{
	char digits[24] = "";

	if (value != UINT64_MAX)
		snprintf(digits, sizeof(digits), "%" PRIu64, value);
	put_csv_text(t, name, digits);
}

static void csv_address(struct hi_export_table *t, const char *name, uint64_t value)
{
	char digits[24] = "";

	if (value)
		snprintf(digits, sizeof(digits), "0x%" PRIx64, value);
	put_csv_text(t, name, digits);
}

/* ---- lines of JSON, which have no heading ---- */

static void ndjson_row(struct hi_export_table *t)
{
	if (t->is_heading)
		return;
	hi_json_init(&t->json, t->out);
	t->json.one_line = true;
	hi_json_object(&t->json, NULL);
}

static void ndjson_row_end(struct hi_export_table *t)
{
	if (t->is_heading)
		return;
	hi_json_end(&t->json);
	/* An error of the stream is found, with its reason, when it is closed. */
	if (!hi_json_finish(&t->json) && t->json.failed && t->failure.status == HI_OK)
		(void)!hi_fail_memory(&t->failure, "export");
}

static void ndjson_number(struct hi_export_table *t, const char *name, uint64_t value)
{
	if (!t->is_heading)
		hi_json_number(&t->json, name, value);
}

static void ndjson_text(struct hi_export_table *t, const char *name, const char *value)
{
	if (!t->is_heading)
		hi_json_text(&t->json, name, hi_known(value));
}

static void ndjson_address(struct hi_export_table *t, const char *name, uint64_t value)
{
	if (!t->is_heading)
		hi_json_address(&t->json, name, value);
}

/* ---- Parquet: the heading declares the columns; addresses are numbers ---- */

static void parquet_row_end(struct hi_export_table *t)
{
	if (!t->is_heading && t->failure.status == HI_OK)
		(void)!hi_parquet_end_row(t->parquet, &t->failure);
}

static void add_column(struct hi_export_table *t, const char *name,
		       enum hi_parquet_kind kind)
{
	(void)!hi_parquet_column(t->parquet, name, kind, &t->failure);
}

static void parquet_number(struct hi_export_table *t, const char *name, uint64_t value)
{
	if (t->failure.status != HI_OK)
		return;
	if (t->is_heading)
		add_column(t, name, HI_PARQUET_NUMBER);
	else if (value == UINT64_MAX)
		hi_parquet_null(t->parquet);
	else
		hi_parquet_number(t->parquet, value);
}

static void parquet_address(struct hi_export_table *t, const char *name, uint64_t value)
{
	parquet_number(t, name, value ? value : UINT64_MAX);
}

static void parquet_text(struct hi_export_table *t, const char *name, const char *value)
{
	char safe[HI_EXPORT_TEXT];

	if (t->failure.status != HI_OK)
		return;
	if (t->is_heading)
		add_column(t, name, HI_PARQUET_TEXT);
	else if (!hi_known(value))
		hi_parquet_null(t->parquet);
	else
		hi_parquet_text(t->parquet, hi_export_safe(safe, value));
}

/* ---- all of them ---- */

static const struct hi_export_form forms[] = {
	{.name = "csv",
	 .row = begin_csv_row,
	 .row_end = csv_row_end,
	 .number = csv_number,
	 .text = put_csv_text,
	 .address = csv_address},
	{.name = "ndjson",
	 .row = ndjson_row,
	 .row_end = ndjson_row_end,
	 .number = ndjson_number,
	 .text = ndjson_text,
	 .address = ndjson_address},
	{.name = "parquet",
	 .row_end = parquet_row_end,
	 .number = parquet_number,
	 .text = parquet_text,
	 .address = parquet_address},
};
enum { FORMS = sizeof(forms) / sizeof(forms[0]), PARQUET = 2 };

enum hi_status hi_export_table_open(struct hi_export_table *t, const char *format,
				    bool uncompressed, FILE *out, struct hi_error *err)
{
	const struct hi_parquet_options options = {.uncompressed = uncompressed};

	*t = (struct hi_export_table){.form = &forms[0], .out = out, .is_heading = true};
	for (size_t i = 0; i < FORMS; i++)
		if (strcmp(forms[i].name, format) == 0)
			t->form = &forms[i];
	if (t->form != &forms[PARQUET])
		return HI_OK;
	return hi_parquet_create(out, &options, &t->parquet, err);
}

bool hi_export_table_is_fine(const struct hi_export_table *t)
{
	return t->failure.status == HI_OK;
}

enum hi_status hi_export_table_finish(struct hi_export_table *t,
				      const struct hi_parquet_property *properties,
				      size_t n, struct hi_error *err)
{
	if (t->failure.status != HI_OK) {
		*err = t->failure;
		return err->status;
	}
	return t->parquet ? hi_parquet_finish(t->parquet, properties, n, err) : HI_OK;
}

void hi_export_table_free(struct hi_export_table *t)
{
	hi_parquet_destroy(t->parquet);
	t->parquet = NULL;
}

void hi_export_row(struct hi_export_table *t)
{
	if (t->form->row)
		t->form->row(t);
}

void hi_export_row_end(struct hi_export_table *t)
{
	if (t->form->row_end)
		t->form->row_end(t);
}

void hi_export_number(struct hi_export_table *t, const char *name, uint64_t value)
{
	t->form->number(t, name, value);
}

void hi_export_text(struct hi_export_table *t, const char *name, const char *value)
{
	t->form->text(t, name, value);
}

void hi_export_address(struct hi_export_table *t, const char *name, uint64_t value)
{
	t->form->address(t, name, value);
}
