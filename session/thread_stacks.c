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

static enum hi_status read_thread_stacks(struct hi_inspection *in,
					 struct hi_threads_report *r,
					 struct hi_frames_builder *builder,
					 struct hi_error *err)
{
	struct stack_addresses addresses = {};
	enum hi_status status = HI_OK;
	struct hi_frames frames;

	for (size_t i = 0; status == HI_OK && i < r->shown; i++)
		status = add_thread_frames(in, &r->threads[i], &addresses, err);
	if (status == HI_OK)
		status = hi_frame_names_add(in->decoders.modules, NULL, addresses.items,
					    (uint32_t)addresses.count, builder, err);
	hi_vector_free(&addresses);
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
