/* SPDX-License-Identifier: BSD-2-Clause */
/* Times of functions from random stacks, beside their definitions taken word by word. */
#include "census/space/time.h"

#include <string.h>

#include "census/space/chains.h"
#include "tests/harness.h"
#include "tests/support/random.h"

enum { ROUNDS = 5000, STACKS = 12, FRAMES = 9, FUNCTIONS = 5, CALLERS = 4 };

struct drawn_stacks {
	uint32_t functions[STACKS][FRAMES];
	struct hi_space_stack stacks[STACKS];
	size_t n;
};

/* Few functions, so that they recur. 0 is a function like the others. */
static struct drawn_stacks *draw_stacks(uint64_t seed)
{
	static struct drawn_stacks d;
	uint64_t random = seed * 0x9e3779b97f4a7c15u + 1;

	d.n = random_below(&random, STACKS + 1);
	for (size_t i = 0; i < d.n; i++) {
		uint32_t n = random_below(&random, FRAMES + 1);

		for (uint32_t k = 0; k < n; k++)
			d.functions[i][k] = 1 + random_below(&random, FUNCTIONS - 1);
		d.stacks[i] = (struct hi_space_stack){d.functions[i], n,
						      random_below(&random, 4)};
	}
	return &d;
}

/* ---- each definition, as a loop of its own ---- */

static uint32_t count_frames(const struct hi_space_stack *s, uint32_t f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += s->functions[i] == f;
	return n;
}

static uint64_t naive_top(const struct drawn_stacks *d, uint32_t f)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		if (d->stacks[i].n > 0 && d->stacks[i].functions[0] == f)
			n += d->stacks[i].ticks;
	return n;
}

static uint64_t naive_scans(const struct drawn_stacks *d, uint32_t f)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		if (count_frames(&d->stacks[i], f) > 0)
			n += d->stacks[i].ticks;
	return n;
}

static uint64_t naive_found(const struct drawn_stacks *d, uint32_t f)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		for (uint64_t k = 0; k < d->stacks[i].ticks; k++)
			n += count_frames(&d->stacks[i], f);
	return n;
}

static uint32_t naive_depth(const struct drawn_stacks *d, uint32_t f)
{
	uint32_t most = 0;

	for (size_t i = 0; i < d->n; i++)
		if (d->stacks[i].ticks && count_frames(&d->stacks[i], f) > most)
			most = count_frames(&d->stacks[i], f);
	return most;
}

/* From each frame on, how far the function goes on calling itself. */
static uint32_t naive_self(const struct drawn_stacks *d, uint32_t f)
{
	uint32_t most = 0;

	for (size_t i = 0; i < d->n; i++)
		for (uint32_t from = 0; d->stacks[i].ticks && from < d->stacks[i].n;
		     from++) {
			uint32_t to = from;

			if (d->stacks[i].functions[from] != f)
				continue;
			while (to + 1 < d->stacks[i].n &&
			       d->stacks[i].functions[to + 1] == f)
				to++;
			if (to - from > most)
				most = to - from;
		}
	return most;
}

HI_TEST(space_time, columns_are_those_of_their_definitions)
{
	struct hi_space_time times[FUNCTIONS];
	struct hi_error err;

	for (uint64_t seed = 0; seed < ROUNDS; seed++) {
		const struct drawn_stacks *d = draw_stacks(seed);

		memset(times, 0xff, sizeof(times));
		HI_ASSERT_OK(hi_space_times(d->stacks, d->n, times, FUNCTIONS, &err),
			     &err);
		for (uint32_t f = 0; f < FUNCTIONS; f++) {
			HI_ASSERT_EQ(naive_top(d, f), times[f].top);
			HI_ASSERT_EQ(naive_scans(d, f), times[f].scans);
			HI_ASSERT_EQ(naive_found(d, f), times[f].found);
			HI_ASSERT_EQ(naive_depth(d, f), times[f].depth);
			HI_ASSERT_EQ(naive_self(d, f), times[f].self);
		}
	}
}

HI_TEST(space_time, functions_of_higher_numbers_are_left_out)
{
	const uint32_t functions[] = {7, 1, 7, UINT32_MAX};
	const struct hi_space_stack stack = {functions, 4, 3};
	struct hi_space_time times[2];
	struct hi_error err;

	HI_ASSERT_OK(hi_space_times(&stack, 1, times, 2, &err), &err);
	HI_ASSERT_EQ(0, times[0].scans);
	HI_ASSERT_EQ(3, times[1].scans);
	HI_ASSERT_EQ(0, times[1].top);
}

HI_TEST(space_time, a_scan_is_inside_from_the_outermost_function_on)
{
	static const uint32_t inside[] = {3, 2, 1}, outside[] = {3, 1}, at_all[] = {2};
	const struct hi_space_stack stacks[] = {
		{inside, 3, 5}, {outside, 2, 7}, {at_all, 1, 1}, {NULL, 0, 9}};
	const bool is_wanted[] = {false, false, true};

	HI_ASSERT_EQ(6, hi_space_ticks_inside(stacks, 4, is_wanted, 3));
}

/* ---- chains ---- */

/* Has something that is no library called this frame, directly or not? */
static bool is_below_program(const struct hi_space_stack *s, uint32_t at,
			     const bool *is_library)
{
	for (uint32_t i = at + 1; i < s->n; i++)
		if (s->functions[i] && !is_library[s->functions[i]])
			return true;
	return false;
}

/* Is this chain, innermost first, at frame `from` of the stack? After its outermost frame
 * comes function 0. Callers of libraries are passed. */
