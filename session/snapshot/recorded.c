/* SPDX-License-Identifier: BSD-2-Clause */
/* The recording of a snapshot file. */
#include "base/cleanup.h"
#include "session/recorded.h"
#include "session/snapshot/source.h"

enum hi_status hi_snapshot_source_read_recorded(struct hi_inspection *in,
						struct hi_error *err)
{
	return hi_snapshot_births(in->snapshot->snapshot, in->graph->n_objects,
				  &in->recorded, err);
}

void hi_snapshot_source_close_recorded(struct hi_inspection *in)
{
	hi_recorded_destroy(hi_take(in->recorded));
}

enum hi_status hi_snapshot_save_recorded(struct hi_inspection *in,
					 struct hi_snapshot_writer *w,
					 struct hi_error *err)
{
	const struct hi_recorded *recorded = NULL;
	enum hi_status status = hi_inspect_recorded_if_any(in, &recorded, err);

	return status == HI_OK && recorded ? hi_snapshot_put_births(w, recorded, err)
					   : status;
}
