/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/space/chains.h"

static enum hi_status fail_chains(struct hi_error *err)
{
	return hi_fail_memory(err, "callers of functions");
}

void hi_chains_free(struct hi_chains *chains)
{
	hi_vector_free(&chains->items);
	hi_table_free(&chains->children);
}

static bool number_longer_chain(struct hi_chains *c, uint32_t parent, uint32_t function,
				uint32_t *ret)
{
	uint64_t key = (uint64_t)parent << 32 | function, number;

	if (!c->items.count && !hi_vector_push(&c->items, (struct hi_chain){}))
		return false;
	if (!hi_table_get(&c->children, key, &number)) {
		struct hi_chain chain = {.parent = parent, .function = function};

		number = c->items.count;
		chain.level = parent ? c->items.items[parent].level + 1 : 0;
		if (number > UINT32_MAX / 2 || !hi_vector_push(&c->items, chain) ||
		    !hi_table_put(&c->children, key, number))
			return false;
	}
	*ret = (uint32_t)number;
	return true;
}

enum hi_status hi_chains_number(struct hi_chains *chains, const uint32_t *functions,
				uint32_t n, uint32_t n_callers, uint32_t *ret,
				struct hi_error *err)
{
	*ret = 0;
	for (uint32_t i = 0; i <= n_callers && i <= n; i++)
		if (!number_longer_chain(chains, *ret, i < n ? functions[i] : 0, ret))
			return fail_chains(err);
	return HI_OK;
}

/* How many functions of the stack there are up to the outermost one of the program. */
static uint32_t end_of_program(const uint32_t *functions, uint32_t n,
			       const bool *is_library)
{
	while (n > 0 && (!functions[n - 1] || is_library[functions[n - 1]]))
		n--;
	return n;
}

static bool is_caller_passed(const uint32_t *functions, uint32_t i, uint32_t end,
			     const bool *is_library)
{
	return i < end && is_library[functions[i]];
}

uint32_t hi_chains_keep(const uint32_t *functions, uint32_t n, const bool *is_library,
			uint32_t *kept)
{
	uint32_t end = is_library ? end_of_program(functions, n, is_library) : 0;
	uint32_t n_kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!i || !is_caller_passed(functions, i, end, is_library))
			kept[n_kept++] = i;
	return n_kept;
}

enum hi_status hi_chains_scan(struct hi_chains *chains,
			      const struct hi_space_stack *stack, size_t number,
			      uint32_t n_callers, const bool *is_wanted,
			      const bool *is_library, struct hi_error *err)
{
	uint32_t end =
		is_library ? end_of_program(stack->functions, stack->n, is_library) : 0;

	for (uint32_t first = 0; first < stack->n; first++) {
		uint32_t at = 0, left = n_callers + 1;

		if (!is_wanted[stack->functions[first]])
			continue;
		for (uint32_t i = first; left && i <= stack->n; i++) {
			struct hi_chain *chain;

			if (i > first &&
			    is_caller_passed(stack->functions, i, end, is_library))
				continue;
			left--;
			if (!number_longer_chain(chains, at,
						 i < stack->n ? stack->functions[i] : 0,
						 &at))
				return fail_chains(err);
			chain = &chains->items.items[at];
			chain->top += first == 0 ? stack->ticks : 0;
			chain->found += stack->ticks;
			chain->scans += chain->scanned != number ? stack->ticks : 0;
			chain->scanned = number;
		}
	}
	return HI_OK;
}
