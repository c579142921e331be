/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command.h"
#include "cli/lookup.h"
#include "report/leaks_report.h"

enum { TOP = 20 };

static enum hi_status run(struct hi_inspection *in, const struct hi_head *head,
			  struct hi_page *page, struct hi_json *json,
			  struct hi_error *err)
{
	struct hi_leaks_report *report = NULL;
	struct hi_type_set set;
	struct hi_restrict only;
	enum hi_status status = hi_lookup_restrict(in, TOP, &set, &only, err);

	if (status != HI_OK)
		return status;
	status = hi_leaks_report_create(head, in->graph, in->shown, in->leaks, &only,
					&report, err);
	hi_type_set_free(&set);
	if (status != HI_OK)
		return status;
	if (json)
		hi_leaks_json(report, json);
	else
		hi_leaks_display(report, page);
	hi_leaks_report_destroy(report);
	return HI_OK;
}

const struct hi_command hi_command_leaks = {
	.id = HI_COMMAND_LEAKS,
	.name = "leaks",
	.arguments = "",
	.purpose = "Allocated objects that no root leads to, by leak root.",
	.help = "Examples:\n"
		"  heapinspect leaks --pid 4242\n"
		"  heapinspect leaks --core core.4242 --type 'struct node' --all",
	.wanted = HI_WANT_LEAKS,
	.run = run,
};
