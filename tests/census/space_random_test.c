/* SPDX-License-Identifier: BSD-2-Clause */
/* Random timelines of the space profile, beside its definition. */
#include "base/arena.h"
#include "census/space/space_kept.h"
#include "tests/census/space_lives.h"
#include "tests/support/random.h"

enum { TIMELINES = 5000 };

/* Few addresses: an object takes the place of another one that is dead. */
static uint64_t draw_free_address(uint64_t *random, const struct space_lives *l,
				  const struct space_life *life)
{
	for (uint64_t address = 1 + random_below(random, 8);; address += 8) {
		bool is_free = true;

		for (unsigned i = 0; i < l->n; i++) {
			const struct space_life *o = &l->of[i];

			is_free &= o->address != address ||
				   (o->dies && o->dies <= life->born) ||
				   (life->dies && life->dies <= o->born);
		}
		if (is_free)
			return address;
	}
}

static struct space_life draw_space_life(uint64_t *random, const struct space_lives *l)
{
	const unsigned n = l->censuses;
	uint64_t requested = 1 + random_below(random, 200),
		 number = 1 + random_below(random, 3);
	struct space_life life = {.context = random_below(random, SPACE_CONTEXTS),
				  .type = random_below(random, SPACE_TYPES),
				  .born = 1 + random_below(random, n)};
	uint64_t cost = requested + random_below(random, 40);

	life.amount = (struct hi_space_amount){number, number * cost,
					       number * (cost - requested)};
	life.assumed_overhead = random_below(random, 2)
					? life.amount.overhead
					: number * random_below(random, 40);
	if (random_below(random, 4))
		life.dies = life.born + random_below(random, n + 2 - life.born);
	if (!random_below(random, 3))
		life.typed_from = 1 + random_below(random, n + 1);
	if (!random_below(random, 3))
		life.untyped_from = 1 + random_below(random, n + 1);
	life.address = draw_free_address(random, l, &life);
	return life;
}

static struct space_lives draw_space_lives(uint64_t seed)
{
	uint64_t random = seed * 0x9e3779b97f4a7c15u + 1;
	struct space_lives l = {.censuses = 1 + random_below(&random, 9)};
	unsigned n = random_below(&random, SPACE_LIVES + 1);

	for (unsigned i = 0; i < SPACE_CONTEXTS; i++) {
		l.site[i] = random_below(&random, SPACE_CONTEXTS);
		l.function[i] = random_below(&random, 3);
	}
	for (unsigned i = 0; i < n; i++) {
		struct space_life life = draw_space_life(&random, &l);

		l.of[l.n++] = life;
	}
	return l;
}

/* ---- the definition ---- */

static bool was_ever_seen(const struct space_lives *l, const struct space_life *life)
{
	for (unsigned t = 1; t <= l->censuses; t++)
		if (life_is_live(life, t))
			return true;
	return false;
}

static uint32_t type_that_was_seen(const struct space_lives *l,
				   const struct space_life *life)
{
	for (unsigned t = 1; t <= l->censuses; t++)
		if (life_is_live(life, t) && is_type_known(life, t))
			return life->type;
	return 0;
}

/* What is counted of it: where no census saw it, its overhead is as assumed. */
static struct hi_space_amount true_amount(const struct space_lives *l,
					  const struct space_life *life)
{
	struct hi_space_amount a = life->amount;

	if (!was_ever_seen(l, life)) {
		a.size += life->assumed_overhead - a.overhead;
		a.overhead = life->assumed_overhead;
	}
	return a;
}

static bool has_age(const struct space_lives *l, const struct space_life *life,
		    unsigned age)
{
	if (age == 0)
		return true;
	for (unsigned t = 1; t <= l->censuses; t++)
		if (life_is_live(life, t) && t - life->born + 1 == age)
			return true;
	return false;
}

static struct hi_space_amount true_sum(const struct space_lives *l, uint32_t function,
				       uint32_t type, unsigned age, bool only_live)
{
	struct hi_space_amount sum = {}, one;

	for (unsigned i = 0; i < l->n; i++) {
		const struct space_life *life = &l->of[i];

		if (l->function[l->site[life->context]] != function ||
		    type_that_was_seen(l, life) != type || !has_age(l, life, age))
			continue;
		if (only_live && (!life_is_live(life, l->censuses) ||
				  l->censuses - life->born + 1 != age))
			continue;
		one = true_amount(l, life);
		hi_space_add(&sum, &one);
	}
	return sum;
}

/* ---- comparison ---- */

