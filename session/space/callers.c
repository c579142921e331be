/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/space/callers.h"

#include <stdlib.h>
#include <string.h>

/* Callers while they are collected: of all functions together. */
struct caller_making {
	const struct hi_space_profile *profile;
	struct hi_arena *arena;
	struct found_caller {
		uint32_t function;
		struct hi_alloc_caller caller;
	} * found; /* by function, then most allocated bytes first */
	size_t n_found;
};

/* The rows of one pair, which have one type each, become one; strings are the profile's.
 */
static bool add_caller(struct caller_making *m, const struct hi_space_row *rows, size_t n)
{
	struct found_caller *to = &m->found[m->n_found];
	const struct hi_space_function *functions;
	struct hi_space_step *steps;
	struct hi_space_pair pair;
	size_t n_steps = 0, unused;

	pair = hi_space_profile_pairs(m->profile, &unused)[rows->function];
	functions = hi_space_profile_functions(m->profile, &unused);
	for (size_t i = 0; i < n; i++)
		n_steps += rows[i].n_steps;
	steps = hi_arena_alloc(m->arena, (n_steps + 1) * sizeof(*steps));
	if (!steps)
		return false;
	hi_space_sum_rows(rows, n, steps, &to->caller.row);
	to->function = pair.function;
	to->caller.name = hi_space_profile_text(m->profile, functions[pair.caller].name);
	to->caller.file = hi_space_profile_text(m->profile, functions[pair.caller].file);
	m->n_found++;
	return true;
}

static int compare_callers(const void *a, const void *b)
{
	const struct found_caller *x = a, *y = b;
	uint64_t m = hi_space_at_age(&x->caller.row, 0).size,
		 n = hi_space_at_age(&y->caller.row, 0).size;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return m != n ? (m > n ? -1 : 1) : strcmp(x->caller.name, y->caller.name);
}

static bool find_callers(struct caller_making *m, const struct hi_space_result *rows)
{
	m->found = hi_arena_alloc(m->arena, (rows->n_rows + 1) * sizeof(*m->found));
	for (size_t i = 0, end; m->found && i < rows->n_rows; i = end) {
		for (end = i; end < rows->n_rows &&
			      rows->rows[end].function == rows->rows[i].function;)
			end++;
		if (!add_caller(m, &rows->rows[i], end - i))
			return false;
	}
	if (m->found)
		qsort(m->found, m->n_found, sizeof(*m->found), compare_callers);
	return m->found != NULL;
}

static bool give_callers(const struct caller_making *m, struct hi_alloc_function *ret)
{
	const uint32_t function = ret->number;
	size_t first = 0, n = 0;

	while (first < m->n_found && m->found[first].function < function)
		first++;
	while (first + n < m->n_found && m->found[first + n].function == function)
		n++;
	ret->callers = hi_arena_alloc(m->arena, (n + 1) * sizeof(*ret->callers));
	for (size_t i = 0; ret->callers && i < n; i++)
		ret->callers[i] = m->found[first + i].caller;
	ret->n_callers = ret->callers ? n : 0;
	return ret->callers != NULL;
}

enum hi_status hi_space_callers(const struct hi_space_profile *profile,
				struct hi_alloc_function *functions, size_t n,
				struct hi_arena *arena, struct hi_error *err)
{
	struct caller_making m = {.profile = profile, .arena = arena};
	struct hi_space_sites sites = hi_space_profile_pair_sites(profile);
	struct hi_space_result rows;
	enum hi_status status =
		hi_space_result(hi_space_profile_space(profile), &sites, &rows, err);
	bool ok;

	if (status != HI_OK)
		return status;
	ok = find_callers(&m, &rows);
	for (size_t i = 0; ok && i < n; i++)
		ok = give_callers(&m, &functions[i]);
	hi_space_result_free(&rows);
	return ok ? HI_OK : hi_fail_memory(err, "callers of functions");
}
