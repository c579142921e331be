/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stack frames, from the names of their variables: "thread 7 worker(): buf" of
 * C, "thread 7 run() items" of Python. A frame that has no variable is not there, and
 * a function that calls itself is one frame.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "query/query_internal.h"

/* The function's name without its brackets: text .. text + *length_ret; NULL: none. */
static const char *parse_frame_name(const char *name, uint32_t *thread_ret,
				    size_t *length_ret)
{
	const char *from, *end = NULL;
	char *rest;

	if (!name || strncmp(name, "thread ", 7) != 0)
		return NULL;
	*thread_ret = (uint32_t)strtoul(name + 7, &rest, 10);
	if (rest == name + 7 || *rest != ' ')
		return NULL;
	from = rest + 1;
	/* "operator()(): x" has two of them. */
	for (const char *at = from; (at = strstr(at, "(): ")); at++)
		end = at;
	if (!end)
		end = strstr(from, "() ");
	*length_ret = end ? (size_t)(end - from) : 0;
	return end ? from : NULL;
}

/* Variables of one frame stand together. */
static struct hi_stack_frame *last_if_same(struct hi_stack_frames *frames,
					   uint32_t thread, const char *function,
					   size_t length, const char *place)
{
	struct hi_stack_frame *last =
		frames->rows.count ? &frames->rows.items[frames->rows.count - 1] : NULL;

	if (!last || last->thread != thread || strcmp(last->place, place) != 0 ||
	    strncmp(last->function, function, length) != 0 || last->function[length])
		return NULL;
	return last;
}

static enum hi_status add_frame_variable(struct hi_stack_frames *frames,
					 const struct hi_root *root, uint64_t retained,
					 struct hi_error *err)
{
	const char *place = root->detail ? root->detail : "";
	struct hi_stack_frame *row;
	uint32_t thread = 0;
	size_t length = 0;
	const char *function = root->kind == HI_ROOT_STACK
				       ? parse_frame_name(root->name, &thread, &length)
				       : NULL;

	if (!function)
		return HI_OK;
	row = last_if_same(frames, thread, function, length, place);
	if (!row) {
		char *copy = hi_arena_alloc(&frames->strings, length + 1);

		if (!copy)
			return hi_fail_memory(err, "frames");
		memcpy(copy, function, length);
		if (!hi_vector_push(&frames->rows,
				    (struct hi_stack_frame){.thread = thread,
							    .function = copy,
							    .place = place}))
			return hi_fail_memory(err, "frames");
		row = &frames->rows.items[frames->rows.count - 1];
	}
	row->variables++;
	row->retained += retained;
	return HI_OK;
}

enum hi_status hi_query_frames(struct hi_query *q, const struct hi_stack_frames **ret,
			       struct hi_error *err)
{
	const struct hi_graph *g = q->source.graph;
	const struct hi_dominators *d = NULL;
	enum hi_status status = HI_OK;

	*ret = &q->frames;
	if (q->frames.is_there)
		return HI_OK;
	status = hi_query_dominators(q, &d, err);
	for (uint32_t i = 0; i < g->n_roots && status == HI_OK; i++)
		status = add_frame_variable(&q->frames, &g->roots[i],
					    d->retained[g->first_root + i], err);
	if (status != HI_OK)
		hi_stack_frames_free(&q->frames);
	q->frames.is_there = status == HI_OK;
	return status;
}

void hi_stack_frames_free(struct hi_stack_frames *frames)
{
	hi_vector_free(&frames->rows);
	hi_arena_free(&frames->strings);
	*frames = (struct hi_stack_frames){};
}
