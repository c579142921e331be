/* SPDX-License-Identifier: BSD-2-Clause */
/* Results of an image of memory. */
#include "session/live/live_source.h"

#include "decode/inference/integers.h"
#include "decode/inference/leak_names.h"
#include "decode/inference/unreachable_classes.h"
#include "decode/inference/verdict.h"
#include "decode/sites/alloc_sites_find.h"
#include "decode/usage/ledger.h"
#include "session/inspection.h"
#include "session/live/decoding.h"
#include "session/live/header.h"
#include "session/live/live_modules.h"
#include "session/live/live_recorded.h"
#include "session/live/live_windows.h"

static enum hi_status compute_image_reach(struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status = hi_reach_compute(in->graph, hi_inspection_threads(in),
						 &in->results.reach, err);

	if (status == HI_OK && in->decoders.runtime)
		status = hi_runtime_classify_unreachable(in->decoders.typing,
							 in->decoders.runtime, in->graph,
							 in->results.reach, err);
	if (status == HI_OK)
		status = hi_integers_count(in->decoders.typing, in->graph,
					   in->results.reach, err);
	if (status == HI_OK && in->results.reach->leak_objects &&
	    !(in->wanted & HI_WANT_NO_VERDICTS)) {
		hi_inspect_phase(in, "verdicts of leaks");
		status = hi_leak_verdicts(in->decoders.typing, in->graph,
					  in->results.reach, err);
	}
	return status;
}

static enum hi_status find_image_leak_groups(struct hi_inspection *in,
					     struct hi_error *err)
{
	return hi_leak_names_find(in->decoders.typing, in->decoders.types, in->graph,
				  in->results.reach, &in->results.leak_groups, err);
}

static enum hi_status find_image_alloc_sites(struct hi_inspection *in,
					     struct hi_alloc_sites **ret,
					     struct hi_error *err)
{
	hi_inspect_phase(in, "sites of allocations");
	return hi_alloc_sites_find(in->decoders.modules, in->decoders.types, ret, err);
}

static enum hi_status compute_image_dominators(struct hi_inspection *in,
					       struct hi_error *err)
{
	return hi_dominators_compute(in->graph, in->results.reach,
				     &in->results.dominators, err);
}

static enum hi_status compute_image_census(struct hi_inspection *in, struct hi_error *err)
{
	return hi_census_by_type(in->graph, in->shown.reach, in->results.dominators,
				 &in->results.census, err);
}

static enum hi_status fill_image_ledger(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_error quiet;
	uint64_t rss = in->stop.target ? in->stop.target->rss : HI_UNKNOWN;

	(void)err;
	in->results.ledger_known = hi_ledger_fill(in->image, in->decoders.allocator,
						  in->graph, in->results.reach, rss,
						  &in->results.ledger, &quiet) == HI_OK;
	if (in->results.ledger_known && in->decoders.runtime)
		hi_ledger_add_runtime(&in->results.ledger, in->image,
				      in->decoders.runtime);
	if (!in->results.ledger_known)
		hi_inspect_warn(in, "no ledger: %s", quiet.text);
	return HI_OK;
}

static uint64_t image_allocated_bytes(const struct hi_inspection *in)
{
	const struct hi_allocator *a = in->decoders.allocator;

	if (!a)
		return UINT64_MAX;
	return a->bytes[HI_BLOCK_LIVE] + a->bytes[HI_BLOCK_INTERNAL] +
	       hi_typing_stats(in->decoders.typing).outside_bytes +
	       (in->decoders.runtime ? in->decoders.runtime->used_bytes : 0);
}

static bool image_heap_is_known(const struct hi_inspection *in)
{
	return in->decoders.allocator && !*in->decoders.not_decoded &&
	       !hi_decoding_has_much_outside(in);
}

static size_t list_image_conflicts(struct hi_inspection *in,
				   const struct hi_typing_conflict **ret,
				   uint64_t *objects_ret)
{
	*objects_ret = hi_typing_stats(in->decoders.typing).conflicts;
	return hi_typing_conflicts(in->decoders.typing, ret);
}

const struct hi_result_ops hi_live_results = {
	.compute_reach = compute_image_reach,
	.find_leak_groups = find_image_leak_groups,
	.find_alloc_sites = find_image_alloc_sites,
	.compute_dominators = compute_image_dominators,
	.compute_census = compute_image_census,
	.fill_ledger = fill_image_ledger,
	.make_header = hi_live_make_header,
	.allocated_bytes = image_allocated_bytes,
	.heap_is_known = image_heap_is_known,
	.list_mapped_files = hi_live_mapped_files,
	.list_conflicts = list_image_conflicts,
	.read_recorded = hi_live_read_recorded,
	.read_events = hi_live_read_events,
	.read_windows = hi_live_read_windows,
	.close_recorded = hi_live_close_recorded,
};
