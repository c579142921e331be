/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/snapshot/snapshot_space.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_internal.h"

static enum hi_status fail_put_space(struct hi_error *err)
{
	return hi_fail_memory(err, "space profile of a file");
}

/* ---- writing ---- */

/* Names as strings of the file. */
static enum hi_status put_space_names(struct hi_snapshot_writer *w,
				      const struct hi_snapshot_space *space,
				      struct hi_error *err)
{
	HI_GUARD(free) uint32_t *names = hi_calloc(space->n_names + 1, sizeof(*names));
	enum hi_status status = HI_OK;

	if (!names)
		return fail_put_space(err);
	for (size_t i = 0; status == HI_OK && i < space->n_names; i++)
		status = hi_snapshot_put_string(w, space->names[i], &names[i], err);
	return status == HI_OK ? hi_snapshot_put(w, "space.names", names, sizeof(*names),
						 space->n_names, err)
			       : status;
}

/* As in the file. */
struct space_phase_row {
	uint64_t from_ns;
	uint32_t label, is_wanted;
};

static enum hi_status put_space_phases(struct hi_snapshot_writer *w,
				       const struct hi_snapshot_space *space,
				       struct hi_error *err)
{
	HI_GUARD(free)
	struct space_phase_row *rows = hi_calloc(space->n_phases + 1, sizeof(*rows));
	enum hi_status status = HI_OK;

	if (!rows)
		return fail_put_space(err);
	for (size_t i = 0; status == HI_OK && i < space->n_phases; i++) {
		rows[i].from_ns = space->phases[i].from_ns;
		rows[i].is_wanted = space->phases[i].is_wanted;
		status = hi_snapshot_put_string(w, space->phases[i].label, &rows[i].label,
						err);
	}
	return status == HI_OK ? hi_snapshot_put(w, "space.phases", rows, sizeof(*rows),
						 space->n_phases, err)
			       : status;
}

static enum hi_status put_space_parts(struct hi_snapshot_writer *w,
				      const struct hi_snapshot_space *space,
				      struct hi_error *err)
{
	const struct hi_space_kept *k = &space->by_part;
	enum hi_status status;

	if (!space->n_phases)
		return HI_OK;
	status = put_space_phases(w, space, err);
	if (status == HI_OK)
		status = hi_snapshot_put(w, "space.parts", space->parts,
					 sizeof(*space->parts), space->n_parts, err);
	if (status == HI_OK)
		status = hi_snapshot_put(w, "parts.steps", k->steps, sizeof(*k->steps),
					 k->n_steps, err);
	if (status == HI_OK)
		status = hi_snapshot_put(w, "parts.unseen", k->unseen, sizeof(*k->unseen),
					 k->n_unseen, err);
	return status == HI_OK ? hi_snapshot_put(w, "parts.periods", k->kinds,
						 sizeof(*k->kinds), k->n_kinds, err)
			       : status;
}

static enum hi_status put_space_numbers(struct hi_snapshot_writer *w,
					const struct hi_snapshot_space *space,
					struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_put_number(w, "space.sample_bytes", space->sample_bytes, err);

	if (status == HI_OK)
		status = hi_snapshot_put_number(w, "space.memory", space->memory, err);
	return status == HI_OK ? hi_snapshot_put_number(w, "space.has_costs",
							space->has_costs, err)
			       : status;
}

enum hi_status hi_snapshot_put_space(struct hi_snapshot_writer *w,
				     const struct hi_snapshot_space *space,
				     struct hi_error *err)
{
	const struct hi_space_kept *k = &space->kept;
	enum hi_status status = put_space_names(w, space, err);

	if (status == HI_OK)
		status = hi_snapshot_put(w, "space.steps", k->steps, sizeof(*k->steps),
					 k->n_steps, err);
	if (status == HI_OK)
		status = hi_snapshot_put(w, "space.unseen", k->unseen, sizeof(*k->unseen),
					 k->n_unseen, err);
	if (status == HI_OK)
		status =
			hi_snapshot_put(w, "space.censuses", space->censuses,
					sizeof(*space->censuses), space->n_censuses, err);
	if (status == HI_OK)
		status = put_space_parts(w, space, err);
	return status == HI_OK ? put_space_numbers(w, space, err) : status;
}

/* ---- reading ---- */

