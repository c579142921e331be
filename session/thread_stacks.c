/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/thread_stacks.h"

#include <stdlib.h>

#include "attach/image.h"
#include "base/alloc.h"
#include "base/vector.h"
#include "decode/describe/frame_names.h"
#include "decode/frames/frames.h"
#include "session/computed.h"

/* Frames of a stack that are named; the rest of a deep one adds nothing. */
enum { NAMED_FRAMES = 512 };

struct stack_addresses HI_VECTOR(uint64_t);

static const struct hi_thread *find_image_thread(const struct hi_image *image,
						 uint64_t id)
{
	for (size_t i = 0; i < image->n_threads; i++)
		if ((uint64_t)image->threads[i].tid == id)
			return &image->threads[i];
	return NULL;
}

/* Adds the addresses of its frames. Those of calls are in the call already, and the byte
 * before an address is looked up. */
static enum hi_status add_thread_frames(struct hi_inspection *in,
					struct hi_thread_held *t,
					struct stack_addresses *addresses,
					struct hi_error *err)
{
	HI_GUARD(hi_stack_destroy) struct hi_stack *stack = NULL;
	const struct hi_thread *thread = find_image_thread(in->image, t->id);
	enum hi_status status;

	if (!thread)
		return HI_OK;
	status = hi_stack_read(in->decoders.types, in->image,
			       (uint32_t)(thread - in->image->threads), &stack, err);
	if (status != HI_OK)
		return status == HI_NO_MEMORY ? status : HI_OK;
	for (size_t i = 0; i < stack->n_frames && i < NAMED_FRAMES; i++) {
		if (!hi_vector_push(addresses, stack->frames[i].pc + 1))
			return hi_fail_memory(err, "stacks");
		t->n_frames++;
	}
	t->is_cut = stack->truncated || stack->n_frames > NAMED_FRAMES;
	return HI_OK;
}

/* From numbers of frames to rows: the frames of the threads are one after the other. */
static void share_frame_rows(struct hi_threads_report *r, const struct hi_frames *frames)
{
	size_t frame = 0;

	for (size_t i = 0; i < r->shown; i++) {
		struct hi_thread_held *t = &r->threads[i];
		uint32_t first = frames->first[frame];

		frame += t->n_frames;
		t->frames = frames->rows + first;
		t->n_frames = frames->first[frame] - first;
	}
}

static enum hi_status name_native_frames(struct hi_inspection *in,
					 struct hi_threads_report *r,
					 struct hi_frames_builder *builder,
					 struct hi_error *err)
{
	struct stack_addresses addresses = {};
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < r->shown; i++)
		status = add_thread_frames(in, &r->threads[i], &addresses, err);
	if (status == HI_OK)
		status = hi_frame_names_add(in->decoders.modules, NULL, addresses.items,
					    (uint32_t)addresses.count, builder, err);
	hi_vector_free(&addresses);
	return status;
}

/* ---- functions that a runtime interprets ---- */

struct script_frame {
	int thread;
	struct hi_frame_row row; /* strings in the arena */
};
struct script_stacks {
	struct HI_VECTOR(struct script_frame) frames; /* thread by thread */
	struct hi_arena *arena;
	int thread; /* of the last frame */
	size_t n_of_thread;
	bool no_memory;
};

static bool take_script_frame(void *arg, const struct hi_runtime_frame *frame)
{
	struct script_stacks *s = arg;
	struct script_frame kept = {
		.thread = frame->thread,
		.row = {.function = hi_arena_strdup(s->arena, frame->function),
			.file = hi_arena_strdup(s->arena, frame->file),
			.module = "",
			.line = frame->line,
			.flags = HI_FRAME_SCRIPT}};

	s->n_of_thread = frame->thread == s->thread ? s->n_of_thread + 1 : 1;
	s->thread = frame->thread;
	if (s->n_of_thread > NAMED_FRAMES)
		return true;
	s->no_memory =
		!kept.row.function || !kept.row.file || !hi_vector_push(&s->frames, kept);
	return !s->no_memory;
}

static enum hi_status list_script_frames(struct hi_inspection *in,
					 struct script_stacks *ret, struct hi_error *err)
{
	struct hi_runtime *runtime = in->decoders.runtime;
	struct hi_runtime_cursor *cursor;

	ret->arena = &in->arena;
	if (!runtime || !runtime->ops->frames)
		return HI_OK;
	cursor = hi_runtime_cursor(runtime);
	if (!cursor)
		return hi_fail_memory(err, "stacks");
	runtime->ops->frames(cursor, take_script_frame, ret);
	hi_runtime_cursor_free(runtime, cursor);
	return ret->no_memory ? hi_fail_memory(err, "stacks") : HI_OK;
}

