/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of followed objects, by function, type and age. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "census/space/space.h"
#include "census/space/space_internal.h"

/* hi_space_row while it grows. */
struct growing_row {
	uint32_t function, type;
	struct hi_space_steps steps;
};

struct row_making {
	const struct hi_space *space;
	const struct hi_space_sites *sites;
	struct HI_VECTOR(struct growing_row) rows;
	struct hi_table row_of; /* function and type -> index of rows */
};

static void free_row_making(struct row_making *m)
{
	for (size_t i = 0; i < m->rows.count; i++)
		hi_vector_free(&m->rows.items[i].steps);
	hi_vector_free(&m->rows);
	hi_table_free(&m->row_of);
}

static uint32_t site_of_space_context(const struct row_making *m, uint32_t context)
{
	return context < m->sites->n_contexts ? m->sites->of_context[context] : 0;
}

static uint32_t function_of_space_context(const struct row_making *m, uint32_t context)
{
	uint32_t site = site_of_space_context(m, context);

	if (m->sites->group_of_context)
		return context < m->sites->n_contexts
			       ? m->sites->group_of_context[context]
			       : 0;
	return site < m->sites->n_sites ? m->sites->function[site] : 0;
}

static struct growing_row *need_row(struct row_making *m, uint32_t context, uint32_t type)
{
	uint32_t function = function_of_space_context(m, context);
	uint64_t key = (uint64_t)function << 32 | type, index;

	if (hi_table_get(&m->row_of, key, &index))
		return &m->rows.items[index];
	index = m->rows.count;
	if (!hi_vector_push(&m->rows,
			    (struct growing_row){.function = function, .type = type}) ||
	    !hi_table_put(&m->row_of, key, index))
		return NULL;
	return &m->rows.items[index];
}

static bool add_at_age(struct growing_row *row, uint32_t age,
		       const struct hi_space_amount *amount, bool is_live)
{
	struct hi_space_step *step = hi_space_need_step(&row->steps, age);

	if (!step)
		return false;
	hi_space_add(&step->all, amount);
	if (is_live)
		hi_space_add(&step->live, amount);
	return true;
}

static bool add_group_to_rows(struct row_making *m, const struct hi_space_group *group)
{
	struct growing_row *row = need_row(m, group->context, group->type);

	for (size_t i = 0; row && i < group->ended.count; i++)
		if (!add_at_age(row, group->ended.items[i].age,
				&group->ended.items[i].all, false))
			return false;
	return row;
}

static bool add_live_to_rows(struct row_making *m, const struct hi_space_object *o)
{
	/* Its age is that of the last census, which has ended. */
	struct growing_row *row = need_row(m, o->context, o->type);

	return row && add_at_age(row, hi_space_age(m->space, o), &o->amount, true);
}

/* The type of a survivor of the same site is not theirs: a line that calls a wrapper of
 * malloc allocates more than one type. */
static bool add_unseen_to_rows(struct row_making *m, uint32_t context)
{
	const struct hi_space_amount *unseen = &m->space->contexts.items[context].unseen;
	struct growing_row *row;

	if (!unseen->number && !unseen->size)
		return true;
	row = need_row(m, context, 0);
	return row && add_at_age(row, 0, unseen, false);
}

static bool make_rows(struct row_making *m)
{
	const struct hi_space *s = m->space;

	for (size_t i = 0; i < s->groups.count; i++)
		if (!add_group_to_rows(m, &s->groups.items[i]))
			return false;
	for (size_t i = 0; i < s->before.count; i++)
		if (!add_live_to_rows(m, &s->before.items[i]))
			return false;
	for (uint32_t i = 0; i < s->contexts.count; i++)
		if (!add_unseen_to_rows(m, i))
			return false;
	return true;
}

/* ---- the rows as they are given ---- */

static int compare_space_rows(const void *a, const void *b)
{
	const struct hi_space_row *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->type == y->type ? 0 : x->type < y->type ? -1 : 1;
}

/* An object that ended at an age was there at all ages before it. */
static void add_later_steps(struct hi_space_step *steps, size_t n)
{
	for (size_t i = n; i-- > 1;)
		hi_space_add(&steps[i - 1].all, &steps[i].all);
}

static bool finish_row(const struct growing_row *row, struct hi_arena *arena,
		       struct hi_space_row *ret)
{
	size_t n = row->steps.count, size = n * sizeof(*row->steps.items);
	struct hi_space_step *steps = hi_arena_alloc(arena, size ? size : 1);

	if (!steps)
		return false;
	if (n)
		memcpy(steps, row->steps.items, size);
	add_later_steps(steps, n);
	*ret = (struct hi_space_row){row->function, row->type, (uint32_t)n, steps};
	return true;
}

static bool finish_rows(const struct row_making *m, struct hi_space_result *ret)
{
	struct hi_arena *arena = ret->owned;
	size_t n = m->rows.count;

	ret->rows = hi_arena_alloc(arena, (n + 1) * sizeof(*ret->rows));
	for (size_t i = 0; ret->rows && i < n; i++)
		if (!finish_row(&m->rows.items[i], arena, &ret->rows[i]))
			return false;
	if (!ret->rows)
		return false;
	ret->n_rows = n;
	qsort(ret->rows, n, sizeof(*ret->rows), compare_space_rows);
	return true;
}

