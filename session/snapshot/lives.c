/* SPDX-License-Identifier: BSD-2-Clause */
/* The biographies of a snapshot file. */
#include "base/cleanup.h"
#include "census/snapshot/snapshot_lives.h"
#include "session/biography/summarize.h"
#include "session/snapshot/snapshot_source.h"

enum hi_status hi_snapshot_source_read_lives(struct hi_inspection *in,
					     struct hi_error *err)
{
	return hi_snapshot_lives(in->snapshot->snapshot, in->graph->n_objects, &in->lives,
				 err);
}

enum hi_status hi_snapshot_save_lives(const struct hi_inspection *in,
				      struct hi_snapshot_writer *w, struct hi_error *err)
{
	HI_GUARD(hi_bio_summary_destroy) struct hi_bio_summary *summary = NULL;
	enum hi_status status;

	if (!in->run->lives)
		return HI_OK;
	status = hi_lives_summarize(in->run->lives, &summary, err);
	return status == HI_OK ? hi_snapshot_put_lives(w, summary, err) : status;
}