static enum hi_status add_script_frames(const struct script_stacks *scripts,
					struct hi_thread_held *t,
					struct hi_frames_builder *to,
					struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < scripts->frames.count; i++) {
		const struct script_frame *frame = &scripts->frames.items[i];

		if ((uint64_t)frame->thread != t->id)
			continue;
		status = hi_frames_builder_add(to, &frame->row, 1, err);
		t->n_frames++;
	}
	return status;
}

/* Frames of a runtime come where the first of the interpreter is that runs them. */
static enum hi_status join_thread_frames(const struct script_stacks *scripts,
					 const struct hi_frames *native, size_t first,
					 struct hi_thread_held *t,
					 struct hi_frames_builder *to,
					 struct hi_error *err)
{
	size_t end = first + t->n_frames;
	enum hi_status status = HI_OK;
	bool has_joined = false;

	for (size_t i = first; status == HI_OK && i < end; i++) {
		const struct hi_frame_row *rows = native->rows + native->first[i];

		if (!has_joined && rows->flags & HI_FRAME_INTERPRETER) {
			status = add_script_frames(scripts, t, to, err);
			has_joined = true;
		}
		if (status == HI_OK)
			status = hi_frames_builder_add(
				to, rows, native->first[i + 1] - native->first[i], err);
	}
	return status == HI_OK && !has_joined ? add_script_frames(scripts, t, to, err)
					      : status;
}

static enum hi_status read_thread_stacks(struct hi_inspection *in,
					 struct hi_threads_report *r,
					 struct hi_frames_builder *builder,
					 struct hi_error *err)
{
	HI_GUARD(hi_frames_builder_destroy) struct hi_frames_builder *named = NULL;
	struct script_stacks scripts = {};
	enum hi_status status = hi_frames_builder_create(&named, err);
	struct hi_frames frames;
	size_t first = 0;

	if (status == HI_OK)
		status = name_native_frames(in, r, named, err);
	if (status == HI_OK)
		status = list_script_frames(in, &scripts, err);
	if (status == HI_OK)
		frames = hi_frames_builder_view(named);
	for (size_t i = 0; status == HI_OK && i < r->shown; i++) {
		size_t n = r->threads[i].n_frames;

		status = join_thread_frames(&scripts, &frames, first, &r->threads[i],
					    builder, err);
		first += n;
	}
	hi_vector_free(&scripts.frames);
	if (status != HI_OK)
		return status;
	frames = hi_frames_builder_view(builder);
	share_frame_rows(r, &frames);
	r->has_stacks = frames.n_frames;
	return HI_OK;
}

static enum hi_status make_threads(struct hi_inspection *in, size_t top,
				   struct hi_threads_report **ret, struct hi_error *err)
{
	struct hi_threads_inputs inputs = {.graph = in->graph,
					   .dominators = &in->shown.dominators,
					   .live_bytes = in->shown.reach->live_bytes,
					   .top = top};
	size_t n = in->image ? in->image->n_threads : 0;
	HI_GUARD(free)
	struct hi_thread_known *known = hi_calloc(n + 1, sizeof(*known));
	enum hi_status status;

	if (!known)
		return hi_fail_memory(err, "threads");
	status = hi_kept_shown_dominators(in, err);
	if (status == HI_OK)
		status = hi_kept_owners(in, &inputs.owners, err);
	if (status != HI_OK)
		return status;
	for (; inputs.n_known < n; inputs.n_known++)
		known[inputs.n_known] = (struct hi_thread_known){
			.id = (uint64_t)in->image->threads[inputs.n_known].tid,
			.name = in->image->threads[inputs.n_known].name};
	inputs.known = known;
	return hi_threads_report_create(&inputs, ret, err);
}

enum hi_status hi_inspect_threads(struct hi_inspection *in, size_t top,
				  struct hi_frames_builder **frames_ret,
				  struct hi_threads_report **ret, struct hi_error *err)
{
	HI_GUARD(hi_threads_report_destroy) struct hi_threads_report *report = NULL;
	HI_GUARD(hi_frames_builder_destroy) struct hi_frames_builder *builder = NULL;
	enum hi_status status = make_threads(in, top, &report, err);

	if (status == HI_OK && report && in->image && in->decoders.types) {
		status = hi_frames_builder_create(&builder, err);
		if (status == HI_OK)
			status = read_thread_stacks(in, report, builder, err);
	}
	if (status != HI_OK)
		return status;
	*frames_ret = hi_take(builder);
	*ret = hi_take(report);
	return HI_OK;
}
