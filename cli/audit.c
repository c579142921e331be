/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command.h"
#include "decode/typing/audit.h"
#include "report/audit_report.h"

enum { TOP = 20 };

static enum hi_status run(struct hi_inspection *in, const struct hi_head *head,
			  struct hi_page *page, struct hi_json *json,
			  struct hi_error *err)
{
	struct hi_audit audit = {};
	struct hi_audit_report report = {.head = head,
					 .graph = in->graph,
					 .audit = &audit,
					 .garbage_objects = in->reach->leak_objects,
					 .garbage_bytes = in->reach->leak_bytes,
					 .top = in->options->all ? SIZE_MAX : TOP};
	enum hi_status status =
		hi_runtime_audit(in->typing, in->runtime, in->graph, &audit, err);

	if (status != HI_OK)
		return status;
	if (in->options->top)
		report.top = in->options->top;
	if (json)
		hi_audit_json(&report, json);
	else
		hi_audit_display(&report, page);
	hi_audit_deinit(&audit);
	return HI_OK;
}

const struct hi_command hi_command_audit = {
	.id = HI_COMMAND_AUDIT,
	.name = "audit",
	.arguments = "",
	.purpose = "Objects that count more references than were found: what C code "
		   "leaks or hides.",
	.help = "Examples:\n"
		"  heapinspect audit --pid 4242\n"
		"  heapinspect audit --pid 4242 --at gc --json\n",
	.wanted = 0,
	.run = run,
};
