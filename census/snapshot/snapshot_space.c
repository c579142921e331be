/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/snapshot/snapshot_space.h"

#include "base/arena.h"
#include "census/snapshot/snapshot_internal.h"

/* Rows of bytes that are kept, by context and by part; periods are those of the censuses.
 */
static const struct hi_section_member space_rows[] = {
	HI_SECTION_MEMBER("space.steps", struct hi_snapshot_space, kept.steps,
			  kept.n_steps),
	HI_SECTION_MEMBER("space.unseen", struct hi_snapshot_space, kept.unseen,
			  kept.n_unseen),
};
static const struct hi_section_member space_censuses_rows = HI_SECTION_MEMBER(
	"space.censuses", struct hi_snapshot_space, censuses, n_censuses);
static const struct hi_section_member part_rows[] = {
	HI_SECTION_MEMBER("space.parts", struct hi_snapshot_space, parts, n_parts),
	HI_SECTION_MEMBER("parts.steps", struct hi_snapshot_space, by_part.steps,
			  by_part.n_steps),
	HI_SECTION_MEMBER("parts.unseen", struct hi_snapshot_space, by_part.unseen,
			  by_part.n_unseen),
	HI_SECTION_MEMBER("parts.periods", struct hi_snapshot_space, by_part.kinds,
			  by_part.n_kinds),
};

struct space_name {
	const char *text;
};
static const struct hi_row_member name_members[] = {HI_ROW_MEMBER(
	struct { uint32_t text; }, text, struct space_name, text)};
static const struct hi_row_map name_map =
	HI_ROW_MAP("space.names", struct space_name, name_members);

static const struct hi_row_member phase_members[] = {
#define PHASE_MEMBER(name)                                                               \
	HI_ROW_MEMBER(struct hi_snapshot_phase_row, name,                                \
		      struct hi_snapshot_space_phase, name)
	PHASE_MEMBER(from_ns),
	PHASE_MEMBER(label),
	PHASE_MEMBER(is_wanted),
#undef PHASE_MEMBER
};
static const struct hi_row_map phase_map =
	HI_ROW_MAP("space.phases", struct hi_snapshot_space_phase, phase_members);

static const struct hi_property space_numbers[] = {
	HI_PROPERTY("space.sample_bytes", struct hi_snapshot_space, sample_bytes),
	HI_PROPERTY("space.memory", struct hi_snapshot_space, memory),
	HI_PROPERTY("space.has_costs", struct hi_snapshot_space, has_costs),
};

enum hi_status hi_snapshot_put_space(struct hi_snapshot_writer *w,
				     const struct hi_snapshot_space *space,
				     struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_put_rows(w, &name_map, space->names, space->n_names, err);

	if (status == HI_OK)
		status = hi_snapshot_put_members(w, space_rows, 2, space, err);
	if (status == HI_OK)
		status = hi_snapshot_put_members(w, &space_censuses_rows, 1, space, err);
	if (status == HI_OK && space->n_phases)
		status = hi_snapshot_put_rows(w, &phase_map, space->phases,
					      space->n_phases, err);
	if (status == HI_OK && space->n_phases)
		status = hi_snapshot_put_members(w, part_rows, 4, space, err);
	return status == HI_OK
		       ? hi_snapshot_put_properties(w, "", space_numbers, 3, space, err)
		       : status;
}

bool hi_snapshot_has_space(const struct hi_snapshot *s)
{
	return hi_snapshot_has(s, "space.censuses");
}

static enum hi_status take_space_censuses(struct hi_snapshot *s, struct hi_arena *arena,
					  struct hi_snapshot_space *ret,
					  struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_take_members(s, &space_censuses_rows, 1, ret, err);
	struct hi_space_period *periods;

	if (status != HI_OK)
		return status;
	periods = hi_arena_alloc(arena, ret->n_censuses * sizeof(*periods));
	if (!periods)
		return hi_fail_memory(err, "space profile of a file");
	for (size_t t = 1; t < ret->n_censuses; t++)
		periods[t - 1] = ret->censuses[t].period;
	ret->kept.periods = periods;
	ret->kept.n_periods = ret->n_censuses - 1;
	hi_snapshot_bound(s, HI_BOUND_PERIODS, ret->kept.n_periods);
	return HI_OK;
}

static enum hi_status take_space_parts(struct hi_snapshot *s, struct hi_arena *arena,
				       struct hi_snapshot_space *ret,
				       struct hi_error *err)
{
	enum hi_status status = hi_snapshot_take_rows(s, &phase_map, arena, &ret->phases,
						      &ret->n_phases, err);

	if (status != HI_OK || !ret->phases)
		return status;
	ret->by_part.periods = ret->kept.periods;
	ret->by_part.n_periods = ret->kept.n_periods;
	return hi_snapshot_take_members(s, part_rows, 4, ret, err);
}

enum hi_status hi_snapshot_space(struct hi_snapshot *s, uint32_t n_contexts,
				 struct hi_arena *arena, struct hi_snapshot_space *ret,
				 struct hi_error *err)
{
	enum hi_status status;

	*ret = (struct hi_snapshot_space){};
	if (!hi_snapshot_has_space(s))
		return hi_fail(err, HI_NOT_FOUND, 0, "%.120s has no space profile",
			       s->path);
	hi_snapshot_bound(s, HI_BOUND_CONTEXTS, n_contexts);
	hi_snapshot_take_properties(s, "", space_numbers, 3, ret);
	status = hi_snapshot_take_rows(s, &name_map, arena, &ret->names, &ret->n_names,
				       err);
	if (status == HI_OK)
		status = take_space_censuses(s, arena, ret, err);
	if (status == HI_OK)
		status = hi_snapshot_take_members(s, space_rows, 2, ret, err);
	return status == HI_OK ? take_space_parts(s, arena, ret, err) : status;
}
