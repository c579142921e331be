/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/birth_sites.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "session/recorded.h"

static const char *name_site(struct hi_inspection *in, const struct hi_frame_row *row)
{
	const char *function = *row->function ? row->function : "(no symbol)";

	if (*row->file && row->line)
		return hi_arena_printf(&in->arena, "%s (%s:%u)", function,
				       hi_base_name(row->file), row->line);
	return hi_arena_printf(&in->arena, "%s (%s+0x%" PRIx64 ")", function,
			       hi_base_name(row->module), row->offset);
}

static const char *name_fixed_group(const struct hi_recorded *recorded, uint32_t group)
{
	static const char *const fixed[] = {[HI_GROUP_BEFORE] = "(before the recording)",
					    [HI_GROUP_OTHER] = "(not recorded)",
					    [HI_GROUP_NO_STACK] = "(no stack)"};

	return group == HI_GROUP_BEFORE && recorded->births->sample_bytes
		       ? "(before the recording or not sampled)"
		       : fixed[group];
}

static bool name_sites(struct hi_inspection *in, const struct hi_recorded *recorded,
		       const struct hi_birth_groups *groups,
		       struct hi_compare_groups *ret)
{
	const struct hi_frames *frames = &recorded->frames;

	for (uint32_t i = 0; i < groups->n_groups; i++) {
		ret->names[i] =
			i < HI_GROUPS_FIXED
				? name_fixed_group(recorded, i)
				: name_site(in, &frames->rows[groups->groups[i].key]);
		if (!ret->names[i])
			return false;
	}
	return true;
}

enum hi_status hi_birth_sites_of(struct hi_inspection *in, struct hi_compare_groups *ret,
				 struct hi_error *err)
{
	HI_GUARD(hi_birth_groups_destroy) struct hi_birth_groups *groups = NULL;
	const struct hi_recorded *recorded = NULL;
	enum hi_status status = hi_inspect_recorded(in, &recorded, err);
	size_t n = in->graph->n_objects;

	if (status == HI_OK)
		status = hi_birth_groups_make(recorded->births, &recorded->contexts,
					      &recorded->frames, HI_BORN_BY_SITE, &groups,
					      err);
	if (status != HI_OK)
		return status;
	ret->n = groups->n_groups;
	ret->names =
		hi_arena_alloc(&in->arena, ((size_t)ret->n + 1) * sizeof(*ret->names));
	ret->of_object = hi_arena_alloc(&in->arena, (n + 1) * sizeof(*ret->of_object));
	if (!ret->names || !ret->of_object || !name_sites(in, recorded, groups, ret))
		return hi_fail_memory(err, "sites of objects");
	memcpy(ret->of_object, groups->of, n * sizeof(*ret->of_object));
	return HI_OK;
}
