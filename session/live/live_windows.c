/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/live_windows.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "session/live/recorder.h"
#include "session/recorded.h"

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

static bool has_window_figures(const struct hi_window_site *site)
{
	return site->rate.allocs.value > 0 || site->live_bytes.high > 0 ||
	       site->lost.high > 0;
}

/* One of each group that has figures. */
static enum hi_status make_window_rows(const struct hi_recorded *recorded,
				       const struct hi_birth_groups *groups,
				       const struct hi_window_site *sites,
				       struct hi_inspected_windows *ret,
				       struct hi_error *err)
{
	size_t n = 0;

	ret->rows = hi_calloc(groups->n_groups + 1u, sizeof(*ret->rows));
	if (!ret->rows)
		return hi_fail_memory(err, "windows");
	for (uint32_t i = HI_GROUP_NO_STACK; i < groups->n_groups; i++) {
		uint32_t key = groups->groups[i].key;
		struct hi_window_row *row = &ret->rows[n];

		if (!has_window_figures(&sites[i]))
			continue;
		n++;
		row->has_site = i >= HI_GROUPS_FIXED && key < recorded->frames.n_rows;
		row->site = row->has_site ? recorded->frames.rows[key]
					  : (struct hi_frame_row){.module = "",
								  .function = "",
								  .file = ""};
		row->figures = sites[i];
	}
	ret->result.rows = ret->rows;
	ret->result.n_rows = n;
	return HI_OK;
}

static uint64_t duration_of(const struct hi_recorded *recorded)
{
	const struct hi_births *b = recorded->births;

	return b->end_ns > b->start_ns ? b->end_ns - b->start_ns : 0;
}

/* live, lost: bits of the objects. */
static enum hi_status estimate_windows(const struct hi_inspection *in,
				       const struct hi_recorded *recorded,
				       const uint64_t *live, const uint64_t *lost,
				       struct hi_inspected_windows *ret,
				       struct hi_error *err)
{
	HI_GUARD(hi_birth_groups_destroy) struct hi_birth_groups *groups = NULL;
	HI_GUARD(free) struct hi_window_site *sites = NULL;
	struct hi_window_blocks blocks = {.windows = recorded->windows,
					  .objects = in->graph->objects,
					  .births = recorded->births,
					  .speed =
						  hi_window_speed(&recorded->window_load),
					  .live_bits = live,
					  .lost_bits = lost,
					  .outstanding = recorded->outstanding};
	enum hi_status status =
		hi_birth_groups_make(recorded->births, &recorded->contexts,
				     &recorded->frames, HI_BORN_BY_SITE, &groups, err);

	blocks.groups = groups;
	blocks.duration_ns = duration_of(recorded) - recorded->windows_blind_ns;
	if (status == HI_OK)
		status = hi_window_sites_make(&blocks, &sites, err);
	return status == HI_OK ? make_window_rows(recorded, groups, sites, ret, err)
			       : status;
}

static void fill_window_result(const struct hi_recorded *recorded,
			       struct hi_window_result *ret)
{
	ret->totals = hi_windows_totals(recorded->windows);
	ret->load = recorded->window_load;
	ret->choice = recorded->windows_choice;
	ret->late_hits = recorded->late_hits;
	ret->duration_ns = duration_of(recorded);
	ret->blind_ns = recorded->windows_blind_ns;
	ret->events = recorded->counts.events;
	ret->lost_events = recorded->counts.lost;
}

static enum hi_status make_window_result(struct hi_inspection *in,
					 const struct hi_recorded *recorded,
					 struct hi_inspected_windows *ret,
					 struct hi_error *err)
{
	HI_GUARD(free) uint64_t *live = hi_inspect_live_bits(in);
	HI_GUARD(free) uint64_t *lost = hi_inspect_leak_bits(in);
	const struct hi_objects *objects = in->graph->objects;

	if (!live || !lost)
		return hi_fail_memory(err, "objects of a recording");
	fill_window_result(recorded, &ret->result);
	sum_objects(objects, live, &ret->result.objects, &ret->result.bytes);
	sum_objects(objects, lost, &ret->result.lost, &ret->result.lost_bytes);
	return estimate_windows(in, recorded, live, lost, ret, err);
}

enum hi_status hi_live_read_windows(struct hi_inspection *in,
				    struct hi_inspected_windows *ret,
				    struct hi_error *err)
{
	const struct hi_recorded *recorded = NULL;
	enum hi_status status = hi_inspect_recorded_if_any(in, &recorded, err);

	if (status != HI_OK)
		return status;
	if (!recorded || !recorded->windows)
		return hi_fail(err, HI_NOT_FOUND, 0, "not recorded by windows");
	ret->result.allocator =
		in->run->recorder ? hi_recorder_module(in->run->recorder) : "";
	return make_window_result(in, recorded, ret, err);
}
