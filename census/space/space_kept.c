/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/space/space_kept.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "census/space/space_internal.h"

static enum hi_status fail_kept(struct hi_error *err)
{
	return hi_fail_memory(err, "space profile");
}

/* ---- keeping ---- */

/* Steps of contexts and types, as groups have them, with what is live in `live`. */
struct space_keeping {
	struct hi_table group_of;
	struct HI_VECTOR(struct hi_space_group) groups;
};

static void free_space_keeping(struct space_keeping *k)
{
	for (size_t i = 0; i < k->groups.count; i++)
		hi_vector_free(&k->groups.items[i].ended);
	hi_vector_free(&k->groups);
	hi_table_free(&k->group_of);
}

static struct hi_space_step *need_kept_step(struct space_keeping *k, uint32_t context,
					    uint32_t type, uint32_t age)
{
	uint64_t key = (uint64_t)context << 32 | type, index;

	if (!hi_table_get(&k->group_of, key, &index)) {
		index = k->groups.count;
		if (!hi_vector_push(
			    &k->groups,
			    (struct hi_space_group){.context = context, .type = type}) ||
		    !hi_table_put(&k->group_of, key, index))
			return NULL;
	}
	return hi_space_need_step(&k->groups.items[index].ended, age);
}

static bool keep_ended(struct space_keeping *k, const struct hi_space_group *group)
{
	for (size_t i = 0; i < group->ended.count; i++) {
		const struct hi_space_step *from = &group->ended.items[i];
		struct hi_space_step *to =
			need_kept_step(k, group->context, group->type, from->age);

		if (!to)
			return false;
		hi_space_add(&to->all, &from->all);
	}
	return true;
}

static bool keep_live(struct space_keeping *k, const struct hi_space *s)
{
	for (size_t i = 0; i < s->before.count; i++) {
		const struct hi_space_object *o = &s->before.items[i];
		struct hi_space_step *to =
			need_kept_step(k, o->context, o->type, hi_space_age(s, o));

		if (!to)
			return false;
		hi_space_add(&to->live, &o->amount);
	}
	return true;
}

static bool keep_steps(struct space_keeping *k, const struct hi_space *s,
		       struct hi_arena *arena, struct hi_space_kept *ret)
{
	struct hi_space_kept_step *steps;
	size_t n = 0;

	for (size_t i = 0; i < s->groups.count; i++)
		if (!keep_ended(k, &s->groups.items[i]))
			return false;
	if (!keep_live(k, s))
		return false;
	for (size_t i = 0; i < k->groups.count; i++)
		n += k->groups.items[i].ended.count;
	ret->steps = steps = hi_arena_alloc(arena, (n + 1) * sizeof(*steps));
	for (size_t i = 0; steps && i < k->groups.count; i++) {
		const struct hi_space_group *g = &k->groups.items[i];

		for (size_t j = 0; j < g->ended.count; j++)
			steps[ret->n_steps++] =
				(struct hi_space_kept_step){g->context,
							    g->type,
							    g->ended.items[j].age,
							    0,
							    g->ended.items[j].all,
							    g->ended.items[j].live};
	}
	return steps != NULL;
}

static bool keep_unseen(const struct hi_space *s, struct hi_arena *arena,
			struct hi_space_kept *ret)
{
	struct hi_space_kept_unseen *unseen =
		hi_arena_alloc(arena, (s->contexts.count + 1) * sizeof(*unseen));

	ret->unseen = unseen;
	for (size_t i = 0; unseen && i < s->contexts.count; i++)
		if (s->contexts.items[i].unseen.number ||
		    s->contexts.items[i].unseen.size)
			unseen[ret->n_unseen++] = (struct hi_space_kept_unseen){
				(uint32_t)i, 0, s->contexts.items[i].unseen};
	return unseen != NULL;
}

enum hi_status hi_space_keep(const struct hi_space *space, struct hi_arena *arena,
			     struct hi_space_kept *ret, struct hi_error *err)
{
	struct space_keeping k = {};
	bool ok;

	*ret = (struct hi_space_kept){.periods = space->history.items,
				      .n_periods = space->history.count,
				      .kinds = space->kinds.items,
				      .n_kinds = space->kinds.count};
	ok = keep_steps(&k, space, arena, ret) && keep_unseen(space, arena, ret);
	free_space_keeping(&k);
	return ok ? HI_OK : fail_kept(err);
}

/* ---- parts of contexts ---- */

static int compare_kept_steps(const void *a, const void *b)
{
	const struct hi_space_kept_step *x = a, *y = b;

	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->age < y->age ? -1 : x->age > y->age;
}

static int compare_kept_unseen(const void *a, const void *b)
{
	const struct hi_space_kept_unseen *x = a, *y = b;

	return x->context < y->context ? -1 : x->context > y->context;
}