enum hi_status hi_space_result(const struct hi_space *space,
			       const struct hi_space_sites *sites,
			       struct hi_space_result *ret, struct hi_error *err)
{
	struct row_making m = {.space = space, .sites = sites};
	bool ok;

	*ret = (struct hi_space_result){.owned = hi_calloc(1, sizeof(struct hi_arena))};
	ok = ret->owned && make_rows(&m) && finish_rows(&m, ret);
	free_row_making(&m);
	if (ok)
		return HI_OK;
	hi_space_result_free(ret);
	return hi_fail_memory(err, "space profile");
}

void hi_space_result_free(struct hi_space_result *result)
{
	if (result->owned)
		hi_arena_free(result->owned);
	free(result->owned);
	*result = (struct hi_space_result){};
}

/* ---- steps ---- */

/* The first step of this age or later; n: there is none. */
static size_t find_step(const struct hi_space_step *steps, size_t n, uint32_t age)
{
	return hi_search(i, n, steps[i].age < age);
}

struct hi_space_step *hi_space_need_step(struct hi_space_steps *steps, uint32_t age)
{
	size_t i = find_step(steps->items, steps->count, age);

	if (i < steps->count && steps->items[i].age == age)
		return &steps->items[i];
	if (!hi_vector_push(steps, (struct hi_space_step){}))
		return NULL;
	memmove(&steps->items[i + 1], &steps->items[i],
		(steps->count - 1 - i) * sizeof(*steps->items));
	steps->items[i] = (struct hi_space_step){.age = age};
	return &steps->items[i];
}

struct hi_space_amount hi_space_at_age(const struct hi_space_row *row, uint32_t age)
{
	size_t i = find_step(row->steps, row->n_steps, age);

	return i < row->n_steps ? row->steps[i].all : (struct hi_space_amount){};
}

struct hi_space_amount hi_space_live_at_age(const struct hi_space_row *row, uint32_t age)
{
	size_t i = find_step(row->steps, row->n_steps, age);

	return i < row->n_steps && row->steps[i].age == age ? row->steps[i].live
							    : (struct hi_space_amount){};
}

uint32_t hi_space_last_age(const struct hi_space_row *row)
{
	for (uint32_t i = row->n_steps; i-- > 0;)
		if (row->steps[i].all.number || row->steps[i].all.size)
			return row->steps[i].age;
	return 0;
}

bool hi_space_falls_at(const struct hi_space_row *row, uint32_t age)
{
	size_t i;

	if (age <= 1)
		return true;
	i = find_step(row->steps, row->n_steps, age - 1);
	return i < row->n_steps && row->steps[i].age == age - 1;
}

/* A step counts for each age since the one before it. */
struct hi_space_amount hi_space_survived(const struct hi_space_row *row)
{
	struct hi_space_amount sum = {};
	uint32_t before = 0;

	for (uint32_t i = 0; i < row->n_steps; i++) {
		const struct hi_space_step *step = &row->steps[i];
		uint32_t ages = step->age - before;

		sum.number += ages * step->all.number;
		sum.size += ages * step->all.size;
		sum.overhead += ages * step->all.overhead;
		before = step->age;
	}
	return sum;
}

struct hi_space_amount hi_space_live(const struct hi_space_row *row)
{
	struct hi_space_amount sum = {};

	for (uint32_t i = 0; i < row->n_steps; i++)
		hi_space_add(&sum, &row->steps[i].live);
	return sum;
}

/* ---- sums of rows ---- */

static int compare_space_steps(const void *a, const void *b)
{
	uint32_t x = ((const struct hi_space_step *)a)->age;
	uint32_t y = ((const struct hi_space_step *)b)->age;

	return x == y ? 0 : x < y ? -1 : 1;
}

/* Copies the amounts that ended at just the age of each step. */
static size_t copy_single_steps(const struct hi_space_row *row,
				struct hi_space_step *steps)
{
	for (uint32_t i = 0; i < row->n_steps; i++) {
		steps[i] = row->steps[i];
		if (i + 1 == row->n_steps)
			continue;
		steps[i].all.number -= row->steps[i + 1].all.number;
		steps[i].all.size -= row->steps[i + 1].all.size;
		steps[i].all.overhead -= row->steps[i + 1].all.overhead;
	}
	return row->n_steps;
}

void hi_space_sum_rows(const struct hi_space_row *rows, size_t n,
		       struct hi_space_step *steps, struct hi_space_row *ret)
{
	size_t filled = 0, kept = 0;

	for (size_t i = 0; i < n; i++)
		filled += copy_single_steps(&rows[i], &steps[filled]);
	qsort(steps, filled, sizeof(*steps), compare_space_steps);
	for (size_t i = 0; i < filled; i++) {
		if (!kept || steps[kept - 1].age != steps[i].age) {
			steps[kept++] = steps[i];
			continue;
		}
		hi_space_add(&steps[kept - 1].all, &steps[i].all);
		hi_space_add(&steps[kept - 1].live, &steps[i].live);
	}
	add_later_steps(steps, kept);
	*ret = (struct hi_space_row){.n_steps = (uint32_t)kept, .steps = steps};
}
