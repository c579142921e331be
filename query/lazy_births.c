/* SPDX-License-Identifier: BSD-2-Clause */
/* The recording, its objects by context, and the stack of one context. */
#include <stdlib.h>

#include "base/alloc.h"
#include "query/query_internal.h"

enum hi_status hi_query_recorded(struct hi_query *q, const struct hi_recorded **ret,
				 struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!q->recorded && q->source.recorded)
		status = q->source.recorded(q->source.arg, &q->recorded, err);
	if (status == HI_OK && !q->recorded)
		status = hi_fail(err, HI_UNSUPPORTED, 0, "the recording is not known");
	*ret = q->recorded;
	return status;
}

/* ---- objects by context ---- */

/* Counts objects of context c at first[c + 2], so that the sums up to each context stand
 * at first[c + 1] and become its end while its objects are put there. */
static void count_births(const struct hi_births *births, struct hi_born_in *in)
{
	for (uint32_t i = 0; i < births->n_objects; i++)
		if (hi_birth_is_known(births, i))
			in->first[(size_t)births->context[i] + 2]++;
	for (size_t c = 2; c < (size_t)in->n + 2; c++)
		in->first[c] += in->first[c - 1];
}

static void place_births(const struct hi_births *births, struct hi_born_in *in)
{
	for (uint32_t i = 0; i < births->n_objects; i++)
		if (hi_birth_is_known(births, i))
			in->objects[in->first[(size_t)births->context[i] + 1]++] = i;
}

void hi_born_in_destroy(struct hi_born_in *in)
{
	if (!in)
		return;
	free(in->first);
	free(in->objects);
	free(in);
}

enum hi_status hi_query_born_in(struct hi_query *q, const struct hi_born_in **ret,
				struct hi_error *err)
{
	const struct hi_recorded *r = NULL;
	enum hi_status status = hi_query_recorded(q, &r, err);
	struct hi_born_in *in;

	*ret = q->born_in;
	if (status != HI_OK || *ret)
		return status;
	in = hi_calloc(1, sizeof(*in));
	if (!in)
		return hi_fail_memory(err, "allocations");
	in->n = r->contexts.n_contexts;
	in->first = hi_calloc((size_t)in->n + 2, sizeof(*in->first));
	in->objects = hi_alloc(((size_t)r->births->n_objects + 1) * sizeof(*in->objects));
	if (!in->first || !in->objects) {
		hi_born_in_destroy(in);
		return hi_fail_memory(err, "allocations");
	}
	count_births(r->births, in);
	place_births(r->births, in);
	*ret = q->born_in = in;
	return HI_OK;
}

/* ---- stacks ---- */

static uint32_t rows_of_frame(const struct hi_frames *frames, uint32_t frame)
{
	return frame < frames->n_frames ? frames->first[frame + 1] - frames->first[frame]
					: 0;
}

/* A row is asked for cell by cell, and the next one is mostly of the same stack. */
static const struct hi_stack_read *read_context_stack(struct hi_query *q,
						      uint32_t context)
{
	struct hi_stack_read *stack = &q->stack;
	uint64_t rows = 0;

	if (stack->is_there && stack->context == context)
		return stack;
	stack->n = hi_context_frames(&q->recorded->contexts, context, stack->frames);
	for (unsigned i = 0; i < stack->n; i++)
		rows += rows_of_frame(&q->recorded->frames, stack->frames[i]);
	stack->n_rows = rows < UINT32_MAX ? (uint32_t)rows : UINT32_MAX;
	stack->context = context;
	stack->is_there = true;
	return stack;
}

uint32_t hi_query_stack_rows(struct hi_query *q, uint32_t context)
{
	return read_context_stack(q, context)->n_rows;
}

const struct hi_frame_row *hi_query_stack_row(struct hi_query *q, uint32_t context,
					      uint32_t depth)
{
	const struct hi_stack_read *stack = read_context_stack(q, context);
	const struct hi_frames *frames = &q->recorded->frames;

	for (unsigned i = 0; i < stack->n; i++) {
		uint32_t n = rows_of_frame(frames, stack->frames[i]);

		if (depth < n)
			return &frames->rows[frames->first[stack->frames[i]] + depth];
		depth -= n;
	}
	return NULL;
}
