/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/births.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/parts/alike_stacks.h"
#include "report/parts/births_report.h"
#include "session/operands.h"
#include "session/recorded.h"

enum { TOP = 20 };

static enum hi_status make_births_report(struct hi_inspection *in,
					 const struct hi_report_header *header,
					 const struct hi_recorded *recorded,
					 const struct hi_birth_groups *groups,
					 struct hi_births_report **ret,
					 struct hi_error *err)
{
	HI_GUARD(free) uint64_t *live = hi_inspect_live_bits(in);
	struct hi_restrict only = {.top = hi_lookup_top(in->options, TOP),
				   .min_size = in->options->selection.min_size};

	if (!live)
		return hi_fail_memory(err, "objects of a recording");
	return hi_births_report_create(header, in->graph->objects, live, recorded, groups,
				       &only, ret, err);
}

enum hi_status hi_births_run(struct hi_inspection *in,
			     const struct hi_report_header *header,
			     const struct hi_births_request *request,
			     struct hi_page *page, struct hi_json *json,
			     struct hi_error *err)
{
	HI_GUARD(hi_birth_groups_destroy) struct hi_birth_groups *groups = NULL;
	HI_GUARD(hi_births_report_destroy) struct hi_births_report *report = NULL;
	const struct hi_recorded *recorded = NULL;
	enum hi_status status = hi_inspect_recorded(in, &recorded, err);

	if (status == HI_OK && recorded->births->is_traced &&
	    (request->by == HI_BORN_BY_THREAD || request->by == HI_BORN_BY_AGE))
		status = hi_fail(err, HI_USAGE, 0,
				 "--by thread, age: tracemalloc, by which the program "
				 "has traced itself, knows neither");
	if (status == HI_OK)
		status = hi_birth_groups_make(recorded->births, &recorded->contexts,
					      &recorded->frames, request->by, &groups,
					      err);
	if (status == HI_OK && !json && !in->options->output.full_names)
		status = hi_alike_stacks_merge(groups, &recorded->contexts,
					       &recorded->frames, err);
	if (status == HI_OK)
		status = make_births_report(in, header, recorded, groups, &report, err);
	if (status != HI_OK)
		return status;
	report->is_of_record = request->is_of_record;
	report->file = request->file;
	report->allocator = request->allocator;
	report->children = request->children;
	if (json)
		hi_births_json(report, json);
	else
		hi_births_display(report, page);
	return HI_OK;
}
