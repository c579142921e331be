/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/space/callers.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/space/chains.h"

/* Callers while they are collected: of all functions together. */
struct caller_making {
	const struct hi_space_profile *profile;
	struct hi_arena *arena;
	uint32_t depth;
	bool *is_wanted; /* by function */
	struct hi_chains chains;
	uint32_t n_contexts;		    /* of the space */
	uint32_t *chain_of_context, *self;  /* self: each chain's own number */
	uint32_t *first_child, *next_child; /* by chain; 0: none */
	struct hi_space_row *rows;	    /* by chain: what it has allocated */
};

static enum hi_status fail_callers(struct hi_error *err)
{
	return hi_fail_memory(err, "callers of functions");
}

static void free_caller_making(struct caller_making *m)
{
	free(m->is_wanted);
	hi_chains_free(&m->chains);
	free(m->chain_of_context);
	free(m->self);
	free(m->first_child);
	free(m->next_child);
	free(m->rows);
}

/* ---- chains ---- */

static enum hi_status chain_contexts(struct caller_making *m, struct hi_error *err)
{
	uint32_t n = hi_space_profile_sites(m->profile).n_contexts;
	uint32_t *functions =
		hi_arena_alloc(m->arena, (m->depth + 2u) * sizeof(*functions));
	enum hi_status status = HI_OK;

	m->n_contexts = n;
	m->chain_of_context = hi_calloc(n + 1u, sizeof(*m->chain_of_context));
	if (!m->chain_of_context || !functions)
		return fail_callers(err);
	for (uint32_t i = 0; status == HI_OK && i < n; i++) {
		uint32_t length =
			hi_space_profile_chain(m->profile, i, functions, m->depth + 2u);

		status = hi_chains_number(&m->chains, functions, length, m->depth,
					  &m->chain_of_context[i], err);
	}
	return status;
}

static enum hi_status scan_stacks(struct caller_making *m, struct hi_error *err)
{
	uint32_t n = hi_space_profile_n_contexts(m->profile);
	enum hi_status status = HI_OK;

	for (uint32_t i = 0; status == HI_OK && i < n; i++) {
		struct hi_space_stack stack = hi_space_profile_stack(m->profile, i);

		if (stack.ticks)
			status = hi_chains_scan(&m->chains, &stack, i + 1u, m->depth,
						m->is_wanted, err);
	}
	return status;
}

/* A child has a higher number than its parent. */
static bool link_children(struct caller_making *m)
{
	size_t n = m->chains.items.count;

	m->self = hi_calloc(n + 1, sizeof(*m->self));
	m->first_child = hi_calloc(n + 1, sizeof(*m->first_child));
	m->next_child = hi_calloc(n + 1, sizeof(*m->next_child));
	m->rows = hi_calloc(n + 1, sizeof(*m->rows));
	if (!m->self || !m->first_child || !m->next_child || !m->rows)
		return false;
	for (uint32_t i = (uint32_t)n; i-- > 0;) {
		uint32_t parent = m->chains.items.items[i].parent;

		m->self[i] = i;
		if (!i)
			continue;
		m->next_child[i] = m->first_child[parent];
		m->first_child[parent] = i;
	}
	return true;
}

/* ---- what they have allocated ---- */

static bool sum_into(const struct caller_making *m, const struct hi_space_row *more,
		     struct hi_space_row *sum)
{
	struct hi_space_row both[] = {*sum, *more};
	struct hi_space_step *steps;

	if (!more->n_steps)
		return true;
	/* Of the arena, also where there is nothing to add: the result goes. */
	steps = hi_arena_alloc(m->arena, (sum->n_steps + more->n_steps) * sizeof(*steps));
	if (steps)
		hi_space_sum_rows(both, 2, steps, sum);
	return steps != NULL;
}

/* Each context is of one of the longest chains; shorter ones are sums. */
static bool sum_chains(struct caller_making *m, const struct hi_space_result *result)
{
	for (size_t i = 0; i < result->n_rows; i++)
		if (!sum_into(m, &result->rows[i], &m->rows[result->rows[i].function]))
			return false;
	for (uint32_t i = (uint32_t)m->chains.items.count; i-- > 1;) {
		uint32_t parent = m->chains.items.items[i].parent;

		if (parent && !sum_into(m, &m->rows[i], &m->rows[parent]))
			return false;
	}
	return true;
}

static enum hi_status find_allocated(struct caller_making *m,
				     struct hi_space_result *result, struct hi_error *err)
{
	const struct hi_space_sites sites = {m->chain_of_context, m->n_contexts, m->self,
					     (uint32_t)m->chains.items.count, NULL};
	enum hi_status status =
		hi_space_result(hi_space_profile_space(m->profile), &sites, result, err);

	if (status != HI_OK)
		return status;
	return sum_chains(m, result) ? HI_OK : fail_callers(err);
}

/* ---- lists of callers ---- */

