/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/retainers/pure.h"

#include "decode/layouts/extent.h"
#include "session/snapshot/source.h"

enum hi_status hi_pure_open(struct hi_inspection *in, struct hi_error *err)
{
	if (!in->stored || in->stored->used)
		return HI_OK;
	return hi_snapshot_used(in->stored->snapshot, in->graph, &in->stored->used, err);
}

uint64_t hi_pure_bytes(void *arg, hi_node object)
{
	const struct hi_inspection *in = arg;

	return in->stored ? hi_stored_used(in, object)
			  : hi_typing_live_bytes(in->typing, in->graph, object);
}
