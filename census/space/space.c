/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/space/space.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/space/space_internal.h"

static enum hi_status fail_space(struct hi_error *err)
{
	return hi_fail_memory(err, "space profile");
}

/* ---- contexts and groups ---- */

static struct hi_space_context *need_context(struct hi_space *s, uint32_t context)
{
	while (s->contexts.count <= context)
		if (!hi_vector_push(&s->contexts, (struct hi_space_context){}))
			return NULL;
	return &s->contexts.items[context];
}

static struct hi_space_group *need_group(struct hi_space *s, uint32_t context,
					 uint32_t type)
{
	uint64_t key = (uint64_t)context << 32 | type, index;

	if (hi_table_get(&s->group_of, key, &index))
		return &s->groups.items[index];
	index = s->groups.count;
	if (!hi_vector_push(&s->groups,
			    (struct hi_space_group){.context = context, .type = type}) ||
	    !hi_table_put(&s->group_of, key, index))
		return NULL;
	return &s->groups.items[index];
}

/* ---- the open period ---- */

enum hi_status hi_space_allocated(struct hi_space *space, uint32_t context,
				  const struct hi_space_amount *amount,
				  struct hi_error *err)
{
	struct hi_space_context *c = need_context(space, context);

	if (!c)
		return fail_space(err);
	hi_space_add(&c->born, amount);
	return HI_OK;
}

enum hi_status hi_space_see(struct hi_space *space, const struct hi_space_object *object,
			    struct hi_error *err)
{
	if (!hi_vector_push(&space->now, *object))
		return fail_space(err);
	if (!object->born)
		space->now.items[space->now.count - 1].born = 1;
	return HI_OK;
}

/* ---- a census ---- */

static int compare_space_objects(const void *a, const void *b)
{
	const struct hi_space_object *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->serial == y->serial ? 0 : x->serial < y->serial ? -1 : 1;
}

static void sort_space_objects(struct hi_space_objects *list)
{
	for (size_t i = 1; i < list->count; i++)
		if (compare_space_objects(&list->items[i - 1], &list->items[i]) > 0) {
			qsort(list->items, list->count, sizeof(*list->items),
			      compare_space_objects);
			return;
		}
}

enum period_amount { BORN, DIED, LIVE };

static struct hi_space_amount *amount_of_period(struct hi_space_period *period,
						enum period_amount what)
{
	return what == BORN   ? &period->born
	       : what == DIED ? &period->died
			      : &period->live;
}

/* Rows of the open period. NULL: out of memory. */
static struct hi_space_period *need_kind_period(struct hi_space *s, uint32_t kind)
{
	uint64_t key = (uint64_t)(s->periods + 1) << 32 | kind, index = s->kinds.count;

	if (!hi_table_get(&s->kind_row, key, &index) &&
	    (!hi_vector_push(&s->kinds,
			     ((struct hi_space_kind_period){.period = s->periods + 1,
							    .kind = kind})) ||
	     !hi_table_put(&s->kind_row, key, index)))
		return NULL;
	return &s->kinds.items[index].amounts;
}

static bool add_to_period(struct hi_space *s, uint32_t context, enum period_amount what,
			  const struct hi_space_amount *amount,
			  struct hi_space_period *period)
{
	struct hi_space_period *of_kind;

	hi_space_add(amount_of_period(period, what), amount);
	if (!s->kind_of)
		return true;
	of_kind = need_kind_period(s, s->kind_of(s->kind_arg, context));
	if (of_kind)
		hi_space_add(amount_of_period(of_kind, what), amount);
	return of_kind != NULL;
}

/* It was live until the census before, at which it had its last age. */
static bool end_object(struct hi_space *s, const struct hi_space_object *o,
		       struct hi_space_period *period)
{
	struct hi_space_group *group = need_group(s, o->context, o->type);
	struct hi_space_step *step =
		group ? hi_space_need_step(&group->ended, hi_space_age(s, o)) : NULL;

	if (!step)
		return false;
	hi_space_add(&step->all, &o->amount);
	return add_to_period(s, o->context, DIED, &o->amount, period);
}

static bool begin_object(struct hi_space *s, const struct hi_space_object *o,
			 struct hi_space_period *period)
{
	struct hi_space_context *c = need_context(s, o->context);
	struct hi_space_amount assumed = o->amount;

	if (!c)
		return false;
	assumed.size += o->assumed_overhead - assumed.overhead;
	assumed.overhead = o->assumed_overhead;
	hi_space_add(&c->seen, &assumed);
	return add_to_period(s, o->context, BORN, &o->amount, period);
}

/* Former knowledge of it is not lost; a type may come later. */
static void continue_object(const struct hi_space_object *before,
			    struct hi_space_object *now)
{
	uint32_t type = now->type ? now->type : before->type;

