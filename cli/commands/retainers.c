/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/cleanup.h"
#include "cli/command/command.h"
#include "cli/options/link_options.h"
#include "report/reports/retainers/retainers_report.h"
#include "session/operands.h"
#include "session/retainers/pure.h"
#include "session/retainers/retaining.h"
#include "session/series/rows.h"

enum { TOP = 20 };

static const char *name_of_retainer_row(void *arg, uint32_t identity)
{
	return hi_interner_name(arg, identity);
}

static enum hi_status run_retainers_command(struct hi_inspection *in,
					    const struct hi_report_header *header,
					    struct hi_page *page, struct hi_json *json,
					    struct hi_error *err)
{
	static const char *const words[] = {"type", "var", "site", "module", "addr"};
	HI_GUARD(hi_retainers_report_destroy) struct hi_retainers_report *report = NULL;
	const struct hi_profile_options *p = &in->options->profile;
	struct hi_retainers_view view = {
		.identity = words[p->identity],
		.max_set = p->max_set ? p->max_set : HI_PROFILE_MAX_SET,
		.by_count = p->count,
		.pure = p->pure,
		.has_pure = p->pure || json,
		.pure_of = hi_pure_bytes,
		.pure_arg = in,
		.shown = in->shown.reach == in->results.reach ? NULL : in->shown.reach,
		.allocated = hi_inspect_allocated(in),
		.name = name_of_retainer_row,
		.min_size = in->options->selection.min_size,
	};
	enum hi_status status;

	hi_inspect_phase(in, "retainer sets");
	status = hi_retaining_compute(in, err);
	if (status == HI_OK)
		status = hi_link_options_of(in, &view.options, err);
	if (status != HI_OK)
		return status;
	view.arg = &in->profile.retaining->names;
	view.system = in->profile.retaining->system;
	view.heap_retainers = in->profile.retaining->heap_objects;
	view.auto_types = in->profile.retaining->auto_types;
	view.auto_by_hints = in->profile.retaining->auto_by_hints;
	status = hi_retainers_report_create(
		header, in->graph, in->results.reach, in->profile.retaining->sets,
		in->profile.retaining->pool, &view, hi_lookup_top(in->options, TOP),
		&report, err);
	if (status != HI_OK)
		return status;
	if (json)
		hi_retainers_json(report, json);
	else
		hi_retainers_display(report, page);
	return HI_OK;
}

const struct hi_command hi_command_retainers = {
	.id = HI_COMMAND_RETAINERS,
	.name = "retainers",
	.arguments = "",
	.purpose = "Show live bytes by the set of their nearest retainers.",
	.help = "Every root variable is a retainer. --retainer adds objects.\n"
		"\n"
		"Examples:\n"
		"  heapinspect retainers --pid 4242\n"
		"  heapinspect retainers --pid 4242 --retainer 'struct conn' --max-set "
		"4\n"
		"  heapinspect retainers --pid 4242 --retainer auto --identity addr\n"
		"  heapinspect census --pid 4242 --retainer conn --retained-by conn",
	.wanted = 0,
	.has_no_verdicts = true,
	.run = run_retainers_command,
	.sample = hi_series_retainers,
	.groups_by_retainers = true,
	.page = HI_COMMAND_PAGE,
};