static bool is_chain_at(const struct hi_space_stack *s, uint32_t from,
			const bool *is_library, const uint32_t *chain, uint32_t n)
{
	uint32_t at = from;

	for (uint32_t i = 0; i < n; i++, at++) {
		while (i && is_library && at < s->n && is_library[s->functions[at]] &&
		       is_below_program(s, at, is_library))
			at++;
		if (at > s->n || (at < s->n ? s->functions[at] : 0) != chain[i])
			return false;
	}
	return true;
}

static void check_chain(const struct drawn_stacks *d, const bool *is_library,
			const struct hi_chains *chains, uint32_t number)
{
	const struct hi_chain *chain = &chains->items.items[number];
	uint64_t top = 0, scans = 0, found = 0;
	uint32_t functions[CALLERS + 1], n = chain->level + 1;

	for (uint32_t i = number, at = n; i; i = chains->items.items[i].parent)
		functions[--at] = chains->items.items[i].function;
	for (size_t i = 0; i < d->n; i++) {
		const struct hi_space_stack *s = &d->stacks[i];
		uint64_t on_it = 0;

		for (uint32_t from = 0; from < s->n; from++)
			on_it += is_chain_at(s, from, is_library, functions, n);
		top += s->n && is_chain_at(s, 0, is_library, functions, n) ? s->ticks : 0;
		scans += on_it ? s->ticks : 0;
		found += on_it * s->ticks;
	}
	HI_ASSERT_EQ(top, chain->top);
	HI_ASSERT_EQ(scans, chain->scans);
	HI_ASSERT_EQ(found, chain->found);
}

/* Unless the chain is as long as they get, or ends with the outermost function. */
static void check_children(const struct hi_chains *chains, uint32_t number,
			   uint32_t n_callers)
{
	const struct hi_chain *chain = &chains->items.items[number];
	uint64_t top = 0, found = 0;

	if (chain->level == n_callers || !chain->function)
		return;
	for (uint32_t i = number + 1; i < chains->items.count; i++)
		if (chains->items.items[i].parent == number) {
			top += chains->items.items[i].top;
			found += chains->items.items[i].found;
		}
	HI_ASSERT_EQ(chain->top, top);
	HI_ASSERT_EQ(chain->found, found);
}

HI_TEST(space_time, chains_of_callers_are_counted_and_add_up)
{
	const bool is_wanted[FUNCTIONS] = {true, true, true, true, true};
	struct hi_error err;

	for (uint64_t seed = 0; seed < ROUNDS / 5; seed++) {
		const struct drawn_stacks *d = draw_stacks(seed);
		uint32_t n_callers = (uint32_t)(seed % (CALLERS + 1));
		struct hi_chains chains = {};
		const bool drawn[FUNCTIONS] = {false, seed & 1, seed & 2, seed & 4,
					       seed & 8};
		const bool *is_library = seed % 3 ? drawn : NULL;

		for (size_t i = 0; i < d->n; i++)
			HI_ASSERT_OK(hi_chains_scan(&chains, &d->stacks[i], i + 1,
						    n_callers, is_wanted, is_library,
						    &err),
				     &err);
		for (uint32_t i = 1; i < chains.items.count; i++) {
			HI_ASSERT(chains.items.items[i].parent < i);
			HI_ASSERT(chains.items.items[i].level <= n_callers);
			check_chain(d, is_library, &chains, i);
			check_children(&chains, i, n_callers);
		}
		hi_chains_free(&chains);
	}
}

/* Function 3 is the only one of a library. */
HI_TEST(space_time, callers_of_libraries_are_passed_below_the_program)
{
	static const struct {
		uint32_t functions[6], n, kept[6], n_kept;
	} cases[] = {{{3, 3, 1, 3, 2}, 5, {0, 2, 4}, 3},
		     /* Nothing of the program has called the last two. */
		     {{1, 3, 2, 3, 3}, 5, {0, 2, 3, 4}, 4},
		     {{3, 3, 0}, 3, {0, 1, 2}, 3},
		     {{1}, 1, {0}, 1},
		     {{}, 0, {}, 0}};
	const bool is_library[FUNCTIONS] = {[3] = true};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t kept[6];

		HI_ASSERT_EQ(
			cases[i].n_kept,
			hi_chains_keep(cases[i].functions, cases[i].n, is_library, kept));
		for (uint32_t k = 0; k < cases[i].n_kept; k++)
			HI_ASSERT_EQ(cases[i].kept[k], kept[k]);
		HI_ASSERT_EQ(cases[i].n,
			     hi_chains_keep(cases[i].functions, cases[i].n, NULL, kept));
	}
}

HI_TEST(space_time, a_chain_has_one_number)
{
	static struct hi_chains chains;
	const uint32_t functions[] = {4, 4, 2};
	uint32_t first, second, shorter, none;
	struct hi_error err;

	hi_test_defer(hi_chains_free, &chains);
	HI_ASSERT_OK(hi_chains_number(&chains, functions, 3, 2, &first, &err), &err);
	HI_ASSERT_OK(hi_chains_number(&chains, functions, 3, 2, &second, &err), &err);
	HI_ASSERT_EQ(first, second);
	HI_ASSERT_OK(hi_chains_number(&chains, functions, 3, 1, &shorter, &err), &err);
	HI_ASSERT_EQ(shorter, chains.items.items[first].parent);
	/* Of an empty stack nothing is known. */
	HI_ASSERT_OK(hi_chains_number(&chains, functions, 0, 5, &none, &err), &err);
	HI_ASSERT_EQ(0, chains.items.items[none].function);
	HI_ASSERT_EQ(0, chains.items.items[none].level);
	HI_ASSERT_EQ(0, chains.items.items[first].found);
}
