/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command/write_report.h"

#include "base/cleanup.h"
#include "cli/command/command.h"
#include "report/parts/legend.h"

enum hi_status hi_write_json(struct hi_output *output, hi_fill_report *fill, void *report,
			     struct hi_error *err)
{
	struct hi_json json;
	enum hi_status status;

	hi_json_init(&json, output->file);
	status = fill(report, NULL, &json, err);
	if (status == HI_OK && !hi_json_finish(&json) && json.failed)
		status = hi_fail_memory(err, "JSON");
	return status;
}

enum hi_status hi_write_page(const struct hi_options *options, struct hi_output *output,
			     hi_fill_report *fill, void *report, struct hi_error *err)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	enum hi_status status;

	if (!page)
		return hi_fail_memory(err, "page");
	page->type_names.keep_full = options->output.full_names;
	page->draws = output->show;
	status = fill(report, page, NULL, err);
	return status == HI_OK ? hi_output_page(output, options, page, err) : status;
}

enum hi_status hi_write_filled(const struct hi_options *options, struct hi_output *output,
			       hi_fill_report *fill, void *report, struct hi_error *err)
{
	return options->output.json ? hi_write_json(output, fill, report, err)
				    : hi_write_page(options, output, fill, report, err);
}

/* ---- of an inspection ---- */

struct inspected {
	struct hi_inspection *in;
	const struct hi_report_header *header;
};

/* All types are added, so that those of one short name are told apart. */
static enum hi_status fill_inspected(void *report, struct hi_page *page,
				     struct hi_json *json, struct hi_error *err)
{
	const struct inspected *i = report;
	struct hi_inspection *in = i->in;
	enum hi_status status;

	for (uint32_t t = 0; page && in->graph && t < in->graph->n_types; t++)
		hi_type_names_add(&page->type_names, in->graph->types[t].name);
	status = in->options->command->run(in, i->header, page, json, err);
	if (status == HI_OK)
		status = hi_inspect_check(in, err);
	if (status == HI_OK && hi_inspect_lost_something(in))
		status = hi_fail_memory(err, "report");
	if (status != HI_OK || !page)
		return status;
	for (size_t n = 0; n < in->diagnostics.notes.count; n++)
		hi_page_note_above_commands(
			page, hi_page_safe(page, in->diagnostics.notes.items[n]));
	hi_legend_add(page);
	return HI_OK;
}

enum hi_status hi_write_report(struct hi_inspection *in,
			       const struct hi_report_header *header,
			       struct hi_output *output, struct hi_error *err)
{
	const struct hi_options *o = in->options;
	struct inspected inspected = {in, header};

	return o->command->write
		       ? o->command->write(in, header, output, err)
		       : hi_write_filled(o, output, fill_inspected, &inspected, err);
}
