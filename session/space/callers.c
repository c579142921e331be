/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/space/callers.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/interner.h"
#include "census/events/frame_library.h"
#include "census/space/chains.h"

enum { LIBRARIES = 63 }; /* that are told apart: bits */

/* The frames of libraries before the last caller of a chain, in all stacks that have it. */
struct passed_frames {
	bool is_seen;
	uint32_t least, most;
	uint32_t only;	    /* the function, if it is one frame and the same; 0: no */
	uint64_t libraries; /* bits of their numbers */
};

/* Callers while they are collected: of all functions together. */
struct caller_making {
	const struct hi_space_profile *profile;
	struct hi_arena *arena;
	uint32_t depth;
	bool *is_wanted; /* by function */
	/* By function, where libraries are passed; else NULL. */
	bool *is_library;
	uint32_t *library; /* its number in the names */
	struct hi_interner library_names;
	struct HI_VECTOR(struct passed_frames) passed; /* by chain */
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
	free(m->is_library);
	free(m->library);
	hi_interner_free(&m->library_names);
	hi_vector_free(&m->passed);
	hi_chains_free(&m->chains);
	free(m->chain_of_context);
	free(m->self);
	free(m->first_child);
	free(m->next_child);
	free(m->rows);
}

/* ---- chains ---- */

/* Finds which functions are of libraries. */
static bool find_libraries(struct caller_making *m)
{
	size_t n;
	const struct hi_space_function *f = hi_space_profile_functions(m->profile, &n);
	char name[HI_FRAME_LIBRARY_SIZE];

	m->is_library = hi_calloc(n + 1, sizeof(*m->is_library));
	m->library = hi_calloc(n + 1, sizeof(*m->library));
	if (!m->is_library || !m->library)
		return false;
	for (size_t i = 1; i < n; i++) {
		const struct hi_frame_row row = {
			.function = hi_space_profile_text(m->profile, f[i].name),
			.file = hi_space_profile_text(m->profile, f[i].file),
			.module = hi_space_profile_text(m->profile, f[i].module)};

		if (!*row.function || !hi_frame_library(&row, name))
			continue;
		m->is_library[i] = true;
		m->library[i] = hi_interner_add(&m->library_names, name);
		if (!m->library[i])
			return false;
	}
	return true;
}

static void add_passed_frames(const struct caller_making *m, const uint32_t *functions,
			      uint32_t n, struct passed_frames *to)
{
	uint32_t only = n == 1 ? functions[0] : 0;

	to->least = !to->is_seen || n < to->least ? n : to->least;
	to->most = n > to->most ? n : to->most;
	to->only = !to->is_seen || to->only == only ? only : 0;
	to->is_seen = true;
	for (uint32_t i = 0; i < n; i++)
		to->libraries |= 1ull << (m->library[functions[i]] % LIBRARIES);
}

/* kept: indexes of the functions that have been numbered as the chain and its beginnings. */
static bool note_passed_frames(struct caller_making *m, uint32_t chain,
			       const uint32_t *functions, const uint32_t *kept,
			       uint32_t n_kept)
{
	while (m->passed.count < m->chains.items.count)
		if (!hi_vector_push(&m->passed, (struct passed_frames){}))
			return false;
	for (; chain; chain = m->chains.items.items[chain].parent) {
		uint32_t level = m->chains.items.items[chain].level;

		if (level && level < n_kept)
			add_passed_frames(m, functions + kept[level - 1] + 1,
					  kept[level] - kept[level - 1] - 1,
					  &m->passed.items[chain]);
	}
	return true;
}

static uint32_t longest_stack(const struct hi_space_profile *profile)
{
	uint32_t n = hi_space_profile_n_contexts(profile), most = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t length = hi_space_profile_stack(profile, i).n;

		most = length > most ? length : most;
	}
	return most;
}

static enum hi_status chain_contexts(struct caller_making *m, struct hi_error *err)
{
	uint32_t n = hi_space_profile_sites(m->profile).n_contexts;
	uint32_t most = longest_stack(m->profile) + 1; /* and a row of no function */
	HI_GUARD(free) uint32_t *functions = hi_calloc(3u * most, sizeof(*functions));
	uint32_t *kept, *chosen;
	enum hi_status status = HI_OK;

	m->n_contexts = n;
	m->chain_of_context = hi_calloc(n + 1u, sizeof(*m->chain_of_context));
	if (!m->chain_of_context || !functions)
		return fail_callers(err);
	kept = functions + most;
	chosen = kept + most;
	for (uint32_t i = 0; status == HI_OK && i < n; i++) {
		uint32_t length = hi_space_profile_chain(m->profile, i, functions, most);
		uint32_t n_kept = hi_chains_keep(functions, length, m->is_library, kept);

		for (uint32_t k = 0; k < n_kept; k++)
			chosen[k] = functions[kept[k]];
		status = hi_chains_number(&m->chains, chosen, n_kept, m->depth,
					  &m->chain_of_context[i], err);
		if (status == HI_OK && m->is_library &&
		    !note_passed_frames(m, m->chain_of_context[i], functions, kept,
					n_kept))
			status = fail_callers(err);
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
						m->is_wanted, m->is_library, err);
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

/* "libc, libstdc++"; NULL: out of memory. */
static const char *list_libraries(const struct caller_making *m, uint64_t libraries)
{
	const char *text = "";

	for (uint32_t i = 1; text && i <= m->library_names.names.count && i < LIBRARIES;
	     i++)
		if (libraries >> i & 1)
			text = hi_arena_printf(m->arena, "%s%s%s", text,
					       *text ? ", " : "",
					       hi_interner_name(&m->library_names, i));
	return text;
}

static void add_passed_text(const struct caller_making *m, uint32_t chain,
			    struct hi_alloc_caller *caller)
{
	static const struct passed_frames none;
	const struct passed_frames *p =
		chain < m->passed.count ? &m->passed.items[chain] : &none;
	size_t unused;
	const struct hi_space_function *f =
		&hi_space_profile_functions(m->profile, &unused)[p->only];

	caller->passed = p->least;
	caller->passed_most = p->most;
	caller->passed_name = p->only ? hi_space_profile_text(m->profile, f->name) : "";
	caller->libraries = list_libraries(m, p->libraries);
}

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

		add_passed_text(m, i, &caller);
		if (!caller.libraries ||
		    (!is_empty_caller(&caller) && !hi_vector_push(to, caller)))
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
				uint32_t depth, bool passes_libraries, bool has_times,
				struct hi_arena *arena, struct hi_error *err)
{
	struct caller_making m = {.profile = profile, .arena = arena, .depth = depth};
	struct hi_space_result result = {};
	bool ok = want_functions(&m, functions, n) &&
		  (!passes_libraries || find_libraries(&m));
	enum hi_status status = ok ? chain_contexts(&m, err) : fail_callers(err);

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
