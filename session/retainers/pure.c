/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/retainers/pure.h"

#include "session/recorded.h"

enum hi_status hi_pure_open(struct hi_inspection *in, struct hi_error *err)
{
	const struct hi_recorded *recorded;
	enum hi_status status = in->source->contents->open_used_bytes(in, err);

	return status == HI_OK ? hi_inspect_recorded_if_any(in, &recorded, err) : status;
}

uint64_t hi_pure_bytes(void *arg, hi_node object)
{
	const struct hi_inspection *in = arg;
	const struct hi_objects *objects = in->graph->objects;
	uint64_t used;

	if (in->recorded && hi_birth_has_own_size(in->recorded->births, objects, object))
		return in->recorded->births->size[object];
	used = in->source->contents->used_bytes(in, object);
	return used == UINT64_MAX ? hi_objects_usable(objects, object) : used;
}
