/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists the tables and columns that a statement can use. */
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files.h"
#include "cli/command/command.h"
#include "cli/command/write_report.h"
#include "cli/commands/query.h"
#include "query/query.h"

static const char *unit_name(enum hi_result_unit unit)
{
	static const char *const names[] = {[HI_UNIT_NUMBER] = "number",
					    [HI_UNIT_ID] = "number",
					    [HI_UNIT_BYTES] = "bytes",
					    [HI_UNIT_ADDRESS] = "address",
					    [HI_UNIT_TEXT] = "text"};

	return names[unit];
}

static void page_of_table(const struct hi_query_table *t, struct hi_page *page)
{
	hi_page_heading(page, t->name, t->about);
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct hi_query_column *c = &t->columns[i];

		hi_page_fact(
			page,
			hi_page_printf(page, "%s%s", c->name, c->is_hidden ? " *" : ""),
			c->unit == HI_UNIT_BYTES
				? hi_page_printf(page, "%s (bytes)", c->about)
				: c->about);
	}
}

static void display_query_schema(struct hi_page *page)
{
	for (size_t i = 0; i < hi_query_tables(); i++) {
		struct hi_query_table table = hi_query_table(i);

		page_of_table(&table, page);
	}
	hi_page_blank(page);
	hi_page_note(page,
		     "* not in SELECT *. NULL is unknown. object_at(address) is the "
		     "object that an address lies in. docs/QUERY.md has examples.");
}

static void put_query_schema_json(struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", "heapinspect/query-schema/v1");
	hi_json_array(json, "tables");
	for (size_t i = 0; i < hi_query_tables(); i++) {
		struct hi_query_table t = hi_query_table(i);

		hi_json_object(json, NULL);
		hi_json_text(json, "name", t.name);
		hi_json_text(json, "about", t.about);
		hi_json_array(json, "columns");
		for (size_t k = 0; k < t.n_columns; k++) {
			hi_json_object(json, NULL);
			hi_json_text(json, "name", t.columns[k].name);
			hi_json_text(json, "unit", unit_name(t.columns[k].unit));
			hi_json_bool(json, "hidden", t.columns[k].is_hidden);
			hi_json_text(json, "about", t.columns[k].about);
			hi_json_end(json);
		}
		hi_json_end(json);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_end(json);
}

static enum hi_status fill_query_schema(void *, struct hi_page *page,
					struct hi_json *json, struct hi_error *)
{
	if (json)
		put_query_schema_json(json);
	else
		display_query_schema(page);
	return HI_OK;
}

static struct hi_result_cell schema_text_cell(const char *text)
{
	return (struct hi_result_cell){
		.kind = HI_RESULT_TEXT, .text = text, .length = strlen(text)};
}

static enum hi_status show_csv(struct hi_output *output, struct hi_error *err)
{
	static const struct hi_result_column columns[] = {{"table", HI_UNIT_TEXT},
							  {"column", HI_UNIT_TEXT},
							  {"unit", HI_UNIT_TEXT},
							  {"hidden", HI_UNIT_NUMBER},
							  {"about", HI_UNIT_TEXT}};
	struct hi_result result;
	enum hi_status status =
		hi_result_begin(&result, (struct hi_result_target){.csv = output->file},
				columns, 5, 0, err);

	for (size_t i = 0; i < hi_query_tables() && status == HI_OK; i++) {
		struct hi_query_table t = hi_query_table(i);

		for (size_t k = 0; k < t.n_columns && status == HI_OK; k++) {
			const struct hi_query_column *c = &t.columns[k];
			struct hi_result_cell cells[] = {
				schema_text_cell(t.name),
				schema_text_cell(c->name),
				schema_text_cell(unit_name(c->unit)),
				{.kind = HI_RESULT_INTEGER, .integer = c->is_hidden},
				schema_text_cell(c->about)};

			status = hi_result_row(&result, cells, err);
		}
	}
	hi_result_free(&result);
	return status;
}

/* The file is not read, but a name that does not exist is an error all the same. A page
 * of a server has no right to open it by itself. */
static enum hi_status check_named_file(const char *path, struct hi_error *err)
{
	int fd = path ? hi_files_open(path) : -1;

	if (path && fd < 0)
		return hi_fail_errno(err, "%s", path);
	if (fd >= 0)
		close(fd);
	return HI_OK;
}

enum hi_status hi_query_show_schema(const struct hi_options *options,
				    struct hi_output *output, struct hi_error *err)
{
	const enum hi_query_format format = hi_query_format(options);
	enum hi_status status = check_named_file(options->target.file, err);

	if (status != HI_OK)
		return status;
	return format == HI_QUERY_JSON
		       ? hi_write_json(output, fill_query_schema, NULL, err)
	       : format == HI_QUERY_CSV
		       ? show_csv(output, err)
		       : hi_write_page(options, output, fill_query_schema, NULL, err);
}

const struct hi_command hi_command_query_schema = {
	.id = HI_COMMAND_QUERY,
	.name = "query",
	.arguments = "[SQL]",
	.purpose = "",
	.help = "",
	.keeps_rights = true,
	.run_alone = hi_query_show_schema,
	.check = hi_query_check,
};
