/* SPDX-License-Identifier: BSD-2-Clause */
/* What followed objects amount to, by function, type and age. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/arena.h"
#include "census/space/space.h"
#include "census/space/space_internal.h"

/* A site while rows are made: the type of the objects that were seen. */
struct site_types {
	bool is_seen, is_mixed;
	uint32_t type;
};

/* hi_space_row, with arrays that grow. */
struct growing_row {
	uint32_t function, type;
	struct HI_VECTOR(struct hi_space_amount) ended, live; /* at just this age */
};

struct row_making {
	const struct hi_space *space;
	const struct hi_space_sites *sites;
	struct HI_VECTOR(struct growing_row) rows;
	struct hi_table row_of; /* function and type -> index of rows */
	struct HI_VECTOR(struct site_types) types;
};

static void free_row_making(struct row_making *m)
{
	for (size_t i = 0; i < m->rows.count; i++) {
		hi_vector_free(&m->rows.items[i].ended);
		hi_vector_free(&m->rows.items[i].live);
	}
	hi_vector_free(&m->rows);
	hi_vector_free(&m->types);
	hi_table_free(&m->row_of);
}

static uint32_t site_of_space_context(const struct row_making *m, uint32_t context)
{
	return context < m->sites->n_contexts ? m->sites->of_context[context] : 0;
}

static struct growing_row *need_row(struct row_making *m, uint32_t context, uint32_t type)
{
	uint32_t site = site_of_space_context(m, context);
	uint32_t function = site < m->sites->n_sites ? m->sites->function[site] : 0;
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

static bool note_type_of_site(struct row_making *m, uint32_t context, uint32_t type)
{
	uint32_t site = site_of_space_context(m, context);
	struct site_types *s;

	while (m->types.count <= site)
		if (!hi_vector_push(&m->types, (struct site_types){}))
			return false;
	s = &m->types.items[site];
	s->is_mixed |= s->is_seen && s->type != type;
	s->is_seen = true;
	s->type = type;
	return true;
}

/* Into both arrays, which have the same length. */
static bool add_at_age(struct growing_row *row, uint32_t age,
		       const struct hi_space_amount *amount, bool is_live)
{
	while (row->ended.count <= age)
		if (!hi_vector_push(&row->ended, (struct hi_space_amount){}) ||
		    !hi_vector_push(&row->live, (struct hi_space_amount){}))
			return false;
	hi_space_add(&row->ended.items[age], amount);
	if (is_live)
		hi_space_add(&row->live.items[age], amount);
	return true;
}

static bool add_group_to_rows(struct row_making *m, const struct hi_space_group *group)
{
	struct growing_row *row = need_row(m, group->context, group->type);

	if (!row || !note_type_of_site(m, group->context, group->type))
		return false;
	for (uint32_t i = 0; i < group->ended.count; i++)
		if (!add_at_age(row, i + 1, &group->ended.items[i], false))
			return false;
	return true;
}

static bool add_live_to_rows(struct row_making *m, const struct hi_space_object *o)
{
	/* Its age is that of the last census, which has ended. */
	struct growing_row *row = need_row(m, o->context, o->type);

	return row && note_type_of_site(m, o->context, o->type) &&
	       add_at_age(row, hi_space_age(m->space, o), &o->amount, true);
}

static bool add_unseen_to_rows(struct row_making *m, uint32_t context)
{
	const struct hi_space_amount *unseen = &m->space->contexts.items[context].unseen;
	uint32_t site = site_of_space_context(m, context), type = 0;
	struct growing_row *row;

	if (!unseen->number && !unseen->size)
		return true;
	if (site < m->types.count && !m->types.items[site].is_mixed)
		type = m->types.items[site].type;
	row = need_row(m, context, type);
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

/* What ended at an age was there at all before it. */
static bool finish_row(const struct growing_row *row, struct hi_arena *arena,
		       struct hi_space_row *ret)
{
	size_t n = row->ended.count, size = n * sizeof(*ret->ages);
	struct hi_space_amount *ages = hi_arena_alloc(arena, size ? size : 1);
	struct hi_space_amount *live = hi_arena_alloc(arena, size ? size : 1);

	if (!ages || !live)
		return false;
	for (size_t i = n; i-- > 0;) {
		ages[i] = row->ended.items[i];
		live[i] = row->live.items[i];
		if (i + 1 < n)
			hi_space_add(&ages[i], &ages[i + 1]);
	}
	*ret = (struct hi_space_row){row->function, row->type, (uint32_t)n, ages, live};
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

/* ---- sums ---- */

struct hi_space_amount hi_space_at_age(const struct hi_space_row *row, uint32_t age)
{
	return age < row->n_ages ? row->ages[age] : (struct hi_space_amount){};
}

struct hi_space_amount hi_space_survived(const struct hi_space_row *row)
{
	struct hi_space_amount sum = {};

	for (uint32_t age = 1; age < row->n_ages; age++)
		hi_space_add(&sum, &row->ages[age]);
	return sum;
}

struct hi_space_amount hi_space_live(const struct hi_space_row *row)
{
	struct hi_space_amount sum = {};

	for (uint32_t age = 1; age < row->n_ages; age++)
		hi_space_add(&sum, &row->live_ages[age]);
	return sum;
}
