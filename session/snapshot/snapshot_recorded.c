/* SPDX-License-Identifier: BSD-2-Clause */
/* The recording of a snapshot file. */
#include "base/cleanup.h"
#include "census/snapshot/snapshot_windows.h"
#include "session/recorded.h"
#include "session/snapshot/snapshot_source.h"

enum hi_status hi_snapshot_source_read_recorded(struct hi_inspection *in,
						struct hi_error *err)
{
	return hi_snapshot_births(in->snapshot->snapshot, in->graph->n_objects,
				  &in->recorded, err);
}

enum hi_status hi_snapshot_source_read_events(struct hi_inspection *in,
					      const struct hi_stored_events **ret,
					      struct hi_error *err)
{
	struct hi_snapshot_source *stored = in->snapshot;
	enum hi_status status = HI_OK;

	if (!stored->has_events)
		status = hi_snapshot_events(stored->snapshot,
					    in->recorded->contexts.n_contexts,
					    &stored->events, err);
	if (status != HI_OK)
		hi_stored_events_free(&stored->events);
	stored->has_events = status == HI_OK;
	*ret = &stored->events;
	return status;
}

enum hi_status hi_snapshot_source_read_windows(struct hi_inspection *in,
					       struct hi_inspected_windows *ret,
					       struct hi_error *err)
{
	return hi_snapshot_windows(in->snapshot->snapshot, &ret->rows, &ret->result, err);
}

void hi_snapshot_source_close_recorded(struct hi_inspection *in)
{
	hi_recorded_destroy(hi_take(in->recorded));
}

/* Births of blocks that windows saw are of others by now: the file has the estimates. */
static enum hi_status save_windows(struct hi_inspection *in, struct hi_snapshot_writer *w,
				   struct hi_error *err)
{
	struct hi_inspected_windows windows;
	enum hi_status status = hi_inspect_windows(in, &windows, err);

	if (status == HI_OK)
		status = hi_snapshot_put_windows(w, &windows.result, err);
	hi_inspected_windows_free(&windows);
	return status;
}

enum hi_status hi_snapshot_save_windows(struct hi_inspection *in,
					struct hi_snapshot_writer *w,
					struct hi_error *err)
{
	const struct hi_recorded *recorded = NULL;
	enum hi_status status = hi_inspect_recorded_if_any(in, &recorded, err);

	return status == HI_OK && recorded && recorded->windows ? save_windows(in, w, err)
								: status;
}

enum hi_status hi_snapshot_save_recorded(struct hi_inspection *in,
					 struct hi_snapshot_writer *w,
					 struct hi_error *err)
{
	const struct hi_recorded *recorded = NULL;
	enum hi_status status = hi_inspect_recorded_if_any(in, &recorded, err);

	if (status != HI_OK || !recorded)
		return status;
	return recorded->windows ? save_windows(in, w, err)
				 : hi_snapshot_put_births(w, recorded, err);
}
