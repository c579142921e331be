/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/space/time.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* Frames of a function on the stack that is looked at, and the number of that stack. */
struct frames_on_stack {
	size_t stack; /* counted from 1 */
	uint32_t n;
};

/* Calls in a row end at the frame of another function. */
static void scan_stack(const struct hi_space_stack *stack, size_t number,
		       struct frames_on_stack *on_stack, struct hi_space_time *ret,
		       uint32_t n_functions)
{
	uint32_t in_a_row = 0;

	for (uint32_t i = 0; i < stack->n; i++) {
		uint32_t f = stack->functions[i];
		bool is_self = i > 0 && stack->functions[i - 1] == f;

		in_a_row = is_self ? in_a_row + 1 : 0;
		if (f >= n_functions)
			continue;
		if (on_stack[f].stack != number) {
			on_stack[f] = (struct frames_on_stack){.stack = number};
			ret[f].scans += stack->ticks;
		}
		on_stack[f].n++;
		ret[f].top += i == 0 ? stack->ticks : 0;
		ret[f].found += stack->ticks;
		if (on_stack[f].n > ret[f].depth)
			ret[f].depth = on_stack[f].n;
		if (in_a_row > ret[f].self)
			ret[f].self = in_a_row;
	}
}

enum hi_status hi_space_times(const struct hi_space_stack *stacks, size_t n,
			      struct hi_space_time *ret, uint32_t n_functions,
			      struct hi_error *err)
{
	HI_GUARD(free)
	struct frames_on_stack *on_stack =
		hi_calloc((size_t)n_functions + 1, sizeof(*on_stack));

	if (!on_stack)
		return hi_fail_memory(err, "times of functions");
	memset(ret, 0, n_functions * sizeof(*ret));
	for (size_t i = 0; i < n; i++)
		if (stacks[i].ticks)
			scan_stack(&stacks[i], i + 1, on_stack, ret, n_functions);
	return HI_OK;
}

static bool has_any_function(const struct hi_space_stack *stack, const bool *is_wanted,
			     uint32_t n_functions)
{
	for (uint32_t i = 0; i < stack->n; i++)
		if (stack->functions[i] < n_functions && is_wanted[stack->functions[i]])
			return true;
	return false;
}

uint64_t hi_space_ticks_inside(const struct hi_space_stack *stacks, size_t n,
			       const bool *is_wanted, uint32_t n_functions)
{
	uint64_t ticks = 0;

	for (size_t i = 0; i < n; i++)
		if (has_any_function(&stacks[i], is_wanted, n_functions))
			ticks += stacks[i].ticks;
	return ticks;
}
