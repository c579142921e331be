/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/retainers/pure.h"

enum hi_status hi_pure_open(struct hi_inspection *in, struct hi_error *err)
{
	return in->source->open_used_bytes(in, err);
}

uint64_t hi_pure_bytes(void *arg, hi_node object)
{
	const struct hi_inspection *in = arg;
	uint64_t used = in->source->used_bytes(in, object);

	return used == UINT64_MAX ? hi_objects_usable(in->graph->objects, object) : used;
}