bool hi_snapshot_has_space(const struct hi_snapshot *s)
{
	return hi_snapshot_has(s, "space.censuses");
}

/* The items of a section that must be there. */
static enum hi_status take_space_section(struct hi_snapshot *s, const char *name,
					 uint32_t item, const void **ret, size_t *n_ret,
					 struct hi_error *err)
{
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_get(s, name, item, ret, &n, err);

	*n_ret = n;
	if (status == HI_NOT_FOUND || (status == HI_OK && n >= UINT32_MAX))
		return hi_snapshot_bad(s, name, err, "missing or too many");
	return status;
}

static enum hi_status take_space_names(struct hi_snapshot *s, struct hi_arena *arena,
				       struct hi_snapshot_space *ret,
				       struct hi_error *err)
{
	const void *items = NULL;
	const char **names;
	enum hi_status status = take_space_section(s, "space.names", sizeof(uint32_t),
						   &items, &ret->n_names, err);

	if (status == HI_OK)
		status = hi_snapshot_check_texts(s, "space.names", items, ret->n_names,
						 sizeof(uint32_t), 1, err);
	if (status != HI_OK)
		return status;
	names = hi_arena_alloc(arena, (ret->n_names + 1) * sizeof(*names));
	if (!names)
		return fail_put_space(err);
	for (size_t i = 0; i < ret->n_names; i++) {
		names[i] = hi_snapshot_string(s, ((const uint32_t *)items)[i]);
		if (!names[i])
			return hi_snapshot_bad(s, "space.names", err, "row %zu", i);
	}
	ret->names = names;
	return HI_OK;
}

static enum hi_status take_space_censuses(struct hi_snapshot *s, struct hi_arena *arena,
					  struct hi_snapshot_space *ret,
					  struct hi_error *err)
{
	const void *items = NULL;
	struct hi_space_period *periods;
	enum hi_status status =
		take_space_section(s, "space.censuses", sizeof(*ret->censuses), &items,
				   &ret->n_censuses, err);

	if (status != HI_OK)
		return status;
	if (!ret->n_censuses)
		return hi_snapshot_bad(s, "space.censuses", err, "no census");
	ret->censuses = items;
	periods = hi_arena_alloc(arena, ret->n_censuses * sizeof(*periods));
	if (!periods)
		return fail_put_space(err);
	for (size_t t = 1; t < ret->n_censuses; t++) {
		if (ret->censuses[t].at_ns < ret->censuses[t - 1].at_ns)
			return hi_snapshot_bad(s, "space.censuses", err,
					       "row %zu: not in order", t);
		periods[t - 1] = ret->censuses[t].period;
	}
	ret->kept.periods = periods;
	ret->kept.n_periods = ret->n_censuses - 1;
	return HI_OK;
}

/* Bytes that are kept by context, or by part. */
struct space_sections {
	const char *steps, *unseen;
	uint32_t n_contexts;
};

static bool is_space_step_valid(const struct hi_snapshot_space *space,
				const struct hi_space_kept *k, uint32_t n_contexts,
				size_t i)
{
	const struct hi_space_kept_step *step = &k->steps[i],
					*before = i ? step - 1 : NULL;

	return step->context < n_contexts && step->type < space->n_names && step->age &&
	       step->age <= k->n_periods &&
	       (!before || before->context != step->context ||
		before->type != step->type || before->age < step->age);
}

static enum hi_status take_space_steps(struct hi_snapshot *s,
				       const struct space_sections *from,
				       const struct hi_snapshot_space *space,
				       struct hi_space_kept *k, struct hi_error *err)
{
	const void *items = NULL;
	enum hi_status status = take_space_section(s, from->steps, sizeof(*k->steps),
						   &items, &k->n_steps, err);

	if (status != HI_OK)
		return status;
	k->steps = items;
	for (size_t i = 0; i < k->n_steps; i++)
		if (!is_space_step_valid(space, k, from->n_contexts, i))
			return hi_snapshot_bad(s, from->steps, err, "row %zu", i);
	status = take_space_section(s, from->unseen, sizeof(*k->unseen), &items,
				    &k->n_unseen, err);
	if (status != HI_OK)
		return status;
	k->unseen = items;
	for (size_t i = 0; i < k->n_unseen; i++)
		if (k->unseen[i].context >= from->n_contexts)
			return hi_snapshot_bad(s, from->unseen, err, "row %zu", i);
	return HI_OK;
}

