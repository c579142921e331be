/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/export_table.h"

#include <inttypes.h>
#include <string.h>

#include "cli/export.h"
#include "report/node.h"

static void separate(struct hi_export_table *t)
{
	if (t->has_cells)
		fputc(',', t->out);
	t->has_cells = true;
}

/* Quoted where it must be. */
static void csv_text(struct hi_export_table *t, const char *text)
{
	char safe[HI_EXPORT_TEXT];
	FILE *out = t->out;

	hi_export_safe(safe, text);
	if (!strpbrk(safe, ",\"\r\n")) {
		fputs(safe, out);
		return;
	}
	fputc('"', out);
	for (const char *c = safe; *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	fputc('"', out);
}

void hi_export_row(struct hi_export_table *t)
{
	t->has_cells = false;
	if (t->csv)
		return;
	hi_json_init(&t->json, t->out);
	t->json.one_line = true;
	hi_json_object(&t->json, NULL);
}

void hi_export_row_end(struct hi_export_table *t)
{
	if (t->csv) {
		fputs("\r\n", t->out);
	} else {
		hi_json_end(&t->json);
		(void)hi_json_finish(&t->json);
	}
}

void hi_export_number(struct hi_export_table *t, const char *name, uint64_t value)
{
	if (!t->csv) {
		hi_json_number(&t->json, name, value);
		return;
	}
	separate(t);
	if (t->is_heading)
		fputs(name, t->out);
	else if (value != UINT64_MAX)
		fprintf(t->out, "%" PRIu64, value);
}

void hi_export_text(struct hi_export_table *t, const char *name, const char *value)
{
	if (!t->csv) {
		hi_json_text(&t->json, name, hi_known(value));
		return;
	}
	separate(t);
	csv_text(t, t->is_heading ? name : value ? value : "");
}

void hi_export_address(struct hi_export_table *t, const char *name, uint64_t value)
{
	if (!t->csv) {
		hi_json_address(&t->json, name, value);
		return;
	}
	separate(t);
	if (t->is_heading)
		fputs(name, t->out);
	else if (value)
		fprintf(t->out, "0x%" PRIx64, value);
}
