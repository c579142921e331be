/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command/write_report.h"

#include "base/cleanup.h"
#include "cli/command/command.h"
#include "report/parts/legend.h"

HI_DEFINE_GUARD(struct hi_page *, hi_page_destroy)

/* So that types of one short name are told apart. */
static void know_types(const struct hi_inspection *in, struct hi_page *page)
{
	page->type_names.keep_full = in->options->output.full_names;
	for (uint32_t i = 0; in->graph && i < in->graph->n_types; i++)
		hi_type_names_add(&page->type_names, in->graph->types[i].name);
}

enum hi_status hi_write_report(struct hi_inspection *in,
			       const struct hi_report_header *header,
			       struct hi_output *output, struct hi_error *err)
{
	const struct hi_options *o = in->options;
	HI_GUARD(hi_page_destroy) struct hi_page *page = NULL;
	struct hi_json json;
	enum hi_status status;

	if (o->command->write)
		return o->command->write(in, header, output, err);
	if (o->output.json) {
		hi_json_init(&json, output->file);
		status = o->command->run(in, header, NULL, &json, err);
		if (status == HI_OK)
			status = hi_inspect_check(in, err);
		if (status == HI_OK && ((!hi_json_finish(&json) && json.failed) ||
					hi_inspect_lost_something(in)))
			return hi_fail_memory(err, "JSON");
		return status;
	}
	page = hi_page_create();
	if (!page)
		return hi_fail_memory(err, "page");
	know_types(in, page);
	status = o->command->run(in, header, page, NULL, err);
	for (size_t i = 0; i < in->diagnostics.notes.count; i++)
		hi_page_note_above_commands(
			page, hi_page_safe(page, in->diagnostics.notes.items[i]));
	if (status == HI_OK)
		status = hi_inspect_check(in, err);
	if (status == HI_OK && hi_inspect_lost_something(in))
		return hi_fail_memory(err, "report");
	if (status == HI_OK) {
		hi_legend_add(page);
		status = hi_output_page(output, o, page, err);
	}
	return status;
}