static void check_sum(uint64_t seed, const char *what, struct hi_space_amount expected,
		      struct hi_space_amount actual)
{
	HI_ASSERT_MSG(expected.number == actual.number && expected.size == actual.size &&
			      expected.overhead == actual.overhead,
		      "timeline %lu, %s: %lu/%lu/%lu, not %lu/%lu/%lu", seed, what,
		      actual.number, actual.size, actual.overhead, expected.number,
		      expected.size, expected.overhead);
}

static void check_cell(uint64_t seed, const struct space_lives *l,
		       const struct hi_space_result *r, uint32_t function, uint32_t type)
{
	const struct hi_space_row none = {}, *row = find_space_row(r, function, type);

	row = row ? row : &none;
	for (unsigned age = 0; age <= l->censuses + 1; age++) {
		check_sum(seed, "at an age", true_sum(l, function, type, age, false),
			  hi_space_at_age(row, age));
		if (age)
			check_sum(seed, "live", true_sum(l, function, type, age, true),
				  hi_space_live_at_age(row, age));
	}
}

static void check_periods(uint64_t seed, const struct space_lives *l,
			  const struct hi_space_period *history)
{
	struct hi_space_amount before = {}, one;

	for (unsigned t = 1; t <= l->censuses; t++) {
		struct hi_space_period truth = {}, sum = {.born = before};

		for (unsigned i = 0; i < l->n; i++) {
			const struct space_life *life = &l->of[i];

			one = true_amount(l, life);
			if (life->born == t)
				hi_space_add(&truth.born, &one);
			if (life->dies == t)
				hi_space_add(&truth.died, &one);
			if (life_is_live(life, t))
				hi_space_add(&truth.live, &one);
		}
		check_sum(seed, "born", truth.born, history[t - 1].born);
		check_sum(seed, "died", truth.died, history[t - 1].died);
		check_sum(seed, "live at a census", truth.live, history[t - 1].live);
		/* live[t - 1] + born = live[t] + died */
		hi_space_add(&sum.born, &history[t - 1].born);
		sum.live = history[t - 1].live;
		hi_space_add(&sum.live, &history[t - 1].died);
		check_sum(seed, "balance", sum.born, sum.live);
		before = history[t - 1].live;
	}
}

/* The invariants of the specification, of the rows alone. */
static void check_invariants(uint64_t seed, const struct space_lives *l,
			     const struct hi_space_result *r,
			     const struct hi_space_period *history)
{
	struct hi_space_amount all = {}, live = {}, survived = {}, one;
	struct hi_space_amount born = {}, seen = {};

	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hi_space_row *row = &r->rows[i];

		for (uint32_t k = 1; k < row->n_steps; k++)
			HI_ASSERT_MSG(row->steps[k].age > row->steps[k - 1].age &&
					      row->steps[k].all.number <=
						      row->steps[k - 1].all.number &&
					      row->steps[k].all.size <=
						      row->steps[k - 1].all.size &&
					      row->steps[k].all.overhead <=
						      row->steps[k - 1].all.overhead,
				      "timeline %lu: step %u has more", seed, k);
		one = hi_space_at_age(row, 0);
		hi_space_add(&all, &one);
		one = hi_space_survived(row);
		hi_space_add(&survived, &one);
		one = hi_space_live(row);
		hi_space_add(&live, &one);
	}
	for (unsigned t = 0; t < l->censuses; t++) {
		hi_space_add(&born, &history[t].born);
		hi_space_add(&seen, &history[t].live);
	}
	check_sum(seed, "all that was born is of age 0", born, all);
	check_sum(seed, "each census counts once", seen, survived);
	check_sum(seed, "live at the end", history[l->censuses - 1].live, live);
}

/* Size without overhead is what was requested, whatever censuses knew of the cost. */
static void check_requested(uint64_t seed, const struct space_lives *l,
			    const struct hi_space_result *r)
{
	uint64_t requested = 0, rows = 0;

	for (unsigned i = 0; i < l->n; i++)
		requested += l->of[i].amount.size - l->of[i].amount.overhead;
	for (size_t i = 0; i < r->n_rows; i++) {
		struct hi_space_amount a = hi_space_at_age(&r->rows[i], 0);

		rows += a.size - a.overhead;
	}
	HI_ASSERT_MSG(requested == rows, "timeline %lu: %lu requested, not %lu", seed,
		      rows, requested);
}