/* How many are left. */
static size_t add_up_steps(struct hi_space_kept_step *steps, size_t n)
{
	size_t to = 0;

	if (n)
		qsort(steps, n, sizeof(*steps), compare_kept_steps);
	for (size_t i = 0; i < n; i++) {
		if (to && compare_kept_steps(&steps[to - 1], &steps[i]) == 0) {
			hi_space_add(&steps[to - 1].ended, &steps[i].ended);
			hi_space_add(&steps[to - 1].live, &steps[i].live);
			continue;
		}
		steps[to++] = steps[i];
	}
	return to;
}

static size_t add_up_unseen(struct hi_space_kept_unseen *unseen, size_t n)
{
	size_t to = 0;

	if (n)
		qsort(unseen, n, sizeof(*unseen), compare_kept_unseen);
	for (size_t i = 0; i < n; i++) {
		if (to && unseen[to - 1].context == unseen[i].context) {
			hi_space_add(&unseen[to - 1].amount, &unseen[i].amount);
			continue;
		}
		unseen[to++] = unseen[i];
	}
	return to;
}

enum hi_status hi_space_kept_by_context(const struct hi_space_kept *parts,
					const uint32_t *context_of,
					struct hi_arena *arena, struct hi_space_kept *ret,
					struct hi_error *err)
{
	struct hi_space_kept_step *steps =
		hi_arena_alloc(arena, (parts->n_steps + 1) * sizeof(*steps));
	struct hi_space_kept_unseen *unseen =
		hi_arena_alloc(arena, (parts->n_unseen + 1) * sizeof(*unseen));

	if (!steps || !unseen)
		return fail_kept(err);
	for (size_t i = 0; i < parts->n_steps; i++) {
		steps[i] = parts->steps[i];
		steps[i].context = context_of[steps[i].context];
	}
	for (size_t i = 0; i < parts->n_unseen; i++) {
		unseen[i] = parts->unseen[i];
		unseen[i].context = context_of[unseen[i].context];
	}
	*ret = (struct hi_space_kept){.steps = steps,
				      .n_steps = add_up_steps(steps, parts->n_steps),
				      .unseen = unseen,
				      .n_unseen = add_up_unseen(unseen, parts->n_unseen),
				      .periods = parts->periods,
				      .n_periods = parts->n_periods};
	return HI_OK;
}

/* ---- restoring ---- */

/* All that is live of an age is one object. */
static bool restore_live(struct hi_space *s, const struct hi_space_kept_step *step)
{
	struct hi_space_object o = {.address = s->before.count,
				    .context = step->context,
				    .type = step->type,
				    .born = s->periods - step->age + 1,
				    .amount = step->live};

	return (!o.amount.number && !o.amount.size) || hi_vector_push(&s->before, o);
}

/* Steps of one context and type follow each other. */
static bool restore_ended(struct hi_space *s, const struct hi_space_kept_step *step)
{
	struct hi_space_group *last =
		s->groups.count ? &s->groups.items[s->groups.count - 1] : NULL;

	if (!step->ended.number && !step->ended.size)
		return true;
	if (!last || last->context != step->context || last->type != step->type) {
		if (!hi_vector_push(&s->groups,
				    (struct hi_space_group){.context = step->context,
							    .type = step->type}))
			return false;
		last = &s->groups.items[s->groups.count - 1];
	}
	return hi_vector_push(&last->ended, (struct hi_space_step){.age = step->age,
								   .all = step->ended});
}

static bool restore_unseen(struct hi_space *s, const struct hi_space_kept_unseen *unseen)
{
	while (s->contexts.count <= unseen->context)
		if (!hi_vector_push(&s->contexts, (struct hi_space_context){}))
			return false;
	hi_space_add(&s->contexts.items[unseen->context].unseen, &unseen->amount);
	return true;
}

enum hi_status hi_space_restore(const struct hi_space_kept *kept, struct hi_space **ret,
				struct hi_error *err)
{
	HI_GUARD(hi_space_destroy) struct hi_space *s = NULL;
	enum hi_status status = hi_space_create(&s, err);

	if (status != HI_OK)
		return status;
	if (!hi_vector_append(&s->history, kept->periods, kept->n_periods))
		return fail_kept(err);
	s->periods = (uint32_t)kept->n_periods;
	for (size_t i = 0; i < kept->n_steps; i++)
		if (!restore_ended(s, &kept->steps[i]) ||
		    !restore_live(s, &kept->steps[i]))
			return fail_kept(err);
	for (size_t i = 0; i < kept->n_unseen; i++)
		if (!restore_unseen(s, &kept->unseen[i]))
			return fail_kept(err);
	*ret = hi_take(s);
	return HI_OK;
}
