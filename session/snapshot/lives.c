/* SPDX-License-Identifier: BSD-2-Clause */
/* The biographies of a snapshot file. */
#include "census/snapshot/snapshot_lives.h"
#include "session/snapshot/snapshot_source.h"

enum hi_status hi_snapshot_source_read_lives(struct hi_inspection *in,
					     struct hi_error *err)
{
	return hi_snapshot_lives(in->snapshot->snapshot, in->graph->n_objects, &in->lives,
				 err);
}
