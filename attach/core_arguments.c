/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/core_arguments.h"

#include <elf.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

enum {
	WORD = sizeof(uint64_t),
	STACK_WORDS = (256 << 10) / WORD, /* pointers to arguments and environment */
	PAIRS_COMPARED = 4,
};

/* The end of the stack, up to what the auxiliary vector refers to above itself. */
struct initial_stack {
	uint64_t words[STACK_WORDS];
	size_t count;
	uint64_t end; /* address after the last word */
};

static bool read_initial_stack(const struct hi_image *image, struct initial_stack *stack)
{
	const struct hi_mapping *m;
	struct hi_error ignored;
	uint64_t above;

	if (!hi_image_auxv(image, AT_RANDOM, &above))
		return false;
	stack->end = above / WORD * WORD;
	m = hi_image_mapping_at(image, stack->end);
	if (!m || stack->end <= m->start)
		return false;
	stack->count = (stack->end - m->start) / WORD;
	if (stack->count > STACK_WORDS)
		stack->count = STACK_WORDS;
	return hi_memory_read(image->memory, stack->end - stack->count * WORD,
			      stack->words, stack->count * WORD, &ignored) == HI_OK;
}

/* The index of the auxiliary vector: the last place with its first pairs. */
static size_t find_vector(const struct hi_image *image, const struct initial_stack *stack)
{
	size_t pairs = image->n_auxv < PAIRS_COMPARED ? image->n_auxv : PAIRS_COMPARED;

	for (size_t i = stack->count; pairs && i-- > 0;)
		if (i + 2 * pairs <= stack->count &&
		    memcmp(&stack->words[i], image->auxv, 2 * pairs * WORD) == 0)
			return i;
	return 0;
}

/* Returns the index of the first of the pointers that end before index `end` with a NULL.
 * The word before it, which is returned too, is no pointer. */
static size_t find_first_pointer(const struct initial_stack *stack, size_t end,
				 uint64_t *before_ret)
{
	size_t i = end;

	while (i > 0 && stack->words[i - 1] >= STACK_WORDS)
		i--;
	*before_ret = i > 0 ? stack->words[i - 1] : UINT64_MAX;
	return i;
}

/* The bytes from the first argument to the end of the last one. */
static bool find_arguments(const struct hi_image *image,
			   const struct initial_stack *stack, uint64_t *start_ret,
			   uint64_t *end_ret)
{
	size_t vector = find_vector(image, stack), environment, arguments;
	uint64_t before;

	if (vector < 3 || stack->words[vector - 1] != 0)
		return false;
	environment = find_first_pointer(stack, vector - 1, &before);
	if (before != 0 || environment < 2)
		return false;
	arguments = find_first_pointer(stack, environment - 1, &before);
	if (before == 0 || before != environment - 1 - arguments)
		return false;
	*start_ret = stack->words[arguments];
	*end_ret = stack->words[environment];
	/* Without an environment the file's name follows. */
	if (environment == vector - 1 && !hi_image_auxv(image, AT_EXECFN, end_ret))
		return false;
	return *start_ret < *end_ret;
}

enum hi_status hi_core_arguments_read(const struct hi_image *image,
				      struct hi_command_line *ret, struct hi_error *err)
{
	HI_GUARD(free) struct initial_stack *stack = hi_alloc(sizeof(*stack));
	struct hi_command_line line = {};
	uint64_t start, end;

	if (!stack)
		return hi_fail_memory(err, "initial stack");
	if (!read_initial_stack(image, stack) ||
	    !find_arguments(image, stack, &start, &end))
		return hi_fail(err, HI_NOT_FOUND, 0, "no arguments on the stack");
	line.is_cut = end - start > HI_COMMAND_LINE_MAX;
	line.size = line.is_cut ? HI_COMMAND_LINE_MAX : end - start;
	line.bytes = hi_alloc(line.size);
	if (!line.bytes)
		return hi_fail_memory(err, "command line");
	if (hi_memory_read(image->memory, start, line.bytes, line.size, err) != HI_OK ||
	    !*line.bytes) {
		hi_command_line_free(&line);
		return hi_fail(err, HI_NOT_FOUND, 0, "no arguments on the stack");
	}
	*ret = line;
	return HI_OK;
}
