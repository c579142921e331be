/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command.h"
#include "cli/lookup.h"
#include "report/census_report.h"

enum { TOP = 30 };

static enum hi_status run(struct hi_inspection *in, const struct hi_head *head,
			  struct hi_page *page, struct hi_json *json,
			  struct hi_error *err)
{
	struct hi_census_report *report = NULL;
	struct hi_type_set set;
	struct hi_restrict only;
	enum hi_status status = hi_lookup_restrict(in, TOP, &set, &only, err);

	if (status != HI_OK)
		return status;
	status =
		hi_census_report_create(head, in->graph, in->census, &only, &report, err);
	hi_type_set_free(&set);
	if (status != HI_OK)
		return status;
	if (json)
		hi_census_json(report, json);
	else
		hi_census_display(report, page);
	hi_census_report_destroy(report);
	return HI_OK;
}

const struct hi_command hi_command_census = {
	.id = HI_COMMAND_CENSUS,
	.name = "census",
	.arguments = "",
	.purpose = "Live bytes by type: count, shallow and retained bytes, evidence.",
	.help = "Examples:\n"
		"  heapinspect census --by type --pid 4242 --all\n"
		"  heapinspect census --pid 4242 --type 'struct conn*' --min-size 1MiB",
	.wanted = HI_WANT_DOMINATORS | HI_WANT_CENSUS,
	.run = run,
};
