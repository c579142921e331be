/* SPDX-License-Identifier: BSD-2-Clause */
/* The space profile of a snapshot file. */
#include "session/space/kept_profile.h"

#include "base/arena.h"
#include "census/snapshot/snapshot_space.h"
#include "session/snapshot/snapshot_source.h"

static enum hi_status fail_kept_profile(struct hi_error *err)
{
	return hi_fail_memory(err, "space profile of a file");
}

/* ---- writing ---- */

static bool collect_names(const struct hi_space_profile *profile, struct hi_arena *arena,
			  struct hi_snapshot_space *ret)
{
	size_t n = hi_space_profile_texts(profile);
	const char **names = hi_arena_alloc(arena, n * sizeof(*names));

	for (uint32_t i = 0; names && i < n; i++)
		names[i] = hi_space_profile_text(profile, i);
	ret->names = names;
	ret->n_names = n;
	return names != NULL;
}

static bool collect_censuses(const struct hi_space_profile *profile,
			     struct hi_arena *arena, struct hi_snapshot_space *ret)
{
	const struct hi_space_census *from =
		hi_space_profile_censuses(profile, &ret->n_censuses);
	struct hi_snapshot_space_census *rows =
		hi_arena_alloc(arena, (ret->n_censuses + 1) * sizeof(*rows));

	for (size_t t = 0; rows && t < ret->n_censuses; t++) {
		rows[t] = (struct hi_snapshot_space_census){
			from[t].at_ns, from[t].end_ns, from[t].lost, from[t].older, {}};
		if (t)
			rows[t].period = ret->kept.periods[t - 1];
	}
	ret->censuses = rows;
	return rows != NULL;
}

static bool collect_phases(const struct hi_space_phases *phases, struct hi_arena *arena,
			   struct hi_snapshot_space *ret)
{
	size_t n = phases->items.count;
	struct hi_snapshot_space_phase *rows = hi_arena_alloc(arena, n * sizeof(*rows));

	for (size_t i = 0; rows && i < n; i++)
		rows[i] = (struct hi_snapshot_space_phase){
			phases->items.items[i].from_ns, phases->items.items[i].label,
			phases->items.items[i].is_wanted};
	ret->phases = rows;
	ret->n_phases = rows ? n : 0;
	return rows != NULL;
}

/* Bytes that were kept by part are kept by context, too: that is the profile. */
static enum hi_status collect_parts(const struct hi_space_phases *phases,
				    struct hi_arena *arena, struct hi_snapshot_space *ret,
				    struct hi_error *err)
{
	size_t n = phases->parts.count;
	struct hi_snapshot_space_part *rows =
		hi_arena_alloc(arena, (n + 1) * sizeof(*rows));
	uint32_t *context_of = hi_arena_alloc(arena, (n + 1) * sizeof(*context_of));

	if (!phases->items.count)
		return HI_OK;
	if (!rows || !context_of || !collect_phases(phases, arena, ret))
		return fail_kept_profile(err);
	for (size_t i = 0; i < n; i++) {
		const struct hi_space_part *part = &phases->parts.items[i];

		rows[i] = (struct hi_snapshot_space_part){part->context, part->phase};
		context_of[i] = part->context;
	}
	ret->parts = rows;
	ret->n_parts = n;
	ret->by_part = ret->kept;
	return hi_space_kept_by_context(&ret->by_part, context_of, arena, &ret->kept,
					err);
}

enum hi_status hi_space_profile_save(void *what, struct hi_snapshot_writer *w,
				     struct hi_error *err)
{
	const struct hi_space_profile *profile = what;
	struct hi_snapshot_space space = {
		.sample_bytes = hi_space_profile_sample_bytes(profile),
		.memory = hi_space_profile_memory(profile),
		.has_costs = hi_space_profile_has_costs(profile)};
	struct hi_arena arena = {};
	enum hi_status status =
		hi_space_keep(hi_space_profile_space(profile), &arena, &space.kept, err);

	if (status == HI_OK && (!collect_names(profile, &arena, &space) ||
				!collect_censuses(profile, &arena, &space)))
		status = fail_kept_profile(err);
	if (status == HI_OK)
		status = collect_parts(hi_space_profile_phases(profile), &arena, &space,
				       err);
	if (status == HI_OK)
		status = hi_snapshot_put_space(w, &space, err);
	hi_arena_free(&arena);
	return status;
}

/* ---- reading ---- */

bool hi_space_profile_is_kept(const struct hi_inspection *in)
{
	return in->snapshot && hi_snapshot_has_space(in->snapshot->snapshot);
}

enum hi_status hi_space_profile_read(struct hi_inspection *in,
				     struct hi_space_profile *profile,
				     struct hi_error *err)
{
	const struct hi_recorded *recorded = NULL;
	struct hi_snapshot_space space;
	struct hi_arena arena = {};
	enum hi_status status = hi_inspect_recorded(in, &recorded, err);

	if (status == HI_OK)
		status = hi_snapshot_space(in->snapshot->snapshot,
					   recorded->contexts.n_contexts, &arena, &space,
					   err);
	if (status == HI_OK)
		status = hi_space_profile_restore(profile, &space, recorded, err);
	hi_arena_free(&arena);
	return status;
}