static enum hi_status take_space_phases(struct hi_snapshot *s, struct hi_arena *arena,
					struct hi_snapshot_space *ret,
					struct hi_error *err)
{
	const struct space_phase_row *rows;
	struct hi_snapshot_space_phase *phases;
	const void *items = NULL;
	enum hi_status status = take_space_section(s, "space.phases", sizeof(*rows),
						   &items, &ret->n_phases, err);

	if (status != HI_OK)
		return status;
	rows = items;
	phases = hi_arena_alloc(arena, (ret->n_phases + 1) * sizeof(*phases));
	if (!phases)
		return fail_put_space(err);
	for (size_t i = 0; i < ret->n_phases; i++) {
		phases[i] = (struct hi_snapshot_space_phase){
			rows[i].from_ns, hi_snapshot_string(s, rows[i].label),
			rows[i].is_wanted != 0};
		if (!phases[i].label || (i && rows[i].from_ns < rows[i - 1].from_ns))
			return hi_snapshot_bad(s, "space.phases", err, "row %zu", i);
	}
	ret->phases = phases;
	return HI_OK;
}

static enum hi_status take_phase_periods(struct hi_snapshot *s,
					 struct hi_snapshot_space *ret,
					 struct hi_error *err)
{
	struct hi_space_kept *k = &ret->by_part;
	const void *items = NULL;
	enum hi_status status = take_space_section(s, "parts.periods", sizeof(*k->kinds),
						   &items, &k->n_kinds, err);

	if (status != HI_OK)
		return status;
	k->kinds = items;
	for (size_t i = 0; i < k->n_kinds; i++)
		if (!k->kinds[i].period || k->kinds[i].period > k->n_periods ||
		    k->kinds[i].kind >= ret->n_phases)
			return hi_snapshot_bad(s, "parts.periods", err, "row %zu", i);
	return HI_OK;
}

static enum hi_status take_space_parts(struct hi_snapshot *s, uint32_t n_contexts,
				       struct hi_arena *arena,
				       struct hi_snapshot_space *ret,
				       struct hi_error *err)
{
	struct space_sections from = {"parts.steps", "parts.unseen", 0};
	const void *items = NULL;
	enum hi_status status;

	if (!hi_snapshot_has(s, "space.phases"))
		return HI_OK;
	ret->by_part.periods = ret->kept.periods;
	ret->by_part.n_periods = ret->kept.n_periods;
	status = take_space_phases(s, arena, ret, err);
	if (status == HI_OK)
		status = take_space_section(s, "space.parts", sizeof(*ret->parts), &items,
					    &ret->n_parts, err);
	if (status != HI_OK)
		return status;
	ret->parts = items;
	for (size_t i = 0; i < ret->n_parts; i++)
		if (ret->parts[i].context >= n_contexts ||
		    ret->parts[i].phase >= ret->n_phases)
			return hi_snapshot_bad(s, "space.parts", err, "row %zu", i);
	from.n_contexts = (uint32_t)ret->n_parts;
	status = take_space_steps(s, &from, ret, &ret->by_part, err);
	return status == HI_OK ? take_phase_periods(s, ret, err) : status;
}

enum hi_status hi_snapshot_space(struct hi_snapshot *s, uint32_t n_contexts,
				 struct hi_arena *arena, struct hi_snapshot_space *ret,
				 struct hi_error *err)
{
	const struct space_sections from = {"space.steps", "space.unseen", n_contexts};
	enum hi_status status;

	*ret = (struct hi_snapshot_space){};
	if (!hi_snapshot_has_space(s))
		return hi_fail(err, HI_NOT_FOUND, 0, "%.120s has no space profile",
			       s->path);
	ret->sample_bytes = hi_snapshot_number(s, "space.sample_bytes", 0);
	ret->memory = hi_snapshot_number(s, "space.memory", 0);
	ret->has_costs = hi_snapshot_number(s, "space.has_costs", 0);
	status = take_space_names(s, arena, ret, err);
	if (status == HI_OK)
		status = take_space_censuses(s, arena, ret, err);
	if (status == HI_OK)
		status = take_space_steps(s, &from, ret, &ret->kept, err);
	return status == HI_OK ? take_space_parts(s, n_contexts, arena, ret, err)
			       : status;
}