struct caller_list HI_VECTOR(struct hi_alloc_caller);

static struct hi_alloc_caller make_caller(const struct caller_making *m, uint32_t chain)
{
	const struct hi_chain *c = &m->chains.items.items[chain];
	size_t unused;
	const struct hi_space_function *f =
		&hi_space_profile_functions(m->profile, &unused)[c->function];

	return (struct hi_alloc_caller){
		.name = hi_space_profile_text(m->profile, f->name),
		.file = hi_space_profile_text(m->profile, f->file),
		.level = c->level,
		.chain = chain,
		.row = m->rows[chain],
		.time = {.top = c->top, .scans = c->scans, .found = c->found}};
}

/* Those that have less come first. */
static int compare_callers(const void *a, const void *b)
{
	const struct hi_alloc_caller *x = a, *y = b;
	uint64_t m = hi_space_at_age(&x->row, 0).size,
		 n = hi_space_at_age(&y->row, 0).size;

	if (m != n)
		return m < n ? -1 : 1;
	if (x->time.top != y->time.top)
		return x->time.top < y->time.top ? -1 : 1;
	return strcmp(y->name, x->name);
}

static bool is_empty_caller(const struct hi_alloc_caller *c)
{
	return !hi_space_at_age(&c->row, 0).size && !c->time.found;
}

/* Of the outermost function nothing is missing. */
static bool is_only_unknown(const struct caller_making *m, uint32_t chain)
{
	uint32_t child = m->first_child[chain];

	return m->chains.items.items[chain].level && child && !m->next_child[child] &&
	       !m->chains.items.items[child].function;
}

/* Adds the direct callers of a chain, so that the first one is the last. */
static bool add_direct_callers(const struct caller_making *m, uint32_t chain,
			       struct caller_list *to)
{
	size_t before = to->count;

	if (is_only_unknown(m, chain))
		return true;
	for (uint32_t i = m->first_child[chain]; i; i = m->next_child[i]) {
		struct hi_alloc_caller caller = make_caller(m, i);

		if (!is_empty_caller(&caller) && !hi_vector_push(to, caller))
			return false;
	}
	if (to->count > before)
		qsort(to->items + before, to->count - before, sizeof(*to->items),
		      compare_callers);
	return true;
}

/* Adds the callers of a chain, and behind each its own. */
static bool list_callers(const struct caller_making *m, uint32_t chain,
			 struct caller_list *ret)
{
	struct caller_list waiting = {};
	bool ok = add_direct_callers(m, chain, &waiting);

	while (ok && waiting.count) {
		struct hi_alloc_caller next = waiting.items[--waiting.count];

		ok = hi_vector_push(ret, next) &&
		     add_direct_callers(m, next.chain, &waiting);
	}
	hi_vector_free(&waiting);
	return ok;
}

static enum hi_status give_callers(struct caller_making *m, struct hi_alloc_function *f,
				   struct hi_error *err)
{
	struct caller_list list = {};
	size_t size;
	bool ok = true;

	for (uint32_t i = m->first_child[0]; ok && i; i = m->next_child[i])
		if (m->chains.items.items[i].function == f->number)
			ok = list_callers(m, i, &list);
	size = list.count * sizeof(*list.items);
	f->callers = ok ? hi_arena_alloc(m->arena, size + 1) : NULL;
	if (f->callers && list.count)
		memcpy(f->callers, list.items, size);
	f->n_callers = f->callers ? list.count : 0;
	hi_vector_free(&list);
	return f->callers ? HI_OK : fail_callers(err);
}

/* ---- all of it ---- */

static bool want_functions(struct caller_making *m,
			   const struct hi_alloc_function *functions, size_t n)
{
	size_t n_functions;

	hi_space_profile_functions(m->profile, &n_functions);
	m->is_wanted = hi_calloc(n_functions + 1, sizeof(*m->is_wanted));
	for (size_t i = 0; m->is_wanted && i < n; i++)
		m->is_wanted[functions[i].number] = true;
	return m->is_wanted != NULL;
}

enum hi_status hi_space_callers(const struct hi_space_profile *profile,
				struct hi_alloc_function *functions, size_t n,
				uint32_t depth, bool has_times, struct hi_arena *arena,
				struct hi_error *err)
{
	struct caller_making m = {.profile = profile, .arena = arena, .depth = depth};
	struct hi_space_result result = {};
	enum hi_status status = want_functions(&m, functions, n) ? chain_contexts(&m, err)
								 : fail_callers(err);

	if (status == HI_OK && has_times)
		status = scan_stacks(&m, err);
	if (status == HI_OK && !link_children(&m))
		status = fail_callers(err);
	if (status == HI_OK)
		status = find_allocated(&m, &result, err);
	for (size_t i = 0; status == HI_OK && i < n; i++)
		status = give_callers(&m, &functions[i], err);
	hi_space_result_free(&result);
	free_caller_making(&m);
	return status;
}