/* Behind the last age there is nothing, and at it there is something. */
static void check_last_ages(uint64_t seed, const struct space_lives *l,
			    const struct hi_space_result *r)
{
	for (size_t i = 0; i < r->n_rows; i++) {
		unsigned last = 0;

		for (unsigned age = 0; age <= l->censuses + 1; age++)
			if (hi_space_at_age(&r->rows[i], age).number)
				last = age;
		HI_ASSERT_MSG(last == hi_space_last_age(&r->rows[i]),
			      "timeline %lu: last age %u, not %u", seed,
			      hi_space_last_age(&r->rows[i]), last);
		/* An amount that is another is one that falls. */
		for (unsigned age = 2; age <= last; age++)
			HI_ASSERT_MSG(
				hi_space_falls_at(&r->rows[i], age) ||
					hi_space_at_age(&r->rows[i], age).number ==
						hi_space_at_age(&r->rows[i], age - 1)
							.number,
				"timeline %lu: falls at %u", seed, age);
	}
}

static void check_same_rows(uint64_t seed, const struct space_lives *l,
			    const struct hi_space_result *a,
			    const struct hi_space_result *b)
{
	HI_ASSERT_EQ(a->n_rows, b->n_rows);
	for (size_t i = 0; i < a->n_rows; i++) {
		HI_ASSERT_EQ(a->rows[i].function, b->rows[i].function);
		HI_ASSERT_EQ(a->rows[i].type, b->rows[i].type);
		for (unsigned age = 0; age <= l->censuses + 1; age++) {
			check_sum(seed, "kept", hi_space_at_age(&a->rows[i], age),
				  hi_space_at_age(&b->rows[i], age));
			check_sum(seed, "live and kept",
				  hi_space_live_at_age(&a->rows[i], age),
				  hi_space_live_at_age(&b->rows[i], age));
		}
	}
}

/* What a file keeps has the same results. */
static void check_kept(uint64_t seed, const struct space_lives *l,
		       const struct hi_space *space, const struct hi_space_result *r)
{
	HI_GUARD(hi_space_destroy) struct hi_space *restored = NULL;
	struct hi_space_sites sites = sites_of_lives(l);
	struct hi_space_result rows;
	struct hi_space_kept kept;
	struct hi_arena arena = {};
	struct hi_error err;

	HI_ASSERT_OK(hi_space_keep(space, &arena, &kept, &err), &err);
	HI_ASSERT_OK(hi_space_restore(&kept, &restored, &err), &err);
	HI_ASSERT_OK(hi_space_result(restored, &sites, &rows, &err), &err);
	check_same_rows(seed, l, r, &rows);
	HI_ASSERT_EQ(l->censuses, hi_space_periods(restored));
	HI_ASSERT_EQ(0, memcmp(hi_space_history(space), hi_space_history(restored),
			       l->censuses * sizeof(struct hi_space_period)));
	hi_space_result_free(&rows);
	hi_arena_free(&arena);
}

/* All rows together, at each age. */
static void check_sum_of_rows(uint64_t seed, const struct space_lives *l,
			      const struct hi_space_result *r)
{
	static struct hi_space_step steps[SPACE_LIVES * 4];
	struct hi_space_row all;

	hi_space_sum_rows(r->rows, r->n_rows, steps, &all);
	for (unsigned age = 0; age <= l->censuses + 1; age++) {
		struct hi_space_amount sum = {}, live = {}, one;

		for (size_t i = 0; i < r->n_rows; i++) {
			one = hi_space_at_age(&r->rows[i], age);
			hi_space_add(&sum, &one);
			one = hi_space_live_at_age(&r->rows[i], age);
			hi_space_add(&live, &one);
		}
		check_sum(seed, "of all rows", sum, hi_space_at_age(&all, age));
		check_sum(seed, "live of all rows", live,
			  hi_space_live_at_age(&all, age));
	}
}

static void check_timeline(uint64_t seed)
{
	const struct space_lives l = draw_space_lives(seed);
	HI_GUARD(hi_space_destroy) struct hi_space *space = play_space_lives(&l);
	struct hi_space_sites sites = sites_of_lives(&l);
	struct hi_space_result r;
	struct hi_error err;

	HI_ASSERT_OK(hi_space_result(space, &sites, &r, &err), &err);
	for (uint32_t function = 0; function < 3; function++)
		for (uint32_t type = 0; type < SPACE_TYPES; type++)
			check_cell(seed, &l, &r, function, type);
	check_periods(seed, &l, hi_space_history(space));
	check_invariants(seed, &l, &r, hi_space_history(space));
	check_sum_of_rows(seed, &l, &r);
	check_requested(seed, &l, &r);
	check_last_ages(seed, &l, &r);
	check_kept(seed, &l, space, &r);
	hi_space_result_free(&r);
}

HI_TEST(space_random, timelines_have_what_the_definition_says)
{
	for (uint64_t seed = 0; seed < TIMELINES; seed++)
		check_timeline(seed);
}
