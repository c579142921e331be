/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command.h"
#include "cli/lookup.h"
#include "decode/typing/audit.h"
#include "report/audit_report.h"

enum { TOP = 20 };

static enum hi_status audit(struct hi_inspection *in, struct hi_audit_report *report,
			    struct hi_audit *audit, struct hi_error *err)
{
	enum hi_status status =
		hi_runtime_audit(in->typing, in->runtime, in->graph, audit, err);

	if (status == HI_OK)
		status = hi_garbage_compute(in->graph, in->reach, &report->garbage, err);
	return status;
}

static enum hi_status run(struct hi_inspection *in, const struct hi_head *head,
			  struct hi_page *page, struct hi_json *json,
			  struct hi_error *err)
{
	struct hi_audit found = {};
	struct hi_audit_report report = {.head = head,
					 .graph = in->graph,
					 .audit = &found,
					 .top = hi_lookup_top(in->options, TOP)};
	enum hi_status status = audit(in, &report, &found, err);

	if (status == HI_OK && json)
		hi_audit_json(&report, json);
	else if (status == HI_OK)
		hi_audit_display(&report, page);
	hi_audit_deinit(&found);
	hi_garbage_destroy(report.garbage);
	return status;
}

const struct hi_command hi_command_audit = {
	.id = HI_COMMAND_AUDIT,
	.name = "audit",
	.arguments = "",
	.purpose = "Objects that count more references than were found (what C code "
		   "leaks or hides), and garbage.",
	.help = "Examples:\n"
		"  heapinspect audit --pid 4242\n"
		"  heapinspect audit --pid 4242 --at gc --json\n",
	.wanted = 0,
	.run = run,
};
