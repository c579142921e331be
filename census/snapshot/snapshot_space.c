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

static bool is_space_step_valid(const struct hi_snapshot_space *space,
				uint32_t n_contexts, size_t i)
{
	const struct hi_space_kept_step *step = &space->kept.steps[i],
					*before = i ? step - 1 : NULL;

	return step->context < n_contexts && step->type < space->n_names && step->age &&
	       step->age <= space->kept.n_periods &&
	       (!before || before->context != step->context ||
		before->type != step->type || before->age < step->age);
}

static enum hi_status take_space_steps(struct hi_snapshot *s, uint32_t n_contexts,
				       struct hi_snapshot_space *ret,
				       struct hi_error *err)
{
	struct hi_space_kept *k = &ret->kept;
	const void *items = NULL;
	enum hi_status status = take_space_section(s, "space.steps", sizeof(*k->steps),
						   &items, &k->n_steps, err);

	if (status != HI_OK)
		return status;
	k->steps = items;
	for (size_t i = 0; i < k->n_steps; i++)
		if (!is_space_step_valid(ret, n_contexts, i))
			return hi_snapshot_bad(s, "space.steps", err, "row %zu", i);
	status = take_space_section(s, "space.unseen", sizeof(*k->unseen), &items,
				    &k->n_unseen, err);
	if (status != HI_OK)
		return status;
	k->unseen = items;
	for (size_t i = 0; i < k->n_unseen; i++)
		if (k->unseen[i].context >= n_contexts)
			return hi_snapshot_bad(s, "space.unseen", err, "row %zu", i);
	return HI_OK;
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
	ret->sample_bytes = hi_snapshot_number(s, "space.sample_bytes", 0);
	ret->memory = hi_snapshot_number(s, "space.memory", 0);
	ret->has_costs = hi_snapshot_number(s, "space.has_costs", 0);
	status = take_space_names(s, arena, ret, err);
	if (status == HI_OK)
		status = take_space_censuses(s, arena, ret, err);
	return status == HI_OK ? take_space_steps(s, n_contexts, ret, err) : status;
}
