/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/record/record_windows.h"

#include <stdlib.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "report/parts/windows_report.h"
#include "session/live/recorder.h"
#include "session/operands.h"

enum { TOP = 20 };

static void sum_objects(const struct hi_objects *objects, const uint64_t *bits,
			uint64_t *n_ret, uint64_t *bytes_ret)
{
	*n_ret = *bytes_ret = 0;
	for (hi_node i = 0; i < objects->count; i++)
		if (hi_bit(bits, i)) {
			++*n_ret;
			*bytes_ret += hi_objects_cost(objects, i);
		}
}

enum hi_status hi_record_windows_run(struct hi_inspection *in,
				     const struct hi_report_header *header,
				     const struct hi_recorded *recorded,
				     struct hi_page *page, struct hi_json *json,
				     struct hi_error *err)
{
	HI_GUARD(hi_birth_groups_destroy) struct hi_birth_groups *groups = NULL;
	HI_GUARD(free) uint64_t *live = hi_inspect_live_bits(in);
	HI_GUARD(free) uint64_t *lost = hi_inspect_leak_bits(in);
	HI_GUARD(free) struct hi_window_site *sites = NULL;
	struct hi_window_blocks blocks = {.windows = recorded->windows,
					  .objects = in->graph->objects,
					  .births = recorded->births,
					  .speed =
						  hi_window_speed(&recorded->window_load),
					  .live_bits = live,
					  .lost_bits = lost,
					  .outstanding = recorded->outstanding};
	struct hi_windows_report report = {.header = header,
					   .recorded = recorded,
					   .top = hi_lookup_top(in->options, TOP)};
	enum hi_status status;

	if (!live || !lost)
		return hi_fail_memory(err, "objects of a recording");
	status = hi_birth_groups_make(recorded->births, &recorded->contexts,
				      &recorded->frames, HI_BORN_BY_SITE, &groups, err);
	blocks.groups = groups;
	if (status == HI_OK)
		status = hi_window_sites_make(&blocks, &sites, err);
	if (status != HI_OK)
		return status;
	report.groups = groups;
	report.sites = sites;
	report.allocator =
		in->run->recorder ? hi_recorder_module(in->run->recorder) : NULL;
	sum_objects(in->graph->objects, live, &report.objects, &report.bytes);
	sum_objects(in->graph->objects, lost, &report.lost, &report.lost_bytes);
	if (json)
		hi_windows_json(&report, json);
	else
		hi_windows_display(&report, page);
	return HI_OK;
}