	*now = *before;
	now->type = type;
}

/* Both lists are sorted. */
static bool match_objects(struct hi_space *s, struct hi_space_period *period)
{
	size_t i = 0, k = 0;

	while (i < s->before.count || k < s->now.count) {
		int order = i == s->before.count ? 1
			    : k == s->now.count
				    ? -1
				    : compare_space_objects(&s->before.items[i],
							    &s->now.items[k]);

		if (order == 0)
			continue_object(&s->before.items[i], &s->now.items[k]);
		else if (!(order < 0 ? end_object(s, &s->before.items[i], period)
				     : begin_object(s, &s->now.items[k], period)))
			return false;
		if (order >= 0 && !add_to_period(s, s->now.items[k].context, LIVE,
						 &s->now.items[k].amount, period))
			return false;
		i += order <= 0;
		k += order >= 0;
	}
	return true;
}

static uint64_t subtract_seen(uint64_t all, uint64_t seen)
{
	return all > seen ? all - seen : 0;
}

/* With estimates the difference may be below zero; the requested bytes are known better
 * than the overhead. */
static struct hi_space_amount subtract_amount(const struct hi_space_amount *all,
					      const struct hi_space_amount *seen)
{
	uint64_t overhead = subtract_seen(all->overhead, seen->overhead);
	uint64_t requested =
		subtract_seen(all->size - all->overhead, seen->size - seen->overhead);

	return (struct hi_space_amount){subtract_seen(all->number, seen->number),
					requested + overhead, overhead};
}

/* Ends objects that were born in the period and are not there any more. */
static bool end_context_period(struct hi_space *s, uint32_t context,
			       struct hi_space_period *period)
{
	struct hi_space_context *c = &s->contexts.items[context];
	struct hi_space_amount unseen = subtract_amount(&c->born, &c->seen);

	hi_space_add(&c->unseen, &unseen);
	if ((unseen.number || unseen.size) &&
	    (!add_to_period(s, context, BORN, &unseen, period) ||
	     !add_to_period(s, context, DIED, &unseen, period)))
		return false;
	c->born = c->seen = (struct hi_space_amount){};
	return true;
}

enum hi_status hi_space_end_period(struct hi_space *space, struct hi_error *err)
{
	struct hi_space_period period = {};
	struct hi_space_objects taken;

	sort_space_objects(&space->now);
	if (!match_objects(space, &period))
		return fail_space(err);
	for (uint32_t i = 0; i < space->contexts.count; i++)
		if (!end_context_period(space, i, &period))
			return fail_space(err);
	if (!hi_vector_push(&space->history, period))
		return fail_space(err);
	taken = space->before;
	space->before = space->now;
	space->now = taken;
	space->now.count = 0;
	space->periods++;
	return HI_OK;
}

/* ---- all of it ---- */

enum hi_status hi_space_create(struct hi_space **ret, struct hi_error *err)
{
	struct hi_space *s = hi_calloc(1, sizeof(*s));

	if (!s)
		return fail_space(err);
	*ret = s;
	return HI_OK;
}

void hi_space_tell_kinds(struct hi_space *space, hi_space_kind_fn *kind_of,
			 const void *arg)
{
	space->kind_of = kind_of;
	space->kind_arg = arg;
}

void hi_space_destroy(struct hi_space *space)
{
	if (!space)
		return;
	for (size_t i = 0; i < space->groups.count; i++)
		hi_vector_free(&space->groups.items[i].ended);
	hi_vector_free(&space->groups);
	hi_vector_free(&space->contexts);
	hi_table_free(&space->group_of);
	hi_vector_free(&space->before);
	hi_vector_free(&space->now);
	hi_vector_free(&space->history);
	hi_vector_free(&space->kinds);
	hi_table_free(&space->kind_row);
	free(space);
}

uint32_t hi_space_periods(const struct hi_space *space)
{
	return space->periods;
}

uint64_t hi_space_memory(const struct hi_space *space)
{
	size_t ended = 0;

	for (size_t i = 0; i < space->groups.count; i++)
		ended += space->groups.items[i].ended.capacity;
	return sizeof(*space) + ended * sizeof(struct hi_space_step) +
	       space->contexts.capacity * sizeof(*space->contexts.items) +
	       space->groups.capacity * sizeof(*space->groups.items) +
	       space->group_of.capacity * sizeof(*space->group_of.slots) +
	       (space->before.capacity + space->now.capacity) *
		       sizeof(*space->before.items) +
	       space->history.capacity * sizeof(*space->history.items);
}

const struct hi_space_period *hi_space_history(const struct hi_space *space)
{
	return space->history.items;
}
